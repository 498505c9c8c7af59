/* A parent whose child pins or names itself before it execs PROGRAM: then shows the parent, and a new thread of its. */
#include "show.h"
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const char usage[] = "usage: childpins fork|vfork pin CPU PROGRAM\n"
			    "       childpins fork|vfork name NAME PROGRAM\n";

static void *runs(void *who)
{
	return show(who), NULL;
}

/* Inlined: a function that returns would hand a vfork child's frames to its parent. */
static inline __attribute__((always_inline)) void child(char **argv)
{
	if (strcmp(argv[2], "pin") == 0) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(atoi(argv[3]), &one);
		if (sched_setaffinity(0, sizeof one, &one) != 0)
			_exit(4);
	} else {
		prctl(PR_SET_NAME, argv[3]);
	}
	execl(argv[4], argv[4], "child", (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	pthread_t id;
	if (argc != 5)
		return fputs(usage, stderr), 2;
	show("before");
	if (strcmp(argv[1], "vfork") == 0) {
		if (vfork() == 0)
			child(argv);
	} else if (fork() == 0) {
		child(argv);
	}
	while (wait(NULL) > 0)
		;
	show("after");
	/* Its class as told to itself: the parent still has the rule that it had. */
	cpu_set_t told;
	CPU_ZERO(&told);
	sched_getaffinity(0, sizeof told, &told);
	printf("told=%d\n", CPU_COUNT(&told));
	fflush(stdout);
	if (pthread_create(&id, NULL, runs, "thread") != 0)
		return 3;
	pthread_join(id, NULL);
	return 0;
}

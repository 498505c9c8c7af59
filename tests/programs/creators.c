/* Shows the thread of a creator that has changed since it started. */
#include "show.h"
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

static const char usage[] = "usage: creators reset      SCHED_FIFO 5 with SCHED_RESET_ON_FORK\n"
			    "       creators deadline   SCHED_DEADLINE, which may not clone (sched(7))\n"
			    "       creators nobody     has given up root\n"
			    "prints: the thread's line, or who=thread error=NAME\n";

static void *runs(void *who)
{
	return show(who), NULL;
}

static int deadline(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {.size = sizeof attr, .policy = 6, .runtime = 5000000, .deadline = 100000000, .period = 100000000};
	return (int)syscall(SYS_sched_setattr, 0, &attr, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	struct sched_param five = {.sched_priority = 5};
	pthread_t id;
	int r;
	if (strcmp(what, "reset") == 0)
		r = (int)syscall(SYS_sched_setscheduler, 0, SCHED_FIFO | SCHED_RESET_ON_FORK, &five);
	else if (strcmp(what, "deadline") == 0)
		r = deadline();
	else if (strcmp(what, "nobody") == 0)
		r = setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534);
	else
		return fputs(usage, stderr), 2;
	if (r != 0)
		return printf("cannot=%s\n", strerrorname_np(errno)), 77;
	for (int i = 0; i < 3; i++) {
		int error = pthread_create(&id, NULL, runs, "thread");
		if (error)
			printf("who=thread\terror=%s\n", strerrorname_np(error));
		else
			pthread_join(id, NULL);
	}
	return 0;
}

/*
 * threads.c - the price of a thread.  threads MODE COUNT LIVE CPU PRIORITY [name] [user]
 *
 * Prints the median time, in ns, of one pthread_create and pthread_join of COUNT, while LIVE other threads sleep.  With
 * `user`: from before pthread_create until the new thread's own code runs where it belongs, while an ordinary process
 * keeps CPU busy.
 *     plain  the program asks for nothing
 *     own    an attr with this CPU and SCHED_FIFO, built for each thread
 *     once   one such attr for all
 *     self   the thread does it itself: sched_setscheduler, then sched_setaffinity
 * With `name` each thread names itself first.  PRIORITY 0: no real time, the CPU alone.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"

static const char *mode;
static int cpu, priority;
static bool name, user;
static volatile int64_t running;

static void check(int error, const char *what)
{
	if (error)
		errx(1, "%s: %s", what, strerror(error));
}

static void *work(void *unused)
{
	if (name)
		pthread_setname_np(pthread_self(), "hot");
	if (*mode == 's') {
		struct sched_param param = {.sched_priority = priority};
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (priority && sched_setscheduler(0, SCHED_FIFO, &param))
			err(1, "sched_setscheduler");
		if (sched_setaffinity(0, sizeof set, &set))
			err(1, "sched_setaffinity");
	}
	running = now_ns(); /* where it belongs, and as what */
	return unused;
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void build(pthread_attr_t *attr)
{
	struct sched_param param = {.sched_priority = priority};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(pthread_attr_init(attr), "pthread_attr_init");
	check(pthread_attr_setaffinity_np(attr, sizeof set, &set), "pthread_attr_setaffinity_np");
	if (!priority)
		return;
	check(pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED), "pthread_attr_setinheritsched");
	check(pthread_attr_setschedpolicy(attr, SCHED_FIFO), "pthread_attr_setschedpolicy");
	check(pthread_attr_setschedparam(attr, &param), "pthread_attr_setschedparam");
}

static int64_t one(const pthread_attr_t *ready)
{
	pthread_attr_t attr;
	pthread_t thread;
	int64_t begin = now_ns(), end;

	if (*mode == 'o' && !ready) {
		build(&attr);
		check(pthread_create(&thread, &attr, work, NULL), "pthread_create");
		pthread_attr_destroy(&attr);
	} else {
		check(pthread_create(&thread, ready, work, NULL), "pthread_create");
	}
	pthread_join(thread, NULL);
	end = now_ns();
	return (user ? running : end) - begin;
}

/* An ordinary process that never sleeps. */
static pid_t keep_busy(void)
{
	struct sched_param none = {0};
	pid_t pid = fork();
	cpu_set_t set;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) || sched_setscheduler(0, SCHED_OTHER, &none))
		_exit(1);
	for (;;)
		;
}

int main(int argc, char **argv)
{
	if (argc < 6)
		errx(1, "usage: threads plain|own|once|self COUNT LIVE CPU PRIORITY [name] [user]");
	mode = argv[1];
	int count = atoi(argv[2]), live = atoi(argv[3]);
	cpu = atoi(argv[4]);
	priority = atoi(argv[5]);
	for (int i = 6; i < argc; i++) {
		name |= strcmp(argv[i], "name") == 0;
		user |= strcmp(argv[i], "user") == 0;
	}
	bool once = strcmp(mode, "once") == 0;
	double *took = calloc((size_t)count, sizeof *took);
	pthread_attr_t ready, small;
	pid_t busy = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	for (int i = 0; i < live; i++) {
		pthread_t thread;

		check(pthread_create(&thread, &small, sleep_on, NULL), "pthread_create");
	}
	if (once)
		build(&ready);
	if (user)
		busy = keep_busy();
	usleep(20000); /* the others have gone to sleep, the busy one runs */
	for (int i = 0; i < 20; i++)
		one(once ? &ready : NULL);
	for (int i = 0; i < count; i++) {
		took[i] = (double)one(once ? &ready : NULL);
		if (user)
			usleep(1000);
	}
	if (busy > 0) {
		kill(busy, SIGKILL);
		waitpid(busy, NULL, 0);
	}
	printf("%.0f\n", spread_of(took, (size_t)count).median);
	fflush(stdout);
	_exit(0); /* not through the sleepers */
}

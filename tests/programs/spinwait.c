/* Checks that a SCHED_FIFO creator that spins for its new thread sees it run; it gives up after 1.5 s and prints NEVER. */
#include "show.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int running;
static char line[SHOW_LINE];

static void *runs(void *unused)
{
	atomic_store(&running, 1);
	show_self(line, sizeof line);
	return unused;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
	pthread_t id;
	struct sched_param ten = {.sched_priority = 10};
	long policy = syscall(SYS_sched_getscheduler, 0) & ~0x40000000L;
	if (policy != SCHED_FIFO && policy != SCHED_RR && syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &ten) != 0)
		return puts("cannot be SCHED_FIFO"), 2;
	show("main");
	double start = now();
	if (pthread_create(&id, NULL, runs, NULL) != 0)
		return 3;
	while (!atomic_load(&running) && now() - start < 1.5)
		;
	int seen = atomic_load(&running);
	pthread_join(id, NULL);
	show_print("thread", line);
	puts(seen ? "ok" : "NEVER");
	return !seen;
}

/* Shows what real-time classes can do to a program: a waiter that yields to a lower priority, and an endless loop. */
#include "show.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static const char usage[] =
	"usage: rtwait yield   thread 1, `low`, works 0.1 s; thread 2, `high`, yields until then, 3 s at most\n"
	"       rtwait spin [SECONDS]   a thread that never sleeps, for ever or so long\n";
static atomic_int done;
static pthread_barrier_t both;

static double clock_now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *low(void *unused)
{
	pthread_setname_np(pthread_self(), "low");
	pthread_barrier_wait(&both);
	while (clock_now(CLOCK_THREAD_CPUTIME_ID) < 0.1)
		;
	atomic_store(&done, 1);
	return unused;
}

static void *high(void *unused)
{
	pthread_setname_np(pthread_self(), "high");
	pthread_barrier_wait(&both);
	double start = clock_now(CLOCK_MONOTONIC);
	while (!atomic_load(&done) && clock_now(CLOCK_MONOTONIC) - start < 3)
		sched_yield();
	show_print("high", atomic_load(&done) ? "ok" : "NEVER");
	return unused;
}

static void *spin(void *seconds)
{
	show("spin");
	for (double start = clock_now(CLOCK_MONOTONIC); !seconds || clock_now(CLOCK_MONOTONIC) - start < atof(seconds);)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id[2];
	const char *what = argc > 1 ? argv[1] : "";
	pthread_barrier_init(&both, NULL, 2);
	if (strcmp(what, "yield") == 0) {
		if (pthread_create(&id[0], NULL, low, NULL) != 0 || pthread_create(&id[1], NULL, high, NULL) != 0)
			return 3;
		pthread_join(id[0], NULL);
	} else if (strcmp(what, "spin") == 0) {
		if (pthread_create(&id[1], NULL, spin, argc > 2 ? argv[2] : NULL) != 0)
			return 3;
	} else {
		return fputs(usage, stderr), 2;
	}
	pthread_join(id[1], NULL);
	return 0;
}

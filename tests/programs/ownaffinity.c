/*
 * Shows who wins when threads place themselves: `ownaffinity CPU`, or, of threads in real time that choose their priority,
 * `ownaffinity CPU PRIORITY`; call= is what their call returned, changes= must be 0.
 */
#include "show.h"
#include <errno.h>
#include <pthread.h>

static cpu_set_t one;
static struct sched_param priority;

/* The class after the call, and how often it changed in 100 looks in a second. */
static void watch(const char *who, int call)
{
	char first[SHOW_LINE], now[SHOW_LINE + 64];
	int changes = 0;
	show_self(first, sizeof first);
	for (int i = 0; i < 100; i++) {
		usleep(10000);
		show_self(now, sizeof first);
		changes += strcmp(first, now) != 0;
	}
	snprintf(now, sizeof now, "%s\tcall=%d\tchanges=%d", first, call, changes);
	show_print(who, now);
}

static void *by_attr(void *call)
{
	return watch("attr", *(int *)call), NULL;
}

static void *by_call(void *unused)
{
	usleep(100000);
	return watch("sched_setaffinity", sched_setaffinity(0, sizeof one, &one)), unused;
}

static void *by_pthread_call(void *unused)
{
	usleep(100000);
	return watch("pthread_setaffinity_np", pthread_setaffinity_np(pthread_self(), sizeof one, &one)), unused;
}

static void *by_policy(void *unused)
{
	struct sched_param zero = {0};
	usleep(100000);
	return watch("sched_setscheduler", sched_setscheduler(0, SCHED_BATCH, &zero)), unused;
}

static void *by_pthread_policy(void *unused)
{
	struct sched_param zero = {0};
	usleep(100000);
	return watch("pthread_setschedparam", pthread_setschedparam(pthread_self(), SCHED_BATCH, &zero)), unused;
}

static void *by_param(void *unused)
{
	usleep(100000);
	return watch("sched_setparam", sched_setparam(0, &priority)), unused;
}

static void *by_pthread_priority(void *unused)
{
	usleep(100000);
	return watch("pthread_setschedprio", pthread_setschedprio(pthread_self(), priority.sched_priority)), unused;
}

int main(int argc, char **argv)
{
	static void *(*const routine[])(void *) = {by_attr,           by_call,  by_pthread_call,    by_policy,
						   by_pthread_policy, by_param, by_pthread_priority};
	int from = argc > 2 ? 5 : 0, to = argc > 2 ? 7 : 5;
	pthread_t id[7];
	pthread_attr_t attr;
	int call = 0;
	priority.sched_priority = argc > 2 ? atoi(argv[2]) : 0;
	CPU_ZERO(&one);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &one);
	pthread_attr_init(&attr);
	call = pthread_attr_setaffinity_np(&attr, sizeof one, &one);
	for (int i = from; i < to; i++)
		if ((errno = pthread_create(&id[i], i == 0 ? &attr : NULL, routine[i], &call)) != 0)
			return perror("pthread_create"), 3;
	for (int i = from; i < to; i++)
		pthread_join(id[i], NULL);
	return 0;
}

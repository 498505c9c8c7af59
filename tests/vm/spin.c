/*
 * Threads that spin until one common deadline.  Shows, for each, its progress, its CPU time in ms, the CPUs that it was
 * seen on, and its class at its end; a last line says how many CPUs they used together.
 */
#include "../programs/show.h"
#include <pthread.h>
#include <time.h>

static const char usage[] = "usage: spin [-n THREADS] [-s SECONDS] [-f PRIORITY]\n"
			    "  -f each thread makes itself SCHED_FIFO after a tenth of the time\n";

enum { MAX_THREADS = 64, MAX_CPUS = 1024 };

static struct thread {
	pthread_t id;
	unsigned long progress, seen[MAX_CPUS];
	double cpu;
	char line[SHOW_LINE];
} thread[MAX_THREADS];

static double begin, seconds = 1.5;
static int priority;

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *spin(void *argument)
{
	struct thread *t = argument;
	struct sched_param param = {.sched_priority = priority};
	int later = priority > 0;
	for (double at; (at = now(CLOCK_MONOTONIC)) < begin + seconds;) {
		if (later && at > begin + seconds / 10) {
			int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
			if (error)
				fprintf(stderr, "spin: SCHED_FIFO: %s\n", strerror(error));
			later = 0;
		}
		for (volatile int i = 0; i < 2000; i++)
			;
		t->seen[sched_getcpu() % MAX_CPUS]++;
		t->progress++;
	}
	t->cpu = now(CLOCK_THREAD_CPUTIME_ID);
	show_self(t->line, sizeof t->line);
	return NULL;
}

static void list(char *text, size_t size, const unsigned long *seen, int *used)
{
	*used = 0;
	for (size_t cpu = 0, n = 0; cpu < MAX_CPUS && n < size; cpu++)
		if (seen[cpu])
			n += (size_t)snprintf(text + n, size - n, "%s%zu", (*used)++ ? "," : "", cpu);
}

int main(int argc, char **argv)
{
	static unsigned long all[MAX_CPUS];
	char who[512], cpus[256] = "";
	int n = 4, used;
	for (int c; (c = getopt(argc, argv, "n:s:f:")) != -1;)
		switch (c) {
		case 'n':
			n = atoi(optarg);
			break;
		case 's':
			seconds = atof(optarg);
			break;
		case 'f':
			priority = atoi(optarg);
			break;
		default:
			return fputs(usage, stderr), 2;
		}
	if (n < 1 || n > MAX_THREADS)
		return fputs(usage, stderr), 2;
	show("main");
	begin = now(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++) {
		int error = pthread_create(&thread[i].id, NULL, spin, &thread[i]);
		if (error)
			return fprintf(stderr, "spin: pthread_create: %s\n", strerror(error)), 3;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(thread[i].id, NULL);
		list(cpus, sizeof cpus, thread[i].seen, &used);
		snprintf(who, sizeof who, "%d\tprogress=%lu\tms=%.0f\tseen=%s", i + 1, thread[i].progress,
			 thread[i].cpu * 1e3, cpus);
		show_print(who, thread[i].line);
		for (int cpu = 0; cpu < MAX_CPUS; cpu++)
			all[cpu] += thread[i].seen[cpu];
	}
	list(cpus, sizeof cpus, all, &used);
	printf("who=all\tused=%d\tseen=%s\n", used, cpus);
	return 0;
}

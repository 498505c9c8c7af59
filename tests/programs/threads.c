/* Shows what class each thread has when it starts and after it got its name: main first, then in the order of creation. */
#include "show.h"
#include <pthread.h>
#include <sys/prctl.h>

static const char usage[] = "usage: threads [-n N] [-s SECONDS] [-N PREFIX [-P | -p]] [-r ROUNDS] [-f]\n"
			    "  -n threads (default 4)         -N name them PREFIX1, PREFIX2 ...; each names itself\n"
			    "  -s stay, after a line `ready`  -P main names them   -p they use prctl\n"
			    "  -r create and join them again  -f try a create that fails before each\n";

struct thread {
	pthread_t id;
	int index;
	char name[32], start[SHOW_LINE], named[SHOW_LINE];
};

static const char *prefix;
static int by_main, by_prctl;
static pthread_barrier_t started, may_name, done, end;

static void *thread(void *argument)
{
	struct thread *t = argument;
	show_self(t->start, sizeof t->start);
	pthread_barrier_wait(&started);
	pthread_barrier_wait(&may_name);
	if (prefix && by_prctl)
		prctl(PR_SET_NAME, t->name);
	else if (prefix && !by_main && pthread_setname_np(pthread_self(), t->name) != 0)
		fprintf(stderr, "threads: cannot be named: %s\n", t->name);
	show_self(t->named, sizeof t->named);
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&end);
	return NULL;
}

static void must_fail(void)
{
	pthread_t id;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)1 << (sizeof(size_t) == 8 ? 47 : 31)); /* more than there is */
	if (pthread_create(&id, &attr, thread, NULL) == 0) {
		fprintf(stderr, "threads: a create that must fail did not\n");
		exit(3);
	}
	pthread_attr_destroy(&attr);
}

static void print(struct thread *t, const char *when, const char *line)
{
	char who[64];
	snprintf(who, sizeof who, "%d\twhen=%s", t->index, when);
	show_print(who, line);
}

int main(int argc, char **argv)
{
	int n = 4, seconds = 0, rounds = 1, failing = 0, next = 0;
	for (int c; (c = getopt(argc, argv, "n:s:N:Ppr:f")) != -1;)
		switch (c) {
		case 'n':
			n = atoi(optarg);
			break;
		case 's':
			seconds = atoi(optarg);
			break;
		case 'N':
			prefix = optarg;
			break;
		case 'P':
			by_main = 1;
			break;
		case 'p':
			by_prctl = 1;
			break;
		case 'r':
			rounds = atoi(optarg);
			break;
		case 'f':
			failing = 1;
			break;
		default:
			return fputs(usage, stderr), 2;
		}
	show("0\twhen=start");

	struct thread *t = calloc((size_t)n + 1, sizeof *t);
	pthread_barrier_init(&started, NULL, (unsigned)n + 1);
	pthread_barrier_init(&may_name, NULL, (unsigned)n + 1);
	pthread_barrier_init(&done, NULL, (unsigned)n + 1);
	pthread_barrier_init(&end, NULL, (unsigned)n + 1);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < n; i++) {
			t[i].index = ++next;
			snprintf(t[i].name, sizeof t[i].name, "%.16s%d", prefix ? prefix : "", t[i].index);
			if (failing)
				must_fail();
			int error = pthread_create(&t[i].id, NULL, thread, &t[i]);
			if (error)
				return fprintf(stderr, "threads: pthread_create: %s\n", strerror(error)), 3;
		}
		pthread_barrier_wait(&started);
		for (int i = 0; prefix && by_main && i < n; i++)
			pthread_setname_np(t[i].id, t[i].name);
		pthread_barrier_wait(&may_name);
		pthread_barrier_wait(&done);
		for (int i = 0; i < n; i++)
			print(&t[i], "start", t[i].start);
		for (int i = 0; prefix && i < n; i++)
			print(&t[i], "named", t[i].named);
		if (seconds && round == rounds - 1) {
			if (write(STDOUT_FILENO, "ready\n", 6) != 6)
				return 99;
			sleep((unsigned)seconds);
		}
		pthread_barrier_wait(&end);
		for (int i = 0; i < n; i++)
			pthread_join(t[i].id, NULL);
	}
	free(t);
	return 0;
}

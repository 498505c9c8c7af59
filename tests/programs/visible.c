/* Shows how many CPUs main and a thread are told of, and where they are after they set exactly that set again. */
#include "show.h"
#include <pthread.h>

static void *looks(void *who)
{
	char before[SHOW_LINE], line[SHOW_LINE + 128];
	cpu_set_t told, pthread_told;
	CPU_ZERO(&told);
	CPU_ZERO(&pthread_told);
	show_self(before, sizeof before);
	int count = sched_getaffinity(0, sizeof told, &told) == 0 ? CPU_COUNT(&told) : -1;
	int pthread_count = pthread_getaffinity_np(pthread_self(), sizeof told, &pthread_told) == 0
				    ? CPU_COUNT(&pthread_told)
				    : -1;
	int set = sched_setaffinity(0, sizeof told, &told);
	int pthread_set = pthread_setaffinity_np(pthread_self(), sizeof told, &pthread_told);
	show_self(line, SHOW_LINE);
	int same = strcmp(before, line) == 0;
	size_t n = strlen(line);
	snprintf(line + n, sizeof line - n, "\ttold=%d\tpthread_told=%d\tset=%d\tpthread_set=%d\tsame=%d", count,
		 pthread_count, set, pthread_set, same);
	show_print(who, line);
	return NULL;
}

int main(void)
{
	pthread_t id;
	looks("main");
	if (pthread_create(&id, NULL, looks, "thread") != 0)
		return 3;
	pthread_join(id, NULL);
	return 0;
}

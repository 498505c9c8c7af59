/* Shows threads of several start routines, some of them static functions. */
#include "show.h"
#include <pthread.h>

void *exported(void *who);
void *exported(void *who)
{
	return show(who), NULL;
}
static __attribute__((noinline)) void *listens(void *who)
{
	return show(who), NULL;
}
static __attribute__((noinline)) void *works(void *who)
{
	return show(who), (char *)who + 1;
}

int main(void)
{
	static const struct {
		void *(*routine)(void *);
		const char *who;
	} threads[] = {{works, "works1"}, {exported, "exported"}, {listens, "listens"}, {works, "works2"}};
	for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
		pthread_t id;
		if (pthread_create(&id, NULL, threads[i].routine, (void *)threads[i].who) != 0)
			return 3;
		pthread_join(id, NULL);
	}
	return 0;
}

/* Shows a thread of a program that took all thread-specific keys but N before any constructor ran: `keys N`. */
#include "show.h"
#include <pthread.h>

static void *runs(void *who)
{
	return show(who), NULL;
}

static void take_keys(int argc, char **argv, char **environment)
{
	static pthread_key_t key[2048];
	int n = 0, leave = argc > 1 ? atoi(argv[1]) : 0;
	(void)environment;
	while (n < 2048 && pthread_key_create(&key[n], NULL) == 0)
		n++;
	while (leave-- > 0 && n > 0)
		pthread_key_delete(key[--n]);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = take_keys;

int main(void)
{
	pthread_t id;
	show("main");
	if (pthread_create(&id, NULL, runs, "thread") != 0)
		return 3;
	pthread_join(id, NULL);
	return 0;
}

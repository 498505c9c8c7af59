/* Shows the threads of a program whose library (ctorlib) has made one before main: the constructor's, main, two workers. */
#include "show.h"
#include <pthread.h>

void ctorlib_report(void);

static void *works(void *who)
{
	return show(who), NULL;
}

int main(void)
{
	pthread_t worker;
	ctorlib_report();
	show("main");
	for (int i = 0; i < 2; i++) {
		pthread_create(&worker, NULL, works, i ? "worker2" : "worker1");
		pthread_join(worker, NULL);
	}
	return 0;
}

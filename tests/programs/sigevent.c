/* Shows the class of the thread that a SIGEV_THREAD timer runs: libc makes it, no hook sees it; `sigevent [SECONDS]` stays. */
#include "show.h"
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static sem_t fired;

static void expire(union sigval value)
{
	(void)value;
	show("timer");
	sem_post(&fired);
}

int main(int argc, char **argv)
{
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expire};
	struct itimerspec soon = {.it_value.tv_nsec = 10000000};
	sem_init(&fired, 0, 0);
	show("main");
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
		return perror("timer"), 3;
	while (sem_wait(&fired) != 0)
		;
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		sleep((unsigned)atoi(argv[1]));
	}
	return 0;
}

/*
 * A master whose workers are killed one after the other; each shows itself and a thread: `respawn N [zombies]`.
 * zombies: they are not waited for.
 */
#include "show.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static void *runs(void *who)
{
	return show(who), NULL;
}

int main(int argc, char **argv)
{
	int reap = argc < 3;
	show("master");
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		pid_t worker = fork();
		siginfo_t info;
		if (worker == 0) {
			pthread_t id;
			show("worker");
			pthread_create(&id, NULL, runs, "thread");
			pthread_join(id, NULL);
			raise(SIGKILL);
		}
		waitid(P_PID, (id_t)worker, &info, WEXITED | (reap ? 0 : WNOWAIT));
	}
	return 0;
}

/*
 * A forked worker that writes nonsense into the ledger while its parent creates threads: `scribble COUNT CPU`, the
 * worker on that CPU.  Prints how many were created and ended; that the parent lives to print it is the point.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../shim/ledger.h"

static struct ledger *find_ledger(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	void *at = NULL;
	while (maps && !at && fgets(line, sizeof line, maps))
		if (strstr(line, LEDGER_NAME))
			sscanf(line, "%p", &at);
	return at;
}

/* The records that are being taken: a CPU that no machine has. */
static void scribble(struct ledger *ledger, int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		uint32_t next = ledger->hint;
		for (uint32_t i = 0; i < 4; i++)
			ledger->record[(next + i - 1) % LEDGER_THREADS].cpu = INT16_MAX;
	}
}

static void *nothing(void *argument)
{
	return argument;
}

int main(int argc, char **argv)
{
	struct ledger *ledger = find_ledger();
	int count = argc > 1 ? atoi(argv[1]) : 1000, ended = 0;
	pthread_t id;
	pid_t worker;
	if (!ledger)
		return fputs("no ledger\n", stderr), 3;
	worker = fork();
	if (worker == 0)
		scribble(ledger, argc > 2 ? atoi(argv[2]) : 0);
	for (int i = 0; i < count; i++)
		ended += pthread_create(&id, NULL, nothing, NULL) == 0 && pthread_join(id, NULL) == 0;
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
	printf("ended=%d\n", ended);
	return 0;
}

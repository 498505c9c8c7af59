/* busy.c - an ordinary process that never sleeps on each CPU given.  Ends when its parent does. */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "bench.h"

static void spin_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set))
		err(1, "CPU %d", cpu);
	for (;;)
		;
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i + 1 < argc; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			spin_on(atoi(argv[i]));
		}
	if (argc > 1)
		spin_on(atoi(argv[argc - 1]));
	return 0;
}

/* Runs a command under a filter that refuses or kills at real-time, affinity and memory lock calls, as hardened units do. */
#include "show.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static const char usage[] =
	"usage: seccomp [-k] [-m] [-c CALL]... COMMAND [ARGUMENT...]\n"
	"  -k kill instead of EPERM   -m also memory-deny-write-execute (nothing refused unless -c)\n"
	"  -c sched_setaffinity, sched_setscheduler, sched_setattr or mlockall; default: all four\n";
static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{"sched_setaffinity", SYS_sched_setaffinity},
	{"sched_setscheduler", SYS_sched_setscheduler},
	{"sched_setattr", SYS_sched_setattr},
	{"mlockall", SYS_mlockall},
};
enum { CALLS = sizeof calls / sizeof *calls };

int main(int argc, char **argv)
{
	unsigned action = SECCOMP_RET_ERRNO | EPERM, chosen = 0;
	int deny_write_execute = 0;
	for (int c; (c = getopt(argc, argv, "+kmc:")) != -1;)
		switch (c) {
		case 'k':
			action = SECCOMP_RET_KILL_PROCESS;
			break;
		case 'm':
			deny_write_execute = 1;
			break;
		case 'c':
			for (unsigned i = 0; i < CALLS; i++)
				if (strcmp(optarg, calls[i].name) == 0)
					chosen |= 1U << i;
			break;
		default:
			return fputs(usage, stderr), 2;
		}
	if (!argv[optind])
		return fputs(usage, stderr), 2;
	if (!chosen && !deny_write_execute)
		chosen = (1U << CALLS) - 1;

	struct sock_filter filter[2 * CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	unsigned short n = 1;
	for (unsigned i = 0; i < CALLS; i++)
		if (chosen >> i & 1) {
			filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
			filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
		}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {n, filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return perror("seccomp"), 3;
	if (deny_write_execute && prctl(65 /* PR_SET_MDWE, since Linux 6.3 */, 1UL, 0UL, 0UL, 0UL) != 0)
		return perror("PR_SET_MDWE"), 3;
	execvp(argv[optind], argv + optind);
	return perror(argv[optind]), 127;
}

#ifndef LLRUN_OBSERVE_H
#define LLRUN_OBSERVE_H
/* observe.c: another process as the kernel shows it.  Nothing is changed in it, and it is never stopped. */
#include <sys/types.h>
#include "../shim/ledger.h"
#include "launcher.h"

struct thread_state {
	pid_t tid;
	char name[32];
	struct cpuset cpus;
	int on_cpu; /* where it runs or ran last */
	int policy, priority, nice;
	long long involuntary, migrations, wait_ns, faults; /* since its start; -1: this kernel does not tell */
	struct thread_state *next;
};

struct socket_state {
	int fd, protocol; /* SOCKET_RULE_* */
	bool listening;
	int value[N_SOCKET_OPTIONS];
	bool readable[N_SOCKET_OPTIONS]; /* SO_BUSY_POLL_BUDGET can be set but not read */
	unsigned napi;                   /* SO_INCOMING_NAPI_ID; 0: nothing to busy-poll */
	struct socket_state *next;
};

struct epoll_state {
	int fd;
	struct epoll_busy_poll *parameters; /* NULL: this kernel does not tell (before Linux 6.9) */
	struct epoll_state *next;
};

struct child_state {
	pid_t pid;
	char name[32];
	bool covered;
	struct child_state *next;
};

/* The process of this number, or the only one of this program name.  0 with *why: there is none, or several. */
pid_t observe_find(const char *pid_or_name, const char **why);
/* NULL with *why: the process is gone or cannot be read. */
struct thread_state *observe_threads(pid_t pid, const char **why);
/* Its ledger, copied.  NULL with *why: it has none, or may not be read (ptrace(2), PTRACE_MODE_ATTACH). */
struct ledger *observe_ledger(pid_t pid, const char **why);
/* Sockets and epoll instances, by pidfd_getfd(2) (Linux 5.6).  False with *why: not allowed. */
bool observe_files(pid_t pid, struct socket_state **sockets, struct epoll_state **epolls, const char **why);
struct child_state *observe_children(pid_t pid);
/* A field of /proc/PID/status in its own unit, or -1. */
long long observe_status(pid_t pid, const char *field);
bool observe_holds_latency(pid_t pid, bool *known);   /* an fd on /dev/cpu_dma_latency */
const char *observe_numa_policy(pid_t pid);           /* "default", "bind:0"; NULL: cannot tell */
struct cpuset observe_cpuset(pid_t pid, bool *known); /* what its cpuset allows */
const char *observe_executable(pid_t pid);            /* NULL: may not be read */

#endif

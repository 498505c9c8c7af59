/*
 * One line about a thread, asked of the kernel and never of a function that the shim hooks.  Include it first.
 * who=WHO comm=NAME cpus=0-1 policy=fifo prio=30 nice=0 reset=0 locked=0, separated by tabs; locked is VmLck in kB.
 */
#ifndef SHOW_H
#define SHOW_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHOW_LINE = 1024 };

/* The value of `key` in a /proc/.../status file; "" if it has none. */
static inline void show_status(const char *path, const char *key, char *value, size_t size)
{
	char *line = NULL;
	size_t room = 0, length = strlen(key);
	FILE *file = fopen(path, "re");
	value[0] = '\0';
	while (file && getline(&line, &room, file) > 0)
		if (strncmp(line, key, length) == 0 && line[length] == ':') {
			line[strcspn(line, "\n")] = '\0';
			snprintf(value, size, "%s", line + length + 1 + strspn(line + length + 1, " \t"));
			break;
		}
	free(line);
	if (file)
		fclose(file);
}

static inline const char *show_policy(long policy)
{
	static const char *const name[] = {"other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext"};
	policy &= ~0x40000000L; /* SCHED_RESET_ON_FORK */
	return policy >= 0 && policy < 8 ? name[policy] : "unknown";
}

/* The line about thread `tid` of the process whose /proc directory is `process`, without who= and newline. */
static inline void show_thread(char *line, size_t size, const char *process, pid_t tid)
{
	char path[64], comm[64], cpus[512], locked[64];
	int priority = -1;
	snprintf(path, sizeof path, "/proc/%s/task/%d/status", process, (int)tid);
	show_status(path, "Name", comm, sizeof comm);
	show_status(path, "Cpus_allowed_list", cpus, sizeof cpus);
	show_status(path, "VmLck", locked, sizeof locked);
	long policy = syscall(SYS_sched_getscheduler, tid);
	syscall(SYS_sched_getparam, tid, &priority);
	snprintf(line, size, "comm=%s\tcpus=%s\tpolicy=%s\tprio=%d\tnice=%d\treset=%d\tlocked=%ld", comm, cpus,
		 show_policy(policy), priority, getpriority(PRIO_PROCESS, (id_t)tid), (policy & 0x40000000L) != 0,
		 atol(locked));
}

static inline void show_self(char *line, size_t size)
{
	show_thread(line, size, "self", (pid_t)syscall(SYS_gettid));
}

/* One write, so that lines of several threads and processes never mix. */
static inline void show_print(const char *who, const char *rest)
{
	char line[SHOW_LINE + 128];
	int n = snprintf(line, sizeof line, "who=%s\t%s\n", who, rest);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(99);
}

static inline void show(const char *who)
{
	char line[SHOW_LINE];
	show_self(line, sizeof line);
	show_print(who, line);
}

/* "ok NAME" or "FAIL NAME why"; the number of failures so far. */
static inline int check(const char *name, int good, const char *why)
{
	static int failures;
	char line[512];
	int n = good ? snprintf(line, sizeof line, "ok %s\n", name)
		     : snprintf(line, sizeof line, "FAIL %s %s\n", name, why);
	failures += !good;
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(99);
	return failures;
}
#endif

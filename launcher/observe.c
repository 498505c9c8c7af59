/* observe.c - another process as the kernel shows it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "../policy/sockets.h"
#include "observe.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#define SYS_pidfd_getfd 438
#endif
#ifndef SO_INCOMING_NAPI_ID
#define SO_INCOMING_NAPI_ID 56
#endif

/* The text of a small file in /proc, or NULL. */
__attribute__((format(printf, 1, 2))) static char *slurp(const char *format, ...)
{
	const char *path;
	char text[8192];
	va_list args;
	ssize_t n;
	int fd;

	va_start(args, format);
	path = memory_vprintf(format, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	return n < 0 ? NULL : memory_copy(text, (size_t)n);
}

/* What follows "NAME:" in such a text, up to the line's end; NULL if it is not there. */
static char *field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, name, n) == 0 && strchr(": \t", line[n])) {
			const char *value = line + n + strspn(line + n, ": \t");

			return memory_copy(value, strcspn(value, "\n"));
		}
	return NULL;
}

/* Behind a refusal: all of it goes by the rights of ptrace(2), PTRACE_MODE_ATTACH or _READ. */
static const char *advice(void)
{
	return geteuid() ? "; run as root or as its user (and see kernel.yama.ptrace_scope)"
			 : "; it may not be traced from here";
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

const char *observe_executable(pid_t pid)
{
	char path[PATH_MAX];
	ssize_t n = readlink(memory_printf("/proc/%d/exe", (int)pid), path, sizeof path);

	return n <= 0 ? NULL : memory_copy(path, (size_t)n);
}

/* Its name in the kernel, its executable's base name, or the base name of argv[0]: any of them is how users call it. */
static bool is_called(pid_t pid, const char *name)
{
	const char *comm = slurp("/proc/%d/comm", (int)pid), *exe = observe_executable(pid),
		   *argv = slurp("/proc/%d/cmdline", (int)pid);
	const char *called[3] = {comm ? memory_copy(comm, strcspn(comm, "\n")) : "", exe ? exe : "", argv ? argv : ""};

	for (int i = 0; i < 3; i++) {
		const char *slash = strrchr(called[i], '/');

		if (strcmp(slash ? slash + 1 : called[i], name) == 0)
			return true;
	}
	return false;
}

pid_t observe_find(const char *pid_or_name, const char **why)
{
	const char *list = "";
	pid_t found = 0;
	int n = 0;
	DIR *proc;

	if (is_number(pid_or_name)) {
		found = (pid_t)strtol(pid_or_name, NULL, 10);
		if (found > 0 && access(memory_printf("/proc/%d", (int)found), F_OK) == 0)
			return found;
		*why = memory_printf("there is no process %s", pid_or_name);
		return 0;
	}
	proc = opendir("/proc");
	for (struct dirent *d; proc && (d = readdir(proc));) {
		pid_t pid = is_number(d->d_name) ? (pid_t)atoi(d->d_name) : 0;

		if (pid && pid != getpid() && is_called(pid, pid_or_name)) {
			found = pid;
			list = memory_printf("%s%s%d", list, n++ ? ", " : "", (int)pid);
		}
	}
	if (proc)
		closedir(proc);
	if (n == 1)
		return found;
	*why = n ? memory_printf("several processes are called '%s': %s; give one number", pid_or_name, list)
		 : memory_printf("no process is called '%s'", pid_or_name);
	return 0;
}

/* /proc/PID/task/TID/stat, the fields after the name, which may hold anything: proc(5) counts the state as 3. */
static long long stat_field(const char *stat, int number)
{
	const char *p = strrchr(stat, ')');

	for (int i = 2; p && i < number; i++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoll(p + 1, NULL, 10) : -1;
}

static struct thread_state *read_thread(pid_t pid, pid_t tid)
{
	char *status = slurp("/proc/%d/task/%d/status", (int)pid, (int)tid),
	     *stat = slurp("/proc/%d/task/%d/stat", (int)pid, (int)tid);
	char *schedstat = slurp("/proc/%d/task/%d/schedstat", (int)pid, (int)tid),
	     *sched = slurp("/proc/%d/task/%d/sched", (int)pid, (int)tid);
	struct thread_state *t;
	const char *list;

	if (!status || !stat)
		return NULL;
	t = memory_get(sizeof *t);
	t->tid = tid;
	list = field(status, "Name");
	snprintf(t->name, sizeof t->name, "%s", list ? list : "?");
	list = field(status, "Cpus_allowed_list");
	cpuset_parse(&t->cpus, list ? list : "");
	list = field(status, "nonvoluntary_ctxt_switches");
	t->involuntary = list ? strtoll(list, NULL, 10) : -1;
	t->nice = (int)stat_field(stat, 19);
	t->on_cpu = (int)stat_field(stat, 39);
	t->priority = (int)stat_field(stat, 40);
	t->policy = (int)stat_field(stat, 41);
	t->faults = stat_field(stat, 10) + stat_field(stat, 12);
	t->migrations = t->wait_ns = -1;
	if (schedstat && strchr(schedstat, ' '))
		t->wait_ns = strtoll(strchr(schedstat, ' '), NULL, 10);
	list = sched ? field(sched, "se.nr_migrations") : NULL;
	if (list)
		t->migrations = strtoll(list, NULL, 10);
	return t;
}

struct thread_state *observe_threads(pid_t pid, const char **why)
{
	struct thread_state *first = NULL, **end = &first;
	DIR *task = opendir(memory_printf("/proc/%d/task", (int)pid));

	if (!task) {
		*why = memory_printf("process %d: %s", (int)pid, errno == ENOENT ? "it is gone" : strerror(errno));
		return NULL;
	}
	for (struct dirent *d; (d = readdir(task));) {
		struct thread_state *t = is_number(d->d_name) ? read_thread(pid, (pid_t)atoi(d->d_name)) : NULL;

		if (t) {
			*end = t;
			end = &t->next;
		}
	}
	closedir(task);
	if (!first)
		*why = memory_printf("process %d: its threads cannot be read", (int)pid);
	return first;
}

/* Address and size of the mapping whose name holds LEDGER_NAME; 0 with *why. */
static uintptr_t find_ledger(pid_t pid, size_t *size, const char **why)
{
	FILE *maps = fopen(memory_printf("/proc/%d/maps", (int)pid), "re");
	unsigned long from = 0, to = 0;
	char line[PATH_MAX + 128];
	bool found = false;

	if (!maps) {
		*why = memory_printf("/proc/%d/maps: %s%s", (int)pid, strerror(errno), advice());
		return 0;
	}
	errno = 0;
	while (!found && fgets(line, sizeof line, maps))
		found = strstr(line, "memfd:" LEDGER_NAME) && sscanf(line, "%lx-%lx", &from, &to) == 2;
	if (!found)
		*why = errno ? memory_printf("/proc/%d/maps: %s%s", (int)pid, strerror(errno), advice())
			     : memory_printf(
				       "process %d was not started by llrun, or not covered (-p POLICY judges it all the same)",
				       (int)pid);
	fclose(maps);
	*size = to - from;
	return found ? from : 0;
}

struct ledger *observe_ledger(pid_t pid, const char **why)
{
	size_t size;
	uintptr_t address = find_ledger(pid, &size, why);
	struct ledger *ledger;
	struct iovec to, from;
	ssize_t n;

	if (!address)
		return NULL;
	ledger = memory_get(size + 1); /* the plan in it then ends, whatever it holds */
	to = (struct iovec){ledger, size};
	from = (struct iovec){(void *)address, size};
	n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	if (n < 0) {
		*why = memory_printf("its ledger cannot be read: %s%s", strerror(errno), advice());
		return NULL;
	}
	if ((size_t)n < sizeof *ledger || ledger->magic != LEDGER_MAGIC) {
		*why = "its shim is of another version of llrun";
		return NULL;
	}
	return ledger;
}

static void read_socket(int fd, int number, struct socket_state **list)
{
	int domain = 0, type = 0, protocol = 0, listening = 0;
	socklen_t size = sizeof domain;
	struct socket_state *s;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || (domain != AF_INET && domain != AF_INET6))
		return;
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
	getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size);
	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size);
	s = memory_get(sizeof *s);
	s->fd = number;
	s->protocol = socket_protocol(domain, type, protocol);
	s->listening = listening;
	for (int i = 0; i < N_SOCKET_OPTIONS; i++) {
		size = sizeof s->value[i];
		s->readable[i] = getsockopt(fd, socket_options[i].level, socket_options[i].option, &s->value[i],
					    &size) == 0;
	}
	size = sizeof s->napi;
	getsockopt(fd, SOL_SOCKET, SO_INCOMING_NAPI_ID, &s->napi, &size);
	while (*list)
		list = &(*list)->next;
	*list = s;
}

static void read_epoll(int fd, int number, struct epoll_state **list)
{
	struct epoll_state *e = memory_get(sizeof *e);
	struct epoll_busy_poll p;

	e->fd = number;
	if (ioctl(fd, EPOLL_GET_BUSY_POLL, &p) == 0) {
		e->parameters = memory_get(sizeof p);
		*e->parameters = p;
	}
	while (*list)
		list = &(*list)->next;
	*list = e;
}

bool observe_files(pid_t pid, struct socket_state **sockets, struct epoll_state **epolls, const char **why)
{
	DIR *dir = opendir(memory_printf("/proc/%d/fd", (int)pid));
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool ok = true;

	*sockets = NULL;
	*epolls = NULL;
	if (!dir || pidfd < 0) {
		*why = memory_printf("/proc/%d/fd: %s", (int)pid, strerror(errno));
		ok = false;
	}
	for (struct dirent *d; ok && (d = readdir(dir));) {
		char link[64];
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof link - 1);
		bool socket, epoll;
		int fd;

		link[n > 0 ? n : 0] = '\0';
		socket = strncmp(link, "socket:", 7) == 0;
		epoll = strcmp(link, "anon_inode:[eventpoll]") == 0;
		if (!socket && !epoll)
			continue;
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, atoi(d->d_name), 0);
		if (fd < 0 && errno != EBADF) {
			*why = memory_printf("pidfd_getfd: %s%s", strerror(errno), advice());
			ok = false;
		}
		if (fd >= 0 && socket)
			read_socket(fd, atoi(d->d_name), sockets);
		else if (fd >= 0)
			read_epoll(fd, atoi(d->d_name), epolls);
		if (fd >= 0)
			close(fd);
	}
	if (dir)
		closedir(dir);
	if (pidfd >= 0)
		close(pidfd);
	return ok;
}

struct child_state *observe_children(pid_t pid)
{
	struct child_state *first = NULL, **end = &first;
	DIR *proc = opendir("/proc");

	for (struct dirent *d; proc && (d = readdir(proc));) {
		const char *stat = is_number(d->d_name) ? slurp("/proc/%s/stat", d->d_name) : NULL, *why, *comm;
		struct child_state *c;
		size_t size;

		if (!stat || stat_field(stat, 4) != pid)
			continue;
		c = memory_get(sizeof *c);
		c->pid = (pid_t)atoi(d->d_name);
		comm = slurp("/proc/%d/comm", (int)c->pid);
		snprintf(c->name, sizeof c->name, "%.*s", comm ? (int)strcspn(comm, "\n") : 1, comm ? comm : "?");
		c->covered = find_ledger(c->pid, &size, &why) != 0;
		*end = c;
		end = &c->next;
	}
	if (proc)
		closedir(proc);
	return first;
}

long long observe_status(pid_t pid, const char *name)
{
	const char *status = slurp("/proc/%d/status", (int)pid), *value = status ? field(status, name) : NULL;

	return value && isdigit((unsigned char)*value) ? strtoll(value, NULL, 10) : -1;
}

bool observe_holds_latency(pid_t pid, bool *known)
{
	DIR *dir = opendir(memory_printf("/proc/%d/fd", (int)pid));
	bool held = false;

	*known = dir != NULL;
	for (struct dirent *d; dir && (d = readdir(dir));) {
		char link[64];
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof link - 1);

		link[n > 0 ? n : 0] = '\0';
		held |= strcmp(link, "/dev/cpu_dma_latency") == 0;
	}
	if (dir)
		closedir(dir);
	return held;
}

const char *observe_numa_policy(pid_t pid)
{
	const char *maps = slurp("/proc/%d/numa_maps", (int)pid), *word = maps ? strchr(maps, ' ') : NULL;

	return word ? memory_copy(word + 1, strcspn(word + 1, " \n")) : NULL;
}

struct cpuset observe_cpuset(pid_t pid, bool *known)
{
	const char *path = slurp("/proc/%d/cpuset", (int)pid), *list = NULL;
	struct cpuset set = {{0}};

	if (path) {
		path = memory_copy(path, strcspn(path, "\n"));
		if (strcmp(path, "/") == 0)
			path = "";
		list = slurp("/sys/fs/cgroup/cpuset%s/cpuset.effective_cpus", path); /* v1 */
		for (const char *up = path; !list; up = memory_copy(up, (size_t)(strrchr(up, '/') - up))) {
			list = slurp("/sys/fs/cgroup%s/cpuset.cpus.effective",
				     up); /* v2; the nearest that has the controller */
			if (!*up)
				break;
		}
	}
	*known = list && cpuset_parse(&set, list) && !cpuset_empty(&set);
	return set;
}

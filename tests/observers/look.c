/* Shows another process from outside: its threads, Internet sockets, epoll instances or memory. */
#include "../programs/show.h"
#include "../programs/options.h"
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* <linux/eventpoll.h> has these since Linux 6.9. */
struct look_epoll_params {
	uint32_t busy_poll_usecs;
	uint16_t busy_poll_budget;
	uint8_t prefer_busy_poll, pad;
};
#define LOOK_EPIOCGPARAMS _IOR(0x8A, 2, struct look_epoll_params)

static const char *pid;

/* The numbers in a directory of this process, ascending; as many as there are. */
static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

static size_t numbers(const char *directory, int *out, size_t max)
{
	char path[64];
	size_t n = 0;
	snprintf(path, sizeof path, "/proc/%s/%s", pid, directory);
	DIR *dir = opendir(path);
	if (!dir) {
		fprintf(stderr, "look: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	for (struct dirent *e; (e = readdir(dir)) && n < max;)
		if (e->d_name[0] != '.')
			out[n++] = atoi(e->d_name);
	closedir(dir);
	qsort(out, n, sizeof *out, by_number);
	return n;
}

static void threads(const int *tid, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char line[SHOW_LINE];
		show_thread(line, sizeof line, pid, tid[i]);
		if (strncmp(line, "comm=\t", 6) != 0) /* it has not ended meanwhile */
			printf("tid=%d\t%s\n", tid[i], line);
	}
}

/* Our copy of the other's descriptor, if its link starts with `kind`. */
static int copy(int pidfd, int fd, const char *kind)
{
	char path[64], link[64] = "";
	snprintf(path, sizeof path, "/proc/%s/fd/%d", pid, fd);
	if (readlink(path, link, sizeof link - 1) < 0 || strncmp(link, kind, strlen(kind)) != 0)
		return -1;
	int mine = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (mine < 0) {
		fprintf(stderr, "look: descriptor %d of %s: %s\n", fd, pid, strerror(errno));
		exit(2);
	}
	return mine;
}

static void descriptors(int epoll, const int *fd, size_t n)
{
	int pidfd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);
	if (pidfd < 0) {
		fprintf(stderr, "look: %s: %s\n", pid, strerror(errno));
		exit(2);
	}
	for (size_t i = 0; i < n; i++) {
		char line[SHOW_LINE];
		int mine = copy(pidfd, fd[i], epoll ? "anon_inode:[eventpoll]" : "socket:");
		if (mine < 0)
			continue;
		if (epoll) {
			struct look_epoll_params p;
			if (ioctl(mine, LOOK_EPIOCGPARAMS, &p) == 0)
				printf("fd=%d\tusecs=%u\tbudget=%u\tprefer=%u\n", fd[i], p.busy_poll_usecs,
				       p.busy_poll_budget, p.prefer_busy_poll);
			else
				printf("fd=%d\tusecs=-\tbudget=-\tprefer=-\n", fd[i]);
		} else {
			int domain = options_get(mine, SOL_SOCKET, SO_DOMAIN);
			options_line(line, sizeof line, mine);
			if (domain == AF_INET || domain == AF_INET6)
				printf("fd=%d\t%s\n", fd[i], line);
		}
		close(mine);
	}
}

static void memory(void)
{
	char path[64], locked[64], resident[64];
	snprintf(path, sizeof path, "/proc/%s/status", pid);
	show_status(path, "VmLck", locked, sizeof locked);
	show_status(path, "VmRSS", resident, sizeof resident);
	printf("VmLck=%ld\tVmRSS=%ld\n", atol(locked), atol(resident));
}

int main(int argc, char **argv)
{
	static int number[65536];
	const char *what = argc == 3 ? argv[1] : "";
	pid = argc == 3 ? argv[2] : "";
	if (strcmp(what, "threads") == 0)
		threads(number, numbers("task", number, 65536));
	else if (strcmp(what, "sockets") == 0)
		descriptors(0, number, numbers("fd", number, 65536));
	else if (strcmp(what, "epoll") == 0)
		descriptors(1, number, numbers("fd", number, 65536));
	else if (strcmp(what, "memory") == 0)
		memory();
	else
		return fprintf(stderr, "usage: look threads|sockets|epoll|memory PID\n"), 2;
	return 0;
}

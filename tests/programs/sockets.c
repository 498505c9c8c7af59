/* Shows the options, flags and errno of a socket of each kind, and two epoll instances; `sockets SECONDS` keeps them. */
#include "show.h"
#include "options.h"
#include <errno.h>
#include <sys/epoll.h>

static void print(const char *who, int fd, int error)
{
	char line[SHOW_LINE], rest[SHOW_LINE + 128];
	if (fd < 0) {
		snprintf(rest, sizeof rest, "fd=-1\terrno=%s", strerrorname_np(error));
	} else {
		options_line(line, sizeof line, fd);
		snprintf(rest, sizeof rest, "fd=%d\terrno=%d\tnonblock=%d\tcloexec=%d\t%s", fd, error,
			 (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0, (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, line);
	}
	show_print(who, rest);
}

static int make(const char *who, int domain, int type, int protocol)
{
	errno = 7777;
	int fd = socket(domain, type, protocol);
	print(who, fd, errno);
	return fd;
}

int main(int argc, char **argv)
{
	static const int protocols[] = {0, IPPROTO_TCP, IPPROTO_MPTCP};
	int pair[2], off = 0, fd = -1;
	for (int six = 0; six < 2; six++)
		for (int p = 0; p < 3; p++)
			for (int flags = 0; flags < 2; flags++) {
				char who[32];
				snprintf(who, sizeof who, "%s-%d%s", six ? "inet6" : "inet", protocols[p],
					 flags ? "-flags" : "");
				fd = make(who, six ? AF_INET6 : AF_INET,
					  SOCK_STREAM | (flags ? SOCK_NONBLOCK | SOCK_CLOEXEC : 0), protocols[p]);
			}
	fd = make("own", AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &off, sizeof off);
	print("own-nodelay-off", fd, 0);
	make("udp", AF_INET, SOCK_DGRAM, 0);
	make("udp6", AF_INET6, SOCK_DGRAM, 0);
	make("raw", AF_INET, SOCK_RAW, IPPROTO_ICMP); /* EPERM unless root */
	make("unix-stream", AF_UNIX, SOCK_STREAM, 0);
	make("unix-dgram", AF_UNIX, SOCK_DGRAM, 0);
	make("unix-seqpacket", AF_UNIX, SOCK_SEQPACKET, 0);
	make("netlink", AF_NETLINK, SOCK_RAW, 0);
	make("bad-family", 999, SOCK_STREAM, 0);
	errno = 7777;
	print("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 ? pair[0] : -1, errno);
	fd = epoll_create(1);
	printf("epoll=%d\tepoll1=%d\n", fd, epoll_create1(EPOLL_CLOEXEC));
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		sleep((unsigned)atoi(argv[1]));
	}
	return 0;
}

/*
 * One line about a socket: domain=inet type=stream proto=6 listen=0 nodelay=1 ..., separated by tabs; "-" where the
 * kernel has no such option for it.  Include it after show.h.
 */
#ifndef OPTIONS_H
#define OPTIONS_H
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static const struct {
	const char *name;
	int level, option;
} options_table[] = {
	{"nodelay", IPPROTO_TCP, TCP_NODELAY},
	{"busypoll", SOL_SOCKET, SO_BUSY_POLL},
	{"prefer", SOL_SOCKET, SO_PREFER_BUSY_POLL},
	{"priority", SOL_SOCKET, SO_PRIORITY},
	{"tos", IPPROTO_IP, IP_TOS},
	{"tclass", IPPROTO_IPV6, IPV6_TCLASS},
	{"usertimeout", IPPROTO_TCP, TCP_USER_TIMEOUT},
	{"quickack", IPPROTO_TCP, TCP_QUICKACK},
	{"rcvbuf", SOL_SOCKET, SO_RCVBUF},
	{"sndbuf", SOL_SOCKET, SO_SNDBUF},
	{"lowat", IPPROTO_TCP, TCP_NOTSENT_LOWAT},
};

static inline int options_get(int fd, int level, int option)
{
	int value = -1;
	socklen_t size = sizeof value;
	return getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

static inline void options_line(char *line, size_t size, int fd)
{
	int domain = options_get(fd, SOL_SOCKET, SO_DOMAIN), type = options_get(fd, SOL_SOCKET, SO_TYPE);
	int n = snprintf(line, size, "domain=%s\ttype=%s\tproto=%d\tlisten=%d",
			 domain == AF_INET    ? "inet"
			 : domain == AF_INET6 ? "inet6"
			 : domain == AF_UNIX  ? "unix"
					      : "other",
			 type == SOCK_STREAM  ? "stream"
			 : type == SOCK_DGRAM ? "dgram"
			 : type == SOCK_RAW   ? "raw"
					      : "other",
			 options_get(fd, SOL_SOCKET, SO_PROTOCOL), options_get(fd, SOL_SOCKET, SO_ACCEPTCONN));
	for (size_t i = 0; i < sizeof options_table / sizeof *options_table && n > 0 && (size_t)n < size; i++) {
		int value = 0;
		socklen_t length = sizeof value;
		if (getsockopt(fd, options_table[i].level, options_table[i].option, &value, &length) == 0)
			n += snprintf(line + n, size - (size_t)n, "\t%s=%d", options_table[i].name, value);
		else
			n += snprintf(line + n, size - (size_t)n, "\t%s=-", options_table[i].name);
	}
}
#endif

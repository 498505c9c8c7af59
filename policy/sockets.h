#ifndef LLRUN_SOCKETS_H
#define LLRUN_SOCKETS_H
/* How the keys of [Socket] are said to the kernel: for the launcher, which tries them, and the shim, which sets them. */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include "plan.h"

struct socket_option {
	const char *name;
	int level, option;
	bool tcp_only;
};
extern const struct socket_option socket_options[N_SOCKET_OPTIONS]; /* in the order in which they are set */

/* include/uapi/linux/eventpoll.h, Linux 6.9; glibc has it since 2.40. */
struct epoll_busy_poll {
	uint32_t microseconds;
	uint16_t budget;
	uint8_t prefer;
	uint8_t padding;
};
#define EPOLL_SET_BUSY_POLL _IOW(0x8A, 0x01, struct epoll_busy_poll)

#define EPOLL_GET_BUSY_POLL _IOR(0x8A, 0x02, struct epoll_busy_poll)

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262 /* Linux 5.6; <netinet/in.h> has it since glibc 2.32 */
#endif

/* SOCKET_RULE_* of a socket made with these arguments of socket(2), or read back; 0: no inet socket. */
int socket_protocol(int domain, int type, int protocol);

/* What a rule with BusyPollSec= gives an epoll instance. */
struct epoll_busy_poll socket_rule_epoll(const struct socket_rule *rule);

#endif

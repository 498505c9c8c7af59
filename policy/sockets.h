#ifndef LLRUN_SOCKETS_H
#define LLRUN_SOCKETS_H
/* How the keys of [Socket] are said to the kernel: for the launcher, which tries them, and the shim, which sets them. */
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

/* What a rule with BusyPollSec= gives an epoll instance. */
struct epoll_busy_poll socket_rule_epoll(const struct socket_rule *rule);

#endif

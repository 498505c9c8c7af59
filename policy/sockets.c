/* sockets.c - the socket options of keys.def as setsockopt(2) takes them. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "sockets.h"

const struct socket_option socket_options[N_SOCKET_OPTIONS] = {
#define KEY(...)
#define TCP true
#define ANY false
#define SOCKET_KEY(name, type, values, level, option, tcp_only, help) {#name, level, option, tcp_only},
#include "keys.def"
#undef KEY
#undef SOCKET_KEY
};

struct epoll_busy_poll socket_rule_epoll(const struct socket_rule *rule)
{
	return (struct epoll_busy_poll){
		.microseconds = (uint32_t)rule->value[SOCKET_BusyPollSec],
		/* 8 is the kernel's BUSY_POLL_BUDGET: what busy polling without these parameters takes */
		.budget = rule->given >> SOCKET_BusyPollBudget & 1 ? (uint16_t)rule->value[SOCKET_BusyPollBudget] : 8,
		.prefer = rule->value[SOCKET_PreferBusyPoll] != 0,
	};
}

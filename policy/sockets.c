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

int socket_protocol(int domain, int type, int protocol)
{
	if (domain != AF_INET && domain != AF_INET6)
		return 0;
	type &= 0xf; /* without SOCK_NONBLOCK and SOCK_CLOEXEC */
	if (type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP))
		return SOCKET_RULE_TCP;
	if (type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP))
		return SOCKET_RULE_UDP;
	return SOCKET_RULE_OTHER;
}

struct epoll_busy_poll socket_rule_epoll(const struct socket_rule *rule)
{
	return (struct epoll_busy_poll){
		.microseconds = (uint32_t)rule->value[SOCKET_BusyPollSec],
		/* 8 is the kernel's BUSY_POLL_BUDGET: what busy polling without these parameters takes */
		.budget = rule->given >> SOCKET_BusyPollBudget & 1 ? (uint16_t)rule->value[SOCKET_BusyPollBudget] : 8,
		.prefer = rule->value[SOCKET_PreferBusyPoll] != 0,
	};
}

/*
 * socket.c - socket options.  Set once, when the socket is made; the program's own later setsockopt wins.  Only inet
 * sockets are touched: SO_BUSY_POLL and SO_PRIORITY "succeed" on every family, which proves nothing.  The data path is not
 * hooked.
 *
 * Accepted connections inherit all but SO_PRIORITY and TCP_QUICKACK from their listener (measured on 6.18), so accept()
 * sets those; and, for a listener that socket() here never saw (socket activation, SCM_RIGHTS), the rest as well.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include "../policy/sockets.h"
#include "shim.h"

enum { NOT_INHERITED = 1u << SOCKET_Priority | 1u << SOCKET_QuickAck };

/*
 * What socket() made at each fd, two bits each, so that accept() need not ask the kernel: 0 not seen by us, else.  dup()
 * and close() are not hooked; an fd from elsewhere counts as not seen, and its connections get the whole rule.
 */
enum { SEEN_OTHER = 1, SEEN_TCP = 2, SEEN_FDS = 65536 };
LONG_ARRAY static _Atomic uint8_t seen[SEEN_FDS / 4];

static void remember(int fd, unsigned what)
{
	if (fd >= SEEN_FDS)
		return;
	uint8_t shift = (uint8_t)(fd % 4 * 2);
	atomic_fetch_and_explicit(&seen[fd / 4], (uint8_t) ~(3u << shift), memory_order_relaxed);
	atomic_fetch_or_explicit(&seen[fd / 4], (uint8_t)(what << shift), memory_order_relaxed);
}

static unsigned remembered(int fd)
{
	if (fd < 0 || fd >= SEEN_FDS)
		return 0;
	return atomic_load_explicit(&seen[fd / 4], memory_order_relaxed) >> (fd % 4 * 2) & 3;
}

static const struct socket_rule *rule_for(int protocol)
{
	for (uint32_t i = 0; i < plan.n_sockets; i++)
		if (plan.socket[i].protocols & protocol)
			return &plan.socket[i];
	return NULL;
}

/* Sets those of the rule's options that are in `which` and fit the protocol. */
static void apply(int fd, const struct socket_rule *rule, int protocol, uint32_t which, bool v6)
{
	struct tally *tally = &ledger->socket[rule - plan.socket];
	int saved = errno, error = 0;

	for (int i = 0; i < N_SOCKET_OPTIONS; i++) {
		int value = rule->value[i];

		if (!(which >> i & 1) || (socket_options[i].tcp_only && protocol != SOCKET_RULE_TCP))
			continue;
		if (setsockopt(fd, socket_options[i].level, socket_options[i].option, &value, sizeof value) != 0)
			error = errno;
		/* An IPv6 socket has a traffic class of its own, and IP_TOS for IPv4-mapped peers (ipv6(7)). */
		if (i == SOCKET_IPTOS && v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value) != 0)
			error = errno;
	}
	atomic_fetch_add_explicit(error ? &tally->failed : &tally->set, 1, memory_order_relaxed);
	if (error) {
		atomic_store_explicit(&tally->error, error, memory_order_relaxed);
		notice(NOTICE_SOCKET, rule->on_error, "a socket option was refused", error);
	}
	errno = saved;
}

HOOK int socket(int domain, int type, int protocol)
{
	int fd = real_socket()(domain, type, protocol);

	if (fd < 0 || !active() || !plan.n_sockets)
		return fd;
	int kind = socket_protocol(domain, type, protocol);
	const struct socket_rule *rule = kind ? rule_for(kind) : NULL;
	remember(fd, kind == SOCKET_RULE_TCP ? SEEN_TCP : SEEN_OTHER);
	if (rule) {
		atomic_fetch_add_explicit(&ledger->socket[rule - plan.socket].seen, 1, memory_order_relaxed);
		apply(fd, rule, kind, rule->given, domain == AF_INET6);
	}
	return fd;
}

/* Is this accepted socket TCP?  By its protocol: AF_UNIX and AF_VSOCK answer 0 (SO_PROTOCOL, socket(7)). */
static bool accepted_tcp(int fd, bool *v6)
{
	int protocol = 0, domain = 0;
	socklen_t size = sizeof protocol;

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 ||
	    (protocol != IPPROTO_TCP && protocol != IPPROTO_MPTCP))
		return false;
	size = sizeof domain;
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
	*v6 = domain == AF_INET6;
	return true;
}

static void accepted(int listener, int fd)
{
	const struct socket_rule *rule;
	unsigned from;
	bool v6 = false;
	int saved = errno;

	if (!active() || !plan.n_sockets || !(rule = rule_for(SOCKET_RULE_TCP)))
		return;
	from = remembered(listener);
	if (from == SEEN_OTHER || (from == SEEN_TCP && !(rule->given & NOT_INHERITED)))
		return;
	if (from == SEEN_TCP || accepted_tcp(fd, &v6)) {
		atomic_fetch_add_explicit(&ledger->socket[rule - plan.socket].seen, 1, memory_order_relaxed);
		apply(fd, rule, SOCKET_RULE_TCP, from == SEEN_TCP ? rule->given & NOT_INHERITED : rule->given, v6);
	}
	errno = saved;
}

HOOK int accept(int listener, struct sockaddr *restrict address, socklen_t *restrict size)
{
	int fd = real_accept()(listener, address, size);

	if (fd >= 0)
		accepted(listener, fd);
	return fd;
}

HOOK int accept4(int listener, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
	int fd = real_accept4()(listener, address, size, flags);

	if (fd >= 0)
		accepted(listener, fd);
	return fd;
}

/* SO_BUSY_POLL does not drive epoll; this does, since Linux 6.9. */
static void busy_poll(int epoll)
{
	int saved = errno;

	for (uint32_t i = 0; i < plan.n_sockets; i++) {
		const struct socket_rule *rule = &plan.socket[i];

		if (!(rule->given >> SOCKET_BusyPollSec & 1))
			continue;
		struct epoll_busy_poll p = socket_rule_epoll(rule);
		bool ok = ioctl(epoll, EPOLL_SET_BUSY_POLL, &p) == 0;

		atomic_fetch_add(&ledger->epoll.seen, 1);
		atomic_fetch_add(ok ? &ledger->epoll.set : &ledger->epoll.failed, 1);
		if (!ok) {
			atomic_store(&ledger->epoll.error, errno);
			notice(NOTICE_EPOLL, rule->on_error, "an epoll instance does not busy-poll", errno);
		}
		break;
	}
	errno = saved;
}

HOOK int epoll_create(int size)
{
	int fd = real_epoll_create()(size);

	if (fd >= 0 && active() && plan.n_sockets)
		busy_poll(fd);
	return fd;
}

HOOK int epoll_create1(int flags)
{
	int fd = real_epoll_create1()(flags);

	if (fd >= 0 && active() && plan.n_sockets)
		busy_poll(fd);
	return fd;
}

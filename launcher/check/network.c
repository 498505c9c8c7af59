/* network.c judges the network stack: busy polling, deferral, steering, TCP, drops. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

/* Bad of any interface is bad of all; the interface is {it} in the cures. */
static enum verdict no_interface(struct answer *a)
{
	return moot(a, "the policy has no [Socket] section and no near:, so no interface is looked at");
}

static bool uses_network(const struct check *c)
{
	return *c->interface || c->plan->n_sockets;
}

enum verdict network_busy_sysctls(struct check *c, struct answer *a)
{
	const char *release = read_text(c, &(struct answer){0}, "/proc/sys/kernel/osrelease");
	long long poll, major, minor;
	char *end;

	if (!c->busy_poll)
		return moot(a, "the policy does not busy-poll");
	if (!read_long(c, a, &poll, "/proc/sys/net/core/busy_poll"))
		return errno == ENOENT && exists(c, "/proc/sys/net/core")
			       ? bad(a, "this kernel cannot busy-poll (PREEMPT_RT before 6.3, or "
					"CONFIG_NET_RX_BUSY_POLL off)")
			       : unread(a);
	if (poll)
		return good(a, "every poll and select of the machine polls for %lld us", poll);
	major = release ? strtoll(release, &end, 10) : 0;
	minor = release && *end == '.' ? strtoll(end + 1, NULL, 10) : 0;
	if (!major)
		return unknown(a, "cannot be told: the kernel's version cannot be read");
	if (major > 6 || (major == 6 && minor >= 9))
		return good(a, "the shim sets each epoll instance; poll and select do not busy-poll");
	return bad(a, "Linux %lld.%lld busy-polls in epoll, poll and select only by this setting", major, minor);
}

enum verdict network_napi(struct check *c, struct answer *a)
{
	const char *list = "";

	if (!c->busy_poll)
		return moot(a, "the policy does not busy-poll");
	a->where = "/sys/class/net/*/device";
	if (!read_names(c, "/sys/class/net"))
		return unknown(a, "cannot be read: %s", strerror(errno));
	for (const char **i = c->interface; *i; i++)
		if (exists(c, memory_printf("/sys/class/net/%s/device", *i)))
			list = memory_printf("%s%s%s", list, *list ? " " : "", *i);
	a->value = *list ? list : "none";
	return *list ? good(a, "interfaces with queues: %s; llrun --status shows whether the sockets are on them", list)
		     : bad(a, "no interface that is up has hardware queues: busy polling does nothing");
}

enum verdict network_irq_deferral(struct check *c, struct answer *a)
{
	if (!*c->interface)
		return no_interface(a);
	for (const char **i = c->interface; *i; i++) {
		long long defer, flush;

		a->it = *i;
		if (!read_long(c, a, &flush, "/sys/class/net/%s/gro_flush_timeout", *i) ||
		    !read_long(c, a, &defer, "/sys/class/net/%s/napi_defer_hard_irqs", *i))
			return unread(a);
		if (c->prefer_busy_poll && (!defer || !flush))
			return bad(a, "PreferBusyPoll= without deferral on %s", *i);
		if (!c->prefer_busy_poll && defer && flush)
			return bad(a,
				   "%s waits up to %lld ns for more packets, and the policy does not busy-poll instead",
				   *i, flush);
	}
	return good(a, c->prefer_busy_poll ? "interrupts are deferred while sockets are polled"
					   : "interrupts are not deferred");
}

enum verdict network_threaded_napi(struct check *c, struct answer *a)
{
	const char *list = "";

	if (!*c->interface)
		return no_interface(a);
	for (const char **i = c->interface; *i; i++) {
		long long n;

		if (!read_long(c, a, &n, "/sys/class/net/%s/threaded", *i))
			return unread(a);
		if (n)
			list = memory_printf("%s%s%s", list, *list ? " " : "", *i);
	}
	return good(a, *list ? "threads napi/%s-* do its work: they float unless pinned" : "no interface%s is threaded",
		    list);
}

/* A mask file of each queue of each interface: queues/rx-0/rps_cpus. */
static enum verdict steering(struct check *c, struct answer *a, const char *prefix, const char *file,
			     bool shared_is_bad)
{
	struct cpuset set;
	unsigned seen = 0;

	if (!*c->interface)
		return no_interface(a);
	for (const char **i = c->interface; *i; i++) {
		const char *directory = memory_printf("/sys/class/net/%s/queues", *i),
			   **queues = read_names(c, directory);

		a->it = *i;
		a->where = directory;
		if (!queues)
			return unknown(a, "cannot be read: %s", strerror(errno));
		for (; **queues; queues++) {
			struct cpuset others;

			if (strncmp(*queues, prefix, strlen(prefix)) != 0)
				continue;
			if (!read_mask(c, a, &set, "%s/%s/%s", directory, *queues, file)) {
				/* A device with one queue has no XPS. */
				if (shared_is_bad && errno == ENOENT)
					continue;
				return unread(a);
			}
			seen++;
			others = set;
			cpuset_minus(&others, &c->cpus);
			if (cpuset_overlap(&set, &c->cpus) && (!shared_is_bad || !cpuset_empty(&others)))
				return shared_is_bad ? bad(a, "%s of %s is for CPUs %s", *queues, *i, list_of(&set))
						     : bad(a, "%s of %s hands packets to CPUs %s", *queues, *i,
							   list_of(&set));
		}
	}
	if (!seen)
		return moot(a, "single queues that nothing chooses between");
	return good(a, shared_is_bad ? "no queue is shared with other CPUs" : "no packets are handed to CPUs %s",
		    list_of(&c->cpus));
}

enum verdict network_rps(struct check *c, struct answer *a)
{
	return steering(c, a, "rx-", "rps_cpus", false);
}

enum verdict network_xps(struct check *c, struct answer *a)
{
	return steering(c, a, "tx-", "xps_cpus", true);
}

enum verdict network_rfs(struct check *c, struct answer *a)
{
	return uses_network(c) ? number_within(c, a, 0, 0, "RFS is on", "/proc/sys/net/core/rps_sock_flow_entries")
			       : no_interface(a);
}

static bool uses_tcp(const struct check *c)
{
	for (uint32_t i = 0; i < c->plan->n_sockets; i++)
		if (c->plan->socket[i].protocols & SOCKET_RULE_TCP)
			return true;
	return false;
}

static enum verdict tcp_setting(struct check *c, struct answer *a, const char *is_bad, const char *path)
{
	return uses_tcp(c) ? number_within(c, a, 0, 0, is_bad, path) : moot(a, "the policy says nothing of TCP");
}

enum verdict network_autocorking(struct check *c, struct answer *a)
{
	return tcp_setting(c, a, "small writes may wait", "/proc/sys/net/ipv4/tcp_autocorking");
}

enum verdict network_slow_start(struct check *c, struct answer *a)
{
	return tcp_setting(c, a, "idle connections start slowly again", "/proc/sys/net/ipv4/tcp_slow_start_after_idle");
}

enum verdict network_fast_open(struct check *c, struct answer *a)
{
	long long n;

	if (!uses_tcp(c))
		return moot(a, "the policy says nothing of TCP");
	if (!read_long(c, a, &n, "/proc/sys/net/ipv4/tcp_fastopen"))
		return unread(a);
	return good(a, "%s for clients, %s for servers", n & 1 ? "on" : "off", n & 2 ? "on" : "off");
}

enum verdict network_aspm(struct check *c, struct answer *a)
{
	const char *text;

	if (!*c->interface)
		return no_interface(a);
	text = read_text(c, a, "/sys/module/pcie_aspm/parameters/policy");
	if (!text)
		return c->guest_known && c->guest && errno == ENOENT
			       ? moot(a, "a virtual machine without PCIe power saving")
			       : unread(a);
	return strcmp(bracketed(text), "performance") == 0 ? good(a, "links stay awake")
							   : bad(a, "links may sleep (%s)", bracketed(text));
}

enum verdict network_qdisc(struct check *c, struct answer *a)
{
	static const char *const plain[] = {"pfifo_fast", "pfifo", "fq", "fq_codel", "mq", "noqueue"};
	const char *text;

	if (!uses_network(c))
		return no_interface(a);
	text = read_text(c, a, "/proc/sys/net/core/default_qdisc");
	if (!text)
		return unread(a);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(a->value, plain[i]) == 0)
			return good(a, "it holds nothing back");
	return bad(a, "the default, %s, may hold packets back", a->value);
}

/* /proc/net/softnet_stat: a line for each CPU; the second hexadecimal column counts drops, the third ends of budget. */
static void softnet(const char *text, unsigned long long *drops, unsigned long long *squeezed)
{
	*drops = *squeezed = 0;
	for (const char *line = text; line && *line; line = next_line(line)) {
		char *end;

		strtoull(line, &end, 16);
		*drops += strtoull(end, &end, 16);
		*squeezed += strtoull(end, &end, 16);
	}
}

enum verdict network_drops(struct check *c, struct answer *a)
{
	const char *before, *after;
	unsigned long long drops[2], squeezed[2];

	if (!uses_network(c))
		return no_interface(a);
	TWICE(c, a, "/proc/net/softnet_stat", &before, &after);
	softnet(before, &drops[0], &squeezed[0]);
	softnet(after, &drops[1], &squeezed[1]);
	a->value = memory_printf("%llu dropped, %llu times out of budget in a second", drops[1] - drops[0],
				 squeezed[1] - squeezed[0]);
	if (drops[1] > drops[0] || squeezed[1] > squeezed[0] + 10)
		return bad(a, "the stack does not keep up: %s", a->value);
	return good(a, "none in this second");
}

/* "Tcp: NAME..." and then "Tcp: NUMBER..." (proc(5)); -1: no such number. */
static long long snmp(const char *text, const char *name)
{
	const char *names = strstr(text, "Tcp: "), *numbers = names ? strstr(names + 1, "Tcp: ") : NULL;

	if (!numbers)
		return -1;
	while ((names = strchr(names, ' ')) && (numbers = strchr(numbers, ' '))) {
		size_t n = strcspn(++names, " \n");

		numbers++;
		if (n == strlen(name) && strncmp(names, name, n) == 0)
			return atoll(numbers);
	}
	return -1;
}

enum verdict network_retransmits(struct check *c, struct answer *a)
{
	const char *before, *after;
	long long from, to;

	if (!uses_tcp(c))
		return moot(a, "the policy says nothing of TCP");
	TWICE(c, a, "/proc/net/snmp", &before, &after);
	from = snmp(before, "RetransSegs");
	to = snmp(after, "RetransSegs");
	a->value = memory_printf("RetransSegs %lld, grew by %lld in a second", to, to - from);
	if (from < 0 || to < 0)
		return unknown(a, "cannot be read: no RetransSegs there");
	return to > from ? bad(a, "%lld segments were sent again in this second", to - from)
			 : good(a, "none in this second");
}

/* nic.c judges the network interfaces: their queues, interrupts, and what their drivers hold back. */
#include <errno.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

static const char none[] = "the policy has no [Socket] section and no near:, so no interface is looked at";

/* The state of all interfaces together: the first that is bad, else the first that is unknown, else the last. */
typedef enum verdict judge_one(struct check *c, struct answer *a, const char *interface);

static enum verdict each_interface(struct check *c, struct answer *a, judge_one *judge)
{
	struct answer unknown_one = {0}, one = {0};
	enum verdict v = MOOT;
	bool any_unknown = false, any_good = false;
	struct answer good_one = {0};

	if (!*c->interface)
		return moot(a, "%s", none);
	for (const char **i = c->interface; *i; i++) {
		one = (struct answer){.it = *i};
		v = judge(c, &one, *i);
		if (v == BAD) {
			*a = one;
			return v;
		}
		if (v == UNKNOWN && !any_unknown)
			unknown_one = one;
		if (v == GOOD && !any_good)
			good_one = one;
		any_unknown |= v == UNKNOWN;
		any_good |= v == GOOD;
	}
	*a = any_unknown ? unknown_one : any_good ? good_one : one;
	return any_unknown ? UNKNOWN : any_good ? GOOD : v;
}

/* Asks the driver.  GOOD: it answered; MOOT: it has no such thing, as many virtual ones; UNKNOWN. */
static enum verdict ask(struct check *c, struct answer *a, const char *interface, const char *name, void *numbers,
			size_t size)
{
	a->where = memory_printf("ethtool %s of %s", name, interface);
	if (ethtool(c, interface, name, numbers, size / sizeof(uint32_t)))
		return GOOD;
	if (errno == EOPNOTSUPP)
		return moot(a, "the driver of %s has no such setting", interface);
	return unknown(a, "cannot be read: %s", strerror(errno));
}

static enum verdict judge_coalescing(struct check *c, struct answer *a, const char *interface)
{
	struct ethtool_coalesce e;
	enum verdict v = ask(c, a, interface, "coalesce", &e, sizeof e);

	if (v != GOOD)
		return v;
	a->value = memory_printf("adaptive-rx %s, rx-usecs %u, rx-frames %u", e.use_adaptive_rx_coalesce ? "on" : "off",
				 e.rx_coalesce_usecs, e.rx_max_coalesced_frames);
	if (e.use_adaptive_rx_coalesce)
		return bad(a, "%s adapts how long it holds packets back", interface);
	return e.rx_coalesce_usecs > 10
		       ? bad(a, "%s holds packets back for up to %u us", interface, e.rx_coalesce_usecs)
		       : good(a, "%s holds nothing back", interface);
}

enum verdict network_coalescing(struct check *c, struct answer *a)
{
	return each_interface(c, a, judge_coalescing);
}

/* Each CPU that is left to the machine can serve one queue; more than these hash flows onto the policy's. */
static enum verdict judge_queues(struct check *c, struct answer *a, const char *interface)
{
	struct ethtool_channels e;
	enum verdict v = ask(c, a, interface, "channels", &e, sizeof e);
	unsigned n, rest = cpuset_count(&c->rest);

	if (v != GOOD)
		return v;
	n = e.combined_count + e.rx_count;
	a->value = memory_printf("%u combined, %u rx", e.combined_count, e.rx_count);
	if (n <= 1 || n <= rest)
		return good(a, "%u queues for the %u CPUs that are left to the machine", n, rest);
	return bad(a, "%s has %u queues, %u CPUs are left to the machine", interface, n, rest);
}

enum verdict network_queues(struct check *c, struct answer *a)
{
	return each_interface(c, a, judge_queues);
}

static enum verdict judge_lro(struct check *c, struct answer *a, const char *interface)
{
	struct ethtool_value e;
	enum verdict v = ask(c, a, interface, "flags", &e, sizeof e);

	if (v != GOOD)
		return v;
	a->value = memory_printf("lro %s", e.data & ETH_FLAG_LRO ? "on" : "off");
	return e.data & ETH_FLAG_LRO ? bad(a, "%s joins packets", interface)
				     : good(a, "%s does not join packets", interface);
}

enum verdict network_lro(struct check *c, struct answer *a)
{
	return each_interface(c, a, judge_lro);
}

static enum verdict judge_rings(struct check *c, struct answer *a, const char *interface)
{
	struct ethtool_ringparam e;
	enum verdict v = ask(c, a, interface, "rings", &e, sizeof e);

	if (v != GOOD)
		return v;
	a->value = memory_printf("rx %u of %u", e.rx_pending, e.rx_max_pending);
	return e.rx_pending > 2048 ? bad(a, "%s queues up to %u packets", interface, e.rx_pending)
				   : good(a, "%s queues up to %u packets", interface, e.rx_pending);
}

enum verdict network_rings(struct check *c, struct answer *a)
{
	return each_interface(c, a, judge_rings);
}

static enum verdict judge_pause(struct check *c, struct answer *a, const char *interface)
{
	struct ethtool_pauseparam e;
	enum verdict v = ask(c, a, interface, "pause", &e, sizeof e);

	if (v != GOOD)
		return v;
	a->value = memory_printf("rx %s, tx %s", e.rx_pause ? "on" : "off", e.tx_pause ? "on" : "off");
	return e.rx_pause || e.tx_pause ? bad(a, "%s obeys or sends pause frames", interface)
					: good(a, "%s knows no pause frames", interface);
}

enum verdict network_pause(struct check *c, struct answer *a)
{
	return each_interface(c, a, judge_pause);
}

static enum verdict judge_eee(struct check *c, struct answer *a, const char *interface)
{
	struct ethtool_eee e;
	enum verdict v = ask(c, a, interface, "eee", &e, sizeof e);

	if (v != GOOD)
		return v;
	a->value = memory_printf("eee %s", e.eee_enabled ? "on" : "off");
	return e.eee_enabled ? bad(a, "%s lets its link sleep", interface)
			     : good(a, "%s keeps its link awake", interface);
}

enum verdict network_eee(struct check *c, struct answer *a)
{
	return each_interface(c, a, judge_eee);
}

/* "enp3s0-TxRx-0", "eth0-rx-1", or a virtio device's "virtio2-input.0". */
static bool belongs(struct check *c, const char *action, const char *interface, const char *virtio)
{
	size_t n = strlen(interface);

	(void)c;
	if (strncmp(action, interface, n) == 0 && (!action[n] || action[n] == '-' || action[n] == '.'))
		return true;
	n = virtio ? strlen(virtio) : 0;
	return n && strncmp(action, virtio, n) == 0 && action[n] == '-';
}

/* The interrupts of its PCI function, or of a device below that, by the names of their handlers. */
static const char *device_name(struct check *c, const char *interface)
{
	char path[PATH_MAX];
	const char *link = memory_printf("%s/sys/class/net/%s/device", c->t->root, interface), *name;

	if (!realpath(link, path))
		return NULL;
	name = strrchr(path, '/');
	return name ? memory_copy(name + 1, strlen(name + 1)) : NULL;
}

static enum verdict judge_irqs(struct check *c, struct answer *a, const char *interface)
{
	const char **numbers = read_names(c, "/proc/irq"), *device = device_name(c, interface), *list = "";
	unsigned n = 0;

	a->where = "/proc/irq/*/effective_affinity_list";
	if (!numbers)
		return unknown(a, "cannot be read: %s", strerror(errno));
	for (; **numbers; numbers++) {
		struct answer one = {0};
		const char *action;
		struct cpuset effective;

		if (strspn(*numbers, "0123456789") != strlen(*numbers))
			continue;
		/* Also a directory of its own for each handler, but the name of the file is clearer. */
		action = read_text(c, &one, "/sys/kernel/irq/%s/actions", *numbers);
		if (!action) {
			*a = one;
			return unread(a);
		}
		if (!belongs(c, first_line(action), interface, device))
			continue;
		if (!read_cpus(c, &one, &effective, "/proc/irq/%s/effective_affinity_list", *numbers)) {
			*a = one;
			return unread(a);
		}
		n++;
		if (cpuset_overlap(&effective, &c->real_time))
			list = memory_printf("%s%s%s", list, *list ? " " : "", *numbers);
	}
	a->value = memory_printf("%u interrupts of %s", n, interface);
	if (!n)
		return unknown(a, "cannot be told: no interrupt has the name of %s", interface);
	a->it = *list ? list : interface;
	return *list ? bad(a, "interrupts %s of %s go to CPUs with real-time threads, %s", list, interface,
			   list_of(&c->real_time))
		     : good(a, "no interrupt of %s goes to a CPU with real-time threads", interface);
}

enum verdict network_queue_irqs(struct check *c, struct answer *a)
{
	if (*c->interface && !c->priority)
		return moot(a, "the policy has no real-time threads");
	return each_interface(c, a, judge_irqs);
}

static enum verdict judge_node(struct check *c, struct answer *a, const char *interface)
{
	struct cpuset nodes, cpus, all, far = c->cpus;
	const char *why;

	a->where = memory_printf("/sys/class/net/%s/device/numa_node", interface);
	if (read_cpus(c, &(struct answer){0}, &all, "/sys/devices/system/node/online") && cpuset_count(&all) == 1)
		return good(a, "there is one node");
	if (!interface_near(c->t, interface, &nodes, &cpus, &why))
		return unknown(a, "cannot be told: %s", why);
	a->value = cpuset_empty(&nodes) ? list_of(&cpus) : list_of(&nodes);
	CPUSET_EACH(node, &nodes)
	{
		struct cpuset some;

		if (!read_cpus(c, a, &some, "/sys/devices/system/node/node%d/cpulist", node))
			return unread(a);
		cpuset_or(&cpus, &some);
	}
	if (cpuset_empty(&cpus))
		return unknown(a, "the kernel does not know the node of %s", interface);
	cpuset_minus(&far, &cpus);
	return cpuset_empty(&far) ? good(a, "CPUs %s are near %s", list_of(&c->cpus), interface)
				  : bad(a, "CPUs %s are far from %s", list_of(&far), interface);
}

enum verdict network_nic_node(struct check *c, struct answer *a)
{
	return each_interface(c, a, judge_node);
}

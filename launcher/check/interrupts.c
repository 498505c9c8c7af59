/* interrupts.c judges what interrupts the policy's CPUs: devices, other CPUs, softirqs. */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

static bool is_numbered(const char *row)
{
	return row && *row && strspn(row, "0123456789") == strlen(row);
}

/* The words behind the columns: "PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0"; the last is the device's name. */
static const char *device_of(const char *line)
{
	const char *text = first_line(line), *space = strrchr(text, ' ');

	return space ? space + 1 : text;
}

struct hits {
	const char *firing, *idle, *list; /* "36 virtio1-req.0 (120)", ... */
	unsigned n_firing, n_idle;
};

static void note_irq(struct check *c, const char *row, const char *line, long long grown, struct hits *h)
{
	struct answer one = {0};
	struct cpuset effective, wanted;
	bool known = read_cpus(c, &one, &effective, "/proc/irq/%s/effective_affinity_list", row);

	/* Where it went is certain; where it may go next, only if the kernel says so. */
	if (grown <= 0 && !(known && cpuset_overlap(&effective, &c->cpus)))
		return;
	h->list = memory_printf("%s%s%s", h->list, *h->list ? " " : "", row);
	if (grown > 0) {
		h->n_firing++;
		h->firing = memory_printf("%s%s%s %s (%lld)", h->firing, *h->firing ? ", " : "", row, device_of(line),
					  grown);
		/* IO-APIC lines take a new mask only at the next interrupt. */
		if (read_cpus(c, &one, &wanted, "/proc/irq/%s/smp_affinity_list", row) &&
		    !cpuset_overlap(&wanted, &c->cpus))
			h->firing = memory_printf("%s, already sent elsewhere", h->firing);
	} else if (h->n_idle++ < 6) {
		h->idle = memory_printf("%s%s%s %s", h->idle, *h->idle ? ", " : "", row, device_of(line));
	}
}

enum verdict interrupts_devices(struct check *c, struct answer *a)
{
	struct hits h = {"", "", "", 0, 0};
	const char *before, *after;
	unsigned rows = 0;

	TWICE(c, a, "/proc/interrupts", &before, &after);
	for (const char *line = after; line && *line; line = next_line(line)) {
		const char *row = row_name(line);

		if (!is_numbered(row))
			continue;
		rows++;
		note_irq(c, row, line, row_growth(before, after, row, &c->cpus), &h);
	}
	a->it = h.list;
	a->value = memory_printf("%u of %u on CPUs %s in a second", h.n_firing, rows, list_of(&c->cpus));
	if (h.n_firing)
		return bad(a, "interrupted CPUs %s: %s", list_of(&c->cpus), h.firing);
	if (h.n_idle)
		return bad(a, "none in this second, but these go to CPUs %s: %s%s", list_of(&c->cpus), h.idle,
			   h.n_idle > 6 ? " ..." : "");
	return good(a, "no device interrupts CPUs %s", list_of(&c->cpus));
}

/* Managed ones can be told apart only in debugfs. */
enum verdict interrupts_managed(struct check *c, struct answer *a)
{
	static const char directory[] = "/sys/kernel/debug/irq/irqs";
	const char **names = read_names(c, directory), *list = "";
	unsigned n = 0;

	if (!names) {
		a->where = directory;
		return unknown(a, "cannot be read: %s",
			       errno == EACCES ? "no permission: try as root"
					       : "debugfs is not mounted, or without CONFIG_GENERIC_IRQ_DEBUGFS");
	}
	for (; **names; names++) {
		const char *text = read_text(c, a, "%s/%s", directory, *names);
		struct cpuset effective;

		if (!text)
			return unread(a);
		if (!strstr(text, "IRQD_AFFINITY_MANAGED"))
			continue;
		n++;
		if (read_cpus(c, a, &effective, "/proc/irq/%s/effective_affinity_list", *names) &&
		    cpuset_overlap(&effective, &c->cpus))
			list = memory_printf("%s%s%s", list, *list ? ", " : "", *names);
	}
	a->where = directory;
	a->value = memory_printf("%u managed", n);
	return *list ? bad(a, "managed interrupts on CPUs %s: %s", list_of(&c->cpus), list)
		     : good(a, "no managed interrupt on CPUs %s", list_of(&c->cpus));
}

enum verdict interrupts_default_affinity(struct check *c, struct answer *a)
{
	struct cpuset set;

	return read_mask(c, a, &set, "/proc/irq/default_smp_affinity") ? spared(c, a, &set, "interrupts of new devices")
								       : unread(a);
}

/* "NAME=value" among the strings of /proc/PID/environ, which NULs separate. */
static const char *from_environ(struct check *c, struct answer *a, pid_t pid, const char *name, bool *known)
{
	const char *text = read_text(c, a, "/proc/%d/environ", (int)pid);
	size_t n = strlen(name);

	*known = text != NULL;
	while (text && *text) { /* the memory behind it is zero */
		if (strncmp(text, name, n) == 0 && text[n] == '=')
			return text + n + 1;
		text += strlen(text) + 1;
	}
	return NULL;
}

enum verdict interrupts_irqbalance(struct check *c, struct answer *a)
{
	const char *why, *list, *mask;
	const struct task *t = tasks(c, &why);
	struct cpuset banned, open = c->cpus;
	bool known;

	a->where = "/proc/*/task/*/status";
	if (!t)
		return unknown(a, "cannot be told: %s", why);
	while (t && strcmp(t->name, "irqbalance") != 0)
		t = t->next;
	if (!t)
		return good(a, "irqbalance does not run");
	list = from_environ(c, a, t->pid, "IRQBALANCE_BANNED_CPULIST", &known);
	mask = from_environ(c, a, t->pid, "IRQBALANCE_BANNED_CPUS", &known);
	if (!known)
		return unread(a);
	a->value = list   ? memory_printf("IRQBALANCE_BANNED_CPULIST=%s", list)
		   : mask ? memory_printf("IRQBALANCE_BANNED_CPUS=%s", mask)
			  : "bans nothing by itself";
	if (list ? !cpuset_parse(&banned, list) : mask ? !parse_mask(mask, &banned) : false)
		return unknown(a, "cannot be told: %s", a->value);
	if (!list && !mask) { /* then it leaves boot isolation and nohz_full alone, but knows no partition */
		struct answer unused = {0};
		struct cpuset full;

		if (!read_cpus(c, &unused, &banned, "/sys/devices/system/cpu/isolated"))
			banned = (struct cpuset){0};
		if (read_cpus(c, &unused, &full, "/sys/devices/system/cpu/nohz_full"))
			cpuset_or(&banned, &full);
	}
	cpuset_minus(&open, &banned);
	return cpuset_empty(&open)
		       ? good(a, "irqbalance leaves CPUs %s alone", list_of(&c->cpus))
		       : bad(a, "irqbalance (%d) may move interrupts to CPUs %s", (int)t->pid, list_of(&open));
}

enum verdict interrupts_threads(struct check *c, struct answer *a)
{
	const char *why, *names = "";
	const struct task *list = tasks(c, &why);
	unsigned n = 0;

	a->where = "/proc/*/task/*/stat";
	if (!c->priority)
		return moot(a, "the policy has no real-time threads");
	if (!list)
		return unknown(a, "cannot be told: %s", why);
	for (const struct task *t = list; t; t = t->next) {
		if (!(t->flags & TASK_KERNEL) || strncmp(t->name, "irq/", 4) != 0)
			continue;
		n++;
		if (cpuset_overlap(&t->allowed, &c->real_time) && t->priority <= c->priority)
			names = memory_printf("%s%s%s (%d)", names, *names ? ", " : "", t->name, t->priority);
	}
	a->value = memory_printf("%u threads irq/...", n);
	return *names ? bad(a, "not above the policy's priority %d, and on its CPUs: %s", c->priority, names)
		      : good(a, "none at or below priority %d on its CPUs", c->priority);
}

/* Rows that grew by more than `some` a second on a judged CPU: "RES 120, TLB 30". */
static const char *grown_rows(struct check *c, const char *before, const char *after, const char *const *rows,
			      long long some)
{
	const char *list = "";

	for (; *rows; rows++) {
		long long n = row_growth(before, after, *rows, &c->cpus);

		if (n > some * (long long)cpuset_count(&c->cpus))
			list = memory_printf("%s%s%s %lld", list, *list ? ", " : "", *rows, n);
	}
	return list;
}

enum verdict interrupts_ipi(struct check *c, struct answer *a)
{
	static const char *const rows[] = {"RES", "CAL", "TLB", "NMI", "TRM", "MCE", "PMI", NULL};
	const char *before, *after, *list;

	TWICE(c, a, "/proc/interrupts", &before, &after);
	list = grown_rows(c, before, after, rows, 10);
	a->value = *list ? list : "hardly any in a second";
	if (row_growth(before, after, "RES", &c->cpus) < 0)
		return unknown(a, "cannot be told: the rows of this architecture are not known");
	return *list ? bad(a, "in a second on CPUs %s: %s", list_of(&c->cpus), list)
		     : good(a, "other CPUs hardly interrupt CPUs %s", list_of(&c->cpus));
}

enum verdict interrupts_softirqs(struct check *c, struct answer *a)
{
	static const char *const rows[] = {"HI",      "TIMER", "NET_TX",  "NET_RX", "BLOCK", "IRQ_POLL",
					   "TASKLET", "SCHED", "HRTIMER", "RCU",    NULL};
	const char *before, *after, *list;

	TWICE(c, a, "/proc/softirqs", &before, &after);
	if (row_growth(before, after, "TIMER", &c->cpus) < 0)
		return unknown(a, "cannot be read: no row TIMER");
	list = grown_rows(c, before, after, rows, 10);
	a->it = list;
	a->value = *list ? list : "hardly any in a second";
	return *list ? bad(a, "in a second on CPUs %s: %s", list_of(&c->cpus), list)
		     : good(a, "hardly any softirq on CPUs %s", list_of(&c->cpus));
}

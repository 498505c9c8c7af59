/* neighbours.c judges who else runs on the policy's CPUs: programs, kernel threads and their work, and quotas. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

enum { SHOWN = 6 };

/* Kernel threads that are bound to their CPU are part of the kernel there: nobody can move them. */
static bool is_foreign(struct check *c, const struct task *t)
{
	return cpuset_overlap(&t->allowed, &c->cpus) && !(t->flags & TASK_KERNEL && t->flags & TASK_BOUND) &&
	       !own_task(c, t);
}

enum verdict isolation_foreign(struct check *c, struct answer *a)
{
	unsigned here = 0, may = 0;
	const char *why, *names = "";
	struct task *list = tasks(c, &why);

	a->where = "/proc/*/task/*/stat, status";
	if (!list)
		return unknown(a, "cannot be told: %s", why);
	for (const struct task *t = list; t; t = t->next) {
		if (!is_foreign(c, t))
			continue;
		may++;
		if (!cpuset_has(&c->cpus, (unsigned)t->cpu))
			continue;
		if (here++ < SHOWN)
			names = memory_printf("%s%s%s %d", names, *names ? ", " : "", t->name, (int)t->tid);
	}
	a->value = memory_printf("%u threads may run there, %u did last", may, here);
	if (!may)
		return good(a, "no other thread may run on CPUs %s", list_of(&c->cpus));
	if (!here)
		return bad(a, "%u other threads may run on CPUs %s, though none did last", may, list_of(&c->cpus));
	return bad(a, "ran last on CPUs %s: %s%s", list_of(&c->cpus), names,
		   here > SHOWN ? memory_printf(" and %u more", here - SHOWN) : "");
}

enum verdict isolation_rivals(struct check *c, struct answer *a)
{
	const char *why, *names = "";
	struct task *list;

	a->where = "/proc/*/task/*/stat";
	if (!c->priority)
		return moot(a, "the policy has no real-time threads");
	list = tasks(c, &why);
	if (!list)
		return unknown(a, "cannot be told: %s", why);
	for (const struct task *t = list; t; t = t->next) {
		bool above = t->policy == SCHED_DEADLINE || (is_real_time(t->policy) && t->priority >= c->priority);

		if (above && cpuset_overlap(&t->allowed, &c->real_time) && is_foreign(c, t))
			names = memory_printf("%s%s%s %d (%d)", names, *names ? ", " : "", t->name, (int)t->tid,
					      t->priority);
	}
	a->value = *names ? names : "none";
	return *names ? bad(a, "of priority %d or more: %s", c->priority, names)
		      : good(a, "no thread of priority %d or more may run there", c->priority);
}

/* It bounds the masks of all single ones. */
enum verdict isolation_workqueues(struct check *c, struct answer *a)
{
	struct cpuset set;

	return read_mask(c, a, &set, "/sys/devices/virtual/workqueue/cpumask")
		       ? spared(c, a, &set, "unbound workqueues")
		       : unread(a);
}

enum verdict isolation_writeback(struct check *c, struct answer *a)
{
	struct cpuset set;

	return read_mask(c, a, &set, "/sys/bus/workqueue/devices/writeback/cpumask")
		       ? spared(c, a, &set, "writeback workers")
		       : unread(a);
}

enum verdict isolation_watchdog(struct check *c, struct answer *a)
{
	struct answer nmi_answer = {0};
	struct cpuset set;
	long long on, nmi;

	if (!read_long(c, a, &on, "/proc/sys/kernel/watchdog"))
		return unread(a);
	if (!on)
		return good(a, "the lockup detectors are off");
	if (read_long(c, &nmi_answer, &nmi, "/proc/sys/kernel/nmi_watchdog") && nmi) {
		*a = nmi_answer;
		return bad(a, "the hard lockup detector counts cycles on every CPU");
	}
	return read_cpus(c, a, &set, "/proc/sys/kernel/watchdog_cpumask") ? spared(c, a, &set, "the lockup detectors")
									  : unread(a);
}

static bool is_one(const char *text)
{
	return *text == '1';
}

enum verdict isolation_machine_checks(struct check *c, struct answer *a)
{
	enum verdict v;
	int error;

	v = each_cpu(c, a, &c->cpus, "/sys/devices/system/machinecheck/machinecheck%d/ignore_ce", is_one,
		     "corrected errors are not polled for", "corrected errors are polled for");
	error = errno;
	if (v == UNKNOWN && error == ENOENT && !exists(c, "/sys/devices/system/machinecheck") && c->guest_known &&
	    c->guest)
		return moot(a, "a virtual machine without machine checks");
	return v;
}

/* What one group allows: "max 100000" (v2), or microseconds a period, -1 for no limit (v1).  False: cannot be read. */
static bool has_quota(struct check *c, struct answer *a, const char *group, bool v2, bool *limited)
{
	const char *text = read_text(c, a, "%s/%s", group, v2 ? "cpu.max" : "cpu.cfs_quota_us");

	*limited = text && (v2 ? strncmp(text, "max", 3) != 0 : atoll(text) >= 0);
	/* The controller may be off in a group, and is in the root of v2: then there is no such file, and no quota. */
	return text || (v2 && errno == ENOENT && exists(c, memory_printf("%s/cgroup.procs", group)));
}

enum verdict isolation_quota(struct check *c, struct answer *a)
{
	bool v2, limited = false;
	const char *own = group_of(c, a, "cpu", &v2), *before, *after;
	long long from, to;

	if (!own)
		return unread(a);
	for (const char *group = own; group && !limited; group = group_parent(group))
		if (!has_quota(c, a, group, v2, &limited))
			return unread(a);
	if (limited) {
		const char *quota = a->value, *where = a->where;

		TWICE(c, a, memory_printf("%s/cpu.stat", own), &before, &after);
		from = number_in_line(before, "nr_throttled");
		to = number_in_line(after, "nr_throttled");
		a->value = quota;
		a->where = where;
		return bad(a, "the group has a CPU quota; stopped %lld times in this second, %lld since its start",
			   to - from, to);
	}
	if (!a->value) /* no such file in any of them */
		a->value = "none";
	return good(a, "no group above the program has a quota");
}

/* isolation.c judges which CPUs the policy has, and what boot options, cpusets and the tick leave of them to others. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include "check.h"

enum verdict isolation_policy(struct check *c, struct answer *a)
{
	int worst = FINDING_NOTE;
	const char *text = findings_text(c->findings, &worst);

	a->value = list_of(&c->cpus);
	a->where = "/sys/devices/system/cpu/online";
	if (worst > ON_ERROR_IGNORE)
		return good(a, "all of the policy can take effect");
	return bad(a, "%s", text);
}

enum verdict isolation_housekeeping(struct check *c, struct answer *a)
{
	struct cpuset online;

	if (!read_cpus(c, a, &online, "/sys/devices/system/cpu/online"))
		return unread(a);
	if (cpuset_empty(&c->rest))
		return bad(a, "the policy takes all CPUs, %s: none is left for the rest of the machine",
			   list_of(&c->cpus));
	return good(a, "CPUs %s are left to the rest of the machine", list_of(&c->rest));
}

enum verdict isolation_domains(struct check *c, struct answer *a)
{
	struct cpuset boot, open = c->cpus;

	if (!read_cpus(c, a, &boot, "/sys/devices/system/cpu/isolated"))
		return unread(a);
	if (cpuset_empty(&boot) && !cpuset_empty(&c->isolated)) {
		a->where = "cpuset.cpus.isolated or cpuset.cpus.partition below /sys/fs/cgroup";
		a->value = list_of(&c->isolated);
	}
	cpuset_minus(&open, &c->isolated);
	if (cpuset_empty(&open))
		return good(a, "CPUs %s are isolated", list_of(&c->cpus));
	return bad(a, "CPUs %s are not isolated", list_of(&open));
}

enum verdict isolation_isolcpus_flags(struct check *c, struct answer *a)
{
	const char *cmdline = read_text(c, a, "/proc/cmdline"),
		   *option = cmdline ? boot_option(cmdline, "isolcpus") : NULL, *flags;
	bool domain, managed;

	if (!cmdline)
		return unread(a);
	a->value = option ? memory_printf("isolcpus=%s", option) : "no isolcpus=";
	if (!option)
		return moot(a, "isolcpus= is not given");
	flags = memory_printf(",%s,", memory_copy(option, strcspn(option, "0123456789")));
	domain = strstr(flags, ",domain,") || strcmp(flags, ",,") == 0;
	managed = strstr(flags, ",managed_irq,") != NULL;
	if (!domain)
		return bad(a, "without `domain` the scheduler isolates nothing");
	return managed ? good(a, "isolates domains and managed interrupts")
		       : bad(a, "without `managed_irq` managed interrupts stay there");
}

enum { MAX_DEPTH = 8 };

/* The first partition of a tree that is invalid, "GROUP: isolated invalid (...)", or NULL.  *seen counts those that are
 * not. */
static const char *invalid_partition(struct check *c, struct answer *a, const char *group, unsigned depth,
				     unsigned *seen)
{
	const char **names, *state = read_text(c, a, "%s/cpuset.cpus.partition", group), *found = NULL;

	if (state && strstr(state, "invalid"))
		return group;
	*seen += state && strncmp(state, "member", 6) != 0;
	if ((depth && !state) || depth == MAX_DEPTH)
		return NULL; /* no cpuset controller here, and so none below */
	for (names = read_names(c, group); !found && names && **names; names++)
		if (!strchr(*names, '.') || exists(c, memory_printf("%s/%s/cgroup.procs", group, *names)))
			found = invalid_partition(c, a, memory_printf("%s/%s", group, *names), depth + 1, seen);
	return found;
}

enum verdict isolation_partition(struct check *c, struct answer *a)
{
	const char *mount = exists(c, "/sys/fs/cgroup/cgroup.controllers") ? "/sys/fs/cgroup"
									   : "/sys/fs/cgroup/unified";
	const char *controllers = read_text(c, a, "%s/cgroup.controllers", mount), *found;
	unsigned seen = 0;

	if (!controllers)
		return errno == ENOENT && exists(c, "/sys/fs/cgroup/cpuset")
			       ? moot(a, "cpusets are those of cgroup v1 here")
			       : unread(a);
	if (!strstr(controllers, "cpuset"))
		return moot(a, "the cpuset controller is not with cgroup v2 here");
	found = invalid_partition(c, a, mount, 0, &seen);
	if (found) {
		a->it = memory_printf("%s/cpuset.cpus.partition", found);
		return bad(a, "%s is no partition: %s", found, a->value);
	}
	a->where = mount;
	a->value = memory_printf("%u partitions", seen);
	return good(a, seen ? "all partitions are valid" : "no partition is asked for");
}

enum verdict isolation_cpuset_v1(struct check *c, struct answer *a)
{
	struct cpuset open = c->cpus;
	long long balanced;

	if (!read_long(c, a, &balanced, "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance"))
		return errno == ENOENT && !exists(c, "/sys/fs/cgroup/cpuset")
			       ? moot(a, "there are no cpusets of cgroup v1")
			       : unread(a);
	cpuset_minus(&open, &c->isolated);
	if (!balanced)
		return good(a, "the top of the tree is not balanced");
	if (cpuset_empty(&open))
		return good(a, "balanced, but CPUs %s are isolated otherwise", list_of(&c->cpus));
	return bad(a, "all CPUs are balanced together");
}

enum verdict isolation_stacking(struct check *c, struct answer *a)
{
	struct cpuset boot, stacked = {{0}};

	if (!read_cpus(c, a, &boot, "/sys/devices/system/cpu/isolated"))
		return unread(a);
	for (uint32_t i = 0; i < c->plan->n_rules; i++) {
		const struct rule *r = &c->plan->rule[i];
		struct cpuset cpus = plan_cpus(c->plan, r), some = common(&cpus, &c->isolated);

		if (r->has & HAS_CPUS && r->placement == PLACE_SHARE && !rule_is_real_time(r) &&
		    cpuset_count(&some) > 1)
			cpuset_or(&stacked, &some);
	}
	if (!cpuset_empty(&stacked))
		return bad(a, "threads under SCHED_OTHER share the isolated CPUs %s", list_of(&stacked));
	return good(a, "no ordinary threads share isolated CPUs");
}

/* Isolcpus and nohz_full make sense for threads that compute or spin; for others the tick stops in idle anyway. */
enum verdict isolation_nohz_full(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/sys/devices/system/cpu/nohz_full");
	struct cpuset set, ticking = c->cpus;

	if (!text)
		return unread(a);
	/* "  (null)" if the option was not given (6.1, 6.12). */
	if (!strstr(text, "(null)") && !cpuset_parse(&set, text))
		return unknown(a, "cannot be read: it says '%.60s'", a->value);
	if (strstr(text, "(null)"))
		set = (struct cpuset){0};
	cpuset_minus(&ticking, &set);
	return cpuset_empty(&ticking) ? good(a, "the tick may stop on CPUs %s", list_of(&c->cpus))
				      : bad(a, "the tick never stops on a busy CPU of %s", list_of(&ticking));
}

static struct cpuset nohz_full(struct check *c)
{
	struct answer unused = {0};
	struct cpuset set;

	if (!read_cpus(c, &unused, &set, "/sys/devices/system/cpu/nohz_full"))
		set = (struct cpuset){0};
	return set;
}

enum verdict isolation_rcu_nocbs(struct check *c, struct answer *a)
{
	const char *cmdline = read_text(c, a, "/proc/cmdline"),
		   *option = cmdline ? boot_option(cmdline, "rcu_nocbs") : NULL;
	struct cpuset open = c->cpus, set = nohz_full(c);

	if (!cmdline)
		return unread(a);
	a->value = option ? memory_printf("rcu_nocbs=%s", option) : "no rcu_nocbs=";
	cpuset_minus(&open, &set); /* nohz_full= implies it */
	if (option && strcmp(option, "all") == 0)
		return good(a, "no CPU runs RCU callbacks itself");
	if (option && *option && !cpuset_parse(&set, option))
		return unknown(a, "cannot be told: this form of list is not read");
	if (option)
		cpuset_minus(&open, &set);
	return cpuset_empty(&open) ? good(a, "RCU callbacks of CPUs %s run elsewhere", list_of(&c->cpus))
				   : bad(a, "CPUs %s run their RCU callbacks themselves", list_of(&open));
}

enum verdict isolation_tick(struct check *c, struct answer *a)
{
	struct cpuset full = nohz_full(c), of = common(&full, &c->cpus);
	const char *before, *after, *row = "LOC";
	long long most = 0, n = -1;

	TWICE(c, a, "/proc/interrupts", &before, &after);
	if (cpuset_empty(&of))
		return moot(a, "the tick does not stop on these CPUs anyway, see nohz_full");
	CPUSET_EACH(cpu, &of)
	{
		struct cpuset one = {{0}};

		cpuset_add(&one, (unsigned)cpu);
		n = row_growth(before, after, row, &one);
		if (n > most)
			most = n;
	}
	a->value = memory_printf("%s grew by %lld in a second", row, most);
	if (n < 0)
		return unknown(a, "cannot be told: no row %s for the local timers of this architecture", row);
	return most <= 10 ? good(a, "hardly a tick on CPUs %s", list_of(&of))
			  : bad(a, "up to %lld timer interrupts a second on CPUs %s", most, list_of(&of));
}

static bool is_zero(const char *text)
{
	return text[0] == '0' && (text[1] == '\n' || !text[1]);
}

enum verdict isolation_fair_server(struct check *c, struct answer *a)
{
	if (!c->priority)
		return moot(a, "the policy has no real-time threads");
	return each_cpu(c, a, &c->real_time, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", is_zero,
			"it is off there", "the fair server may take time from real-time threads");
}

enum verdict isolation_smt(struct check *c, struct answer *a)
{
	struct cpuset siblings, core;

	CPUSET_EACH(cpu, &c->cpus)
	if (!read_cpus(c, a, &core, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		return unread(a);
	topology_siblings(c->t, &c->cpus, &siblings);
	if (cpuset_empty(&siblings))
		return good(a, "whole cores: no hardware thread of CPUs %s is left to others", list_of(&c->cpus));
	CPUSET_EACH(cpu, &c->cpus)
	{
		read_cpus(c, a, &core, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
		if (cpuset_overlap(&core, &siblings))
			break; /* the first one to show */
	}
	struct cpuset all = siblings;
	cpuset_minus(&siblings, &c->isolated);
	a->it = list_of(&siblings);
	if (cpuset_empty(&siblings))
		return good(a, "their siblings, CPUs %s, are isolated: keep them idle", list_of(&all));
	return bad(a, "CPUs %s are hardware threads of the same cores, and left to others", a->it);
}

enum verdict isolation_numa(struct check *c, struct answer *a)
{
	struct cpuset nodes, of = {{0}};
	unsigned n = 0;

	if (!read_cpus(c, a, &nodes, "/sys/devices/system/node/online"))
		return errno == ENOENT && !exists(c, "/sys/devices/system/node")
			       ? moot(a, "this kernel knows no nodes: memory is all one")
			       : unread(a);
	CPUSET_EACH(node, &nodes)
	{
		struct answer one = {0};
		struct cpuset cpus;

		if (!read_cpus(c, &one, &cpus, "/sys/devices/system/node/node%d/cpulist", node)) {
			*a = one;
			return unread(a);
		}
		if (cpuset_overlap(&cpus, &c->cpus)) {
			cpuset_add(&of, (unsigned)node);
			n++;
		}
	}
	return n < 2 ? good(a, "all on node %s", list_of(&of))
		     : bad(a, "CPUs %s are on nodes %s", list_of(&c->cpus), list_of(&of));
}

/* The highest cache that the first CPU shares with others. */
enum verdict isolation_llc(struct check *c, struct answer *a)
{
	int cpu = cpuset_next(&c->cpus, 0), index = 0;
	struct cpuset sharing, far = c->cpus;
	long long level, highest = 0;

	for (int i = 0; read_long(c, a, &level, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i); i++)
		if (level >= highest) {
			highest = level;
			index = i;
		}
	if (!highest)
		return unread(a);
	if (!read_cpus(c, a, &sharing, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index))
		return unread(a);
	cpuset_minus(&far, &sharing);
	return cpuset_empty(&far) ? good(a, "one last-level cache for all")
				  : bad(a, "CPUs %s do not share the last-level cache of CPU %d", list_of(&far), cpu);
}

enum verdict isolation_cores(struct check *c, struct answer *a)
{
	struct cpuset slow = {{0}}, atoms;
	long long capacity, most = 0, own[2] = {LLONG_MAX, 0};

	if (read_cpus(c, a, &atoms, "/sys/devices/cpu_atom/cpus")) {
		slow = common(&atoms, &c->cpus);
		a->it = list_of(&slow);
		return cpuset_empty(&slow) ? good(a, "no efficiency cores among them")
					   : bad(a, "CPUs %s are efficiency cores", a->it);
	}
	if (errno != ENOENT)
		return unread(a);
	CPUSET_EACH(cpu, &c->t->online)
	{
		if (!read_long(c, a, &capacity, "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu))
			return errno == ENOENT ? moot(a, "all cores are alike: the kernel tells of no kinds")
					       : unread(a);
		if (capacity > most)
			most = capacity;
		if (cpuset_has(&c->cpus, (unsigned)cpu) && capacity < own[0])
			own[0] = capacity;
	}
	a->value = memory_printf("%lld of %lld", own[0], most);
	CPUSET_EACH(cpu, &c->cpus)
	if (read_long(c, &(struct answer){0}, &capacity, "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu) &&
	    capacity * 10 < most * 9)
		cpuset_add(&slow, (unsigned)cpu);
	a->it = list_of(&slow);
	return cpuset_empty(&slow) ? good(a, "none is slower than the others")
				   : bad(a, "CPUs %s are slower ones", a->it);
}

enum verdict isolation_cpu0(struct check *c, struct answer *a)
{
	struct cpuset online;

	if (!read_cpus(c, a, &online, "/sys/devices/system/cpu/online"))
		return unread(a);
	return cpuset_has(&c->cpus, 0) ? bad(a, "CPU 0 is among CPUs %s", list_of(&c->cpus))
				       : good(a, "CPU 0 is left alone");
}

/* cores.c owns which CPUs are hardware threads of one core, and the order in which cores are given out. */
#include "topology.h"

/* The hardware threads of a CPU's core.  Without topology/ (an odd /sys, a fake root) each CPU is a core of its own. */
static void read_core(const struct topology *t, int cpu, struct cpuset *core)
{
	/* Linux 5.3 renamed it and kept the old name (Documentation/admin-guide/cputopology.rst). */
	if (!sysfs_list(t, core, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		sysfs_list(t, core, "sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu);
	cpuset_add(core, (unsigned)cpu);
}

/*
 * Ranks each CPU of the set within its core: 0 the lowest of the core's members in the set, 1 the next, ...  Siblings
 * may be 2i and 2i+1, or i and i+n.  Returns how many ranks there are.
 */
static unsigned rank_in_cores(const struct topology *t, const struct cpuset *set, uint16_t rank[CPUSET_MAX])
{
	struct cpuset rest = *set, core;
	unsigned ranks = 0;

	CPUSET_EACH(cpu, set)
	{
		unsigned next = 0;

		if (!cpuset_has(&rest, (unsigned)cpu))
			continue;
		read_core(t, cpu, &core);
		cpuset_and(&core, &rest);
		cpuset_minus(&rest, &core);
		CPUSET_EACH(member, &core)
		rank[member] = (uint16_t)next++;
		if (ranks < next)
			ranks = next;
	}
	return ranks;
}

void cores_keep_one(const struct topology *t, struct cpuset *set)
{
	uint16_t rank[CPUSET_MAX];
	struct cpuset all = *set;

	rank_in_cores(t, &all, rank);
	CPUSET_EACH(cpu, &all)
	if (rank[cpu] > 0)
		cpuset_remove(set, (unsigned)cpu);
}

size_t topology_spread_order(struct topology *t, const struct cpuset *set, uint16_t *order, size_t max)
{
	uint16_t rank[CPUSET_MAX];
	unsigned ranks = rank_in_cores(t, set, rank);
	size_t n = 0;

	for (unsigned r = 0; r < ranks; r++)
		CPUSET_EACH(cpu, set)
	if (rank[cpu] == r && n < max)
		order[n++] = (uint16_t)cpu;
	return n;
}

/* Online ones, usable or not: what runs there disturbs all the same. */
void topology_siblings(struct topology *t, const struct cpuset *of, struct cpuset *out)
{
	struct cpuset core;

	*out = (struct cpuset){0};
	CPUSET_EACH(cpu, of)
	{
		read_core(t, cpu, &core);
		cpuset_or(out, &core);
	}
	cpuset_and(out, &t->online);
	cpuset_minus(out, of);
}

/* memory.c judges what can make a page fault, or memory move, under the program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

enum verdict memory_swap(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/swaps");
	unsigned lines = 0;

	if (!text)
		return unread(a);
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	a->value = memory_printf("%u areas", lines ? lines - 1 : 0);
	if (lines <= 1)
		return good(a, "there is no swap");
	if (c->plan->lock != LOCK_NO)
		return good(a, "there is swap, but the policy locks its memory");
	return bad(a, "there is swap, and the policy locks no memory");
}

enum verdict memory_swappiness(struct check *c, struct answer *a)
{
	long long n;

	if (!read_long(c, a, &n, "/proc/sys/vm/swappiness"))
		return unread(a);
	if (n <= 10)
		return good(a, "swap is a last resort");
	return c->plan->lock != LOCK_NO ? good(a, "of no matter: the policy locks its memory")
					: bad(a, "idle pages may be swapped out early");
}

enum verdict memory_thp(struct check *c, struct answer *a)
{
	const struct value *own = &c->policy->process.value[K_TransparentHugePages];
	const char *text = read_text(c, a, "/sys/kernel/mm/transparent_hugepage/enabled");

	if (!text)
		return errno == ENOENT && exists(c, "/sys/kernel/mm") &&
				       !exists(c, "/sys/kernel/mm/transparent_hugepage")
			       ? moot(a, "a kernel without transparent huge pages")
			       : unread(a);
	if (strcmp(bracketed(text), "always") != 0)
		return good(a, "only for programs that ask for them");
	return own->items && !own->number ? good(a, "on, but off for the program by TransparentHugePages=no")
					  : bad(a, "on for all programs");
}

enum verdict memory_thp_defrag(struct check *c, struct answer *a)
{
	const struct value *own = &c->policy->process.value[K_TransparentHugePages];
	const char *text = read_text(c, a, "/sys/kernel/mm/transparent_hugepage/defrag");

	if (!text)
		return errno == ENOENT && exists(c, "/sys/kernel/mm") &&
				       !exists(c, "/sys/kernel/mm/transparent_hugepage")
			       ? moot(a, "a kernel without transparent huge pages")
			       : unread(a);
	if (own->items && !own->number)
		return good(a, "off for the program by TransparentHugePages=no");
	return strcmp(bracketed(text), "always") == 0 ? bad(a, "every fault may wait for compaction")
						      : good(a, "faults do not wait, unless the program asked for it");
}

enum verdict memory_khugepaged(struct check *c, struct answer *a)
{
	long long n;

	if (!read_long(c, a, &n, "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag"))
		return errno == ENOENT && exists(c, "/sys/kernel/mm") &&
				       !exists(c, "/sys/kernel/mm/transparent_hugepage")
			       ? moot(a, "a kernel without transparent huge pages")
			       : unread(a);
	return n ? bad(a, "it compacts memory to make huge pages") : good(a, "it does not compact");
}

enum verdict memory_ksm(struct check *c, struct answer *a)
{
	long long n;

	if (!read_long(c, a, &n, "/sys/kernel/mm/ksm/run"))
		return errno == ENOENT && exists(c, "/sys/kernel/mm") && !exists(c, "/sys/kernel/mm/ksm")
			       ? moot(a, "a kernel without KSM")
			       : unread(a);
	return n == 1 ? bad(a, "pages are being merged") : good(a, "no pages are being merged");
}

enum verdict memory_compaction(struct check *c, struct answer *a)
{
	return number_within(c, a, 0, 0, "memory is compacted in the background",
			     "/proc/sys/vm/compaction_proactiveness");
}

enum verdict memory_unevictable(struct check *c, struct answer *a)
{
	return number_within(c, a, 0, 0, "compaction may move locked pages",
			     "/proc/sys/vm/compact_unevictable_allowed");
}

enum verdict memory_numa_balancing(struct check *c, struct answer *a)
{
	struct answer nodes_answer = {0};
	struct cpuset nodes;
	long long n;

	if (!read_long(c, a, &n, "/proc/sys/kernel/numa_balancing"))
		return errno == ENOENT && exists(c, "/proc/sys/kernel") ? moot(a, "a kernel without NUMA balancing")
									: unread(a);
	if (!n)
		return good(a, "off");
	if (read_cpus(c, &nodes_answer, &nodes, "/sys/devices/system/node/online") && cpuset_count(&nodes) == 1)
		return good(a, "on, but there is one node");
	if (c->policy->process.value[K_NUMAPolicy].items &&
	    c->policy->process.value[K_NUMAPolicy].number != NUMA_DEFAULT)
		return good(a, "on, but the policy binds its memory");
	return bad(a, "pages are unmapped to see who uses them");
}

enum verdict memory_vmstat(struct check *c, struct answer *a)
{
	return number_within(c, a, 10, LLONG_MAX, "every CPU is bothered each time", "/proc/sys/vm/stat_interval");
}

enum verdict memory_zone_reclaim(struct check *c, struct answer *a)
{
	long long n;

	if (!read_long(c, a, &n, "/proc/sys/vm/zone_reclaim_mode"))
		return errno == ENOENT && exists(c, "/proc/sys/vm") ? moot(a, "a kernel without NUMA") : unread(a);
	return n ? bad(a, "a full node reclaims before it takes from the next") : good(a, "off");
}

enum verdict memory_pressure(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/pressure/memory"), *at = text ? strstr(text, "avg10=") : NULL;

	if (!text)
		return unread(a);
	if (!at)
		return unknown(a, "cannot be read: no avg10 there");
	return atof(at + 6) >= 0.1 ? bad(a, "%.2f %% of the last 10 s", atof(at + 6))
				   : good(a, "none in the last 10 s");
}

enum verdict memory_dirty(struct check *c, struct answer *a)
{
	long long bytes, ratio;

	if (!read_long(c, a, &bytes, "/proc/sys/vm/dirty_bytes"))
		return unread(a);
	if (bytes)
		return bytes <= 1 << 30 ? good(a, "up to %lld bytes may be dirty", bytes)
					: bad(a, "up to %lld bytes may be dirty", bytes);
	if (!read_long(c, a, &ratio, "/proc/sys/vm/dirty_ratio"))
		return unread(a);
	return ratio <= 10 ? good(a, "up to %lld %% of memory may be dirty", ratio)
			   : bad(a, "up to %lld %% of memory may be dirty", ratio);
}

/* v2: memory.high and memory.max up to the top, and the events of its own group; v1 has no high. */
static bool has_limit(struct check *c, struct answer *a, const char *group, bool v2, bool *limited)
{
	static const char *const v2_files[] = {"memory.high", "memory.max"};

	*limited = false;
	if (!v2) {
		long long n;

		if (!read_long(c, a, &n, "%s/memory.limit_in_bytes", group))
			return false;
		*limited = n < LLONG_MAX / 4; /* "no limit" is the largest multiple of a page */
		return true;
	}
	for (size_t i = 0; i < 2 && !*limited; i++) {
		const char *text = read_text(c, a, "%s/%s", group, v2_files[i]);

		if (!text) /* none in the root group, or where the controller is off */
			return errno == ENOENT && exists(c, memory_printf("%s/cgroup.procs", group));
		*limited = strncmp(text, "max", 3) != 0;
	}
	return true;
}

enum verdict memory_group_limit(struct check *c, struct answer *a)
{
	bool v2, limited = false;
	const char *own = group_of(c, a, "memory", &v2), *events;

	if (!own)
		return unread(a);
	for (const char *group = own; group && !limited; group = group_parent(group)) {
		if (!has_limit(c, a, group, v2, &limited))
			return unread(a);
		if (limited) {
			events = read_text(c, &(struct answer){0}, "%s/memory.events", group);
			return bad(a, "the program's group is limited%s",
				   events && number_in_line(events, "high") > 0
					   ? memory_printf("; slowed %lld times so far", number_in_line(events, "high"))
					   : "");
		}
	}
	if (!a->value)
		a->value = "none";
	return good(a, "no group above the program limits memory");
}

enum verdict memory_hugepages(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/meminfo");
	long long total = text ? number_in_line(text, "HugePages_Total") : -1;

	if (!text)
		return unread(a);
	if (total < 0)
		return unknown(a, "cannot be told: no HugePages_Total there");
	a->value = memory_printf("%lld reserved, %lld free", total, number_in_line(text, "HugePages_Free"));
	return good(a, "for programs that map them themselves");
}

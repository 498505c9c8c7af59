/*
 * permission.c judges limits and rights of the program to come.  What only trying tells is tried before, where it is
 * done at start too (launcher/permission.c): see isolation policy.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

/* A soft limit of /proc/self/limits; -1: unlimited.  False: cannot be read. */
static bool read_limit(struct check *c, struct answer *a, const char *name, long long *limit)
{
	const char *text = read_text(c, a, "/proc/self/limits"), *line = text ? strstr(text, name) : NULL;

	if (!text)
		return false;
	if (!line) {
		a->text = memory_printf("cannot be told: no '%s' there", name);
		return false;
	}
	line += strlen(name);
	line += strspn(line, " ");
	a->value = memory_printf("%s: %s", name, memory_copy(line, strcspn(line, " \n")));
	*limit = strncmp(line, "unlimited", 9) == 0 ? -1 : atoll(line);
	return true;
}

/* Root gets what the bounding set leaves, anybody else what is ambient (capabilities(7)).  False: cannot be read. */
static bool read_capability(struct check *c, struct answer *a, unsigned capability, bool *has)
{
	const char *text = read_text(c, a, "/proc/self/status"), *uid = text ? line_of(text, "Uid") : NULL, *set;
	bool root = uid && strtol(uid, NULL, 10) == 0;

	set = text ? line_of(text, root ? "CapBnd" : "CapAmb") : NULL;
	if (text && !set)
		a->text = "cannot be told: no capabilities there";
	if (!set)
		return false;
	a->value = memory_printf("%s: %s", root ? "CapBnd" : "CapAmb", set);
	*has = strtoull(set, NULL, 16) >> capability & 1;
	return true;
}

enum verdict permission_rtprio(struct check *c, struct answer *a)
{
	long long limit;
	bool has;

	if (!c->priority)
		return moot(a, "the policy has no real-time threads");
	if (!read_capability(c, a, CAP_SYS_NICE, &has))
		return unread(a);
	if (has)
		return good(a, "CAP_SYS_NICE allows every priority");
	if (!read_limit(c, a, "Max realtime priority", &limit))
		return unread(a);
	return limit < 0 || limit >= c->priority
		       ? good(a, "priority %d is allowed", c->priority)
		       : bad(a, "priority %d is not allowed, and CAP_SYS_NICE is missing", c->priority);
}

enum verdict permission_memlock(struct check *c, struct answer *a)
{
	long long limit;
	bool has;

	if (c->plan->lock == LOCK_NO)
		return moot(a, "the policy locks no memory");
	if (!read_limit(c, a, "Max locked memory", &limit))
		return unread(a);
	if (limit < 0)
		return good(a, "no limit");
	if (!read_capability(c, a, CAP_IPC_LOCK, &has))
		return unread(a);
	return has ? good(a, "CAP_IPC_LOCK allows it; should the program give up root, the limit of %lld bytes counts",
			  limit)
		   : bad(a, "%lld bytes, and CAP_IPC_LOCK is missing", limit);
}

enum verdict permission_rttime(struct check *c, struct answer *a)
{
	long long limit;

	if (!c->priority)
		return moot(a, "the policy has no real-time threads");
	if (!read_limit(c, a, "Max realtime timeout", &limit))
		return unread(a);
	return limit < 0 ? good(a, "no limit")
			 : bad(a, "real-time threads get SIGXCPU after %lld us without sleep", limit);
}

enum verdict permission_net_admin(struct check *c, struct answer *a)
{
	bool wanted = c->prefer_busy_poll, has;

	for (uint32_t i = 0; i < c->plan->n_sockets; i++) {
		const struct socket_rule *r = &c->plan->socket[i];

		wanted |= r->given >> SOCKET_BusyPollBudget & 1 ||
			  (r->given >> SOCKET_Priority & 1 && r->value[SOCKET_Priority] > 6);
	}
	if (!wanted)
		return moot(a, "nothing in the policy needs it");
	if (!read_capability(c, a, CAP_NET_ADMIN, &has))
		return unread(a);
	return has ? good(a, "CAP_NET_ADMIN is there") : bad(a, "CAP_NET_ADMIN is missing");
}

enum verdict permission_preload(struct check *c, struct answer *a)
{
	const char *list;
	int severity;

	if (!c->target)
		return moot(a, "no program was named");
	a->where = c->target->executable;
	if (!c->target->no_shim)
		return good(a, "the shim can be loaded into it");
	a->value = c->target->no_shim;
	list = needs_shim(c->policy, false, &severity);
	if (!list)
		return good(a, "it %s, and the policy needs no shim", c->target->no_shim);
	return bad(a, "it %s, so these would not be applied: %s%s%s", c->target->no_shim, list,
		   c->target->no_shim_cure ? "; " : "", c->target->no_shim_cure ? c->target->no_shim_cure : "");
}

enum verdict permission_seccomp(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/self/status"), *mode = text ? line_of(text, "Seccomp") : NULL;

	if (!text)
		return unread(a);
	if (!mode)
		return unknown(a, "cannot be told: no Seccomp there");
	a->value = memory_printf("Seccomp: %s", mode);
	return *mode == '0' ? good(a, "no filter")
			    : bad(a, "a filter is in force, as of RestrictRealtime= or a container");
}

enum verdict permission_inherited_mask(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/self/status"),
		   *list = text ? line_of(text, "Cpus_allowed_list") : NULL;

	if (!text)
		return unread(a);
	if (!list)
		return unknown(a, "cannot be told: no Cpus_allowed_list there");
	a->value = list;
	return good(a, "llrun itself is allowed CPUs %s", list);
}

enum verdict permission_affinity_reset(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/sys/kernel/osrelease");
	char *end = NULL;
	long major = text ? strtol(text, &end, 10) : 0, minor = end && *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	if (!text)
		return unread(a);
	if (!major)
		return unknown(a, "cannot be told: no version");
	return major > 6 || (major == 6 && minor >= 2)
		       ? good(a, "the kernel remembers what was asked for")
		       : bad(a, "a change of the cpuset undoes the placement of threads");
}

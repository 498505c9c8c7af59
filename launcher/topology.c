/*
 * topology.c owns what this machine has: CPUs, cores, caches, nodes, interfaces, and what the cpuset lets this process
 * use of them.  Cores are cores.c's, isolation is isolation.c's.
 *
 * It reads sysfs and procfs itself, below $LLRUN_SYSROOT if that is set, and not by libnuma: that cannot read a fake
 * root, and its constructor looks through /sys/devices/system/node and /proc/self/status at every start, needed or not.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "topology.h"

enum { LIST_SHOWN = 256 };

static bool fail(const char **why, const char *text)
{
	*why = text;
	return false;
}

static const char *list(const struct cpuset *set)
{
	char text[LIST_SHOWN];

	cpuset_format(set, text, sizeof(text));
	return memory_copy(text, strlen(text));
}

static void note(struct topology *t, const char *text)
{
	struct message **end = &t->notes, *m;

	for (; *end; end = &(*end)->next)
		if (strcmp((*end)->text, text) == 0)
			return; /* several rules may use the same word */
	*end = m = memory_get(sizeof(*m));
	m->text = text;
}

/*
 * Which CPUs the cpuset allows.  The inherited mask does not tell: it is narrower under taskset, and never holds the
 * CPUs of isolcpus= (sched_setaffinity(2) to them works all the same).  The files of the cgroup do not tell either, in
 * a container that does not see its own.  So it is tried: the kernel cuts a mask of all CPUs down to the cpuset
 * (cpuset(7)).  Who has all online CPUs anyway need not try.  False if a seccomp filter forbids it.
 */
static bool probe_allowed(struct cpuset *allowed, const struct cpuset *online)
{
	struct cpuset saved = {0}, all, more = *online;

	/* Raw system calls: a struct cpuset holds more CPUs than a cpu_set_t, and enough for any kernel: no EINVAL. */
	if (syscall(SYS_sched_getaffinity, 0, sizeof(saved), &saved) <= 0)
		return false;
	cpuset_minus(&more, &saved);
	if (cpuset_empty(&more) && !cpuset_empty(online)) {
		*allowed = saved;
		return true;
	}
	memset(&all, 0xff, sizeof(all));
	if (syscall(SYS_sched_setaffinity, 0, sizeof(all), &all) != 0)
		return false;
	if (syscall(SYS_sched_getaffinity, 0, sizeof(*allowed), allowed) <= 0)
		*allowed = saved;
	/*
	 * Since Linux 6.2 the kernel remembers the mask that was asked for and keeps to it when the cpuset grows later.
	 * Who had the whole cpuset is left with a wish for all CPUs, which is as if nothing had ever been asked for.
	 */
	if (!cpuset_equal(&saved, allowed))
		syscall(SYS_sched_setaffinity, 0, sizeof(saved), &saved);
	return true;
}

/*
 * Reads which CPUs are online and which may be used.  Cheap: one small file and up to four system calls.  False and *why
 * if the root has no online CPUs, or if /sys is not mounted and a seccomp filter hides the CPUs too.
 */
bool topology_read(struct topology *t, const char **why)
{
	const char *root = getenv("LLRUN_SYSROOT");
	bool real = !root || !*root, known, told;

	*t = (struct topology){.root = real ? "" : root};
	told = sysfs_list(t, &t->online, "sys/devices/system/cpu/online") && !cpuset_empty(&t->online);
	known = real ? probe_allowed(&t->allowed, &t->online)
		     : sysfs_list(t, &t->allowed, "sys/fs/cgroup/cpuset.cpus.effective");
	if (!told) {
		/* A chroot without /sys: what the kernel says to sched_getaffinity is online at least. */
		if (!real || !known)
			return fail(why, memory_printf("cannot read %s/sys/devices/system/cpu/online", t->root));
		t->online = t->allowed;
	}
	if (!known)
		t->allowed = t->online;
	t->usable = t->online;
	cpuset_and(&t->usable, &t->allowed);
	return true;
}

/* " /t" if this process's cpuset is /t, else "": only messages need it, so it is read when the first one does. */
static const char *cpuset_name(struct topology *t)
{
	char text[8192], *rest = text, *line;

	if (!t->cpuset_path && sysfs_text(t, text, sizeof(text), "proc/self/cgroup"))
		/* "3:cpuset,cpu:/path" of v1, or else "0::/path" of v2, which comes last (cgroups(7)). */
		while (!t->cpuset_path && (line = strsep(&rest, "\n"))) {
			char *number = strsep(&line, ":"), *controllers = strsep(&line, ":"), *name;
			bool found = line && strcmp(number, "0") == 0 && !*controllers;

			while (line && !found && (name = strsep(&controllers, ",")))
				found = strcmp(name, "cpuset") == 0;
			if (found)
				t->cpuset_path = memory_copy(line, strlen(line));
		}
	return t->cpuset_path ? memory_printf(" %s", t->cpuset_path) : "";
}

/* Only what cannot be used raises the question whether it is there at all. */
static struct cpuset read_present(const struct topology *t)
{
	struct cpuset present;

	return sysfs_list(t, &present, "sys/devices/system/cpu/present") ? present : t->online;
}

/* Explicit numbers are strict: all of them must be usable. */
static bool check_numbers(struct topology *t, const struct cpuset *set, const char **why)
{
	CPUSET_EACH(cpu, set)
	{
		if (cpuset_has(&t->usable, (unsigned)cpu))
			continue;
		struct cpuset present = read_present(t);
		if (!cpuset_has(&present, (unsigned)cpu))
			return fail(why, memory_printf("CPU %d does not exist (CPUs: %s)", cpu, list(&present)));
		if (!cpuset_has(&t->online, (unsigned)cpu))
			return fail(why, memory_printf("CPU %d is offline (online: %s)", cpu, list(&t->online)));
		return fail(why, memory_printf("CPU %d is outside the cpuset%s of this process (allowed: %s)", cpu,
					       cpuset_name(t), list(&t->allowed)));
	}
	return true;
}

/* A kernel without CONFIG_NUMA has no node/ and one node, 0. */
static void read_nodes(const struct topology *t, struct cpuset *nodes)
{
	if (!sysfs_list(t, nodes, "sys/devices/system/node/online") || cpuset_empty(nodes)) {
		*nodes = (struct cpuset){0};
		cpuset_add(nodes, 0);
	}
}

/* A node that has only memory has no CPUs. */
static void add_node(const struct topology *t, int node, struct cpuset *out)
{
	struct cpuset cpus;

	if (sysfs_list(t, &cpus, "sys/devices/system/node/node%d/cpulist", node))
		cpuset_or(out, &cpus);
	else if (node == 0)
		cpuset_or(out, &t->online);
}

static bool check_exist(const char *what, const struct cpuset *wanted, const struct cpuset *there, const char **why)
{
	CPUSET_EACH(i, wanted)
	if (!cpuset_has(there, (unsigned)i))
		return fail(why, memory_printf("%s %d does not exist (%ss: %s)", what, i, what, list(there)));
	return true;
}

static bool ask_node(const struct topology *t, const struct cpuset *wanted, struct cpuset *out, const char **why)
{
	struct cpuset nodes;

	read_nodes(t, &nodes);
	if (!check_exist("node", wanted, &nodes, why))
		return false;
	CPUSET_EACH(node, wanted)
	add_node(t, node, out);
	return true;
}

static bool ask_package(const struct topology *t, const struct cpuset *wanted, struct cpuset *out, const char **why)
{
	struct cpuset packages = {0};

	CPUSET_EACH(cpu, &t->online)
	{
		int package = sysfs_int(t, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);

		if (package < 0)
			package = 0; /* -1 where the firmware does not tell (some arm64): all one */
		cpuset_add(&packages, (unsigned)package);
		if (cpuset_has(wanted, (unsigned)package))
			cpuset_add(out, (unsigned)cpu);
	}
	return check_exist("package", wanted, &packages, why);
}

/* The CPUs that share the last-level cache of the one wanted: its cache/index* of the highest level. */
static bool ask_llc(const struct topology *t, const struct cpuset *wanted, struct cpuset *out, const char **why)
{
	int cpu = cpuset_next(wanted, 0), highest = 0, level;
	struct cpuset sharing, present = read_present(t);

	if (!check_exist("CPU", wanted, &present, why))
		return false;
	if (!cpuset_has(&t->online, (unsigned)cpu))
		return fail(why, memory_printf("CPU %d is offline (online: %s)", cpu, list(&t->online)));
	for (int i = 0; (level = sysfs_int(t, "sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i)) >= 0; i++)
		if (level >= highest &&
		    sysfs_list(t, &sharing, "sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i)) {
			highest = level;
			*out = sharing;
		}
	return highest > 0 ||
	       fail(why, memory_printf("the kernel tells of no cache of CPU %d (/sys/devices/system/cpu/cpu%d/cache)",
				       cpu, cpu));
}

static bool ask_near(struct topology *t, const char *interface, struct cpuset *out, const char **why)
{
	struct cpuset nodes, all_nodes;

	if (!interface_near(t, interface, &nodes, out, why))
		return false;
	CPUSET_EACH(node, &nodes)
	add_node(t, node, out);
	if (!cpuset_empty(&nodes) || !cpuset_empty(out))
		return true;
	read_nodes(t, &all_nodes);
	if (cpuset_count(&all_nodes) > 1)
		note(t, memory_printf("near:%s: the kernel does not know the interface's node: all usable CPUs, %s",
				      interface, list(&t->usable)));
	*out = t->usable;
	return true;
}

/* A word denotes CPUs that may be used.  If there are some and none may be used, say so: they are not none. */
static void keep_usable(struct topology *t, const char *word, const char *argument, struct cpuset *set)
{
	struct cpuset there = *set, online = *set;
	const char *title = argument ? memory_printf("%s:%s", word, argument) : word;

	cpuset_and(&online, &t->online);
	cpuset_and(set, &t->usable);
	if (!cpuset_empty(set) || cpuset_empty(&there))
		return;
	if (cpuset_empty(&online))
		note(t, memory_printf("%s: CPUs %s are offline (online: %s)", title, list(&there), list(&t->online)));
	else
		note(t, memory_printf("%s: CPUs %s are outside the cpuset%s of this process (allowed: %s)", title,
				      list(&online), cpuset_name(t), list(&t->allowed)));
}

static bool ask_word(struct topology *t, const char *word, const char *argument, struct cpuset *out, const char **why)
{
	struct cpuset wanted = {0}, isolated;

	if (strcmp(word, "near") == 0)
		return ask_near(t, argument, out, why);
	if (argument && !cpuset_parse(&wanted, argument))
		return fail(why, memory_printf("'%s' is no list of numbers", argument));
	if (strcmp(word, "online") == 0 || strcmp(word, "housekeeping") == 0)
		*out = t->online;
	else if (strcmp(word, "allowed") == 0)
		*out = t->allowed;
	else if (strcmp(word, "isolated") == 0)
		topology_isolated(t, out);
	else if (strcmp(word, "nohz_full") == 0)
		/* "  (null)" without nohz_full= (6.1, 6.12): the empty set. */
		sysfs_list(t, out, "sys/devices/system/cpu/nohz_full");
	else if (strcmp(word, "node") == 0)
		return ask_node(t, &wanted, out, why);
	else if (strcmp(word, "package") == 0)
		return ask_package(t, &wanted, out, why);
	else if (strcmp(word, "llc") == 0)
		return ask_llc(t, &wanted, out, why);
	else
		return fail(why, memory_printf("'%s' is no CPU word", word));
	if (strcmp(word, "housekeeping") == 0) {
		topology_isolated(t, &isolated);
		cpuset_minus(out, &isolated);
	}
	return true;
}

/* Answers the questions of expr_eval (policy.h). */
bool topology_ask(void *context, const char *word, const char *argument, struct cpuset *set, const char **why)
{
	struct topology *t = context;
	struct cpuset but;

	if (!*word)
		return check_numbers(t, set, why);
	if (strcmp(word, "!") == 0) {
		but = *set;
		*set = t->usable;
		cpuset_minus(set, &but);
		return true;
	}
	if (strcmp(word, "cores") == 0) {
		cores_keep_one(t, set);
		return true;
	}
	*set = (struct cpuset){0};
	if (!ask_word(t, word, argument, set, why))
		return false;
	keep_usable(t, word, argument, set);
	return true;
}

/* Which nodes this process may have memory of: its cpuset's, as far as they have memory (cpuset(7)). */
static void read_allowed_nodes(const struct topology *t, const struct cpuset *nodes, struct cpuset *allowed)
{
	static const char key[] = "\nMems_allowed_list:\t";
	char text[16384], *at;

	if (!sysfs_text(t, text, sizeof(text), "proc/self/status") || !(at = strstr(text, key))) {
		*allowed = *nodes;
		return;
	}
	at += sizeof(key) - 1;
	at[strcspn(at, "\n")] = '\0';
	if (!cpuset_parse(allowed, at))
		*allowed = *nodes;
}

bool topology_nodes(struct topology *t, const char *text, struct cpuset *out, const char **why)
{
	struct cpuset nodes, allowed, wanted;

	*out = (struct cpuset){0};
	read_nodes(t, &nodes);
	read_allowed_nodes(t, &nodes, &allowed);
	if (strcmp(text, "all") == 0) {
		wanted = nodes;
		cpuset_and(&wanted, &allowed);
	} else if (!cpuset_parse(&wanted, text) || cpuset_empty(&wanted)) {
		return fail(why, memory_printf("'%s': expected nodes, such as 0 or 0-1, or all", text));
	}
	if (!check_exist("node", &wanted, &nodes, why))
		return false;
	CPUSET_EACH(node, &wanted)
	if (!cpuset_has(&allowed, (unsigned)node))
		return fail(why, memory_printf("node %d has no memory or is outside the cpuset%s (allowed: %s)", node,
					       cpuset_name(t), list(&allowed)));
	*out = wanted;
	return true;
}

/*
 * isolation.c owns the question which CPUs of this machine are isolated.  Two things isolate: isolcpus=domain at boot,
 * and isolated cpuset partitions (cgroup v2, since Linux 6.1).  Both are read, since the file of the first stays as it
 * was at boot when a partition is made (seen on 6.1 and 6.12).
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "topology.h"

enum { MAX_DEPTH = 8 };

/*
 * Adds the CPUs of isolated partitions: of a cgroup and those below it.  The write of "isolated" succeeds even if the
 * partition cannot be had; it then reads "isolated invalid (reason)" and isolates nothing (cgroup-v2.rst).
 */
static void add_partitions(const struct topology *t, const char *cgroup, unsigned depth, struct cpuset *out)
{
	bool has_cpuset, fits;
	char path[PATH_MAX], state[128];
	struct cpuset cpus;
	struct dirent *e;
	DIR *dir;

	/* Absent in the root cgroup too, but in a container the top of the mount is not the root. */
	has_cpuset = sysfs_text(t, state, sizeof(state), "%s/cpuset.cpus.partition", cgroup);
	if (has_cpuset && strcmp(state, "isolated\n") == 0 && sysfs_list(t, &cpus, "%s/cpuset.cpus.effective", cgroup))
		cpuset_or(out, &cpus);
	/* Controllers go from parent to child: no cpuset here, none below.  This ends most walks at once. */
	if ((depth > 0 && !has_cpuset) || depth == MAX_DEPTH)
		return;
	fits = (size_t)snprintf(path, sizeof(path), "%s/%s", t->root, cgroup) < sizeof(path);
	dir = fits ? opendir(path) : NULL;
	while (dir && (e = readdir(dir))) {
		fits = (size_t)snprintf(path, sizeof(path), "%s/%s", cgroup, e->d_name) < sizeof(path);
		if (fits && e->d_type == DT_DIR && e->d_name[0] != '.')
			add_partitions(t, path, depth + 1, out);
	}
	if (dir)
		closedir(dir);
}

/* Partitions need the cpuset controller of cgroup v2.  No v2 here, or v1 has the controller: nothing to walk through. */
static bool has_cpusets(const struct topology *t, const char *mount)
{
	char controllers[256];

	return sysfs_text(t, controllers, sizeof(controllers), "%s/cgroup.controllers", mount) &&
	       strstr(controllers, "cpuset");
}

/* All isolated CPUs of the machine, usable or not.  Read when first asked for: most starts never ask. */
void topology_isolated(struct topology *t, struct cpuset *out)
{
	/* cgroup v2 alone, and beside v1 (systemd's hybrid layout). */
	static const char *const mounts[] = {"sys/fs/cgroup", "sys/fs/cgroup/unified"};
	struct cpuset cpus;

	if (!t->isolated_known) {
		sysfs_list(t, &t->isolated, "sys/devices/system/cpu/isolated");
		/* cpuset.cpus.isolated exists since Linux 6.8, in the root cgroup only: not in a container. */
		for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
			if (sysfs_list(t, &cpus, "%s/cpuset.cpus.isolated", mounts[i]))
				cpuset_or(&t->isolated, &cpus);
			else if (has_cpusets(t, mounts[i]))
				add_partitions(t, mounts[i], 0, &t->isolated);
		}
		t->isolated_known = true;
	}
	*out = t->isolated;
}

void topology_housekeeping(struct topology *t, struct cpuset *out)
{
	struct cpuset isolated;

	topology_isolated(t, &isolated);
	*out = t->usable;
	cpuset_minus(out, &isolated);
}

#ifndef LLRUN_TOPOLOGY_H
#define LLRUN_TOPOLOGY_H
/* What topology.c, isolation.c, cores.c, interface.c and sysfs.c share; launcher.h has what they offer the others. */
#include "launcher.h"

/*
 * sysfs.c: small files, their paths given relative to the topology's root ("sys/devices/system/cpu/online").
 * sysfs_text reads a file, cut at `size`.  False: no such file, or it cannot be read.
 * sysfs_list reads a list such as "0-3,8".  False and an empty set: the same, or it says something else ("(null)").
 * sysfs_int reads a decimal number.  INT_MIN: the same.
 */
__attribute__((format(printf, 4, 5))) bool sysfs_text(const struct topology *t, char *text, size_t size,
						      const char *format, ...);
__attribute__((format(printf, 3, 4))) bool sysfs_list(const struct topology *t, struct cpuset *set, const char *format,
						      ...);
__attribute__((format(printf, 2, 3))) int sysfs_int(const struct topology *t, const char *format, ...);

/* cores.c: leaves the lowest member of each core in the set. */
void cores_keep_one(const struct topology *t, struct cpuset *set);

/*
 * interface.c: what is near a network interface: the node of its device, or CPUs where the kernel names only those.
 * Both sets empty: the kernel does not know.  False and *why: there is no such interface.
 */
bool interface_near(const struct topology *t, const char *name, struct cpuset *nodes, struct cpuset *cpus,
		    const char **why);

#endif

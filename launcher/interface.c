/* interface.c owns the way from a network interface to the node or the CPUs that its hardware is near to. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "topology.h"

/* Stacks of virtual interfaces may be as deep as the kernel allows (MAX_NEST_DEV, include/linux/netdevice.h). */
enum { MAX_NEST = 8, NAMES_SHOWN = 16 };

static const char *const class_net = "sys/class/net";

static bool class_path(const struct topology *t, char path[PATH_MAX], const char *name, const char *below)
{
	return (size_t)snprintf(path, PATH_MAX, "%s/%s/%s%s", t->root, class_net, name, below) < PATH_MAX;
}

static const char *list_interfaces(const struct topology *t)
{
	const char *names = "";
	char path[PATH_MAX];
	struct dirent *e;
	unsigned n = 0;
	DIR *dir = class_path(t, path, "", "") ? opendir(path) : NULL;

	while (dir && (e = readdir(dir))) {
		/* Not files like bonding_masters. */
		if (e->d_name[0] == '.' || e->d_type == DT_REG)
			continue;
		if (n++ == NAMES_SHOWN) {
			names = memory_printf("%s ...", names);
			break;
		}
		names = memory_printf("%s%s%s", names, *names ? " " : "", e->d_name);
	}
	if (dir)
		closedir(dir);
	return *names ? names : "none";
}

/*
 * The device of an interface, as a path below the root without symlinks.  NULL: it has none, or (a fake root with
 * absolute links) it lies outside of the root.
 */
static char *device_path(const struct topology *t, const char *name, char path[PATH_MAX])
{
	char base[PATH_MAX], link[PATH_MAX];
	size_t length;

	if (!class_path(t, link, name, "/device") || !realpath(link, path) || !realpath(*t->root ? t->root : "/", base))
		return NULL;
	length = strcmp(base, "/") == 0 ? 0 : strlen(base);
	return strncmp(path, base, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/*
 * Climbs from the device to the first parent that knows its place: a virtio NIC, say, does not, but the PCI device
 * above it does.  A numa_node of -1 is "not known" (Documentation/ABI/stable/sysfs-bus-pci), and local_cpulist then has
 * all CPUs, so that list counts only where there is no numa_node at all.
 */
static void climb(const struct topology *t, char *device, struct cpuset *nodes, struct cpuset *cpus)
{
	struct cpuset local;
	char *slash;

	while ((slash = strrchr(device, '/'))) {
		int node = sysfs_int(t, "%s/numa_node", device);

		if (node >= 0) {
			cpuset_add(nodes, (unsigned)node);
			return;
		}
		if (node == INT_MIN && sysfs_list(t, &local, "%s/local_cpulist", device) && !cpuset_empty(&local)) {
			cpuset_or(cpus, &local);
			return;
		}
		*slash = '\0';
	}
}

/* A bond, bridge or VLAN has no device; it is where the interfaces under it are ("lower_eth0"). */
static void search(const struct topology *t, const char *name, unsigned nest, struct cpuset *nodes, struct cpuset *cpus)
{
	static const char prefix[] = "lower_";
	char path[PATH_MAX], *device = device_path(t, name, path);
	struct dirent *e;
	DIR *dir;

	if (device) {
		climb(t, device, nodes, cpus);
		return;
	}
	dir = nest < MAX_NEST && class_path(t, path, name, "") ? opendir(path) : NULL;
	while (dir && (e = readdir(dir)))
		if (strncmp(e->d_name, prefix, sizeof(prefix) - 1) == 0)
			search(t, e->d_name + sizeof(prefix) - 1, nest + 1, nodes, cpus);
	if (dir)
		closedir(dir);
}

bool interface_near(const struct topology *t, const char *name, struct cpuset *nodes, struct cpuset *cpus,
		    const char **why)
{
	char path[PATH_MAX];
	struct stat st;

	*nodes = *cpus = (struct cpuset){0};
	if (!class_path(t, path, name, "") || lstat(path, &st) != 0 || S_ISREG(st.st_mode)) {
		*why = memory_printf("there is no network interface '%s' (there are %s)", name, list_interfaces(t));
		return false;
	}
	search(t, name, 0, nodes, cpus);
	return true;
}

/*
 * The interrupts of an interface that may be delivered to these CPUs, "37 38", or NULL: those of the device or of the
 * PCI function above it (msi_irqs/, Documentation/ABI/testing/sysfs-bus-pci), by their effective affinity, which is
 * stale until the next interrupt after a change.
 */
const char *interface_interrupts(const struct topology *t, const char *name, const struct cpuset *cpus)
{
	char path[PATH_MAX], *device = device_path(t, name, path), *slash;
	const char *list = "";
	struct dirent *e;
	DIR *dir = NULL;

	while (device && !(dir = opendir(memory_printf("%s/%s/msi_irqs", t->root, device))) &&
	       (slash = strrchr(device, '/')))
		*slash = '\0';
	while (dir && (e = readdir(dir))) {
		struct cpuset on;

		if (e->d_name[0] == '.' || !sysfs_list(t, &on, "proc/irq/%s/effective_affinity_list", e->d_name))
			continue;
		cpuset_and(&on, cpus);
		if (!cpuset_empty(&on))
			list = memory_printf("%s%s%s", list, *list ? " " : "", e->d_name);
	}
	if (dir)
		closedir(dir);
	return *list ? list : NULL;
}

/* group.c owns the way from this process to its control groups, of v1 and v2. */
#include <string.h>
#include "check.h"

static bool names_controller(const char *list, size_t length, const char *controller)
{
	return strstr(memory_printf(",%s,", memory_copy(list, length)), memory_printf(",%s,", controller)) != NULL;
}

/* Where the v2 tree is: at the top, or beside v1 (systemd's hybrid layout). */
static const char *v2_mount(struct check *c)
{
	return exists(c, "/sys/fs/cgroup/cgroup.controllers") ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
}

const char *group_of(struct check *c, struct answer *a, const char *controller, bool *v2)
{
	const char *text = read_text(c, a, "/proc/self/cgroup"), *path = NULL, *mount = NULL;

	*v2 = false;
	/* "3:cpu,cpuacct:/path" of v1 counts; "0::/path" is v2's (cgroups(7)). */
	for (const char *line = text; line && *line; line = next_line(line)) {
		const char *list = strchr(line, ':'), *name = list ? strchr(list + 1, ':') : NULL;
		size_t length;

		if (!name)
			continue;
		length = (size_t)(name - list - 1);
		if (length ? !names_controller(list + 1, length, controller) : path != NULL)
			continue;
		path = first_line(name + 1);
		*v2 = !length;
		mount = *v2 ? v2_mount(c) : memory_printf("/sys/fs/cgroup/%s", memory_copy(list + 1, length));
		if (!*v2 && !exists(c, mount))
			mount = memory_printf("/sys/fs/cgroup/%s", controller);
		if (!*v2)
			break;
	}
	if (!path) {
		if (text)
			a->text = memory_printf("cannot be told: no control group in /proc/self/cgroup");
		return NULL;
	}
	return strcmp(path, "/") == 0 ? mount : memory_printf("%s%s", mount, path);
}

const char *group_parent(const char *group)
{
	static const char top[] = "/sys/fs/cgroup";
	const char *slash = strrchr(group, '/');

	return strlen(group) <= strlen(top) || slash == group + strlen(top)
		       ? NULL
		       : memory_copy(group, (size_t)(slash - group));
}

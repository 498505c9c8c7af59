/*
 * environment.c - the only writer of the environment, and who knows where llrun's own files lie: beside the executable in
 * the build tree, or under the prefix that it is installed in (so that DESTDIR and a moved prefix work).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher.h"

extern char **environ;

static const char *own_directory(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return "/usr/bin"; /* no /proc: the installed place is the best guess */
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	return memory_copy(path, strlen(path));
}

static bool in_build_tree(void)
{
	return access(memory_printf("%s/libllrun.so", own_directory()), F_OK) == 0;
}

const char *shim_path(void)
{
	const char *in_tree = memory_printf("%s/libllrun.so", own_directory());
	char resolved[PATH_MAX];

	if (access(in_tree, F_OK) == 0)
		return in_tree;
	/* "bin/../lib" would do for ld.so; a plain path reads better in /proc/PID/maps */
	if (realpath(memory_printf("%s/../lib/llrun/libllrun.so", own_directory()), resolved))
		return memory_copy(resolved, strlen(resolved));
	return NULL;
}

const char *shipped_directory(void)
{
	char resolved[PATH_MAX];
	const char *path = memory_printf("%s/%s", own_directory(), in_build_tree() ? "shipped" : "../share/llrun");

	return realpath(path, resolved) ? memory_copy(resolved, strlen(resolved)) : path;
}

static bool is_named(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* ld.so and sh take the last of several entries of one name, getenv(3) the first: so does what we keep. */
static const char *last_value(const char *name)
{
	const char *value = NULL;

	for (char **e = environ; e && *e; e++)
		if (is_named(*e, name))
			value = strchr(*e, '=') + 1;
	return value;
}

/* Under another llrun: the value without that one's shim.  Two copies would run every hook twice. */
static const char *without(const char *value, const char *shim)
{
	size_t n = strlen(shim);

	for (const char *found = value; (found = strstr(found, shim));
	     found++) /* in the midst of another path: goes on */
		if ((found == value || strchr(": ", found[-1])) && (!found[n] || strchr(": ", found[n])))
			return memory_printf("%s%s", memory_copy(value, (size_t)(found - value)),
					     found + n + (found[n] != '\0'));
	return value;
}

/* LD_PRELOAD with our shim in front, as an entry of the environment; notes in the plan how a reset child undoes it. */
static const char *preload(struct plan *plan, const char *shim, const char *sanitizer)
{
	const char *callers = last_value("LD_PRELOAD");
	const char *kept = callers ? without(callers, shim) : "";
	const char *ours = memory_printf("%s%s%s%s", sanitizer ? sanitizer : "", sanitizer ? ":" : "", shim,
					 *kept ? ":" : "");

	plan->preload_absent = !callers || (!*kept && *callers);
	plan_add_text(plan, ours, &plan->preload);
	return memory_printf("LD_PRELOAD=%s%s", ours, kept);
}

/* Linux takes one string of the environment up to 128 KiB (MAX_ARG_STRLEN, execve(2)). */
enum { LONGEST = 128 * 1024 };

bool environment_set(struct plan *plan, const char *shim, const char *sanitizer)
{
	static const char name[] = PLAN_VARIABLE "=w"; /* w: by llrun itself, not by a covered process (process.c) */
	size_t n = 0, kept = 0;
	char **new;

	while (environ && environ[n])
		n++;
	new = memory_get((n + 3) * sizeof *new);
	for (size_t i = 0; i < n; i++)
		if (!is_named(environ[i], PLAN_VARIABLE) && !(shim && is_named(environ[i], "LD_PRELOAD")))
			new[kept++] = environ[i];
	if (shim)
		new[kept++] = (char *)preload(plan, shim, sanitizer);
	environ = new;
	if (!shim)
		return true;
	new[kept] = memory_get(LONGEST);
	strcpy(new[kept], name);
	return plan_encode(plan, new[kept] + sizeof name - 1, LONGEST - (sizeof name - 1)) > 0;
}

/* Adds glibc.NAME=VALUE where the caller has not chosen it (GLIBC_TUNABLES, glibc manual). */
static const char *with_tunable(const char *tunables, const char *name, const char *value)
{
	const char *found = strstr(tunables, name);

	if (found && (found == tunables || found[-1] == ':') && found[strlen(name)] == '=')
		return tunables;
	return memory_printf("%s%s%s=%s", tunables, *tunables ? ":" : "", name, value);
}

void environment_keep_heap(void)
{
	const char *tunables = last_value("GLIBC_TUNABLES");

	tunables = with_tunable(tunables ? tunables : "", "glibc.malloc.trim_threshold", "18446744073709551615");
	tunables = with_tunable(tunables, "glibc.malloc.mmap_max", "0");
	unsetenv("GLIBC_TUNABLES"); /* all of that name */
	setenv("GLIBC_TUNABLES", tunables, 1);
}

/*
 * load.c - finds and reads a policy: $LLRUN_POLICY_PATH, ~/.config/llrun, /etc/llrun, the shipped ones.  Run as root, a
 * policy that others can write is refused: it says what root executes with which rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launcher.h"

enum { MOST = 1 << 20 }; /* bytes; a policy is a page or two */

/* Root, or whoever owns the llrun that root chose to run: that one could change it as well. */
static bool trusted_owner(uid_t owner)
{
	struct stat self;

	return owner == 0 || (stat("/proc/self/exe", &self) == 0 && owner == self.st_uid);
}

static bool trusted(const char *path, const struct stat *st)
{
	if (geteuid() != 0)
		return true;
	if (!trusted_owner(st->st_uid)) {
		say("%s belongs to user %u, who could have root run anything: chown root it", path,
		    (unsigned)st->st_uid);
		return false;
	}
	/* a group of the owner's own (umask 002 on Debian) is the owner */
	if (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != st->st_uid)) {
		say("%s can be written by others, who could have root run anything: chmod go-w it", path);
		return false;
	}
	return true;
}

static bool read_file(struct policy *p, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st) != 0) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MOST) {
		say("%s: expected a policy, a text file of at most 1M", path);
		close(fd);
		return false;
	}
	if (!trusted(path, &st)) {
		close(fd);
		return false;
	}
	text = memory_get((size_t)st.st_size + 1);
	for (ssize_t got = 1; got > 0 && n < (size_t)st.st_size; n += (size_t)(got > 0 ? got : 0))
		got = read(fd, text + n, (size_t)st.st_size - n);
	close(fd);
	policy_parse(p, path, text, n);
	return true;
}

/* Tries DIRECTORY/NAME.policy: 1 read, 0 not there, -1 said why not.  The place is added to *looked. */
static int try_directory(struct policy *p, const char *directory, const char *name, const char **looked)
{
	const char *path = memory_printf("%s/%s.policy", directory, name);

	*looked = memory_printf("%s%s%s", *looked, **looked ? ", " : "", directory);
	if (access(path, F_OK) != 0)
		return 0;
	return read_file(p, path) ? 1 : -1;
}

static int search(struct policy *p, const char *name, const char **looked)
{
	const char *path = getenv("LLRUN_POLICY_PATH"), *home = getenv("HOME");
	int found = 0;

	while (!found && path && *path) {
		size_t n = strcspn(path, ":");

		if (n)
			found = try_directory(p, memory_copy(path, n), name, looked);
		path += n + (path[n] == ':');
	}
	if (!found && home && *home)
		found = try_directory(p, memory_printf("%s/.config/llrun", home), name, looked);
	if (!found)
		found = try_directory(p, "/etc/llrun", name, looked);
	if (!found)
		found = try_directory(p, shipped_directory(), name, looked);
	return found;
}

bool load_policy(struct policy *p, const char *name, const char *program_base, bool optional)
{
	const char *looked = "";
	int found;

	if (name && strchr(name, '/'))
		return read_file(p, name);
	found = search(p, name ? name : program_base, &looked);
	if (found < 0)
		return false;
	if (found || (optional && !name))
		return true;
	if (name)
		say("no policy '%s': looked for %s.policy in %s", name, name, looked);
	else
		say("no policy for '%s': looked for %s.policy in %s; give one with -p, or options such as -c CPUS",
		    program_base, program_base, looked);
	return false;
}

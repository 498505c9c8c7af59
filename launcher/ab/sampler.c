/*
 * sampler.c - what the threads of a program and its children have used, asked while they live.
 *
 * wait4(2) tells CPU time, faults and switches of all, but not how long they waited for a CPU and how often they were
 * moved. /proc has that, as long as the thread is there; a main thread is there until it is waited for.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ab.h"

static struct seen {
	pid_t tid;
	double wait_ns, migrations;
} * seen;
static size_t n_seen, room;
static bool knows_wait, knows_migrations;

void sampler_reset(void)
{
	n_seen = 0;
	knows_wait = knows_migrations = false;
}

static bool read_small(const char *directory, const char *tid, const char *name, char *text, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/%s/%s", directory, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void note(pid_t tid, double wait_ns, double migrations)
{
	struct seen *s = seen;

	/* A number that went back is another thread with an old number. */
	while (s < seen + n_seen && !(s->tid == tid && s->wait_ns <= wait_ns && s->migrations <= migrations))
		s++;
	if (s == seen + n_seen) {
		if (n_seen == room) {
			struct seen *more = realloc(seen, (2 * room + 64) * sizeof *more);

			if (!more)
				return;
			seen = more;
			room = 2 * room + 64;
		}
		s = &seen[n_seen++];
	}
	*s = (struct seen){tid, wait_ns, migrations};
}

static void look(pid_t pid, int depth)
{
	char directory[48], text[8192];
	DIR *task;

	snprintf(directory, sizeof directory, "/proc/%d/task", (int)pid);
	task = opendir(directory);
	for (struct dirent *d; task && (d = readdir(task));) {
		double wait = 0, migrations = 0;
		const char *p;

		if (*d->d_name == '.')
			continue;
		if (read_small(directory, d->d_name, "schedstat", text, sizeof text) && (p = strchr(text, ' '))) {
			wait = strtod(p, NULL);
			knows_wait = true;
		}
		if (read_small(directory, d->d_name, "sched", text, sizeof text) &&
		    (p = strstr(text, "se.nr_migrations")) && (p = strchr(p, ':'))) {
			migrations = strtod(p + 1, NULL);
			knows_migrations = true;
		}
		note((pid_t)atoi(d->d_name), wait, migrations);
		if (depth < 8 && read_small(directory, d->d_name, "children", text, sizeof text))
			for (char *next = text, *end; strtol(next, &end, 10) > 0; next = end)
				look((pid_t)strtol(next, NULL, 10), depth + 1);
	}
	if (task)
		closedir(task);
}

void sampler_look(pid_t pid)
{
	look(pid, 0);
}

struct usage sampler_sum(void)
{
	struct usage u = {knows_wait ? 0 : NAN, knows_migrations ? 0 : NAN};

	for (size_t i = 0; i < n_seen; i++) {
		u.wait_ms += seen[i].wait_ns / 1e6;
		u.migrations += seen[i].migrations;
	}
	return u;
}

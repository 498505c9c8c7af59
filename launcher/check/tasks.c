/* tasks.c owns the list of all threads of the machine, as /proc shows them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"

/* Field `number` of /proc/PID/stat; the name, field 2, may hold anything (proc(5)). */
static long long stat_field(const char *stat, int number)
{
	const char *p = strrchr(stat, ')');

	for (int i = 2; p && i < number; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoll(p + 1, NULL, 10) : -1;
}

static struct task *read_task(struct check *c, pid_t pid, pid_t tid)
{
	struct answer unused = {0};
	const char *stat = read_text(c, &unused, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	const char *status = read_text(c, &unused, "/proc/%d/task/%d/status", (int)pid, (int)tid), *list, *name;
	struct task *t;

	if (!stat || !status || !strrchr(stat, ')')) /* it ended meanwhile */
		return NULL;
	list = line_of(status, "Cpus_allowed_list");
	name = line_of(status, "Name");
	t = memory_get(sizeof *t);
	*t = (struct task){.pid = pid, .tid = tid, .name = name ? name : "?"};
	cpuset_parse(&t->allowed, list ? list : "");
	t->flags = (unsigned long)stat_field(stat, 9);
	t->cpu = (int)stat_field(stat, 39);
	t->priority = (int)stat_field(stat, 40);
	t->policy = (int)stat_field(stat, 41);
	return t;
}

static struct task *read_all(struct check *c)
{
	const char **pids = read_names(c, "/proc");
	struct task *first = NULL, **end = &first;

	for (; pids && **pids; pids++) {
		pid_t pid = isdigit((unsigned char)**pids) ? atoi(*pids) : 0;
		const char **tids;

		/* Below a fake root there are other processes than here. */
		if (!pid || (!*c->t->root && pid == getpid()))
			continue;
		for (tids = read_names(c, memory_printf("/proc/%d/task", (int)pid)); tids && **tids; tids++) {
			struct task *t = read_task(c, pid, atoi(*tids));

			if (!t)
				continue;
			*end = t;
			end = &t->next;
		}
	}
	return first;
}

struct task *tasks(struct check *c, const char **why)
{
	if (!c->tasks_read)
		c->tasks = read_all(c);
	c->tasks_read = true;
	*why = "/proc shows no process: is it mounted?";
	return c->tasks;
}

bool own_task(struct check *c, const struct task *t)
{
	struct answer unused = {0};
	const char *comm = read_text(c, &unused, "/proc/%d/comm", (int)t->pid);

	for (uint32_t i = 0; comm && i < c->plan->n_programs; i++) {
		const char *glob = c->plan->store + c->plan->program[i];

		if (*glob && glob_match(glob, first_line(comm)))
			return true;
	}
	return false;
}

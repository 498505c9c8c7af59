/*
 * process.c - which processes the plan covers, what becomes of the others, and forks.
 *
 * LLRUN_PLAN's first byte is a mark: 'w' while no covered program has run yet (a wrapper script may come first), 'c' below
 * one.  A covered program turns it in its own environment, so its children can tell that they are children.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shim.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* By the executable's name, or by that of the script that the kernel started it for (AT_EXECFN keeps it, getauxval(3)). */
static bool names_this_program(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	const char *called = (const char *)getauxval(AT_EXECFN);

	if (called && plan_names(&plan, base_name(called)))
		return true;
	if (n <= 0)
		return false;
	path[n] = '\0';
	return plan_names(&plan, base_name(path));
}

enum coverage process_coverage(char mark)
{
	bool started = getpid() == plan.pid;
	bool first = mark == 'w';

	if (!first && plan.children == CHILDREN_ALL)
		return COVERED;
	if (plan.named_programs && !names_this_program())
		return first ? NOT_YET : RESET;
	if (plan.named_programs ? first || started : started)
		return first ? COVERED_FIRST : COVERED;
	if (plan.children == CHILDREN_SAME && (plan.named_programs || names_this_program()))
		return COVERED;
	return RESET;
}

/* The environment is that of this process alone; entries are changed where they stand, so nothing is allocated. */
static char **environment_entry(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return e;
	return NULL;
}

static void remove_entry(char **e)
{
	for (; *e; e++)
		e[0] = e[1];
}

void process_mark_covered(void)
{
	char **e = environment_entry(PLAN_VARIABLE);

	if (e)
		(*e)[sizeof PLAN_VARIABLE] = 'c'; /* sizeof counts the '=' */
}

/* The caller's LD_PRELOAD, byte for byte; if the program has changed the value since, only our own part is taken out. */
static void restore_preload(void)
{
	char **e = environment_entry("LD_PRELOAD");
	const char *ours = plan.store + plan.preload;
	size_t n = strlen(ours);
	char *value, *found;

	if (!e || !n)
		return;
	value = *e + sizeof "LD_PRELOAD";
	found = strstr(value, ours);
	if (!found)
		return;
	memmove(found, found + n, strlen(found + n) + 1);
	if (!*value && plan.preload_absent)
		remove_entry(e);
}

static bool is_ours(const struct cpuset *now)
{
	for (uint32_t i = 0; i < plan.n_rules; i++) {
		const struct rule *rule = &plan.rule[i];
		struct cpuset set = plan_cpus(&plan, rule);

		if (!(rule->has & HAS_CPUS))
			continue;
		if (cpuset_equal(now, &set))
			return true;
		if (rule->placement == PLACE_SPREAD && cpuset_count(now) == 1 && cpuset_overlap(now, &set))
			return true;
	}
	struct cpuset spilled = plan_cpus(&plan, &plan.housekeeping);
	return plan.housekeeping.n_cpus && cpuset_equal(now, &spilled);
}

/* Back to what llrun found, as far as it is our doing: what the program gave its child itself is left alone. */
static void reset_class(void)
{
	struct cpuset now = {{0}}, at_launch = plan_cpus(&plan, &plan.launch);
	int policy = (int)syscall(SYS_sched_getscheduler, 0);
	bool sched = false, nice_value = false;
	struct sched_param param = {.sched_priority = plan.launch.priority};

	if (syscall(SYS_sched_getaffinity, 0, sizeof now, &now) > 0 && is_ours(&now))
		syscall(SYS_sched_setaffinity, 0, sizeof at_launch, &at_launch);
	for (uint32_t i = 0; i < plan.n_rules; i++) {
		sched |= plan.rule[i].has & HAS_SCHED && (policy & ~SCHED_RESET_ON_FORK) == plan.rule[i].policy;
		nice_value |= plan.rule[i].has & HAS_NICE && getpriority(PRIO_PROCESS, 0) == plan.rule[i].nice;
	}
	if (sched && syscall(SYS_sched_setscheduler, 0, plan.launch.policy, &param) != 0)
		notice(NOTICE_MAIN, plan.on_error, "a child could not be given back its launch-time scheduling", errno);
	if (nice_value)
		setpriority(PRIO_PROCESS, 0, plan.launch.nice); /* whether it may was said at start */
}

void process_reset(bool exec)
{
	char **e;

	reset_class();
	if (!exec)
		return;
	restore_preload();
	while ((e = environment_entry(PLAN_VARIABLE)))
		remove_entry(e);
}

/* CPUSchedulingResetOnFork=: a child that keeps the policy keeps the rest of it; it and its threads stay under SCHED_OTHER. */
void process_forget_scheduling(void)
{
	for (uint32_t i = 0; i < plan.n_rules; i++) {
		plan.rule[i].policy = SCHED_OTHER;
		plan.rule[i].priority = 0;
	}
	plan.reset_on_fork = 0;
}

/* fork() and daemon() come here; vfork, posix_spawn, system and popen do not, and exec at once (pthread_atfork(3)). */
static void forked(void)
{
	int saved = errno;
	struct record *old, *r;
	int own, error;

	if (!active())
		return;
	if (plan.children == CHILDREN_NONE) {
		/*
		 * A server that goes to the background would lose its policy without a word.  Its parent has often ended before we
		 * run, so getppid(2) tells nothing: what goes there forks before it has threads.
		 */
		if (!threads_were_made())
			notice(NOTICE_CHILD, plan.on_error,
			       "Children=none: a forked child runs without the policy; a server must stay in "
			       "the foreground (daemonize no)",
			       0);
		process_reset(false);
		deactivate();
		errno = saved;
		return;
	}
	old = inherited_record();
	own = old ? atomic_load(&old->flags) & (RECORD_OWN_CPUS | RECORD_OWN_SCHED) : 0;
	atomic_fetch_add(&ledger->processes, 1);
	forget_threads();
	if (plan.reset_on_fork)
		process_forget_scheduling();
	uint32_t rule = rule_of_main();
	r = record_take(rule, rule);
	if (r) {
		atomic_fetch_or(&r->flags, (uint8_t)own);
		bind_thread(r);
		error = record_apply(r);
		if (error)
			notice(NOTICE_MAIN, plan.rule[rule].on_error, "a forked child could not be placed", error);
	}
	error = lock_memory();
	if (error)
		notice(NOTICE_MEMORY, plan.on_error, "MemoryLock= failed in a forked child: mlockall", error);
	errno = saved;
}

void process_watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

/* hints.c - what will hurt, though it can be done.  One line each, never a reason not to start. */
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include "topology.h"

bool is_real_time(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

bool rule_is_real_time(const struct rule *r)
{
	return r->has & HAS_SCHED && is_real_time(r->policy);
}

static bool placed(const struct rule *r)
{
	return r->has & HAS_CPUS && r->n_cpus;
}

/* The CPUs of all real-time threads; none: there are no such threads. */
static struct cpuset real_time_cpus(const struct plan *plan)
{
	struct cpuset set = {{0}};

	for (uint32_t i = 0; i < plan->n_rules; i++)
		if (rule_is_real_time(&plan->rule[i])) {
			struct cpuset cpus = plan_cpus(plan, placed(&plan->rule[i]) ? &plan->rule[i] : &plan->launch);

			cpuset_or(&set, &cpus);
		}
	return set;
}

static void starved_housekeeping(struct topology *t, const struct cpuset *real_time, struct findings *f)
{
	struct cpuset rest = t->usable;

	cpuset_minus(&rest, real_time);
	if (!cpuset_empty(&rest)) { /* else it is clear, whatever is isolated */
		topology_housekeeping(t, &rest);
		cpuset_minus(&rest, real_time);
	}
	if (cpuset_empty(&rest))
		finding(f, FINDING_NOTE,
			"real-time threads may run on every housekeeping CPU: one that never sleeps stops ssh, the "
			"kernel's own threads and this machine; leave a CPU out, or isolate some (isolcpus=, cpuset partitions)");
}

static void real_time_limit(struct findings *f)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTTIME, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		finding(f, FINDING_NOTE,
			"RLIMIT_RTTIME is %llu us: a real-time thread that runs so long without sleeping gets "
			"SIGXCPU, then SIGKILL (setrlimit(2)); LimitRTTIME=infinity lifts it",
			(unsigned long long)limit.rlim_cur);
}

/*
 * Of what --check would say only this costs no more than one small file.  A policy whose busy polls are short sleeps between
 * them; from a millisecond on it means to spin.
 */
static void throttled(struct topology *t, const struct plan *plan, struct findings *f)
{
	enum { SPINS = 1000 };
	int32_t longest = 0;
	int runtime;

	for (uint32_t i = 0; i < plan->n_sockets; i++)
		if (plan->socket[i].given >> SOCKET_BusyPollSec & 1 &&
		    plan->socket[i].value[SOCKET_BusyPollSec] > longest)
			longest = plan->socket[i].value[SOCKET_BusyPollSec];
	if (longest < SPINS)
		return;
	runtime = sysfs_int(t, "proc/sys/kernel/sched_rt_runtime_us");
	if (runtime >= 0 && runtime < sysfs_int(t, "proc/sys/kernel/sched_rt_period_us"))
		finding(f, FINDING_NOTE,
			"real-time threads that busy-poll without sleeping stand still for 5 %% of each second "
			"(kernel.sched_rt_runtime_us is %d); llrun --check has the cure",
			runtime);
}

/* Isolated CPUs are not balanced: ordinary threads that share them all stay on one (measured: 4 threads, one CPU). */
static void unbalanced(struct topology *t, const struct plan *plan, struct findings *f)
{
	struct cpuset isolated;
	char list[128];

	for (uint32_t i = 0; i < plan->n_rules; i++) {
		const struct rule *r = &plan->rule[i];
		struct cpuset some = plan_cpus(plan, r);

		if (!placed(r) || r->placement == PLACE_SPREAD || rule_is_real_time(r) || r->n_cpus < 2)
			continue;
		topology_isolated(t, &isolated);
		cpuset_and(&some, &isolated);
		if (cpuset_count(&some) > 1)
			finding(f, FINDING_NOTE,
				"threads under SCHED_OTHER share the isolated CPUs %s: the kernel does not balance "
				"there, all may stay on one; CPUPlacement=spread gives each a CPU of its own",
				cpuset_format(&some, list, sizeof list));
	}
}

static void shared_cpu(const struct plan *plan, struct findings *f)
{
	for (uint32_t i = 0; i < plan->n_rules; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct rule *a = &plan->rule[i], *b = &plan->rule[j];

			if (!rule_is_real_time(a) || !rule_is_real_time(b) || !placed(a) || !placed(b) ||
			    a->priority == b->priority || a->n_cpus != 1 || b->n_cpus != 1 ||
			    plan_cpu(plan, a, 0) != plan_cpu(plan, b, 0))
				continue;
			finding(f, FINDING_NOTE,
				"CPU %d is given to real-time threads of priority %d and %d: the lower one runs only "
				"while the higher one sleeps, and one that spins for the other hangs for ever",
				plan_cpu(plan, a, 0), a->priority, b->priority);
			return;
		}
}

static void busy_siblings(struct topology *t, const struct plan *plan, const struct cpuset *real_time,
			  struct findings *f)
{
	struct cpuset siblings, isolated, all = {{0}};
	char list[128];

	if (cpuset_equal(real_time, &t->usable))
		return;
	for (uint32_t i = 0; i < plan->n_rules; i++) {
		struct cpuset cpus = plan_cpus(plan, &plan->rule[i]);

		cpuset_or(&all, &cpus);
	}
	topology_siblings(t, real_time, &siblings);
	cpuset_minus(&siblings, &all);
	if (cpuset_empty(&siblings))
		return;
	topology_isolated(t, &isolated);
	cpuset_minus(&siblings, &isolated);
	if (!cpuset_empty(&siblings))
		finding(f, FINDING_NOTE,
			"CPUs %s are hardware threads of the same cores as the real-time ones, and left to others, who "
			"will slow them; isolate them too, or switch them off",
			cpuset_format(&siblings, list, sizeof list));
}

/*
 * An option stands for [Process], as if written there: a [Thread] rule that says otherwise keeps its own value.  Who comes
 * from taskset does not expect that of -c, the less if the policy was found by the program's name.
 */
static void overruled_options(const struct policy *p, struct findings *f)
{
	static const enum key_id keys[] = {K_CPUAffinity, K_CPUSchedulingPolicy, K_Nice};

	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		const struct item *option = p->process.value[keys[k]].items;

		/* -s names the section itself */
		if (!option || option->at.line || strcmp(option->at.file, "-s") == 0)
			continue;
		for (const struct section *s = p->threads; s; s = s->next) {
			const struct item *own = s->value[keys[k]].items;

			if (!own || !own->at.line)
				continue;
			finding(f, FINDING_NOTE,
				"%s is for the threads that no rule names: %s has its own %s=%s (%s:%u); "
				"--no-policy leaves that file out",
				option->at.file, s->title, key_table[keys[k]].name, own->text, own->at.file,
				own->at.line);
			break;
		}
	}
}

/* Who comes from taskset expects what a shell starts to be placed like the shell. */
static void children_of_a_shell(const struct policy *p, const struct target *target, const struct plan *plan,
				struct findings *f)
{
	static const char *const shells[] = {"sh", "dash", "bash", "zsh", "ksh", "busybox", "mksh"};
	const struct rule *r = &plan->rule[0];
	struct cpuset cpus = plan_cpus(plan, r), at_launch = plan_cpus(plan, &plan->launch);
	bool differs = (r->has & HAS_CPUS && !cpuset_equal(&cpus, &at_launch)) ||
		       (r->has & HAS_SCHED &&
			(r->policy != plan->launch.policy || r->priority != plan->launch.priority));

	/* Without the shim nobody takes anything back. */
	if (p->process.value[K_Children].items || p->process.value[K_Program].items || !differs || target->no_shim)
		return;
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (strcmp(target->executable_base, shells[i]) == 0)
			finding(f, FINDING_NOTE,
				"%s: a shell runs it, and the programs that it starts get back the launch-time CPUs and scheduling, "
				"unless it execs them; Children=all covers them, Program=NAME the one that is meant",
				target->base);
}

/* Nice values only go up without a right: a thread made by one with a higher value cannot come back down. */
static void stuck_nice(const struct policy *p, const struct plan *plan, struct findings *f)
{
	struct rlimit limit = {0, 0};
	int highest = plan->launch.nice, lowest = 19;

	for (uint32_t i = 0; i < plan->n_rules; i++) {
		if (!(plan->rule[i].has & HAS_NICE))
			return;
		highest = plan->rule[i].nice > highest ? plan->rule[i].nice : highest;
		lowest = plan->rule[i].nice < lowest ? plan->rule[i].nice : lowest;
	}
	getrlimit(RLIMIT_NICE, &limit);
	if (plan->n_rules > 1 && lowest < highest && (rlim_t)(20 - lowest) > limit.rlim_cur &&
	    !capability_after_exec(CAP_SYS_NICE))
		finding(f, FINDING_NOTE,
			"threads with Nice=%d that one with Nice=%d creates keep that: going down needs LimitNICE=%d "
			"or CAP_SYS_NICE",
			lowest, highest, lowest);
	if (highest > plan->launch.nice && p->process.value[K_Children].items && plan->children != CHILDREN_ALL &&
	    (rlim_t)(20 - plan->launch.nice) > limit.rlim_cur && !capability_after_exec(CAP_SYS_NICE))
		finding(f, FINDING_NOTE, "children keep Nice=%d: going back to %d needs LimitNICE=%d or CAP_SYS_NICE",
			highest, plan->launch.nice, plan->launch.nice);
}

/*
 * The interfaces that the policy itself names (near:eth0): packets that come to the CPU of a thread in real time wait for
 * that thread.  Of the others --check tells, which may take its time.
 */
static void interrupts_of(const char *expression, const struct topology *t, const struct cpuset *cpus,
			  struct findings *f)
{
	for (const char *at = expression; (at = strstr(at, "near:")); at += 5) {
		const char *name = memory_copy(at + 5, strcspn(at + 5, " \t,&|()!")), *list;
		char text[64];

		list = interface_interrupts(t, name, cpus);
		if (list)
			finding(f, FINDING_NOTE,
				"interrupts %s of %s come to CPUs with real-time threads (%s), and wait for them; move "
				"them: echo OTHERS >/proc/irq/N/smp_affinity_list",
				list, name, cpuset_format(cpus, text, sizeof text));
	}
}

static void interrupted(const struct policy *p, const struct topology *t, const struct cpuset *real_time,
			struct findings *f)
{
	for (const struct section *s = &p->process; s; s = s == &p->process ? p->threads : s->next)
		for (const struct item *i = s->value[K_CPUAffinity].items; i; i = i->next)
			interrupts_of(i->text, t, real_time, f);
}

void hints(const struct policy *p, struct topology *t, const struct target *target, const struct plan *plan,
	   struct findings *f)
{
	struct cpuset real_time = real_time_cpus(plan);

	for (const struct message *m = p->warnings; m; m = m->next)
		finding(f, FINDING_NOTE, "%s", m->text);
	for (const struct message *m = t->notes; m; m = m->next)
		finding(f, FINDING_CAUSE, "%s", m->text);
	overruled_options(p, f);
	children_of_a_shell(p, target, plan, f);
	stuck_nice(p, plan, f);
	unbalanced(t, plan, f);
	if (cpuset_empty(&real_time))
		return;
	starved_housekeeping(t, &real_time, f);
	real_time_limit(f);
	throttled(t, plan, f);
	interrupted(p, t, &real_time, f);
	shared_cpu(plan, f);
	busy_siblings(t, plan, &real_time, f);
}

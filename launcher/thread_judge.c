/* thread_judge.c - is a thread of another process what its rule says?  If not, the likely cause, from the ledger's marks. */
#include <string.h>
#include "status.h"

static const struct record *record_of(const struct view *v, pid_t tid)
{
	for (uint32_t i = 0; v->ledger && i < LEDGER_THREADS; i++)
		if (v->ledger->record[i].tid == tid && v->ledger->record[i].state == RECORD_LIVE)
			return &v->ledger->record[i];
	return NULL;
}

/* "main rx-*", from the selectors that the plan keeps; rule 0 is the class of all others. */
static const char *rule_name(const struct plan *plan, uint32_t rule)
{
	const char *name = "";

	for (uint32_t i = 0; i < plan->n_selectors; i++) {
		const struct plan_selector *s = &plan->selector[i];
		const char *one = plan->store + s->text;

		if (s->rule != rule)
			continue;
		if (s->kind == SELECT_ALL)
			one = "*";
		else if (s->kind == SELECT_MAIN)
			one = "main";
		else if (s->kind == SELECT_INDEX)
			one = memory_printf("index=%llu-%llu", (unsigned long long)s->first,
					    (unsigned long long)s->last);
		else if (s->kind == SELECT_START)
			one = "start=";
		else if (s->kind == SELECT_LIB)
			one = memory_printf("lib=%s", one);
		name = memory_printf("%s%s%s", name, *name ? " " : "", one);
	}
	return rule ? memory_printf("[Thread %s]", name) : "[Process]";
}

/* Without a ledger: main, names and * can be told from outside; how a thread was made cannot. */
static uint32_t rule_from_outside(const struct view *v, const struct thread_state *t)
{
	for (uint32_t i = 0; i < v->plan->n_selectors; i++) {
		const struct plan_selector *s = &v->plan->selector[i];

		if (s->kind == SELECT_ALL || (s->kind == SELECT_MAIN && t->tid == v->pid) ||
		    (s->kind == SELECT_NAME && glob_match(v->plan->store + s->text, t->name)))
			return s->rule;
	}
	return 0;
}

static const char *no_hook(const struct thread_state *t)
{
	if (strncmp(t->name, "iou-wrk-", 8) == 0 || strncmp(t->name, "iou-sqp-", 8) == 0)
		return "made by no hook: an io_uring worker of the kernel";
	return "made by no hook: a helper of libc (timer, aio, getaddrinfo_a), a raw clone, or a library that passes the shim by";
}

/* Are the thread's CPUs those of the rule?  Spread: one CPU of the set, and that which the ledger names if there is one. */
static bool cpus_fit(const struct plan *plan, const struct rule *rule, const struct record *r,
		     const struct thread_state *t, struct cpuset *wanted)
{
	*wanted = plan_cpus(plan, rule);
	if (rule->placement != PLACE_SPREAD || rule->n_cpus < 2)
		return cpuset_equal(&t->cpus, wanted);
	if (r && r->cpu >= 0) {
		memset(wanted, 0, sizeof *wanted);
		cpuset_add(wanted, (unsigned)r->cpu);
		return cpuset_equal(&t->cpus, wanted);
	}
	return cpuset_count(&t->cpus) == 1 && cpuset_has(wanted, (unsigned)cpuset_next(&t->cpus, 0));
}

static const char *why_cpus(const struct view *v, const struct record *r, const struct cpuset *wanted)
{
	struct cpuset rest = *wanted;
	char list[64];

	if (r && r->flags & RECORD_OWN_CPUS)
		return "the program set its CPUs itself";
	cpuset_minus(&rest, &v->cpuset);
	/* cpuset.cpus.effective has no offline CPUs. */
	if (v->cpuset_known && !cpuset_empty(&rest))
		return memory_printf("CPU %s went offline, or its cpuset no longer allows it",
				     cpuset_format(&rest, list, sizeof list));
	if (r && r->flags & RECORD_REFUSED)
		return memory_printf("its CPUs were refused: %s", strerror(r->error));
	return "its CPUs were changed since, by taskset or the like, or by the kernel when a CPU went offline";
}

static const char *why_sched(const struct record *r)
{
	if (r && r->flags & RECORD_OWN_SCHED)
		return "the program set its scheduling itself";
	if (r && r->flags & RECORD_REFUSED)
		return memory_printf("its scheduling was refused when it was made: %s", strerror(r->error));
	return "its scheduling was changed since, by chrt or the like";
}

static void add_problem(struct judgement *j, const char *problem)
{
	j->problem = j->problem ? memory_printf("%s; %s", j->problem, problem) : problem;
	j->drift = true;
}

struct judgement judge_thread(const struct view *v, const struct thread_state *t)
{
	const struct record *r = record_of(v, t->tid);
	struct judgement j = {0};
	uint32_t rule = r ? r->rule : v->ledger ? 0 : rule_from_outside(v, t);

	if (rule >= v->plan->n_rules)
		rule = 0;
	j.rule = rule_name(v->plan, rule);
	j.wanted = r && r->flags & RECORD_SPILLED ? &v->plan->housekeeping : &v->plan->rule[rule];
	if (j.wanted->has & HAS_CPUS && !cpus_fit(v->plan, j.wanted, r, t, &j.cpus))
		add_problem(&j, why_cpus(v, r, &j.cpus));
	else if (v->cpuset_known &&
		 !cpuset_overlap(&t->cpus, &v->cpuset)) /* it sleeps: the kernel moves it when it wakes */
		add_problem(&j, "its CPU is offline");
	if (j.wanted->has & HAS_SCHED && (t->policy != j.wanted->policy || t->priority != j.wanted->priority))
		add_problem(&j, why_sched(r));
	if (j.wanted->has & HAS_NICE && !is_real_time(t->policy) && t->nice != j.wanted->nice)
		add_problem(&j, r && r->flags & RECORD_REFUSED ? "its nice value was refused"
							       : "its nice value was changed since");
	if (v->ledger && !r && j.wanted->has) {
		/* Not drift in itself: it may well have inherited the right class. */
		j.problem = j.problem ? memory_printf("%s; so it has what its creator had", no_hook(t)) : no_hook(t);
		j.rule = "-";
	}
	return j;
}

/*
 * resolve.c - what a policy means on this machine: policy + topology + target -> plan.
 *
 * A part (CPUs, scheduling, nice) that any section gives is given to every thread explicitly, as the section says, or as
 * it was at launch: a thread never merely inherits what its creator happens to have.  A part that no section gives is left
 * to the program.
 */
#include <sched.h>
#include <string.h>
#include "launcher.h"

static int on_error(const struct policy *p, const struct section *s)
{
	return (int)policy_value(p, s, K_OnError)->number;
}

/* Which parts does any section give? */
static int parts_given(const struct policy *p)
{
	int parts = 0;

	for (const struct section *s = &p->process; s; s = s == &p->process ? p->threads : s->next) {
		parts |= s->value[K_CPUAffinity].items || s->value[K_CPUPlacement].items ? HAS_CPUS : 0;
		parts |= s->value[K_CPUSchedulingPolicy].items || s->value[K_CPUSchedulingPriority].items ? HAS_SCHED
													  : 0;
		parts |= s->value[K_Nice].items ? HAS_NICE : 0;
	}
	return parts;
}

/* The union of a CPUAffinity='s assignments.  False with a finding: not usable here. */
static bool cpus_of(const struct policy *p, const struct section *s, const struct value *v, struct topology *t,
		    struct cpuset *set, struct findings *f)
{
	const struct item *last = NULL;
	const char *why;

	memset(set, 0, sizeof *set);
	for (const struct item *i = v->items; i; last = i, i = i->next) {
		struct cpuset part;

		if (!expr_eval(i->text, topology_ask, t, &part, &why)) {
			finding(f, on_error(p, s), "%s: CPUAffinity=%s: %s", source_text(i->at), i->text, why);
			return false;
		}
		cpuset_or(set, &part);
	}
	if (!cpuset_empty(set))
		return true;
	char usable[128];
	finding(f, on_error(p, s),
		"%s: CPUAffinity=%s: no CPU of this machine fits (usable: %s); expected at least one, for "
		"example '%s || online'",
		source_text(last->at), last->text, cpuset_format(&t->usable, usable, sizeof usable), last->text);
	return false;
}

static void give_cpus(struct topology *t, struct plan *plan, struct rule *rule, const struct cpuset *set,
		      struct findings *f)
{
	static uint16_t order[CPUSET_MAX];
	size_t n = 0;

	if (rule->placement == PLACE_SPREAD && cpuset_count(set) > 1)
		n = topology_spread_order(t, set, order, CPUSET_MAX);
	else
		CPUSET_EACH(cpu, set)
	order[n++] = (uint16_t)cpu;
	for (size_t i = 0; i < n; i++)
		if (!plan_add_cpu(plan, rule, order[i])) {
			finding(f, ON_ERROR_FAIL, "the policy's sections name more than %d CPUs together",
				PLAN_STORE / 2);
			return;
		}
}

static int sched_policy(int64_t word)
{
	static const int kernel[] = {
		[SCHED_WORD_OTHER] = SCHED_OTHER, [SCHED_WORD_BATCH] = SCHED_BATCH, [SCHED_WORD_IDLE] = SCHED_IDLE,
		[SCHED_WORD_FIFO] = SCHED_FIFO,   [SCHED_WORD_RR] = SCHED_RR,
	};

	return kernel[word];
}

static void resolve_rule(const struct policy *p, const struct section *s, int parts, struct topology *t,
			 struct plan *plan, struct findings *f)
{
	struct rule *rule = &plan->rule[plan->n_rules++];
	const struct value *cpus = policy_value(p, s, K_CPUAffinity), *placement = policy_value(p, s, K_CPUPlacement);
	const struct value *policy = policy_value(p, s, K_CPUSchedulingPolicy);
	const struct value *nice = policy_value(p, s, K_Nice);
	struct cpuset set;

	rule->has = parts;
	rule->on_error = on_error(p, s);
	rule->overflow = (int)policy_value(p, s, K_CPUOverflow)->number;
	/* Without CPUs of its own a section means the launch-time ones, and one each only if it says so. */
	rule->placement = cpus->items || placement->items ? (int)placement->number : PLACE_SHARE;
	if (!cpus->items || !cpus_of(p, s, cpus, t, &set, f)) {
		set = plan_cpus(plan, &plan->launch);
		if (cpus->items)
			rule->placement = PLACE_SHARE; /* left out */
	}
	if (parts & HAS_CPUS)
		give_cpus(t, plan, rule, &set, f);
	rule->policy = policy->items ? sched_policy(policy->number) : plan->launch.policy;
	rule->priority = plan->launch.priority;
	if (policy->items)
		rule->priority = is_real_time(rule->policy) ? (int)policy_value(p, s, K_CPUSchedulingPriority)->number
							    : 0;
	rule->nice = nice->items ? (int)nice->number : plan->launch.nice;
}

static void add_selector(struct plan *plan, uint32_t rule, const struct selector *s, uint64_t first, uint64_t last,
			 struct findings *f)
{
	struct plan_selector *new = &plan->selector[plan->n_selectors];
	bool text = s->kind == SELECT_NAME || s->kind == SELECT_LIB;

	if (plan->n_selectors == PLAN_SELECTORS || !plan_add_text(plan, text ? s->text : "", &new->text)) {
		finding(f, ON_ERROR_FAIL, "the policy has too many selectors, expected at most %d of %d bytes together",
			PLAN_SELECTORS, PLAN_STORE);
		return;
	}
	new->rule = (uint16_t)rule;
	new->kind = (int16_t)s->kind;
	new->first = first;
	new->last = last;
	plan->n_selectors++;
}

/* start=SYMBOL: the function's addresses in the executable; several static functions may share a name. */
static void add_start(const struct policy *p, const struct section *section, struct plan *plan, uint32_t rule,
		      const struct selector *s, const struct target *target, struct findings *f)
{
	uint64_t offset[16];
	bool stripped = false;
	size_t n = target_functions(target, s->text, offset, sizeof offset / sizeof *offset, &stripped);

	if (!n)
		finding(f, on_error(p, section), "%s: start=%s: %s has no function of that name%s",
			source_text(section->at), s->text, target->executable,
			stripped
				? " (no symbol table that can be read: is it stripped?)"
				: "; for the threads of a library use lib=, for those of std::thread a name or index=");
	for (size_t i = 0; i < n; i++)
		add_selector(plan, rule, s, offset[i], offset[i], f);
}

static void resolve_selectors(const struct policy *p, const struct section *section, struct plan *plan, uint32_t rule,
			      const struct target *target, struct findings *f)
{
	for (const struct selector *s = section->selectors; s; s = s->next)
		if (s->kind == SELECT_START)
			add_start(p, section, plan, rule, s, target, f);
		else
			add_selector(plan, rule, s, s->first, s->last, f);
}

static void resolve_socket(const struct policy *p, const struct section *s, struct plan *plan)
{
	struct socket_rule *rule = &plan->socket[plan->n_sockets++];

	rule->on_error = on_error(p, s);
	for (const struct selector *e = s->selectors; e; e = e->next)
		rule->protocols |= e->kind == SELECT_TCP   ? SOCKET_RULE_TCP
				   : e->kind == SELECT_UDP ? SOCKET_RULE_UDP
							   : SOCKET_RULE_TCP | SOCKET_RULE_UDP | SOCKET_RULE_OTHER;
#define KEY(...)
#define SOCKET_KEY(name, ...)                                                                                          \
	if (s->value[K_##name].items) {                                                                                \
		rule->given |= 1u << SOCKET_##name;                                                                    \
		rule->value[SOCKET_##name] = (int32_t)s->value[K_##name].number;                                       \
	}
#include "../policy/keys.def"
#undef KEY
#undef SOCKET_KEY
}

static void add_program(struct plan *plan, const char *glob, struct findings *f)
{
	if (plan->n_programs == PLAN_PROGRAMS || !plan_add_text(plan, glob, &plan->program[plan->n_programs]))
		finding(f, ON_ERROR_FAIL, "Program= has too many globs, expected at most %d", PLAN_PROGRAMS);
	else
		plan->n_programs++;
}

/* Calls `each` for every glob of Program=. */
static bool any_program(const struct policy *p, bool (*each)(void *, const char *), void *context)
{
	for (const struct item *i = p->process.value[K_Program].items; i; i = i->next)
		for (const char *w = i->text; *w;) {
			size_t n;

			w += strspn(w, " \t");
			n = strcspn(w, " \t");
			if (n && each(context, memory_copy(w, n)))
				return true;
			w += n;
		}
	return false;
}

struct program_list {
	struct plan *plan;
	struct findings *f;
};

static bool add_named(void *context, const char *glob)
{
	struct program_list *l = context;

	add_program(l->plan, glob, l->f);
	return false;
}

static bool matches_target(void *context, const char *glob)
{
	const struct target *t = context;

	return glob_match(glob, t->base) || glob_match(glob, t->executable_base);
}

bool covers(const struct policy *p, const struct target *target)
{
	return !p->process.value[K_Program].items || any_program(p, matches_target, (void *)target);
}

static void resolve_programs(const struct policy *p, const struct target *target, struct plan *plan, struct findings *f)
{
	struct program_list l = {plan, f};

	plan->named_programs = p->process.value[K_Program].items != NULL;
	any_program(p, add_named, &l);
	if (!plan->named_programs) {
		add_program(plan, target->base, f);
		if (strcmp(target->base, target->executable_base) != 0)
			add_program(plan, target->executable_base, f);
	}
}

static void resolve_spill(struct topology *t, struct plan *plan, struct findings *f)
{
	bool spills = false;
	struct cpuset set;

	for (uint32_t i = 0; i < plan->n_rules; i++)
		spills |= plan->rule[i].overflow == OVERFLOW_SPILL && plan->rule[i].placement == PLACE_SPREAD;
	if (!spills)
		return;
	topology_housekeeping(t, &set);
	plan->housekeeping = (struct rule){
		.has = HAS_CPUS | HAS_SCHED, .placement = PLACE_SHARE, .policy = SCHED_OTHER};
	give_cpus(t, plan, &plan->housekeeping, cpuset_empty(&set) ? &t->usable : &set, f);
}

void resolve(const struct policy *p, struct topology *t, const struct target *target, struct plan *plan,
	     struct findings *f)
{
	int parts = parts_given(p);
	const struct section *process = &p->process;

	plan->children = (int)process->value[K_Children].number;
	plan->on_error = (int)process->value[K_OnError].number;
	plan->lock = (int)process->value[K_MemoryLock].number;
	plan->own = (int)process->value[K_OwnAffinity].number;
	plan->visible = (int)process->value[K_VisibleCPUs].number;
	plan->reset_on_fork = (int)process->value[K_CPUSchedulingResetOnFork].number;
	resolve_rule(p, process, parts, t, plan, f);
	for (const struct section *s = p->threads; s; s = s->next) {
		resolve_rule(p, s, parts, t, plan, f);
		if (target->path) /* --check without a program: which threads a rule is for does not matter */
			resolve_selectors(p, s, plan, plan->n_rules - 1, target, f);
	}
	for (const struct section *s = p->sockets; s; s = s->next)
		resolve_socket(p, s, plan);
	resolve_programs(p, target, plan, f);
	resolve_spill(t, plan, f);
}

const char *needs_shim(const struct policy *p, bool sockets_only, int *severity)
{
	const char *list = "";

	*severity = ON_ERROR_IGNORE;
	for (int i = 0; !sockets_only && i < N_KEYS; i++) {
		const struct value *v = &p->process.value[i];

		if (!v->items || key_table[i].stage != SHIM || (i == K_MemoryLock && v->number == LOCK_NO) ||
		    i == K_Program || i == K_VisibleCPUs || i == K_CPUPlacement || i == K_CPUOverflow)
			continue; /* what says nothing of its own where there is no shim */
		list = memory_printf("%s%s%s=%s (%s)", list, *list ? ", " : "", key_table[i].name, v->items->text,
				     source_text(v->items->at));
		if (on_error(p, &p->process) < *severity)
			*severity = on_error(p, &p->process);
	}
	for (const struct section *s = sockets_only ? p->sockets : p->threads; s; s = s->next) {
		list = memory_printf("%s%s%s (%s)", list, *list ? ", " : "", s->title, source_text(s->at));
		if (on_error(p, s) < *severity)
			*severity = on_error(p, s);
	}
	if (!sockets_only && p->sockets) {
		int of_sockets;
		const char *sockets = needs_shim(p, true, &of_sockets);

		list = memory_printf("%s%s%s", list, *list ? ", " : "", sockets);
		if (of_sockets < *severity)
			*severity = of_sockets;
	}
	return *list ? list : NULL;
}

/* explain.c - what is in force and where it comes from (--explain), and what can be asked for (--keys). */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include "launcher.h"

/* Where a value comes from; a list key has a place for each of its assignments. */
static const char *at(const struct value *v)
{
	const char *places = "";

	for (const struct item *i = v->items; i; i = i->next) {
		const char *place = source_text(i->at);

		places = memory_printf("%s%s%s", places, *places ? ", " : "", place);
	}
	return v->items ? places : "default";
}

static const char *text_of(const struct value *v, const struct key *k)
{
	const char *text = "";

	for (const struct item *i = v->items; i; i = i->next)
		text = memory_printf("%s%s%s", text, *text ? " " : "", i->text);
	return v->items ? text : k->absent;
}

static void explain_section(const struct policy *p, const struct section *s)
{
	printf("%s\n", s->title);
	for (int i = 0; i < N_KEYS; i++) {
		const struct key *k = &key_table[i];
		const struct value *v = policy_value(p, s, (enum key_id)i);

		if (!(k->sections & s->kind) || (s->kind == S && !v->items && i != K_OnError))
			continue;
		printf("  %-42s %s\n", memory_printf("%s=%s", k->name, text_of(v, k)), at(v));
	}
}

static const char *sched_name(int policy)
{
	switch (policy) {
	case SCHED_FIFO:
		return "SCHED_FIFO";
	case SCHED_RR:
		return "SCHED_RR";
	case SCHED_BATCH:
		return "SCHED_BATCH";
	case SCHED_IDLE:
		return "SCHED_IDLE";
	default:
		return "SCHED_OTHER";
	}
}

static void explain_rule(const char *who, const struct plan *plan, const struct rule *r)
{
	struct cpuset cpus = plan_cpus(plan, r);
	char list[256];

	printf("  %-24s", who);
	if (r->has & HAS_CPUS)
		printf(" CPUs %s%s", cpuset_format(&cpus, list, sizeof list),
		       r->n_cpus < 2                   ? ""
		       : r->placement == PLACE_SHARE   ? " shared"
		       : r->overflow == OVERFLOW_SPILL ? " one each, the rest spilled"
						       : " one each");
	if (r->has & HAS_SCHED)
		printf(" %s %d", sched_name(r->policy), r->priority);
	if (r->has & HAS_NICE)
		printf(" nice %d", r->nice);
	puts(r->has ? "" : " as the program does it");
}

/* What each word of a CPU expression meant: "isolated is none here, so online: 0-1". */
struct trace {
	struct topology *t;
	const char *text;
	bool alternatives, empty; /* "||" stands in it; the last word was none */
};

static bool ask_and_note(void *context, const char *word, const char *argument, struct cpuset *set, const char **why)
{
	struct trace *trace = context;
	const char *name = argument ? memory_printf("%s:%s", word, argument) : word;
	bool ok = topology_ask(trace->t, word, argument, set, why), empty = cpuset_empty(set);
	char list[256];

	if (!ok || !*word) /* a number means itself */
		return ok;
	if (*word == '!')
		name = "all but those";
	else if (strcmp(word, "cores") == 0)
		name = "one thread of each core";
	trace->text = memory_printf("%s%s%s%s%s", trace->text,
				    !*trace->text                         ? ""
				    : trace->empty && trace->alternatives ? ", so "
									  : ", ",
				    name, empty ? " is none here" : ": ",
				    empty ? "" : cpuset_format(set, list, sizeof list));
	trace->empty = empty;
	return true;
}

static void explain_cpus(const struct policy *p, const struct section *s, struct topology *t)
{
	for (const struct item *i = policy_value(p, s, K_CPUAffinity)->items; i; i = i->next) {
		struct trace trace = {.t = t, .text = "", .alternatives = strstr(i->text, "||")};
		struct cpuset set;
		const char *why;

		if (!strpbrk(i->text, " \t,&|!(")) /* one word or number: the line above says what it is */
			continue;
		if (expr_eval(i->text, ask_and_note, &trace, &set, &why) && *trace.text)
			printf("    %s: %s\n", i->text, trace.text);
	}
}

static void explain_plan(const struct policy *p, const struct plan *plan, struct topology *t)
{
	const struct section *s = p->threads;

	puts("plan");
	for (uint32_t i = 1; s && i < plan->n_rules; i++, s = s->next) {
		explain_rule(s->title, plan, &plan->rule[i]);
		explain_cpus(p, s, t);
	}
	explain_rule(plan->n_rules > 1 ? "all other threads" : "all threads", plan, &plan->rule[0]);
	explain_cpus(p, &p->process, t);
}

void explain(const struct policy *p, struct topology *t, const struct target *target, const struct plan *plan,
	     const char *shim)
{
	printf("program  %s", target->path);
	if (strcmp(target->path, target->executable) != 0)
		printf(" (runs %s)", target->executable);
	printf("\npolicy   %s\n", p->path ? p->path : "none, only options");
	if (shim)
		printf("shim     %s\n", shim);
	else
		printf("shim     not loaded: the program %s\n", target->no_shim ? target->no_shim : "needs none");
	explain_section(p, &p->process);
	for (const struct section *s = p->threads; s; s = s->next)
		explain_section(p, s);
	for (const struct section *s = p->sockets; s; s = s->next)
		explain_section(p, s);
	explain_plan(p, plan, t);
}

static const char *values_of(const struct key *k)
{
	switch (k->type) {
	case GLOBS:
		return "GLOB...";
	case BOOL:
		return "yes no";
	case CPUS:
		return "CPU expression";
	case NODES:
		return "nodes or all";
	case RLIMIT:
	case RLIMIT_SIZE:
	case RLIMIT_TIME:
		return memory_printf("soft:hard, %s, infinity", k->values);
	default:
		return k->values;
	}
}

void explain_keys(void)
{
	static const struct {
		unsigned kind;
		const char *title;
	} sections[] = {{P, "[Process]"}, {T, "[Thread SELECTOR...]"}, {S, "[Socket SELECTOR...]"}};

	for (size_t s = 0; s < 3; s++) {
		printf("%s%s\n", s ? "\n" : "", sections[s].title);
		for (int i = 0; i < N_KEYS; i++) {
			const struct key *k = &key_table[i];

			if (k->sections & sections[s].kind)
				printf("  %-26s %-46s default %s\n  %26s %s\n", memory_printf("%s=", k->name),
				       values_of(k), k->absent, "", k->help);
		}
	}
}

/*
 * check.c - what only the whole policy can tell: values that exclude each other, rules that can never be reached.
 * It does not matter in which order the lines stand.
 */
#include <string.h>
#include "plan.h"
#include "policy.h"

static struct source where(const struct section *s, enum key_id key)
{
	return s->value[key].items ? s->value[key].items->at : s->at;
}

static bool gives(const struct section *s, enum key_id key)
{
	return s->value[key].items != NULL;
}

static bool real_time(int64_t word)
{
	return word == SCHED_WORD_FIFO || word == SCHED_WORD_RR;
}

static void check_scheduling(struct policy *p, const struct section *s)
{
	const struct value *policy = policy_value(p, s, K_CPUSchedulingPolicy);
	const struct value *priority = policy_value(p, s, K_CPUSchedulingPriority);
	bool rt = policy->items && real_time(policy->number);

	if (policy->unread || priority->unread)
		return;
	/* said of [Process], and not again of each rule that takes both from there */
	if (rt && !priority->items && (s == &p->process || gives(s, K_CPUSchedulingPolicy)))
		policy_error(p, where(s, K_CPUSchedulingPolicy),
			     "CPUSchedulingPolicy=%s needs a priority, expected "
			     "CPUSchedulingPriority= from 1 to 99",
			     policy->items->text);
	if (!rt && gives(s, K_CPUSchedulingPriority))
		policy_error(p, where(s, K_CPUSchedulingPriority),
			     "CPUSchedulingPriority=%s: %s has no priority, expected "
			     "CPUSchedulingPolicy=fifo or rr with it",
			     priority->items->text, policy->items ? policy->items->text : "the launch-time policy");
	if (rt && gives(s, K_CPUSchedulingPriority) && priority->number == 99)
		policy_warning(p, where(s, K_CPUSchedulingPriority),
			       "priority 99 is that of the kernel's own migration and "
			       "watchdog threads; 98 is the highest that leaves them room");
	if (rt && gives(s, K_Nice))
		policy_warning(p, where(s, K_Nice), "Nice= has no effect under %s", policy->items->text);
}

static void check_placement(struct policy *p, const struct section *s)
{
	if (gives(s, K_CPUOverflow) && policy_value(p, s, K_CPUPlacement)->number == PLACE_SHARE)
		policy_warning(p, where(s, K_CPUOverflow), "CPUOverflow= has no effect with CPUPlacement=share");
}

static void check_process(struct policy *p)
{
	const struct section *s = &p->process;
	const struct value *numa = &s->value[K_NUMAPolicy];
	bool with_nodes = numa->items && (numa->number == NUMA_BIND || numa->number == NUMA_INTERLEAVE ||
					  numa->number == NUMA_PREFERRED);

	if (with_nodes && !gives(s, K_NUMAMask) && !s->value[K_NUMAMask].unread)
		policy_error(p, where(s, K_NUMAPolicy), "NUMAPolicy=%s needs nodes, expected NUMAMask= with it",
			     numa->items->text);
	if (!with_nodes && gives(s, K_NUMAMask) && !numa->unread)
		policy_error(p, where(s, K_NUMAMask),
			     "NUMAMask= without a policy that takes nodes, expected "
			     "NUMAPolicy=preferred, bind or interleave with it");
	if (gives(s, K_ThreadStackSize) && gives(s, K_LimitSTACK))
		policy_error(p, where(s, K_ThreadStackSize),
			     "ThreadStackSize= and LimitSTACK= both set RLIMIT_STACK, expected one");
	if (gives(s, K_CPUSchedulingResetOnFork) && s->value[K_CPUSchedulingResetOnFork].number &&
	    !gives(s, K_CPUSchedulingPolicy))
		policy_error(p, where(s, K_CPUSchedulingResetOnFork),
			     "CPUSchedulingResetOnFork=yes needs CPUSchedulingPolicy= with it");
}

/* "rx-*" covers "rx-1" and "rx-1*": a literal by matching, a pattern only by a literal prefix and one star. */
static bool name_covers(const char *earlier, const char *later)
{
	size_t prefix = strcspn(earlier, "*?[\\");

	if (strcmp(earlier, later) == 0)
		return true;
	if (!later[strcspn(later, "*?[\\")])
		return glob_match(earlier, later);
	return strcmp(earlier + prefix, "*") == 0 && strcspn(later, "*?[\\") >= prefix &&
	       strncmp(earlier, later, prefix) == 0;
}

static bool selector_covers(const struct selector *earlier, const struct selector *later)
{
	if (earlier->kind == SELECT_ALL)
		return true;
	if (earlier->kind != later->kind)
		return false;
	switch (earlier->kind) {
	case SELECT_NAME:
	case SELECT_LIB:
		return name_covers(earlier->text, later->text);
	case SELECT_START:
		return strcmp(earlier->text, later->text) == 0;
	case SELECT_INDEX:
		return earlier->first && /* 0: it could not be read, which is said already */
		       earlier->first <= later->first && later->last <= earlier->last;
	default:
		return true; /* main, tcp, udp: there is one of each */
	}
}

/* The section before `s` in `list` that takes everything this selector would choose, or NULL. */
static const struct section *covered_by(const struct section *list, const struct section *s,
					const struct selector *selector)
{
	for (; list != s; list = list->next)
		for (const struct selector *e = list->selectors; e; e = e->next)
			if (selector_covers(e, selector))
				return list;
	return NULL;
}

static void check_reachable(struct policy *p, const struct section *list)
{
	for (const struct section *s = list; s; s = s->next) {
		const struct section *by = NULL;

		for (const struct selector *e = s->selectors; e; e = e->next) {
			by = covered_by(list, s, e);
			if (!by)
				break;
		}
		if (by && by->at.line)
			policy_error(p, s->at,
				     "%s can never be reached: %s in line %u takes all of it first, expected it before "
				     "that one",
				     s->title, by->title, by->at.line);
		else if (by)
			policy_error(p, s->at, "%s can never be reached: %s (%s) takes all of it first", s->title,
				     by->title, by->at.file);
	}
}

static void check_socket(struct policy *p, const struct section *s)
{
	bool tcp = false, any = false;

	for (const struct selector *e = s->selectors; e; e = e->next)
		tcp |= e->kind != SELECT_UDP;
	for (int i = 0; i < N_KEYS; i++) {
		if (!gives(s, (enum key_id)i) || i == K_OnError)
			continue;
		any = true;
		if (key_table[i].tcp_only && !tcp)
			policy_error(p, where(s, (enum key_id)i),
				     "%s= is an option of TCP alone, expected it in [Socket tcp]", key_table[i].name);
	}
	if (!any)
		policy_warning(p, s->at, "%s sets nothing", s->title);
}

static void check_count(struct policy *p, const struct section *list, unsigned most)
{
	unsigned n = 0;

	for (const struct section *s = list; s; s = s->next)
		if (++n == most + 1)
			policy_error(p, s->at, "too many sections of this kind, expected at most %u", most);
}

void policy_check(struct policy *p)
{
	check_process(p);
	check_scheduling(p, &p->process);
	check_placement(p, &p->process);
	for (const struct section *s = p->threads; s; s = s->next) {
		check_scheduling(p, s);
		check_placement(p, s);
	}
	for (const struct section *s = p->sockets; s; s = s->next)
		check_socket(p, s);
	check_reachable(p, p->threads);
	check_reachable(p, p->sockets);
	check_count(p, p->threads, PLAN_RULES - 1);
	check_count(p, p->sockets, PLAN_SOCKETS);
}

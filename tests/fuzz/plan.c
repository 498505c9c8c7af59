/*
 * plan.c - LLRUN_PLAN's text.  The input is decoded as it is, and once more with the right checksum behind it, since no
 * fuzzer guesses that.  A plan that was accepted must be safe to index by, and come back the same from encode, decode.
 */
#include <string.h>
#include "../../policy/plan.h"
#include "../../policy/policy.h"
#include "fuzz.h"

static struct plan plan, again;
static char text[1 << 17], encoded[1 << 17], encoded_again[1 << 17];

static uint32_t sum_of(const char *t)
{
	uint32_t sum = 2166136261u;

	while (*t)
		sum = (sum ^ (unsigned char)*t++) * 16777619u;
	return sum;
}

static void check_rule(const struct rule *r)
{
	struct cpuset listed = {{0}};

	PROMISE(r->n_cpus <= CPUSET_MAX && (uint64_t)r->cpus + 2 * (uint64_t)r->n_cpus <= plan.n_store);
	for (uint32_t i = 0; i < r->n_cpus; i++)
		cpuset_add(&listed, plan_cpu(&plan, r, i));
	PROMISE((uint32_t)cpuset_count(&listed) == r->n_cpus);
}

static void check_plan(void)
{
	PROMISE(plan.n_rules >= 1 && plan.n_rules <= PLAN_RULES && plan.n_selectors <= PLAN_SELECTORS);
	PROMISE(plan.n_sockets <= PLAN_SOCKETS && plan.n_programs <= PLAN_PROGRAMS && plan.n_store <= PLAN_STORE);
	check_rule(&plan.launch);
	check_rule(&plan.housekeeping);
	for (uint32_t i = 0; i < plan.n_rules; i++)
		check_rule(&plan.rule[i]);
	for (uint32_t i = 0; i < plan.n_selectors; i++) {
		PROMISE(plan.selector[i].rule < plan.n_rules && plan.selector[i].text < PLAN_STORE);
		PROMISE(memchr(plan.store + plan.selector[i].text, '\0', PLAN_STORE - plan.selector[i].text));
	}
	for (uint32_t i = 0; i < plan.n_programs; i++)
		PROMISE(plan.program[i] < PLAN_STORE);
	PROMISE(plan.preload < PLAN_STORE);
	plan_names(&plan, "redis-server");
	PROMISE(plan_match_name(&plan, "worker-1", plan.n_rules) <= plan.n_rules);
}

static void decode(const char *t)
{
	memset(&plan, 0, sizeof plan);
	if (!plan_decode(&plan, t))
		return;
	check_plan();
	if (!plan_encode(&plan, encoded, sizeof encoded))
		return; /* longer than the environment takes: the launcher says so */
	memset(&again, 0, sizeof again);
	PROMISE(plan_decode(&again, encoded));
	PROMISE(plan_encode(&again, encoded_again, sizeof encoded_again) && strcmp(encoded, encoded_again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > sizeof text - 64)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	decode(text);
	text[strcspn(text, "#")] = '\0';
	size = strlen(text);
	snprintf(text + size, sizeof text - size, "#%u;", sum_of(text));
	decode(text);
	return 0;
}

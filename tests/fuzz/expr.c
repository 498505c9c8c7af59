/* expr.c - CPU expressions, on a machine that answers by the input too; and the CPU lists and globs they rest on. */
#include <string.h>
#include "../../policy/policy.h"
#include "fuzz.h"

struct machine {
	const uint8_t *answers;
	size_t n, asked;
};

/* Fills the set from the next bytes, and now and then cannot answer. */
static bool ask(void *context, const char *word, const char *argument, struct cpuset *set, const char **why)
{
	struct machine *m = context;
	uint8_t answer = m->n ? m->answers[m->asked++ % m->n] : 0;

	PROMISE(word && (argument == NULL || *argument));
	if (answer == 0xff) {
		*why = "the machine cannot tell";
		return false;
	}
	if (strcmp(word, "") == 0 || strcmp(word, "cores") == 0)
		return true;
	if (strcmp(word, "!") == 0) {
		for (size_t i = 0; i < CPUSET_WORDS; i++)
			set->word[i] = ~set->word[i];
		return true;
	}
	PROMISE(cpuset_empty(set));
	if (answer)
		cpuset_add(set, (unsigned)answer * 32);
	return true;
}

/* A set survives being written and read. */
static void round_trip(const struct cpuset *set)
{
	char text[CPUSET_MAX * 5];
	struct cpuset again;

	cpuset_format(set, text, sizeof text);
	if (cpuset_empty(set))
		return;
	PROMISE(cpuset_parse(&again, text) && cpuset_equal(set, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine machine = {data, size, 0};
	char *text = memory_copy((const char *)data, size); /* ends at its first NUL, like every argument */
	const char *why = NULL;
	struct cpuset set, list;
	bool form = expr_check(text, &why), ok;

	PROMISE(form || (why && *why));
	why = NULL;
	ok = expr_eval(text, ask, &machine, &set, &why);
	PROMISE(ok || (why && *why && cpuset_empty(&set)));
	PROMISE(!ok || form);
	round_trip(&set);
	if (cpuset_parse(&list, text))
		round_trip(&list);
	size_t half = strlen(text) / 2;
	glob_match(memory_copy(text, half), text + half);
	memory_release(NULL);
	return 0;
}

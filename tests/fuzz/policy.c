/*
 * policy.c - the policy language: a file (policy_parse), then the command line's assignments (policy_set), then all of
 * it (policy_check).  The input is the file's text; what follows a byte 0xff is one assignment each.
 */
#include <string.h>
#include "../../policy/policy.h"
#include "fuzz.h"

static struct policy policy;

/* What a valid policy promises its readers: every value is one that its row allows. */
static void check_section(const struct section *s)
{
	for (int i = 0; i < N_KEYS; i++) {
		const struct value *v = &s->value[i];
		struct value again = {0};
		const char *why = NULL;

		for (const struct item *item = v->items; item; item = item->next)
			PROMISE(item->text && item->at.file);
		if (v->items && (key_table[i].type == INT || key_table[i].type == TIME || key_table[i].type == SIZE)) {
			PROMISE(value_read(&key_table[i], v->items->text, &again, &why));
			PROMISE(again.number == v->number);
		}
	}
	for (const struct selector *e = s->selectors; e; e = e->next)
		PROMISE(e->text && (e->kind != SELECT_INDEX || (e->first >= 1 && e->first <= e->last)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0xff, size) : NULL;
	size_t text = end ? (size_t)(end - data) : size;

	policy_init(&policy);
	policy_parse(&policy, "fuzz.policy", (const char *)data, text);
	while (end) {
		const uint8_t *start = end + 1;
		size_t rest = size - (size_t)(start - data);

		end = rest ? memchr(start, 0xff, rest) : NULL;
		policy_set(&policy, "-s", memory_copy((const char *)start, end ? (size_t)(end - start) : rest));
	}
	policy_check(&policy);
	for (const struct message *m = policy.errors; m; m = m->next)
		PROMISE(m->text && *m->text);
	if (!policy.errors) {
		check_section(&policy.process);
		for (const struct section *s = policy.threads; s; s = s->next)
			check_section(s);
		for (const struct section *s = policy.sockets; s; s = s->next)
			check_section(s);
	}
	memory_release(NULL);
	return 0;
}

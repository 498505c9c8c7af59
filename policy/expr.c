/*
 * expr.c owns the language of CPU expressions: its grammar, its errors, and the order of evaluation.  It knows no
 * machine; what a word means is asked of a callback.
 *
 *     alternatives:  union { "||" union }                  B counts only if A is empty
 *     union:         intersection { [","] intersection }   a space will do, as in systemd's CPUAffinity=
 *     intersection:  complement { "&" complement }
 *     complement:    { "!" } primary
 *     primary:       5 | 0-3 | 0-31:2 | word | word:argument | "cores" "(" alternatives ")" | "(" alternatives ")"
 */
#include <net/if.h>
#include <string.h>
#include "policy.h"

/* Deeper nesting is no honest policy; each level costs 3 KiB of stack. */
enum { MAX_DEPTH = 64 };

struct reader {
	const char *at;
	const char *after; /* the operator or parenthesis just read, or NULL; for messages */
	unsigned depth;
	expr_ask *ask; /* NULL: look at the form alone */
	void *context;
	const char **why;
};

enum argument { NO_ARGUMENT, NUMBERS, NUMBER, NAME, CPUS_IN_PARENTHESES };

static const struct word {
	const char *name;
	enum argument argument;
	const char *example;
} words[] = {
	{"online", NO_ARGUMENT, "online"},
	{"allowed", NO_ARGUMENT, "allowed"},
	{"isolated", NO_ARGUMENT, "isolated"},
	{"nohz_full", NO_ARGUMENT, "nohz_full"},
	{"housekeeping", NO_ARGUMENT, "housekeeping"},
	{"node", NUMBERS, "node:0 or node:0-1"},
	{"package", NUMBERS, "package:0 or package:0-1"},
	{"llc", NUMBER, "llc:5"},
	{"near", NAME, "near:eth0"},
	{"cores", CPUS_IN_PARENTHESES, "cores(0-3)"},
};
enum { N_WORDS = sizeof(words) / sizeof(*words) };

static bool read_alternatives(struct reader *r, struct cpuset *out);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool fail(struct reader *r, const char *text)
{
	*r->why = text;
	return false;
}

/* Looks past spaces without going there: a space before an item is a union, before an operator it is nothing. */
static const char *ahead(const struct reader *r)
{
	const char *at = r->at;

	while (is_space(*at))
		at++;
	return at;
}

static void take(struct reader *r, const char *at, const char *operator)
{
	r->at = at + strlen(operator);
	r->after = operator;
}

static size_t token_length(const char *at)
{
	return strcspn(at, " \t\n\r,&|!()");
}

/* For messages: a token, not too long, and without control characters, which could play tricks on a terminal. */
static const char *shown(const char *token)
{
	size_t length = strlen(token);
	char *copy = length > 40 ? memory_printf("%.40s...", token) : memory_copy(token, length);

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return copy;
}

/* Skips a number; false if there is none.  *value stands still at the first value that is too high. */
static bool skip_number(const char **at, unsigned *value)
{
	if (!is_digit(**at))
		return false;
	for (*value = 0; is_digit(**at); ++*at)
		if (*value < CPUSET_MAX)
			*value = *value * 10 + (unsigned)(**at - '0');
	return true;
}

/* What is wrong with a token that begins with a digit and that cpuset_parse refused. */
static const char *numbers_fault(const char *token)
{
	unsigned first = 0, last, stride = 1;
	const char *at = token;
	bool formed = skip_number(&at, &first);

	last = first;
	if (formed && *at == '-') {
		at++;
		formed = skip_number(&at, &last);
		if (formed && *at == ':') {
			at++;
			formed = skip_number(&at, &stride);
		}
	}
	if (!formed || *at)
		return memory_printf("'%s' is no CPU number or range: expected such as 5, 0-3 or 0-31:2", shown(token));
	if (first >= CPUSET_MAX || last >= CPUSET_MAX || stride >= CPUSET_MAX)
		return memory_printf("'%s' is too high: CPU numbers end at %d", shown(token), CPUSET_MAX - 1);
	if (last < first)
		return memory_printf("'%s' runs backwards: expected the lower number first", shown(token));
	return memory_printf("'%s' has a stride of 0: expected 1 or more", shown(token));
}

static bool read_numbers(struct reader *r, const char *token, struct cpuset *out)
{
	if (!cpuset_parse(out, token))
		return fail(r, numbers_fault(token));
	return !r->ask || r->ask(r->context, "", NULL, out, r->why);
}

/* "node:0,1" would be node 0 and CPU 1, and hardly anyone who writes it means that: refused rather than misread. */
static bool check_unambiguous(struct reader *r, const char *name, const char *argument)
{
	const char *next = r->at + 1;

	if (*r->at != ',' || !is_digit(*next))
		return true;
	next = shown(memory_copy(next, token_length(next)));
	return fail(r, memory_printf("'%s:%s,%s' can be read in two ways: write '%s:%s, %s:%s' or '%s:%s, %s'", name,
				     argument, next, name, argument, name, next, name, argument, next));
}

/* What the kernel takes as a name (dev_valid_name, net/core/dev.c); it becomes part of a path below /sys/class/net. */
static bool is_interface_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '/' || *c == ':')
			return false;
	return strlen(name) < IFNAMSIZ && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Does the argument, NULL if there is none, suit the word? */
static bool check_argument(struct reader *r, const struct word *w, const char *argument)
{
	bool wanted = w->argument != NO_ARGUMENT && w->argument != CPUS_IN_PARENTHESES;
	struct cpuset numbers;

	if (!wanted && argument)
		return fail(r, memory_printf("'%s:%s': '%s' takes no argument, write %s", w->name, shown(argument),
					     w->name, w->example));
	if (!wanted)
		return true;
	if (!argument || !*argument)
		return fail(r, memory_printf("'%s' needs an argument, such as %s", w->name, w->example));
	if (w->argument == NAME && is_interface_name(argument))
		return true;
	if (w->argument != NAME && cpuset_parse(&numbers, argument) &&
	    (w->argument == NUMBERS || cpuset_count(&numbers) == 1))
		return check_unambiguous(r, w->name, argument);
	return fail(r, memory_printf("'%s:%s': expected such as %s", w->name, shown(argument), w->example));
}

static const char *unknown_word(const char *name)
{
	const char *names[N_WORDS], *near = NULL;

	/* The start of a word ("iso", "all") is nearer than any misspelling of another. */
	for (size_t i = 0; i < N_WORDS; i++) {
		names[i] = words[i].name;
		if (strlen(name) >= 3 && strncmp(name, names[i], strlen(name)) == 0)
			near = names[i];
	}
	if (!near)
		near = nearest(name, names, N_WORDS);
	if (near)
		return memory_printf("'%s' is no CPU word, did you mean '%s'?", shown(name), near);
	return memory_printf("'%s' is no CPU number, range or word: expected such as 5, 0-3 or one of online allowed "
			     "isolated nohz_full housekeeping node: package: llc: near: cores()",
			     shown(name));
}

/* From a '(' to its ')'. */
static bool read_group(struct reader *r, struct cpuset *out)
{
	take(r, ahead(r), "(");
	if (!read_alternatives(r, out))
		return false;
	if (*ahead(r) != ')')
		return fail(r, "'(' without its ')'");
	take(r, ahead(r), ")");
	return true;
}

static bool read_word(struct reader *r, char *name, struct cpuset *out)
{
	char *argument = strchr(name, ':');
	const struct word *w = words;

	if (argument)
		*argument++ = '\0';
	while (w < words + N_WORDS && strcmp(name, w->name) != 0)
		w++;
	if (w == words + N_WORDS)
		return fail(r, unknown_word(name));
	if (!check_argument(r, w, argument))
		return false;
	if (w->argument == CPUS_IN_PARENTHESES) {
		if (*ahead(r) != '(')
			return fail(r, memory_printf("'%s' needs CPUs in parentheses: %s", w->name, w->example));
		if (!read_group(r, out))
			return false;
	}
	return !r->ask || r->ask(r->context, w->name, argument, out, r->why);
}

/* Where an operand should stand, there is none: at `at` is the end, or another operator. */
static bool missing_operand(struct reader *r, const char *at)
{
	if (!*at && !r->after)
		return fail(r, "expected CPUs, such as 0-3 or isolated");
	if (!*at)
		return fail(r, memory_printf("nothing after '%s'", r->after));
	if (r->after && *r->after == *at && (*at == '&' || *at == '|'))
		return fail(r, memory_printf("'%s%c': write '%s'", r->after, *at, r->after));
	if (!r->after)
		return fail(r, memory_printf("nothing before '%c'", *at));
	return fail(r, memory_printf("nothing between '%s' and '%c'", r->after, *at));
}

static bool read_operand(struct reader *r, struct cpuset *out)
{
	const char *at = ahead(r);
	size_t length = token_length(at);
	char *token;

	*out = (struct cpuset){0};
	if (*at == '(')
		return read_group(r, out);
	if (!length)
		return missing_operand(r, at);
	token = memory_copy(at, length);
	r->at = at + length;
	if (is_digit(*token))
		return read_numbers(r, token, out);
	return read_word(r, token, out);
}

/* Everything that nests comes through here, so the depth is counted here. */
static bool read_complement(struct reader *r, struct cpuset *out)
{
	bool negated = *ahead(r) == '!', ok;

	if (r->depth == MAX_DEPTH)
		return fail(r, memory_printf("nested deeper than %d levels", MAX_DEPTH));
	r->depth++;
	if (negated)
		take(r, ahead(r), "!");
	ok = negated ? read_complement(r, out) : read_operand(r, out);
	r->depth--;
	return ok && (!negated || !r->ask || r->ask(r->context, "!", NULL, out, r->why));
}

static bool read_intersection(struct reader *r, struct cpuset *out)
{
	struct cpuset right;

	if (!read_complement(r, out))
		return false;
	while (*ahead(r) == '&') {
		take(r, ahead(r), "&");
		if (!read_complement(r, &right))
			return false;
		cpuset_and(out, &right);
	}
	return true;
}

static bool read_union(struct reader *r, struct cpuset *out)
{
	struct cpuset right;

	if (!read_intersection(r, out))
		return false;
	for (;;) {
		const char *next = ahead(r);

		if (*next == ',')
			take(r, next, ",");
		else if (!*next || *next == ')' || *next == '|')
			return true;
		else if (next == r->at)
			return fail(r, memory_printf("'%s': expected ',' or another operator before it", shown(next)));
		if (!read_intersection(r, &right))
			return false;
		cpuset_or(out, &right);
	}
}

static bool read_alternatives(struct reader *r, struct cpuset *out)
{
	expr_ask *ask = r->ask;
	struct cpuset next;
	bool ok = read_union(r, out);

	while (ok && *ahead(r) == '|') {
		if (ahead(r)[1] != '|')
			return fail(r, "'|': write ',' for both, or '||' for what is taken if the left side is empty");
		take(r, ahead(r), "||");
		/* What is not needed is not asked for: "isolated || node:1" is fine without a node 1. */
		if (!cpuset_empty(out))
			r->ask = NULL;
		ok = read_union(r, &next);
		r->ask = ask;
		if (cpuset_empty(out))
			*out = next;
	}
	return ok;
}

static bool read_all(const char *text, expr_ask *ask, void *context, struct cpuset *out, const char **why)
{
	struct reader r = {.at = text, .ask = ask, .context = context, .why = why};
	bool ok = read_alternatives(&r, out);

	/* Only a ')' can be left over. */
	if (ok && *ahead(&r))
		ok = fail(&r, "')' without its '('");
	if (!ok)
		*out = (struct cpuset){0};
	return ok;
}

/* Is this a CPU expression, on whatever machine?  If not, *why names the token and what was expected. */
bool expr_check(const char *text, const char **why)
{
	struct cpuset unused;

	return read_all(text, NULL, NULL, &unused, why);
}

/* What the expression means, asked of `ask` (policy.h).  False, an empty set and *why: a bad form, or `ask` said so. */
bool expr_eval(const char *text, expr_ask *ask, void *context, struct cpuset *out, const char **why)
{
	*out = (struct cpuset){0};
	/* The form first: a typo is the user's own, and should not hide behind what the machine lacks. */
	return expr_check(text, why) && read_all(text, ask, context, out, why);
}

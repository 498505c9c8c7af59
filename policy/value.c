/*
 * value.c - reads one value by the type of its key.  Strict: the whole text is the value, nothing wraps around, and what
 * was expected is said in the words of the key's row.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "policy.h"

const struct key key_table[N_KEYS] = {
#define KEY(sections, name, type, values, absent, stage, help)                                                         \
	{#name, sections, type, values, absent, stage, false, help},
#define TCP true
#define ANY false
#define SOCKET_KEY(name, type, values, level, option, tcp, help)                                                       \
	{#name, S, type, values, "(the kernel's default)", SHIM, tcp, help},
#include "keys.def"
#undef KEY
#undef SOCKET_KEY
#undef TCP
#undef ANY
};

int key_find(const char *name, unsigned sections)
{
	for (int i = 0; i < N_KEYS; i++)
		if (key_table[i].sections & sections && strcmp(key_table[i].name, name) == 0)
			return i;
	return -1;
}

/* Levenshtein's distance without regard to case; words longer than a row are as far away as can be. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n >= sizeof row / sizeof *row || strlen(a) >= sizeof row / sizeof *row)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (tolower((unsigned char)*a) != tolower((unsigned char)b[j - 1]));

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[n];
}

const char *nearest(const char *word, const char *const *candidates, size_t n)
{
	const char *found = NULL;
	size_t best = 1 + strlen(word) / 3; /* two slips in a word of six letters; more is another word */

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, candidates[i]);

		if (d <= best && (!found || d < best)) {
			best = d;
			found = candidates[i];
		}
	}
	return found;
}

/* Digits at *text, at most `highest`.  Moves *text past them. */
static bool digits(const char **text, int64_t highest, int64_t *out)
{
	int64_t n = 0;
	const char *p = *text;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++) {
		if (n > (highest - (*p - '0')) / 10)
			return false;
		n = n * 10 + (*p - '0');
	}
	*text = p;
	*out = n;
	return true;
}

bool read_number(const char *text, int64_t lowest, int64_t highest, int64_t *out)
{
	bool negative = *text == '-' && lowest < 0;
	int64_t n;

	if (negative)
		text++;
	if (!digits(&text, INT64_MAX, &n) || *text)
		return false;
	if (negative)
		n = -n;
	if (n < lowest || n > highest)
		return false;
	*out = n;
	return true;
}

struct unit {
	const char *name;
	int64_t size;
};

/* Those of systemd.time(7) up to a day, under all their names; messages use the first. */
static const struct unit times[] = {{"ns", 1},
				    {"us", 1000},
				    {"ms", 1000000},
				    {"s", 1000000000},
				    {"nsec", 1},
				    {"usec", 1000},
				    {"msec", 1000000},
				    {"sec", 1000000000},
				    {"second", 1000000000},
				    {"seconds", 1000000000},
				    {"m", 60000000000},
				    {"min", 60000000000},
				    {"minute", 60000000000},
				    {"minutes", 60000000000},
				    {"h", 3600000000000},
				    {"hr", 3600000000000},
				    {"hour", 3600000000000},
				    {"hours", 3600000000000},
				    {"d", 86400000000000},
				    {"day", 86400000000000},
				    {"days", 86400000000000},
				    {NULL, 0}};
static const struct unit sizes[] = {{"B", 1},
				    {"K", 1 << 10},
				    {"M", 1 << 20},
				    {"G", 1 << 30},
				    {"T", (int64_t)1 << 40},
				    {"P", (int64_t)1 << 50},
				    {"E", (int64_t)1 << 60},
				    {NULL, 0}};

static const struct unit *unit_find(const struct unit *units, const char *name, size_t length)
{
	for (; units->name; units++)
		if (strlen(units->name) == length && strncmp(units->name, name, length) == 0)
			return units;
	return NULL;
}

/* The values column of a key's row: "[unit] lowest..highest [word=number]...". */
struct range {
	const struct unit *unit; /* what one means */
	int64_t lowest, highest;
	const char *words;
};

static struct range range_of(const struct key *k)
{
	struct range r = {.unit = &times[0]};
	const char *p = k->values;
	char *end;

	if (isalpha((unsigned char)*p)) {
		size_t n = strcspn(p, " ");
		const struct unit *u = unit_find(times, p, n);

		r.unit = u ? u : r.unit;
		p += n + 1;
	}
	r.lowest = strtoll(p, &end, 10);
	r.highest = strtoll(end + 2, &end, 10);
	r.words = end;
	return r;
}

/* One or more terms, "1min 30s" as in systemd.time(7), or a bare number of `bare` units; the sum in units of one. */
static bool read_units(const char *text, const struct unit *units, int64_t bare, int64_t one, int64_t *out)
{
	int64_t sum = 0;
	bool any = false;

	while (*text) {
		int64_t n, part, fraction = 0, scale = 1;
		const struct unit *u;
		size_t length;

		if (!digits(&text, INT64_MAX, &n))
			return false;
		if (*text == '.') {
			const char *first = ++text;

			/* At most nine digits: zeros in front count too, and scale would wrap around. */
			if (!digits(&text, 999999999, &fraction) || text - first > 9)
				return false;
			for (; first < text; first++)
				scale *= 10;
		}
		text += strspn(text, " \t");
		for (length = 0; isalpha((unsigned char)text[length]); length++)
			;
		u = length ? unit_find(units, text, length) : NULL;
		if (length && !u)
			return false;
		if (!length && (any || *text))
			return false; /* a bare number stands alone */
		part = u ? u->size : bare;
		/* 128 bits: a range of INT64_MAX bytes is written in K as well. */
		__int128 total = (__int128)n * part + (__int128)fraction * part / scale;
		if (total % one || sum + total / one > INT64_MAX)
			return false;
		sum += (int64_t)(total / one);
		any = true;
		text += length;
		text += strspn(text, " \t");
	}
	*out = sum;
	return any;
}

/* A word that the range gives a number for, " low-delay=16". */
static bool read_named(const struct range *r, const char *text, int64_t *out)
{
	size_t n = strlen(text);

	for (const char *p = r->words; *p; p += strcspn(p, " ")) {
		p += strspn(p, " ");
		if (n && strncmp(p, text, n) == 0 && p[n] == '=') {
			*out = strtoll(p + n + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

static bool read_int(const struct key *k, const char *text, int64_t *out, const char **why)
{
	struct range r = range_of(k);

	if (read_number(text, r.lowest, r.highest, out) || read_named(&r, text, out))
		return true;
	*why = memory_printf("expected a whole number from %lld to %lld%s%s", (long long)r.lowest, (long long)r.highest,
			     *r.words ? ", or one of:" : "", r.words);
	return false;
}

static bool read_time(const struct key *k, const char *text, int64_t *out, const char **why)
{
	struct range r = range_of(k);
	size_t n = strlen(k->name);
	/* As in systemd: *NSec= and limits count their own unit, every other *Sec= counts seconds. */
	bool seconds = n > 4 && strcmp(k->name + n - 3, "Sec") == 0 && strcmp(k->name + n - 4, "NSec") != 0;

	if (read_units(text, times, seconds ? 1000000000 : r.unit->size, r.unit->size, out) && *out >= r.lowest &&
	    *out <= r.highest)
		return true;
	*why = memory_printf("expected a time such as 50us, 2ms or 1s (a bare number counts %s), from %lld to %lld %s",
			     seconds ? "seconds" : r.unit->name, (long long)r.lowest, (long long)r.highest,
			     r.unit->name);
	return false;
}

static bool read_size(const struct key *k, const char *text, int64_t *out, const char **why)
{
	struct range r = range_of(k);

	if (read_units(text, sizes, 1, 1, out) && *out >= r.lowest && *out <= r.highest)
		return true;
	*why = memory_printf("expected a size such as 512K, 1M or a number of bytes, from %lld to %lld",
			     (long long)r.lowest, (long long)r.highest);
	return false;
}

static bool read_one_limit(const struct key *k, const char *text, int64_t *out, const char **why)
{
	if (strcmp(text, "infinity") == 0) {
		*out = LIMIT_INFINITY;
		return true;
	}
	if (k->type == RLIMIT_SIZE)
		return read_size(k, text, out, why);
	if (k->type == RLIMIT_TIME)
		return read_time(k, text, out, why);
	return read_int(k, text, out, why);
}

static bool read_limit(const struct key *k, const char *text, struct value *v, const char **why)
{
	const char *colon = strchr(text, ':');
	const char *soft = colon ? memory_copy(text, (size_t)(colon - text)) : text;

	if (read_one_limit(k, soft, &v->number, why) && read_one_limit(k, colon ? colon + 1 : text, &v->number2, why)) {
		if (v->number <= v->number2)
			return true;
		*why = "expected a soft limit that is not above the hard one";
		return false;
	}
	*why = memory_printf("%s, or infinity; two of them as soft:hard", *why);
	return false;
}

static bool read_word(const struct key *k, const char *text, int64_t *out, const char **why)
{
	const char *words[16];
	size_t n = 0;

	for (const char *p = k->values; *p && n < 16; n++) {
		size_t length = strcspn(p, " ");

		words[n] = memory_copy(p, length);
		if (strcmp(words[n], text) == 0) {
			*out = (int64_t)n;
			return true;
		}
		p += length + (p[length] == ' ');
	}
	if (strcmp(text, "deadline") == 0) {
		*why = "SCHED_DEADLINE cannot be combined with CPU affinity and forbids new threads (sched(7)); expected "
		       "one of: other batch idle fifo rr";
		return false;
	}
	const char *near = nearest(text, words, n);
	*why = memory_printf("expected one of: %s%s%s%s", k->values, near ? "; did you mean '" : "", near ? near : "",
			     near ? "'?" : "");
	return false;
}

static bool read_bool(const char *text, int64_t *out, const char **why)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(text, words[i]) == 0) { /* as systemd does: "True" is common in units */
			*out = i % 2;
			return true;
		}
	*why = "expected yes or no (also true false on off 1 0)";
	return false;
}

/* "0-1,3" or "all"; whether they exist is the machine's affair. */
static bool read_nodes(const char *text, const char **why)
{
	struct cpuset set;

	if (strcmp(text, "all") == 0 || (cpuset_parse(&set, text) && !cpuset_empty(&set)))
		return true;
	*why = "expected a list of nodes such as 0-1,3, or all";
	return false;
}

bool value_read(const struct key *k, const char *text, struct value *v, const char **why)
{
	switch (k->type) {
	case GLOBS:
		return true;
	case CPUS:
		return expr_check(text, why);
	case NODES:
		return read_nodes(text, why);
	case WORD:
		return read_word(k, text, &v->number, why);
	case INT:
		return read_int(k, text, &v->number, why);
	case BOOL:
		return read_bool(text, &v->number, why);
	case TIME:
		return read_time(k, text, &v->number, why);
	case SIZE:
		return read_size(k, text, &v->number, why);
	case RLIMIT:
	case RLIMIT_SIZE:
	case RLIMIT_TIME:
		return read_limit(k, text, v, why);
	}
	return false;
}

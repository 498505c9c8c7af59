/*
 * cpuset.c owns sets of CPUs: walking, combining, reading and writing them.  It is compiled into the shim as well: no
 * malloc, no stdio, no locale, nothing but plain loops.
 */
#include "cpuset.h"

int cpuset_next(const struct cpuset *s, int from)
{
	unsigned cpu = from < 0 ? 0 : (unsigned)from;

	if (cpu >= CPUSET_MAX)
		return -1;
	size_t i = cpu / 64;
	uint64_t word = s->word[i] & (~(uint64_t)0 << (cpu % 64));

	while (!word) {
		if (++i == CPUSET_WORDS)
			return -1;
		word = s->word[i];
	}
	return (int)(i * 64) + __builtin_ctzll(word);
}

unsigned cpuset_count(const struct cpuset *s)
{
	unsigned n = 0;

	/* Not __builtin_popcountll: without -mpopcnt it is a call into libgcc, which the shim does not have. */
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		for (uint64_t word = s->word[i]; word; word &= word - 1)
			n++;
	return n;
}

bool cpuset_empty(const struct cpuset *s)
{
	return cpuset_next(s, 0) < 0;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		if (a->word[i] != b->word[i])
			return false;
	return true;
}

bool cpuset_overlap(const struct cpuset *a, const struct cpuset *b)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		if (a->word[i] & b->word[i])
			return true;
	return false;
}

void cpuset_or(struct cpuset *to, const struct cpuset *other)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		to->word[i] |= other->word[i];
}

void cpuset_and(struct cpuset *to, const struct cpuset *other)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		to->word[i] &= other->word[i];
}

void cpuset_minus(struct cpuset *to, const struct cpuset *other)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		to->word[i] &= ~other->word[i];
}

/* Reads a number below CPUSET_MAX; returns where it ends, or NULL.  Stops long before it could wrap. */
static const char *read_cpu(const char *at, unsigned *cpu)
{
	if (*at < '0' || *at > '9')
		return NULL;
	for (*cpu = 0; *at >= '0' && *at <= '9'; at++) {
		*cpu = *cpu * 10 + (unsigned)(*at - '0');
		if (*cpu >= CPUSET_MAX)
			return NULL;
	}
	return at;
}

/* Adds "5", "0-3" or "0-31:2"; returns where it ends, or NULL. */
static const char *read_item(const char *at, struct cpuset *s)
{
	unsigned first, last, stride = 1;

	at = read_cpu(at, &first);
	if (!at)
		return NULL;
	last = first;
	if (*at == '-') {
		at = read_cpu(at + 1, &last);
		if (at && *at == ':')
			at = read_cpu(at + 1, &stride);
		if (!at || last < first || stride == 0)
			return NULL;
	}
	/* Cannot wrap: all three are below CPUSET_MAX. */
	for (unsigned cpu = first; cpu <= last; cpu += stride)
		cpuset_add(s, cpu);
	return at;
}

bool cpuset_parse(struct cpuset *s, const char *text)
{
	const char *at = text;

	*s = (struct cpuset){0};
	if (*at && *at != '\n') {
		at = read_item(at, s);
		while (at && *at == ',')
			at = read_item(at + 1, s);
	}
	if (at && *at == '\n')
		at++;
	if (at && !*at)
		return true;
	*s = (struct cpuset){0};
	return false;
}

/* Writes a number's digits; returns where they end. */
static char *write_cpu(char *at, int cpu)
{
	if (cpu >= 10)
		at = write_cpu(at, cpu / 10);
	*at++ = (char)('0' + cpu % 10);
	return at;
}

/* Copies up to `end`, where a NUL always fits; returns where it ended. */
static char *append(char *at, const char *end, const char *text)
{
	while (*text && at < end)
		*at++ = *text++;
	*at = '\0';
	return at;
}

char *cpuset_format(const struct cpuset *s, char *buffer, size_t size)
{
	char item[sizeof(",8191-8191")], *at = buffer, *cut = buffer;
	int cpu = cpuset_next(s, 0);

	if (!size)
		return buffer;
	const char *end = buffer + size - 1;

	append(at, end, cpu < 0 ? "none" : "");
	while (cpu >= 0) {
		int last = cpu;
		char *to = item;

		while (cpuset_has(s, (unsigned)last + 1))
			last++;
		if (at > buffer)
			*to++ = ',';
		to = write_cpu(to, cpu);
		if (last > cpu) {
			*to++ = '-';
			to = write_cpu(to, last);
		}
		*to = '\0';
		if (to - item > end - at) {
			append(cut, end, "...");
			break;
		}
		at = append(at, end, item);
		/* The last place between two items where "..." still has room. */
		if (end - at >= 3)
			cut = at;
		cpu = cpuset_next(s, last + 1);
	}
	return buffer;
}

/* judge.c owns the verbs with which readers answer, and the judgements that many items share. */
#include <errno.h>
#include <string.h>
#include "check.h"

#define VERB(name, outcome)                                                                                            \
	enum verdict name(struct answer *a, const char *format, ...)                                                   \
	{                                                                                                              \
		va_list args;                                                                                          \
                                                                                                                       \
		va_start(args, format);                                                                                \
		a->text = memory_vprintf(format, args);                                                                \
		va_end(args);                                                                                          \
		return outcome;                                                                                        \
	}
VERB(good, GOOD)
VERB(bad, BAD)
VERB(unknown, UNKNOWN)
VERB(moot, MOOT)

enum verdict unread(struct answer *a)
{
	if (!a->text)
		a->text = "cannot be read";
	return UNKNOWN;
}

enum verdict number_within(struct check *c, struct answer *a, long long low, long long high, const char *is_bad,
			   const char *path)
{
	long long n;

	if (!read_long(c, a, &n, "%s", path))
		return unread(a);
	return n >= low && n <= high ? good(a, "as it should be") : bad(a, "%s", is_bad);
}

enum verdict each_cpu(struct check *c, struct answer *a, const struct cpuset *set, const char *path,
		      bool (*fits)(const char *text), const char *is_good, const char *is_bad)
{
	struct cpuset not_good = {{0}};
	struct answer first_bad = {0}, one = {0};
	const char *hole = strstr(path, "%d");

	CPUSET_EACH(cpu, set)
	{
		const char *text;

		one = (struct answer){0};
		text = read_text(c, &one, "%s%d%s", memory_copy(path, (size_t)(hole - path)), cpu, hole + 2);
		if (!text) {
			*a = one;
			return unread(a);
		}
		if (fits(text))
			continue;
		if (!first_bad.where)
			first_bad = one;
		cpuset_add(&not_good, (unsigned)cpu);
	}
	*a = first_bad.where ? first_bad : one;
	a->it = list_of(&not_good);
	return first_bad.where ? bad(a, "CPUs %s: %s", a->it, is_bad) : good(a, "%s", is_good);
}

enum verdict spared(struct check *c, struct answer *a, const struct cpuset *set, const char *what)
{
	struct cpuset hit = common(set, &c->cpus);

	return cpuset_empty(&hit) ? good(a, "%s leave CPUs %s alone", what, list_of(&c->cpus))
				  : bad(a, "%s may run on CPUs %s", what, list_of(&hit));
}

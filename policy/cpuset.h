#ifndef LLRUN_CPUSET_H
#define LLRUN_CPUSET_H
/* A set of CPUs (or nodes) as a plain value.  8192 is the most that Linux can be built for (NR_CPUS, arch/x86/Kconfig). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPUSET_MAX = 8192, CPUSET_WORDS = CPUSET_MAX / 64 };

struct cpuset {
	uint64_t word[CPUSET_WORDS];
};

static inline bool cpuset_has(const struct cpuset *s, unsigned cpu)
{
	return cpu < CPUSET_MAX && (s->word[cpu / 64] >> (cpu % 64) & 1);
}

static inline void cpuset_add(struct cpuset *s, unsigned cpu)
{
	if (cpu < CPUSET_MAX)
		s->word[cpu / 64] |= (uint64_t)1 << (cpu % 64);
}

static inline void cpuset_remove(struct cpuset *s, unsigned cpu)
{
	if (cpu < CPUSET_MAX)
		s->word[cpu / 64] &= ~((uint64_t)1 << (cpu % 64));
}

/* The lowest member at or above `from`, or -1. */
int cpuset_next(const struct cpuset *s, int from);
#define CPUSET_EACH(cpu, set) for (int cpu = cpuset_next(set, 0); cpu >= 0; cpu = cpuset_next(set, cpu + 1))

unsigned cpuset_count(const struct cpuset *s);
bool cpuset_empty(const struct cpuset *s);
bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
bool cpuset_overlap(const struct cpuset *a, const struct cpuset *b); /* have they a member in common? */
void cpuset_or(struct cpuset *to, const struct cpuset *other);
void cpuset_and(struct cpuset *to, const struct cpuset *other);
void cpuset_minus(struct cpuset *to, const struct cpuset *other);

/*
 * Reads a list as the kernel prints them ("0-3,8", "" and "\n" are the empty set; bitmap_parselist).  False, and an empty
 * set, if the text is anything else: "(null)" of an absent nohz_full, say.
 */
bool cpuset_parse(struct cpuset *s, const char *text);

/* Writes the set as such a list ("0-3,8"; "none" if empty) into a buffer of `size` bytes; cut with "..." if too long. */
char *cpuset_format(const struct cpuset *s, char *buffer, size_t size);

#endif

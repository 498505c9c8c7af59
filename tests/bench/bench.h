#ifndef LLRUN_BENCH_H
#define LLRUN_BENCH_H
/* What the measuring programs share: a clock, and the median of rounds with the middle half as its spread. */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct spread {
	double low, median, high; /* quartiles */
};

/* Sorts the values. */
static inline struct spread spread_of(double *value, size_t n)
{
	qsort(value, n, sizeof *value, by_value);
	return (struct spread){value[n / 4], value[n / 2], value[n * 3 / 4]};
}

#endif

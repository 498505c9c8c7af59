/*
 * stats.c - the numbers of an experiment, and nothing else.
 *
 * A handful of runs, outliers, no bell curve: so medians, ranks and resampling.  The effect is the Hodges-Lehmann
 * estimate of the paired differences: as deaf to outliers as their median needs to be, with more to say from ten pairs.
 * The test that belongs to it is the signed-rank test, whose distribution is computed and not approximated.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ab.h"

/* splitmix64 (Steele, Lea, Flood 2014): the same on every machine, so that a seed repeats an experiment's order. */
uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

size_t random_below(struct random *r, size_t n)
{
	return (size_t)((random_next(r) >> 32) * (uint64_t)n >> 32);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The k-th smallest (0: the smallest), by Hoare's selection; everything after it is then no smaller. */
static double smallest(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			double swap = v[i];
			v[i++] = v[j];
			v[j--] = swap;
		}
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return v[k];
}

double stats_quantile(double *values, size_t n, double p)
{
	double at = p * (double)(n - 1), below, above;
	size_t k = (size_t)at;

	if (n == 0)
		return NAN;
	below = smallest(values, n, k);
	if (k + 1 >= n)
		return below;
	above = values[k + 1];
	for (size_t i = k + 2; i < n; i++)
		above = fmin(above, values[i]);
	/* Not below + 0 * (infinity - below), which is no number. */
	return at > (double)k ? below + (at - (double)k) * (above - below) : below;
}

double stats_median(double *values, size_t n)
{
	return stats_quantile(values, n, 0.5);
}

double stats_hodges_lehmann(double *values, size_t n)
{
	void *mark = memory_mark();
	double *averages = memory_get((n * (n + 1) / 2 + 1) * sizeof *averages), result;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			averages[m++] = (values[i] + values[j]) / 2;
	result = stats_median(averages, m);
	memory_release(mark);
	return result;
}

double stats_weighted_quantile(const struct samples *s, double p)
{
	double seen = 0, wanted = ceil(p * s->total - 1e-9);

	for (size_t i = 0; i < s->n; i++) {
		seen += s->bins[i].count;
		if (seen >= wanted && seen > 0)
			return s->bins[i].value;
	}
	return s->n ? s->bins[s->n - 1].value : NAN;
}

enum { ROUNDS = 4000 };

static struct interval middle(double *results, double level)
{
	struct interval i;

	i.low = stats_quantile(results, ROUNDS, (1 - level) / 2);
	i.high = stats_quantile(results, ROUNDS, 1 - (1 - level) / 2);
	return i;
}

/* Efron's percentile interval: what the statistic would be of samples drawn from this one with replacement. */
struct interval stats_bootstrap(const double *values, size_t n, statistic *of, double level, struct random *r)
{
	void *mark = memory_mark();
	double results[ROUNDS], *drawn = memory_get((n + 1) * sizeof *drawn);

	if (n < 2)
		return (struct interval){NAN, NAN};
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < n; i++)
			drawn[i] = values[random_below(r, n)];
		results[round] = of(drawn, n);
	}
	memory_release(mark);
	return middle(results, level);
}

/* Of the difference of two medians, b minus a, of runs that are not paired. */
struct interval stats_bootstrap_two(const double *a, size_t n_a, const double *b, size_t n_b, double level,
				    struct random *r)
{
	void *mark = memory_mark();
	double results[ROUNDS], *drawn = memory_get((n_a + n_b + 1) * sizeof *drawn);

	if (n_a < 2 || n_b < 2)
		return (struct interval){NAN, NAN};
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < n_a; i++)
			drawn[i] = a[random_below(r, n_a)];
		for (size_t i = 0; i < n_b; i++)
			drawn[n_a + i] = b[random_below(r, n_b)];
		results[round] = stats_median(drawn + n_a, n_b) - stats_median(drawn, n_a);
	}
	memory_release(mark);
	return middle(results, level);
}

/* Twice the ranks of values in ascending order, so that those of ties (their average) are whole numbers. */
static void double_ranks(const double *sorted, size_t n, size_t *ranks)
{
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && sorted[j] <= sorted[i];)
			j++;
		for (size_t k = i; k < j; k++)
			ranks[k] = i + 1 + j;
	}
}

/*
 * Wilcoxon's signed-rank test.  Under "no difference" each sign is a coin's: the distribution of the sum of the
 * positive ranks follows by adding one rank after the other.  Differences of zero say nothing and are left out, as he
 * did.
 */
double stats_signed_rank(const double *differences, size_t n)
{
	void *mark = memory_mark();
	double *size = memory_get((n + 1) * sizeof *size), *chance, at_most = 0, at_least = 0;
	size_t *ranks = memory_get((n + 1) * sizeof *ranks), m = 0, sum = 0, observed = 0;

	for (size_t i = 0; i < n; i++)
		if (fabs(differences[i]) > 0)
			size[m++] = fabs(differences[i]);
	chance = memory_get((m * (m + 1) + 1) * sizeof *chance);
	qsort(size, m, sizeof *size, by_value);
	double_ranks(size, m, ranks);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			if (differences[i] > 0 && size[k] >= differences[i]) {
				observed += ranks[k];
				break;
			}
	chance[0] = 1;
	for (size_t k = 0; k < m; k++) {
		sum += ranks[k];
		for (size_t s = sum + 1; s-- > 0;)
			chance[s] = (chance[s] + (s >= ranks[k] ? chance[s - ranks[k]] : 0)) / 2;
	}
	for (size_t s = 0; s <= sum; s++) {
		at_most += s <= observed ? chance[s] : 0;
		at_least += s >= observed ? chance[s] : 0;
	}
	memory_release(mark);
	return fmin(1, 2 * fmin(at_most, at_least));
}

/* Wilcoxon's rank-sum test for runs that are not paired, by shuffling who belongs to whom. */
double stats_rank_sum(const double *a, size_t n_a, const double *b, size_t n_b, struct random *r)
{
	void *mark = memory_mark();
	size_t n = n_a + n_b, *ranks = memory_get((n + 1) * sizeof *ranks), more = 1;
	double *sorted = memory_get((n + 1) * sizeof *sorted), expected = (double)n_a * (double)(n + 1), observed = 0;

	if (n_a && n_b) {
		memcpy(sorted, a, n_a * sizeof *a);
		memcpy(sorted + n_a, b, n_b * sizeof *b);
		qsort(sorted, n, sizeof *sorted, by_value);
		double_ranks(sorted, n, ranks);
		for (size_t i = 0; i < n_a; i++)
			observed += (double)
				ranks[(double *)bsearch(&a[i], sorted, n, sizeof *sorted, by_value) - sorted];
		for (int round = 0; round < ROUNDS; round++) {
			double sum = 0;

			for (size_t i = 0; i < n_a; i++) { /* the first n_a of a shuffle */
				size_t k = i + random_below(r, n - i), swap = ranks[i];

				ranks[i] = ranks[k];
				ranks[k] = swap;
				sum += (double)ranks[i];
			}
			more += fabs(sum - expected) >= fabs(observed - expected);
		}
	}
	memory_release(mark);
	return n_a && n_b ? (double)more / (ROUNDS + 1) : 1;
}

/* Holm 1979: the smallest p times the number of tests, the next times one less, and never less than the one before. */
void stats_holm(const double *p, double *adjusted, size_t n)
{
	size_t left = 0;
	double before = 0;

	for (size_t i = 0; i < n; i++) {
		adjusted[i] = NAN;
		left += !isnan(p[i]);
	}
	for (; left > 0; left--) {
		size_t next = n;

		for (size_t i = 0; i < n; i++)
			if (!isnan(p[i]) && isnan(adjusted[i]) && (next == n || p[i] < p[next]))
				next = i;
		before = fmin(1, fmax(before, p[next] * (double)left));
		adjusted[next] = before;
	}
}

/* n pairs that all point the same way have p = 2 / 2^n: less than that no test of signs can give. */
size_t stats_runs_needed(size_t tests, double alpha)
{
	size_t n = 1;

	while (ldexp(2.0, -(int)n) * (double)tests > alpha)
		n++;
	return n;
}

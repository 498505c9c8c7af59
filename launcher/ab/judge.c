/*
 * judge.c - what may be said of an arm.
 *
 * An effect is called one if three things hold: its p passes Holm's correction over all that is looked at, its interval
 * leaves out zero, and it is larger than what the same program shows against itself (A/A) in as many runs.
 */
#include <math.h>
#include <string.h>
#include "ab.h"

const char *const verdict_words[] = {"better", "worse", "no difference shown", "not enough data",
				     "(no verdict on a maximum)"};

static const struct {
	const char *name;
	double p, samples; /* a percentile wants ten samples beyond it */
} quantities[] = {{"p50", 0.5, 1}, {"p99", 0.99, 1000}, {"p99.9", 0.999, 10000}, {"max", 1, 1}};

bool run_counts(const struct experiment *e, const struct run *r)
{
	return !r->warm_up && !r->failed && !(e->drop && r->disturbed);
}

bool metric_has_samples(const struct experiment *e, size_t metric)
{
	for (size_t i = 0; i < e->n_run; i++)
		if (run_counts(e, &e->run[i]) && e->run[i].samples[metric].total > 1)
			return true;
	return false;
}

double run_value(const struct experiment *e, const struct run *r, const struct row *row)
{
	const struct samples *s = &r->samples[row->metric - e->metrics];

	if (s->n == 0)
		return NAN;
	if (strcmp(row->quantity, "max") == 0) /* the largest is told even where the histogram ends before it */
		return s->bins[s->n - 1].value < INFINITY || s->n < 2 ? s->bins[s->n - 1].value
								      : s->bins[s->n - 2].value;
	for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
		if (strcmp(row->quantity, quantities[i].name) == 0)
			return stats_weighted_quantile(s, quantities[i].p);
	return s->bins[0].value;
}

static const struct run *find(const struct experiment *e, size_t arm, size_t pair)
{
	for (size_t i = 0; i < e->n_run; i++)
		if (e->run[i].arm == arm && e->run[i].pair == pair && run_counts(e, &e->run[i]))
			return &e->run[i];
	return NULL;
}

/* The pairs of an arm and the first: their values and differences. */
struct pairs {
	double *base, *value, *difference;
	size_t n;
	double fewest; /* samples in a run */
	bool beyond;
};

static struct pairs pair_up(const struct experiment *e, const struct row *row, size_t arm)
{
	size_t room = (size_t)e->runs + 1, metric = (size_t)(row->metric - e->metrics);
	struct pairs p = {memory_get(room * sizeof(double)),
			  memory_get(room * sizeof(double)),
			  memory_get(room * sizeof(double)),
			  0,
			  INFINITY,
			  false};

	for (size_t pair = 0; pair < (size_t)e->runs; pair++) {
		const struct run *a = find(e, 0, pair), *b = find(e, arm, pair);
		double x = a ? run_value(e, a, row) : NAN, y = b ? run_value(e, b, row) : NAN;

		if (!a || !b || isnan(x) || isnan(y))
			continue;
		p.fewest = fmin(p.fewest, fmin(a->samples[metric].total, b->samples[metric].total));
		p.beyond |= isinf(x) || isinf(y);
		p.base[p.n] = x;
		p.value[p.n] = y;
		p.difference[p.n++] = y - x;
	}
	return p;
}

static void measure_row(const struct experiment *e, struct row *row, double samples, struct random *random)
{
	struct pairs p = pair_up(e, row, row->arm), control = pair_up(e, row, e->n_arms - 1);

	row->pairs = p.n;
	row->p = NAN;
	row->verdict = V_NOT_ENOUGH;
	if (p.n == 0) {
		row->base = row->value = row->effect = row->limit = NAN;
		row->interval = row->control = (struct interval){NAN, NAN};
		row->why = "this kernel does not tell, or no run counts";
		return;
	}
	row->base = stats_median(p.base, p.n);
	row->value = stats_median(p.value, p.n);
	if (p.beyond || control.beyond) {
		row->effect = row->limit = NAN;
		row->interval = row->control = (struct interval){NAN, NAN};
		row->why = "beyond the program's histogram; give it a larger one";
		return;
	}
	row->interval = stats_bootstrap(p.difference, p.n, stats_hodges_lehmann, AB_LEVEL, random);
	row->control = stats_bootstrap(control.difference, control.n, stats_hodges_lehmann, AB_LEVEL, random);
	row->limit = fmax(fabs(row->control.low), fabs(row->control.high));
	row->effect = stats_hodges_lehmann(p.difference, p.n);
	if (strcmp(row->quantity, "max") == 0)
		row->verdict = V_DESCRIPTIVE;
	else if (p.fewest < samples)
		row->why = memory_printf("%.0f samples a run would do; there are %.0f", samples, p.fewest);
	else
		row->p = stats_signed_rank(p.difference, p.n);
}

static void decide(const struct experiment *e, struct row *row, size_t needed)
{
	double seen = fmax(row->limit, (row->interval.high - row->interval.low) / 2);

	if (isnan(row->p))
		return;
	if (row->pairs < needed || isnan(row->limit)) {
		row->why = row->pairs < (size_t)e->runs ? memory_printf("%zu runs that count would do", needed)
							: memory_printf("%zu runs would do", needed);
		return;
	}
	if (row->adjusted <= 1 - AB_LEVEL && (row->interval.low > 0 || row->interval.high < 0) &&
	    fabs(row->effect) > row->limit) {
		row->verdict = (row->effect > 0) == row->metric->higher ? V_BETTER : V_WORSE;
		return;
	}
	row->verdict = V_NONE;
	/* Intervals shrink by the root of the number of runs: so many would see what there seems to be. */
	if (seen > 0 && fabs(row->effect) > seen / 4)
		row->why = memory_printf("about %.0f runs would tell",
					 ceil((double)row->pairs * fmax(1.5, pow(1.5 * seen / fabs(row->effect), 2))));
}

struct judgement judge(const struct experiment *e)
{
	struct judgement j = {.rows = memory_get((e->n_arms * e->n_metrics * 4 + 1) * sizeof *j.rows)};
	double *p, *adjusted;
	size_t needed;

	for (size_t arm = 1; arm + 1 < e->n_arms; arm++)
		for (size_t m = 0; m < e->n_metrics; m++) {
			bool samples = metric_has_samples(e, m);

			for (size_t q = 0; q < (samples ? sizeof quantities / sizeof *quantities : 1); q++) {
				struct row *row = &j.rows[j.n];
				struct random random = {
					e->seed + 1 +
					j.n++}; /* a row's interval is its own, whatever else is looked at */

				row->metric = &e->metrics[m];
				row->arm = arm;
				row->quantity = samples ? quantities[q].name : "";
				row->label = samples ? memory_printf("%s %s", row->metric->name, row->quantity)
						     : row->metric->name;
				measure_row(e, row, samples ? quantities[q].samples : 0, &random);
				j.tests += !isnan(row->p);
			}
		}
	p = memory_get((j.n + 1) * sizeof *p);
	adjusted = memory_get((j.n + 1) * sizeof *adjusted);
	for (size_t i = 0; i < j.n; i++)
		p[i] = j.rows[i].p;
	stats_holm(p, adjusted, j.n);
	needed = stats_runs_needed(j.tests, 1 - AB_LEVEL);
	for (size_t i = 0; i < j.n; i++) {
		j.rows[i].adjusted = adjusted[i];
		decide(e, &j.rows[i], needed);
	}
	return j;
}

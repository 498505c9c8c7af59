/* report.c - an experiment for people: what was done, a row for each quantity, and the verdict. */
#include <math.h>
#include <string.h>
#include "ab.h"

const char *report_number(double v)
{
	if (isnan(v))
		return "-";
	if (isinf(v))
		return "beyond";
	return fabs(v) >= 1000 ? memory_printf("%.0f", v) : memory_printf("%.4g", v);
}

/* A difference: in percent of the base where there is one. */
const char *report_change(double v, double base, bool sign)
{
	double percent = 100 * v / fabs(base);

	if (isnan(v))
		return "-";
	if (!(fabs(base) > 0))
		return memory_printf(sign ? "%+.3g" : "%.3g", v);
	return memory_printf(sign ? "%+.*f %%" : "%.*f %%", fabs(percent) < 10 ? 2 : 1, percent);
}

const char *report_words(char **words)
{
	const char *line = "";

	for (; *words; words++) {
		bool quote = !**words || strpbrk(*words, " \t\n;&|<>()$*?#'\"");

		line = memory_printf("%s%s%s%s%s", line, *line ? " " : "", quote ? "'" : "", *words, quote ? "'" : "");
	}
	return line;
}

static void head(FILE *to, const struct experiment *e)
{
	size_t disturbed = 0, failed = 0;

	if (e->title)
		fprintf(to, "\n%s\n", e->title);
	fprintf(to, "\nprogram %s", report_words(e->program));
	if (e->load)
		fprintf(to, "\nload    %s%s%s", e->load, e->load_arm.bare ? "" : "  under ",
			e->load_arm.bare ? "" : e->load_arm.name);
	if (e->noise)
		fprintf(to, "\nnoise   %s", e->noise);
	fprintf(to, "\non      %s, %s\nat      %s, seed %llu, %ld runs of each arm and of %s again (A/A)\n", e->kernel,
		e->machine, e->date, (unsigned long long)e->seed, e->runs, e->arms[0].name);
	for (size_t i = 0; i < e->n_run; i++) {
		const struct run *r = &e->run[i];

		failed += r->failed != NULL;
		disturbed += !r->warm_up && !r->failed && r->disturbed;
		if (r->note && (i == 0 || !e->run[i - 1].note))
			fprintf(to, "note    %s: %s\n", e->arms[r->arm].name, r->note);
	}
	if (failed)
		fprintf(to, "failed  %zu runs; they do not count\n", failed);
	if (disturbed) {
		fprintf(to, "disturbed %zu runs, which %s:", disturbed,
			e->drop ? "do not count" : "count all the same (--disturbed=drop)");
		for (size_t i = 0, n = 0; i < e->n_run && n < 3; i++)
			if (!e->run[i].warm_up && !e->run[i].failed && e->run[i].disturbed)
				fprintf(to, "%s %s of %s", n++ ? "," : "", e->run[i].disturbed,
					e->arms[e->run[i].arm].name);
		fprintf(to, "%s\n", disturbed > 3 ? ", ..." : "");
	}
}

static void table_row(FILE *to, const struct row *r)
{
	const char *range = memory_printf("%s .. %s", report_change(r->interval.low, r->base, true),
					  report_change(r->interval.high, r->base, true));
	const char *label = *r->metric->unit ? memory_printf("%s, %s", r->label, r->metric->unit) : r->label;

	fprintf(to, "  %-21s %10s %12s  %9s  %-22s %8s  %s%s%s\n", label, report_number(r->base),
		report_number(r->value), report_change(r->effect, r->base, true), isnan(r->interval.low) ? "-" : range,
		report_change(r->limit, r->base, false), verdict_words[r->verdict], r->why ? ": " : "",
		r->why ? r->why : "");
}

void report_table(FILE *to, const struct experiment *e, const struct judgement *j)
{
	head(to, e);
	for (size_t i = 0; i < j->n; i++) {
		const struct row *r = &j->rows[i];

		if (i == 0 || j->rows[i - 1].arm != r->arm)
			fprintf(to, "\n%s against %s\n  %-21s %10.10s %12.12s  %9s  %-22s %8s  %s\n",
				e->arms[r->arm].name, e->arms[0].name, "median of the runs", arm_label(&e->arms[0]),
				arm_label(&e->arms[r->arm]), "change", "95 % interval", "A/A", "verdict");
		table_row(to, r);
	}
	fprintf(to,
		"\nchange: of paired runs (Hodges-Lehmann), in percent of the median of %s. A/A: how far that lies "
		"from itself in as many runs;\n"
		"less is no effect.  "
		"The verdicts hold for %zu tests together (Wilcoxon, Holm, 5 %%).\n",
		e->arms[0].name, j->tests);
	fprintf(to, "disturbed: %s;\nsuch runs %s.\n", DISTURBED_RULE,
		e->drop ? "do not count" : "are marked, and count");
}

/* The values of a quantity in all runs of an arm that count. */
static size_t values(const struct experiment *e, const struct row *row, const char *arm, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_run; i++)
		if (run_counts(e, &e->run[i]) && e->run[i].arm < e->n_arms - 1 &&
		    strcmp(e->arms[e->run[i].arm].name, arm) == 0) {
			double v = run_value(e, &e->run[i], row);

			if (isfinite(v))
				out[n++] = v;
		}
	return n;
}

static const struct row *same_row(const struct judgement *j, const struct row *row)
{
	for (size_t i = 0; i < j->n; i++)
		if (strcmp(j->rows[i].label, row->label) == 0 &&
		    strcmp(j->rows[i].metric->unit, row->metric->unit) == 0)
			return &j->rows[i];
	return NULL;
}

/* One arm in two experiments.  Their runs alternate with nothing: no pairs, and time itself is a difference. */
static void compare(FILE *to, const struct experiment *a, const struct experiment *b, const char *arm)
{
	struct judgement of_a = judge(a), of_b = judge(b);
	struct random random = {a->seed ^ b->seed};
	size_t n = 0;
	struct {
		const struct row *row;
		double base, value;
		struct interval interval;
		double limit;
	} * lines;
	double *p, *adjusted, *x = memory_get((a->n_run + 1) * sizeof *x), *y = memory_get((b->n_run + 1) * sizeof *y);

	lines = memory_get((of_a.n + 1) * sizeof *lines);
	p = memory_get((of_a.n + 1) * sizeof *p);
	adjusted = memory_get((of_a.n + 1) * sizeof *adjusted);
	for (size_t i = 0; i < of_a.n && of_a.rows[i].arm == 1; i++) {
		const struct row *other = same_row(&of_b, &of_a.rows[i]);
		size_t n_x = values(a, &of_a.rows[i], arm, x), n_y = other ? values(b, other, arm, y) : 0;

		if (!n_x || !n_y)
			continue;
		lines[n].row = &of_a.rows[i];
		lines[n].interval = stats_bootstrap_two(x, n_x, y, n_y, AB_LEVEL, &random);
		lines[n].limit = fmax(of_a.rows[i].limit, other->limit);
		p[n] = of_a.rows[i].verdict == V_DESCRIPTIVE ? NAN : stats_rank_sum(x, n_x, y, n_y, &random);
		lines[n].base = stats_median(x, n_x);
		lines[n++].value = stats_median(y, n_y);
	}
	stats_holm(p, adjusted, n);
	fprintf(to, "\n%s in %s against %s in %s\n", arm, b->title, arm, a->title);
	for (size_t i = 0; i < n; i++) {
		struct row row = *lines[i].row;

		row.base = lines[i].base;
		row.value = lines[i].value;
		row.effect = row.value - row.base;
		row.interval = lines[i].interval;
		row.limit = lines[i].limit;
		row.why = NULL;
		row.verdict = isnan(p[i]) ? V_DESCRIPTIVE : V_NONE;
		if (adjusted[i] <= 1 - AB_LEVEL && (row.interval.low > 0 || row.interval.high < 0) &&
		    fabs(row.effect) > row.limit)
			row.verdict = (row.effect > 0) == row.metric->higher ? V_BETTER : V_WORSE;
		table_row(to, &row);
	}
}

void report_compare(FILE *to, struct experiment **list, size_t n)
{
	fputs("\nThe experiments compared.  They ran one after the other: a difference may be the arm's, or of what "
	      "else has changed.\n",
	      to);
	for (size_t i = 0; i < n; i++)
		fprintf(to, "  %-30s %s, %s, %s\n", list[i]->title, list[i]->date, list[i]->kernel,
			i && strcmp(list[i]->boot, list[0]->boot) == 0 ? "the same boot" : "a boot of its own");
	for (size_t i = 1; i < n; i++)
		for (size_t arm = 0; arm + 1 < list[0]->n_arms; arm++)
			for (size_t k = 0; k + 1 < list[i]->n_arms; k++)
				if (strcmp(list[0]->arms[arm].name, list[i]->arms[k].name) == 0) {
					compare(to, list[0], list[i], list[0]->arms[arm].name);
					break;
				}
}

/* What a terminal can draw: a row for each range of values, a bar for each arm, its length the logarithm of the count.
 */
void report_histogram(FILE *to, const struct experiment *e, bool anyway)
{
	enum { ROWS = 12, WIDTH = 20 };
	double count[16][ROWS] = {{0}}, low = INFINITY, high = 0, most = 1;
	size_t m = 0, arms = e->n_arms - 1 < 4 ? e->n_arms - 1 : 4; /* more do not stand beside each other */

	while (m < e->n_metrics && !metric_has_samples(e, m))
		m++;
	if (!e->n_metrics || (m == e->n_metrics && !anyway))
		return;
	m %= e->n_metrics; /* the first, a value a run */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < e->n_run; i++)
			for (size_t b = 0;
			     run_counts(e, &e->run[i]) && e->run[i].arm < arms && b < e->run[i].samples[m].n; b++) {
				struct bin bin = e->run[i].samples[m].bins[b];
				int row = pass && high > low
						  ? (int)fmin(ROWS - 1, floor((bin.value - low) / (high - low) * ROWS))
						  : 0;

				if (isinf(bin.value))
					continue;
				low = pass ? low : fmin(low, bin.value);
				high = pass ? high : fmax(high, bin.value);
				if (pass)
					most = fmax(most, count[e->run[i].arm][row] += bin.count);
			}
	fprintf(to, "\n%s%s%s, all runs; the bars are logarithmic\n  %10s ", e->metrics[m].name,
		*e->metrics[m].unit ? ", " : "", e->metrics[m].unit, "up to");
	for (size_t a = 0; a < arms; a++)
		fprintf(to, " %-*.*s", WIDTH + 9, WIDTH + 9, arm_label(&e->arms[a]));
	putc('\n', to);
	for (int row = 0; row < ROWS; row++) {
		fprintf(to, "  %10s ", report_number(low + (high - low) * (row + 1) / ROWS));
		for (size_t a = 0; a < arms; a++) {
			int length = count[a][row] > 0
					     ? 1 + (int)((WIDTH - 1) * log(count[a][row]) / fmax(1, log(most)))
					     : 0;

			fprintf(to, " %8.0f %-*.*s", count[a][row], WIDTH, length, "####################");
		}
		putc('\n', to);
	}
}

/*
 * plot.c - the picture, by gnuplot: how often each latency came (its axis of counts logarithmic, the maximum in the
 * legend), what the slowest of so many took, and each run as a dot, joined to those of its pair.
 *
 * Colours are those of Okabe and Ito, which the colour-blind tell apart; each arm has a mark and a line style of its
 * own as well. gnuplot reads its commands and the data from a memory file and gives the picture on stdout: only we
 * write to the disk.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ab.h"

enum { WIDTH = 960, HEAD = 64, CURVE = 300, PANEL = 300, PANELS = 6, ACROSS = 3, BINS = 240 };

bool plot_program(void)
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/bin:/bin"; *p; p += strcspn(p, ":"), p += *p == ':')
		if (access(memory_printf("%.*s/gnuplot", (int)strcspn(p, ":"), p), X_OK) == 0)
			return true;
	return false;
}

bool plot_can(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (!dot || (strcmp(dot, ".svg") != 0 && strcmp(dot, ".png") != 0)) {
		say("--plot=%s: expected a name that ends in .svg or .png", path);
		return false;
	}
	if (!plot_program())
		say("--plot: there is no gnuplot here (apt-get install gnuplot-nox): a histogram in the terminal "
		    "instead of a picture");
	return true;
}

/* Text in gnuplot's quotes: in the double ones, which alone know a new line, a backquote would be a command. */
static const char *quoted(const char *text)
{
	char *out = memory_get(strlen(text) + 1), *to = out;

	for (; *text; text++)
		*to++ = *text == '\'' || *text == '"' || *text == '`' || *text == '\\' || *text == '\n' ? ' ' : *text;
	return out;
}

/* All samples of an arm, in order. */
static struct samples all_samples(const struct experiment *e, size_t arm, size_t m)
{
	struct samples all = {.bins = memory_get(sizeof *all.bins)};

	for (size_t i = 0; i < e->n_run; i++) {
		const struct samples *s = &e->run[i].samples[m];
		struct samples both = {.bins = memory_get((all.n + s->n + 1) * sizeof *both.bins),
				       .total = all.total + s->total};
		size_t a = 0, b = 0;

		if (e->run[i].arm != arm || !run_counts(e, &e->run[i]))
			continue;
		while (a < all.n || b < s->n) {
			bool first = b == s->n || (a < all.n && all.bins[a].value <= s->bins[b].value);
			struct bin bin = first ? all.bins[a++] : s->bins[b++];

			if (both.n && both.bins[both.n - 1].value >= bin.value)
				both.bins[both.n - 1].count += bin.count;
			else
				both.bins[both.n++] = bin;
		}
		all = both;
	}
	return all;
}

/* 1, 2 or 5 times a power of ten, and no smaller. */
static double round_step(double x)
{
	double power = pow(10, floor(log10(x))), f = x / power;

	return (f <= 1 ? 1 : f <= 2 ? 2 : f <= 5 ? 5 : 10) * power;
}

static double largest(const struct samples *s)
{
	for (size_t i = s->n; i-- > 0;)
		if (!isinf(s->bins[i].value))
			return s->bins[i].value;
	return 0;
}

/* A place in the picture, in pixels from its upper left corner. */
static void place(FILE *g, double height, double x, double y, double w, double h)
{
	fprintf(g, "set origin %g, %g\nset size %g, %g\n", x / WIDTH, 1 - (y + h) / height, w / WIDTH, h / height);
}

static void curves(FILE *g, const struct experiment *e, size_t m, double height, double y)
{
	size_t arms = e->n_arms - 1;
	struct samples *all = memory_get(arms * sizeof *all);
	double max = 0, low = 0, step, most = 1, total = 10;
	bool whole = true;

	for (size_t a = 0; a < arms; a++) {
		all[a] = all_samples(e, a, m);
		max = fmax(max, largest(&all[a]));
		low = all[a].n ? fmin(low, all[a].bins[0].value) : low;
		total = fmax(total, all[a].total);
		for (size_t b = 0; b < all[a].n; b++)
			whole &= isinf(all[a].bins[b].value) ||
				 !(fabs(all[a].bins[b].value - rint(all[a].bins[b].value)) > 0);
	}
	step = max > low ? round_step((max - low) / BINS) : 1;
	step = whole ? fmax(1, step) : step;
	low = floor(low / step) * step;
	for (size_t a = 0; a < arms; a++) {
		size_t n = (size_t)((max - low) / step) + 2;
		double *count = memory_get(n * sizeof *count), below = 0;

		for (size_t b = 0; b < all[a].n; b++)
			if (!isinf(all[a].bins[b].value)) {
				double *of = &count[(size_t)((all[a].bins[b].value - low) / step + 1e-9)];

				*of += all[a].bins[b].count;
				most = fmax(most, *of);
			}
		fprintf(g, "$counts%zu << EOD\n", a);
		for (size_t i = 0; i < n; i++)
			fprintf(g, "%.9g %g\n", low + (double)i * step,
				count[i] > 0 ? count[i] : 0.5); /* 0.5: below the axis, which has no zero */
		fprintf(g, "EOD\n$slowest%zu << EOD\n", a);
		for (size_t b = 0; b < all[a].n && !isinf(all[a].bins[b].value); b++) {
			fprintf(g, "%.9g %.9g\n", all[a].total / (all[a].total - below), all[a].bins[b].value);
			below += all[a].bins[b].count;
			fprintf(g, "%.9g %.9g\n", all[a].total / fmax(1, all[a].total - below), all[a].bins[b].value);
		}
		fputs("EOD\n", g);
	}
	place(g, height, 0, y, WIDTH, CURVE);
	fprintf(g,
		"set key top right\nset logscale y\nset xrange [%g:%g]\nset yrange [0.7:%g]\nset format y '%%.0f'\n"
		"set xlabel '%s%s%s'\nset ylabel 'samples'\nset title 'How often each came: one step = %s%s%s'\nplot ",
		low, max + 0.02 * (max - low) + step, most * 3, quoted(e->metrics[m].name),
		*e->metrics[m].unit ? " in " : "", quoted(e->metrics[m].unit), report_number(step),
		*e->metrics[m].unit ? " " : "", quoted(e->metrics[m].unit));
	for (size_t a = 0; a < arms; a++)
		fprintf(g, "%s$counts%zu with steps ls %zu title '%s: max %s%s%s, %.0f samples'", a ? ", " : "", a,
			a + 1, quoted(arm_label(&e->arms[a])), report_number(largest(&all[a])),
			*e->metrics[m].unit ? " " : "", quoted(e->metrics[m].unit), all[a].total);
	fputs("\nunset label\n", g);
	place(g, height, 0, y + CURVE, WIDTH, CURVE);
	fprintf(g,
		"unset logscale y\nset logscale x\nset key top left\nset xrange [1:%g]\nset yrange [%s:*]\n"
		"set format y '%%g'\n"
		"set xtics ('0 %%%%' 1, '50 %%%%' 2, '90 %%%%' 10, '99 %%%%' 100, '99.9 %%%%' 1000, '99.99 %%%%' 1e4, "
		"'99.999 %%%%' 1e5, '99.9999 %%%%' 1e6)\n"
		"set xlabel 'share of the samples that were faster; 1/(1-p), logarithmic'\nset ylabel '%s'\n"
		"set title 'What the slowest took'\nplot ",
		total, low < 0 ? "*" : "0",
		*e->metrics[m].unit ? quoted(e->metrics[m].unit) : quoted(e->metrics[m].name));
	for (size_t a = 0; a < arms; a++)
		fprintf(g, "%s$slowest%zu with lines ls %zu title '%s'", a ? ", " : "", a, a + 1,
			quoted(arm_label(&e->arms[a])));
	fputs("\nunset logscale x\nset xtics auto\nset xtics\n", g);
}

/* One quantity: a dot a run, pairs joined, the median of each arm with its interval beside the dots. */
static void dots(FILE *g, const struct experiment *e, const struct judgement *j, const struct row *row, size_t panel,
		 double height, double y)
{
	size_t arms = e->n_arms - 1;
	double *values = memory_get((e->n_run + 1) * sizeof *values);
	struct random random = {e->seed};
	double lowest = 0;
	bool shown = false;

	fprintf(g, "$pairs%zu << EOD\n", panel);
	for (size_t pair = 0; pair < (size_t)e->runs; pair++) {
		for (size_t a = 0; a < arms; a++)
			for (size_t i = 0; i < e->n_run; i++)
				if (run_counts(e, &e->run[i]) && e->run[i].arm == a && e->run[i].pair == pair &&
				    isfinite(run_value(e, &e->run[i], row)))
					fprintf(g, "%zu %.9g\n", a, run_value(e, &e->run[i], row));
		fputs("\n", g); /* a gap in the line */
	}
	fputs("EOD\n", g);
	for (size_t a = 0; a < arms; a++) {
		struct interval of;
		size_t n = 0;

		fprintf(g, "$dots%zu_%zu << EOD\n", panel, a);
		for (size_t i = 0; i < e->n_run; i++)
			if (run_counts(e, &e->run[i]) && e->run[i].arm == a &&
			    isfinite(run_value(e, &e->run[i], row))) {
				values[n] = run_value(e, &e->run[i], row);
				lowest = fmin(lowest, values[n]);
				fprintf(g, "%zu %.9g\n", a, values[n++]);
			}
		of = stats_bootstrap(values, n, stats_median, AB_LEVEL, &random);
		fputs("EOD\n", g);
		fprintf(g, "$median%zu_%zu << EOD\n", panel, a);
		if (n > 1)
			fprintf(g, "%g %.9g %.9g %.9g\n", (double)a + 0.22, stats_median(values, n), of.low, of.high);
		else
			fputs("NaN NaN NaN NaN\n", g);
		fputs("EOD\n", g);
	}
	place(g, height, (double)WIDTH / ACROSS * (double)(panel % ACROSS), y + PANEL * (double)(panel / ACROSS),
	      (double)WIDTH / ACROSS, PANEL);
	fprintf(g,
		"unset key\nset xlabel ''\nset ylabel ''\nset format y '%%g'\nset xrange [-0.5:%g]\nset yrange "
		"[%s:*]\nset offsets 0, 0, graph 0.08, graph 0.08\n"
		"set title \"%s%s%s",
		(double)arms - 0.3, lowest < 0 ? "*" : "0<*", quoted(row->label), *row->metric->unit ? ", " : "",
		quoted(row->metric->unit));
	for (size_t i = 0; i < j->n; i++) /* a line for two arms, one for what is shown of several */
		if (j->rows[i].metric == row->metric && strcmp(j->rows[i].quantity, row->quantity) == 0 &&
		    (arms == 2 || j->rows[i].verdict <= V_WORSE)) {
			fprintf(g, "\\n%s%s%s, %s", arms > 2 ? quoted(arm_label(&e->arms[j->rows[i].arm])) : "",
				arms > 2 ? ": " : "", report_change(j->rows[i].effect, j->rows[i].base, true),
				verdict_words[j->rows[i].verdict]);
			shown = true;
		}
	fprintf(g, "%s\"\nset xtics %s (", shown ? "" : "\\nno difference shown",
		arms > 2 ? "rotate by 25 right" : "norotate");
	for (size_t a = 0; a < arms; a++)
		fprintf(g, "%s'%.24s' %zu", a ? ", " : "", quoted(arm_label(&e->arms[a])), a);
	fprintf(g, ")\nplot $pairs%zu with lines lc rgb '#c8c8c8' lw 1", panel);
	for (size_t a = 0; a < arms; a++)
		fprintf(g,
			", $dots%zu_%zu with points ls %zu, $median%zu_%zu with yerrorbars lc rgb 'black' pt 1 ps 0.8 "
			"lw 1.5",
			panel, a, a + 1, panel, a);
	fputs("\nset offsets 0, 0, 0, 0\nset xtics auto\n", g);
}

/* What gets a panel of dots: what was asked for; wall and CPU time if nothing was. */
static size_t choose(const struct judgement *j, const struct row **chosen)
{
	size_t n = 0;

	for (int built_in = 0; built_in < 2 && (!built_in || n < ACROSS); built_in++)
		for (size_t i = 0; i < j->n && n < (built_in ? ACROSS : PANELS); i++)
			if (j->rows[i].arm == 1 && j->rows[i].verdict != V_DESCRIPTIVE && isfinite(j->rows[i].effect) &&
			    (j->rows[i].metric->kind == METRIC_BUILT_IN) == built_in)
				chosen[n++] = &j->rows[i];
	return n;
}

static void script(FILE *g, const struct experiment *e, const struct judgement *j, bool svg)
{
	static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
					      "#e69f00", "#56b4e9", "#000000"};
	static const int marks[] = {7, 5, 9, 13, 11, 6, 4};
	const struct row *chosen[PANELS];
	size_t n = choose(j, chosen), m = 0;
	double height, y = HEAD;

	while (m < e->n_metrics && !metric_has_samples(e, m))
		m++;
	height = HEAD + (m < e->n_metrics ? 2 * CURVE : 0) + PANEL * (double)((n + ACROSS - 1) / ACROSS) + 8;
	fprintf(g, "set terminal %s size %d,%.0f font 'sans,%d' background '#ffffff' noenhanced\n",
		svg ? "svg" : "pngcairo", WIDTH, height, svg ? 12 : 10);
	for (size_t a = 0; a < e->n_arms; a++)
		fprintf(g, "set style line %zu lc rgb '%s' lw 2 dt %zu pt %d ps 0.7\n", a + 1, colours[a % 7],
			a % 5 + 1, marks[a % 7]);
	fprintf(g,
		"set multiplot\nset label 1 '%.110s' at screen 0.02, screen %g\nset label 2 '%ld runs of each arm; "
		"%.90s' at screen 0.02, screen %g tc rgb '#555555'\n",
		quoted(report_words(e->program)), 1 - 20 / height, e->runs, quoted(e->kernel), 1 - 42 / height);
	fputs("set grid back lc rgb '#e4e4e4'\nset border 3\nset xtics nomirror\nset ytics nomirror\n", g);
	if (m < e->n_metrics) {
		curves(g, e, m, height, y);
		y += 2 * CURVE;
	}
	for (size_t i = 0; i < n; i++) {
		dots(g, e, j, chosen[i], i, height, y);
		fputs("unset label\n", g);
	}
	fputs("unset multiplot\n", g);
}

bool plot(const struct experiment *e, const struct judgement *j, const char *path)
{
	char *words[] = {(char *)"gnuplot", (char *)"-", NULL}, *commands = NULL, *picture = NULL;
	bool svg = strcmp(path + strlen(path) - 4, ".svg") == 0, good;
	size_t length = 0;
	int status = 0;
	FILE *g = open_memstream(&commands, &length);

	if (!g)
		return false;
	script(g, e, j, svg);
	fclose(g);
	good = commands && run_command(words, commands, &picture, &length, &status);
	if (good && (status != 0 || length == 0)) {
		say("--plot=%s: gnuplot failed with status %d", path,
		    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		good = false;
	}
	good = good && write_file(path, picture, length);
	if (good)
		fprintf(stdout, "picture: %s\n", path);
	free(commands);
	free(picture);
	return good;
}

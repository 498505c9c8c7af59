/* metric.c - what is taken from a run: what the kernel counted, and numbers of its output. */
#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "ab.h"

static const struct {
	const char *name, *unit;
} built_in[N_BUILT] = {
	[BUILT_WALL] = {"wall time", "ms"},      [BUILT_CPU] = {"CPU time", "ms"},
	[BUILT_WAIT] = {"run-queue wait", "ms"}, [BUILT_INVOLUNTARY] = {"involuntary switches", ""},
	[BUILT_MIGRATIONS] = {"migrations", ""}, [BUILT_FAULTS] = {"page faults", ""},
	[BUILT_MEMORY] = {"peak memory", "MiB"},
};

static bool read_metric(struct metric *m, const char *text)
{
	const char *equals = strchr(text, '=');
	char cause[256];
	int error;

	if (!equals || equals == text || !equals[1]) {
		say("--metric=%s: expected NAME=REGEX, NAME=csv:ROW:COLUMN or NAME=json:POINTER", text);
		return false;
	}
	m->name = memory_copy(text, (size_t)(equals - text));
	m->unit = "";
	m->spec = equals + 1;
	if (strncmp(m->spec, "csv:", 4) == 0) {
		m->kind = METRIC_CSV;
		if (!strchr(m->spec + 4, ':')) {
			say("--metric=%s: expected csv:ROW:COLUMN, as in csv:GET:p99", text);
			return false;
		}
	} else if (strncmp(m->spec, "json:", 5) == 0) {
		m->kind = METRIC_JSON;
		if (m->spec[5] != '/') {
			say("--metric=%s: expected json:/NAME/NAME (a JSON pointer, RFC 6901)", text);
			return false;
		}
	} else {
		m->kind = METRIC_REGEX;
		m->pattern = memory_get(sizeof(regex_t));
		error = regcomp(m->pattern, m->spec, REG_EXTENDED | REG_NEWLINE);
		if (error) {
			regerror(error, m->pattern, cause, sizeof cause);
			say("--metric=%s: not an extended regular expression: %s", text, cause);
			return false;
		}
	}
	return true;
}

static bool read_samples(struct metric *m, const char *text)
{
	m->name = "latency";
	m->spec = text;
	if (strcmp(text, "cyclictest") == 0) {
		m->kind = METRIC_CYCLICTEST;
		m->unit = "us";
	} else if (strncmp(text, "histogram", 9) == 0 && (!text[9] || text[9] == ':')) {
		m->kind = METRIC_HISTOGRAM;
		m->unit = text[9] ? text + 10 : "";
	} else {
		say("--samples=%s: expected cyclictest, histogram or histogram:UNIT", text);
		return false;
	}
	return true;
}

bool metrics_read(struct experiment *e, const struct ab_options *o)
{
	size_t n = N_BUILT + 1;

	for (const struct words *w = o->metrics; w; w = w->next)
		n++;
	e->metrics = memory_get(n * sizeof *e->metrics);
	if (o->samples && !read_samples(&e->metrics[e->n_metrics++], o->samples))
		return false;
	for (const struct words *w = o->metrics; w; w = w->next)
		if (!read_metric(&e->metrics[e->n_metrics++], w->text))
			return false;
	for (int i = 0; i < N_BUILT; i++)
		e->metrics[e->n_metrics++] = (struct metric){
			.name = built_in[i].name, .unit = built_in[i].unit, .kind = METRIC_BUILT_IN};
	for (size_t i = 0; i < e->n_metrics; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(e->metrics[i].name, e->metrics[k].name) == 0) {
				say("--metric=%s: there is a metric of that name already", e->metrics[i].name);
				return false;
			}
	for (const struct words *w = o->higher; w; w = w->next) {
		bool found = false;

		for (size_t i = 0; i < e->n_metrics; i++)
			if (strcmp(e->metrics[i].name, w->text) == 0)
				found = e->metrics[i].higher = true;
		if (!found) {
			say("--higher-is-better=%s: there is no metric of that name", w->text);
			return false;
		}
	}
	return true;
}

/* "1.25ms", "3 req/s": the unit behind a number, if it is one that we know. */
static const char *unit_behind(const char *p)
{
	static const char *const known[] = {"%", "B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB"};
	const char *unit;
	size_t n = 0;

	p += *p == ' ';
	while (isalpha((unsigned char)p[n]) || p[n] == '%' || p[n] == '/' || (p[n] & 0x80))
		n++;
	unit = memory_copy(p, n);
	if (!isnan(unit_factor(unit, "s")) || (n > 2 && strcmp(unit + n - 2, "/s") == 0))
		return unit;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(unit, known[i]) == 0)
			return unit;
	return "";
}

static const char *take_regex(const char *text, const struct metric *m, struct numbers *l)
{
	const regex_t *pattern = m->pattern;
	int group = pattern->re_nsub > 0, flags = 0;
	regmatch_t found[2];

	while (regexec(pattern, text, 2, found, flags) == 0) {
		const char *at = text + found[group].rm_so;
		char *end = (char *)at;
		double value = found[group].rm_so >= 0 ? strtod(at, &end) : NAN;

		if (isfinite(value) && end > at && end <= text + found[group].rm_eo) {
			const char *unit = unit_behind(end);
			double factor = unit_factor(unit, l->unit ? l->unit : unit);

			if (isnan(factor))
				return memory_printf("it gives values in %s and in '%s'", l->unit, unit);
			l->unit = l->unit ? l->unit : unit;
			numbers_add(l, value * factor, 1);
		} else if (found[group].rm_so >= 0 && found[group].rm_eo > found[group].rm_so) {
			return memory_printf("what '%s' captures is no number: '%.*s'", m->spec,
					     (int)(found[group].rm_eo - found[group].rm_so), at);
		}
		if (!text[found[0].rm_eo])
			break;
		text += found[0].rm_eo + (found[0].rm_eo == found[0].rm_so);
		flags = text[-1] == '\n' ? 0 : REG_NOTBOL;
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const struct bin *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static struct samples collect(const struct numbers *l, double factor)
{
	struct samples s = {.bins = memory_get((l->n + 1) * sizeof *s.bins)};

	if (l->n)
		qsort(l->bins, l->n, sizeof *l->bins, by_value);
	for (size_t i = 0; i < l->n; i++) {
		double value = l->bins[i].value * factor;

		s.total += l->bins[i].count;
		if (s.n && s.bins[s.n - 1].value >= value)
			s.bins[s.n - 1].count += l->bins[i].count;
		else
			s.bins[s.n++] = (struct bin){value, l->bins[i].count};
	}
	return s;
}

static const char *take(struct metric *m, const char *text, struct samples *s)
{
	struct numbers l = {.unit = NULL};
	const char *why = m->kind == METRIC_CSV          ? take_csv(text, m->spec + 4, &l)
			  : m->kind == METRIC_JSON       ? take_json(text, m->spec + 5, &l)
			  : m->kind == METRIC_CYCLICTEST ? take_cyclictest(text, &l)
			  : m->kind == METRIC_HISTOGRAM  ? take_histogram(text, &l)
							 : take_regex(text, m, &l);
	double factor = 1;

	if (!why && l.n == 0)
		why = m->kind == METRIC_REGEX || m->kind == METRIC_CSV || m->kind == METRIC_JSON
			      ? memory_printf("'%s' finds no number", m->spec)
			      : "its histogram is empty";
	/* The first run says the unit; the later ones are turned into it. */
	if (!why && l.unit && *l.unit) {
		m->unit = *m->unit ? m->unit : l.unit;
		factor = unit_factor(l.unit, m->unit);
		if (isnan(factor))
			why = memory_printf("its unit is %s, and was %s", l.unit, m->unit);
	}
	if (!why)
		*s = collect(&l, factor);
	free(l.bins);
	return why;
}

const char *metrics_take(struct experiment *e, const struct measured *m, struct run *r)
{
	const char *text = m->output ? m->output : "";

	r->samples = memory_get(e->n_metrics * sizeof *r->samples);
	for (size_t i = 0; i < e->n_metrics; i++) {
		struct metric *metric = &e->metrics[i];
		struct samples *s = &r->samples[i];
		const char *why;

		if (metric->kind == METRIC_BUILT_IN) {
			double value = m->built[i - (e->n_metrics - N_BUILT)];

			if (isnan(value))
				continue;
			s->bins = memory_get(sizeof *s->bins);
			s->bins[s->n++] = (struct bin){value, 1};
			s->total = 1;
			continue;
		}
		why = take(metric, text, s);
		if (why && !*text)
			return memory_printf("%s: nothing was printed", metric->name);
		if (why)
			return memory_printf("%s: %s; the output begins: %.*s", metric->name, why,
					     (int)strcspn(text, "\n") < 200 ? (int)strcspn(text, "\n") : 200, text);
	}
	return NULL;
}

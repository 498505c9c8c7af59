/* formats.c - the numbers in what programs print: CSV, JSON, cyclictest's histogram, HdrHistogram's percentiles. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ab.h"

void numbers_add(struct numbers *l, double value, double count)
{
	if ((l->n & (l->n - 1)) == 0) { /* full: the room is always a power of two */
		struct bin *more = realloc(l->bins, (l->n ? 2 * l->n : 1) * sizeof *more);

		if (!more)
			return;
		l->bins = more;
	}
	l->bins[l->n++] = (struct bin){value, count};
}

static double seconds(const char *unit)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {
		{"ns", 1e-9}, {"us", 1e-6},   {"usec", 1e-6}, {"µs", 1e-6},
		{"ms", 1e-3}, {"msec", 1e-3}, {"s", 1},       {"sec", 1},
	};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].seconds;
	return NAN;
}

double unit_factor(const char *from, const char *to)
{
	return strcmp(from, to) == 0 ? 1 : seconds(from) / seconds(to);
}

/* The next line's cells; NULL at the end.  Quotes are taken off, commas in them kept. */
enum { CELLS = 256 };
static size_t cells(const char **text, char *line[CELLS])
{
	size_t n = 0, length = strcspn(*text, "\n");
	char *p = memory_copy(*text, length);

	*text += length + ((*text)[length] == '\n');
	p[strcspn(p, "\r")] = '\0';
	while (n < CELLS) {
		char *to = p;
		bool inside = false, more;

		line[n++] = p;
		for (; *p && (inside || *p != ','); p++)
			if (*p == '"')
				inside = !inside;
			else
				*to++ = *p;
		more = *p == ',';
		*to = '\0';
		if (!more)
			break;
		p++;
	}
	return n;
}

/* The cell that is called so, or else begins so and goes on with what is no part of the name ("p99" of "p99_ms"). */
static size_t called(char **line, size_t n, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (strcmp(line[i], name) == 0)
			return i;
	for (size_t i = 0; i < n; i++)
		if (strncmp(line[i], name, length) == 0 && !isalnum((unsigned char)line[i][length]) &&
		    line[i][length] != '.')
			return i;
	return n;
}

static const char *unit_of_title(const char *title)
{
	const char *last = strrchr(title, '_'), *open = strrchr(title, '(');
	const char *unit = open ? memory_copy(open + 1, strcspn(open + 1, ")")) : last ? last + 1 : "";

	return isnan(seconds(unit)) ? "" : unit;
}

const char *take_csv(const char *text, const char *spec, struct numbers *l)
{
	const char *colon = strrchr(spec, ':'), *row;
	char *line[CELLS] = {NULL}, *end;
	size_t column = CELLS, n;
	int64_t number = 0, at = 0;

	row = memory_copy(spec, (size_t)(colon - spec));
	read_number(colon + 1, 1, CELLS, &number);
	while (*text) {
		n = cells(&text, line);
		if (n < 2)
			continue;
		at++;
		if (column == CELLS && called(line, n, colon + 1) < n) {
			column = called(line, n, colon + 1);
			l->unit = line[column] ? unit_of_title(line[column]) : "";
			at = 0;
		} else if (column == CELLS && number && called(line, 1, row) == 0) {
			column = (size_t)number - 1; /* a table without titles */
		}
		if (column < n && (called(line, 1, row) == 0 || strcmp(row, memory_printf("%d", (int)at)) == 0)) {
			double value = strtod(line[column], &end);

			if (end != line[column])
				numbers_add(l, value, 1);
		}
	}
	return column == CELLS ? memory_printf("there is no column '%s'", colon + 1) : NULL;
}

const char *take_json(const char *text, const char *pointer, struct numbers *l)
{
	const char *why = NULL, *end;
	bool any = false;

	/* A document begins at a line's start; there may be several, and other lines between them. */
	while (text && *text) {
		const char *p = text + strspn(text, " \t");
		const struct json_node *root = *p == '{' || *p == '[' ? json_read(p, &end, &why) : NULL;
		const struct json_node *n = root ? json_pointer(root, pointer) : NULL;

		any |= root != NULL;
		if (n && n->kind == JSON_NUMBER)
			numbers_add(l, n->number, 1);
		else if (n && n->kind == JSON_TEXT && strtod(n->text, (char **)&p) > 0)
			numbers_add(l, strtod(n->text, NULL), 1);
		for (const struct json_node *i = n ? n->first : NULL; i; i = i->next) {
			char *after;

			if (n->kind == JSON_ARRAY && i->kind == JSON_NUMBER)
				numbers_add(l, i->number, 1);
			else if (n->kind == JSON_OBJECT && i->kind == JSON_NUMBER &&
				 (strtod(i->name, &after), after > i->name && !*after))
				numbers_add(l, strtod(i->name, NULL), i->number); /* a histogram: {"12": 3400} */
		}
		text = root ? end : text;
		text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
	}
	return any ? NULL : why ? memory_printf("its JSON cannot be read: %s", why) : "it is not JSON";
}

/*
 * cyclictest -h N or -H N: a line for each microsecond, a column for each thread, and under -H their sum.  What lies
 * beyond N is only counted; of those the largest is told.
 */
const char *take_cyclictest(const char *text, struct numbers *l)
{
	const char *histogram = strstr(text, "# Histogram\n"), *threads = strstr(text, "# Min Latencies:");
	const char *overflows = strstr(text, "# Histogram Overflows:"), *maxima = strstr(text, "# Max Latencies:");
	size_t n_threads = 0;
	double beyond = 0, max = 0;
	char *end;

	if (!histogram || !threads || !overflows || !maxima)
		return "it holds no histogram of cyclictest's: give it -q -h 400";
	for (const char *p = strchr(threads, ':') + 1; strtod(p, &end), end > p;
	     p = end) /* up to the '#' of the next line */
		n_threads++;
	for (const char *p = strchr(histogram, '\n') + 1; isdigit((unsigned char)*p);
	     p = strchr(p, '\n') ? strchr(p, '\n') + 1 : "") {
		double value = strtod(p, &end), count = 0;

		for (size_t i = 0; i < n_threads; i++)
			count += strtod(end, &end);
		if (count > 0)
			numbers_add(l, value, count);
	}
	overflows = strchr(overflows, ':') + 1;
	maxima = strchr(maxima, ':') + 1;
	for (size_t i = 0; i < n_threads; i++) {
		beyond += strtod(overflows, &end);
		overflows = end;
		max = fmax(max, strtod(maxima, &end));
		maxima = end;
	}
	if (beyond > 0)
		numbers_add(l, max, 1);
	if (beyond > 1)
		numbers_add(l, INFINITY, beyond - 1);
	l->unit = "us";
	return NULL;
}

/* "Value Percentile TotalCount 1/(1-Percentile)": TotalCount is how many lie at or below. */
const char *take_histogram(const char *text, struct numbers *l)
{
	const char *p = strstr(text, "1/(1-Percentile)");
	double before = 0;

	if (!p)
		return "it holds no table of HdrHistogram's (Value Percentile TotalCount 1/(1-Percentile))";
	for (p = strchr(p, '\n'); p; p = strchr(p + 1, '\n')) {
		double value, share, total;

		if (strspn(p, " \t\r\n") == strlen(p) || sscanf(p, "%lf %lf %lf", &value, &share, &total) != 3) {
			if (l->n)
				break;
			continue;
		}
		if (total > before)
			numbers_add(l, value, total - before);
		before = total;
	}
	return NULL;
}

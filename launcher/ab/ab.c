/*
 * ab.c - the experiment: which arm when, for how long, and what becomes of the results.
 *
 * The run is the unit.  A first run of each arm is thrown away (page cache, CPU frequency).  Then blocks: the arms in
 * an order by chance and then in the reverse of it, so that what drifts with time falls on all alike.  The first arm
 * takes part twice: how far it lies from itself is what this machine cannot tell apart.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "ab.h"

enum { RUNS = 12, TIMEOUT = 600, FAILURES = 3 };

static bool refuse(const char *what)
{
	say("%s", what);
	return false;
}

static bool read_options(struct experiment *e, const struct options *o)
{
	const struct ab_options *a = &o->ab;
	struct timespec now;
	int64_t port;

	clock_gettime(CLOCK_REALTIME, &now);
	e->program = o->program;
	e->load = a->load;
	e->noise = a->noise;
	e->ready = a->ready;
	e->samples = a->samples;
	e->runs = a->runs < 0 ? RUNS : (long)a->runs;
	e->timeout = a->timeout < 0 ? TIMEOUT : (long)a->timeout;
	e->seed = a->seed < 0 ? (uint64_t)(now.tv_sec ^ now.tv_nsec) % 1000000 : (uint64_t)a->seed;
	if (o->policy || o->no_policy)
		return refuse("--ab: the arms say the policies; -p and --no-policy have no place beside them");
	if (o->json && !a->json)
		return refuse("--json needs a FILE here: --json=FILE, or --json FILE after --ab");
	if (!a->load && (a->load_policy || a->ready))
		return refuse("--ready and --load-policy belong to a server with --load");
	if (a->ready && strncmp(a->ready, "tcp:", 4) == 0 && !read_number(a->ready + 4, 1, 65535, &port))
		return refuse(memory_printf("--ready=%s: expected tcp:PORT", a->ready));
	if (a->disturbed && strcmp(a->disturbed, "keep") != 0 && strcmp(a->disturbed, "drop") != 0)
		return refuse(memory_printf("--disturbed=%s: expected keep or drop", a->disturbed));
	e->drop = a->disturbed && strcmp(a->disturbed, "drop") == 0;
	/* Every setting of the command line (-s, -w, -m, ...) is for all arms but bare. */
	for (const struct assignment *s = o->assignments; s; s = s->next) {
		struct words *w = memory_get(sizeof *w), **end = &e->settings;

		w->text = s->text;
		while (*end)
			end = &(*end)->next;
		*end = w;
	}
	return metrics_read(e, a) && arms_read(e, a) && (!a->plot || plot_can(a->plot)) &&
	       writable("--json", a->json) && writable("--plot", a->plot);
}

static const char *duration(double seconds)
{
	return seconds < 90 ? memory_printf("%.0f s", ceil(seconds)) : memory_printf("%.0f min", seconds / 60);
}

static void progress(const struct experiment *e, size_t done, size_t all, const char *arm, double spent)
{
	if (quiet || !isatty(2))
		return;
	fprintf(stderr, "\r\033[K%3zu %%  run %zu of %zu: %s", 100 * done / all, done + 1, all, arm);
	if (done >= e->n_arms)
		fprintf(stderr, "; about %s left", duration(spent / (double)done * (double)(all - done)));
	fflush(stderr);
}

static void progress_end(void)
{
	if (!quiet && isatty(2))
		fputs("\r\033[K", stderr);
}

static double seconds_since(const struct around *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - start->seconds;
}

static void one_run(struct experiment *e, struct run *r, const struct around *start)
{
	struct measured m;
	struct around before, after;
	double seconds;

	around_read(&before);
	r->failed = run_once(e, &e->arms[r->arm], &m, &r->note);
	around_read(&after);
	seconds = after.seconds - before.seconds;
	r->at = before.seconds - start->seconds;
	r->steal = (after.steal - before.steal) / (seconds * (double)sysconf(_SC_NPROCESSORS_ONLN));
	r->interrupts = (after.interrupts - before.interrupts) / seconds;
	/* Steal time is counted in ticks: a few of them in a short run are no share of anything. */
	if (r->steal > 0.02 && after.steal - before.steal > 0.05)
		r->disturbed = memory_printf("steal time %.1f %%", 100 * r->steal);
	else if (after.throttled > before.throttled)
		r->disturbed = "thermal throttling";
	if (!r->failed)
		r->failed = metrics_take(e, &m, r);
	free(m.output);
}

/* Which arm is the n-th of its half of a block. */
static void make_order(size_t *order, size_t n, struct random *random)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(random, i), swap = order[i - 1];

		order[i - 1] = order[k];
		order[k] = swap;
	}
}

/* False: it came to nothing, said why or interrupted. */
static bool run_all(struct experiment *e)
{
	size_t all = (size_t)e->runs * e->n_arms + e->n_arms - 1, *order = memory_get(e->n_arms * sizeof *order);
	size_t *failures = memory_get(e->n_arms * sizeof *failures);
	struct random random = {e->seed};
	struct around start;

	around_read(&start);
	e->run = memory_get(all * sizeof *e->run);
	while (e->n_run < all && !interrupted) {
		struct run *r = &e->run[e->n_run];
		size_t n = e->n_run - (e->n_arms - 1), pair = n / e->n_arms;

		r->warm_up = e->n_run < e->n_arms - 1; /* A/A needs none of its own */
		if (!r->warm_up && pair % 2 == 0 && n % e->n_arms == 0)
			make_order(order, e->n_arms, &random);
		r->pair = r->warm_up ? 0 : pair;
		r->arm = r->warm_up ? e->n_run : order[pair % 2 ? e->n_arms - 1 - n % e->n_arms : n % e->n_arms];
		progress(e, e->n_run, all, e->arms[r->arm].name, seconds_since(&start));
		one_run(e, r, &start);
		if (interrupted)
			break;
		if (r->failed) {
			progress_end();
			say("%s: %s%s", e->arms[r->arm].name, r->failed,
			    r->warm_up ? "" : " (this run does not count)");
			failures[r->arm]++;
			if (r->warm_up || failures[r->arm] == FAILURES) {
				say(r->warm_up ? "the first run failed: no experiment"
					       : "three runs of this arm failed: no experiment");
				return false;
			}
		}
		e->n_run++;
	}
	progress_end();
	if (interrupted)
		say("interrupted after %zu of %zu runs: all that was started has ended, nothing is kept", e->n_run,
		    all);
	return !interrupted;
}

static bool finish(const struct experiment *e, const struct ab_options *a)
{
	struct judgement j = judge(e);
	bool good = true;

	report_table(stdout, e, &j);
	if (a->plot && plot_program())
		good = plot(e, &j, a->plot);
	else
		report_histogram(stdout, e, a->plot != NULL);
	if (!interrupted && a->json)
		good &= save(e, &j, a->json);
	if (fflush(stdout) != 0 || ferror(stdout))
		good = refuse("the table cannot be written to stdout");
	return good;
}

static int report(const struct options *o)
{
	struct experiment *list[64];
	size_t n = 0;
	bool good = true;

	for (char **file = o->program; *file && n < sizeof list / sizeof *list; file++, n++) {
		list[n] = save_read(*file);
		if (!list[n])
			return EXIT_LLRUN;
	}
	if (n == 0 || ((o->ab.plot || o->ab.json) && n > 1)) {
		say(n ? "--plot and --json are of one experiment" : "--ab-report needs files that --json made");
		return EXIT_LLRUN;
	}
	if ((o->ab.plot && !plot_can(o->ab.plot)) || !writable("--plot", o->ab.plot) || !writable("--json", o->ab.json))
		return EXIT_LLRUN;
	for (size_t i = 0; i < n && good; i++)
		good = finish(list[i], &o->ab);
	if (good && n > 1) {
		report_compare(stdout, list, n);
		good = fflush(stdout) == 0 && !ferror(stdout);
	}
	return interrupted ? 128 + interrupted : good ? 0 : EXIT_LLRUN;
}

int ab(const struct options *o)
{
	struct experiment e = {0};
	bool good;

	run_begin();
	if (o->ab.report)
		return report(o);
	if (!read_options(&e, o))
		return EXIT_LLRUN;
	around_describe(&e);
	good = arms_check(&e) && run_all(&e);
	if (good) {
		around_mark(&e);
		good = finish(&e, &o->ab);
	}
	return interrupted ? 128 + interrupted : good ? 0 : EXIT_LLRUN;
}

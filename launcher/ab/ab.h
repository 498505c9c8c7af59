#ifndef LLRUN_AB_H
#define LLRUN_AB_H
/*
 * --ab: an experiment.  Arms are run in turn, numbers are taken from each run, and what differs is judged.
 *
 *     arms.c -> ab.c (order) -> run.c (one run), around.c, metric.c -> stats.c, judge.c -> report.c, save.c, plot.c
 *
 * What an experiment holds is kept until the end (memory_get); what one run needs meanwhile is not.
 */
#include <stdio.h>
#include "../launcher.h"

struct json;
struct json_node;

/* One arm: the program bare, or under a policy with changes. */
struct arm {
	const char *name; /* as written */
	bool bare;
	const char *policy;     /* -p, or NULL: only settings */
	struct words *settings; /* -s */
	const char *explained;  /* what --explain says of it: the policy in full, as it was here */
};

/* What is taken from a run. */
enum metric_kind { METRIC_BUILT_IN, METRIC_REGEX, METRIC_CSV, METRIC_JSON, METRIC_CYCLICTEST, METRIC_HISTOGRAM };
enum { BUILT_WALL, BUILT_CPU, BUILT_WAIT, BUILT_INVOLUNTARY, BUILT_MIGRATIONS, BUILT_FAULTS, BUILT_MEMORY, N_BUILT };

struct metric {
	const char *name, *unit; /* unit "": none, or not yet known */
	enum metric_kind kind;
	const char *spec; /* as written after NAME= */
	void *pattern;    /* REGEX: a regex_t */
	bool higher;      /* higher is better */
};

/* Samples of one metric in one run: values in ascending order, each with how often it was seen.  n 0: nothing. */
struct bin {
	double value, count; /* value INFINITY: seen, but beyond the program's own histogram */
};
struct samples {
	struct bin *bins;
	size_t n;
	double total;
};

struct run {
	size_t arm, pair;
	bool warm_up;
	const char *failed;    /* why it does not count, or NULL */
	const char *disturbed; /* by what, or NULL */
	const char *note;      /* "did not end on SIGTERM" */
	double at, steal,
		interrupts;      /* s since the experiment's start; share of the CPUs; device interrupts a second */
	struct samples *samples; /* one for each metric */
};

struct experiment {
	char **program;
	const char *load, *noise, *ready, *samples;
	struct arm load_arm;    /* the policy of --load-policy */
	struct words *settings; /* those of the command line: for each arm but bare */
	bool drop;              /* disturbed runs do not count */
	long runs, timeout;
	uint64_t seed;
	struct arm *arms; /* the first is what the others are compared with; the last is the first again: A/A */
	size_t n_arms;
	struct metric *metrics;
	size_t n_metrics;
	struct run *run;
	size_t n_run;
	const char *kernel, *kernel_line, *machine, *date, *version, *boot; /* where it was made */
	const char *title;                                                  /* the file it was read from, or NULL */
};

/* arms.c: ARMS of --ab, POLICY of --ab-each, the policy of the load. */
bool arms_read(struct experiment *e, const struct ab_options *o);
/* Does llrun take each arm here?  Fills `explained`. */
bool arms_check(struct experiment *e);
const char *arm_label(const struct arm *arm); /* its name where room is short: no directory, no ".policy" */
/* The words that start a program under an arm. */
char **arm_command(const struct experiment *e, const struct arm *arm, char **program);

/*
 * run.c: one run.  All that it starts has ended when it returns.  process.c: the processes; the only file that forks.
 * interrupted is set when a signal asked for the end: nothing more is to be started then.
 */
struct measured {
	double built[N_BUILT]; /* NAN: not known here */
	char *output;          /* of the load, then of the program; malloc'd */
	double wall;           /* of the measured part, s */
};
extern int interrupted; /* the signal, or 0 */
void run_begin(void);   /* signals are ours from here on */
const char *run_once(const struct experiment *e, const struct arm *arm, struct measured *m,
		     const char **note); /* NULL, or why it failed */
/* Runs a command to its end; *output is what it wrote on stdout (malloc'd), *status as wait(2) has it. */
bool run_command(char **command, const char *input, char **output, size_t *length, int *status);

/* sampler.c: what the threads of a process and its children have used, asked while they live. */
struct usage {
	double wait_ms, migrations; /* NAN: this kernel does not tell */
};
void sampler_reset(void);
void sampler_look(pid_t pid);
struct usage sampler_sum(void);

/* around.c: what the machine did meanwhile, and the machine itself. */
struct around {
	double seconds, steal, interrupts, throttled;
};
void around_read(struct around *a);
#define DISTURBED_RULE                                                                                                 \
	"steal time above 2 %, a thermal throttling event, or device interrupts at more than 3 times the median "      \
	"rate of the arm's runs and 1000/s above it"
void around_mark(struct experiment *e); /* fills run.disturbed */
void around_describe(struct experiment *e);

/* metric.c: what to take, and taking it. */
bool metrics_read(struct experiment *e, const struct ab_options *o);
/* From a run's output: NULL, or why a metric has no value. */
const char *metrics_take(struct experiment *e, const struct measured *m, struct run *r);
/* formats.c: the numbers in a text, for metric_take.  Each NULL, or why not. */
struct numbers {          /* as they come */
	struct bin *bins; /* malloc'd */
	size_t n;
	const char *unit;
};
void numbers_add(struct numbers *l, double value, double count);
const char *take_csv(const char *text, const char *spec, struct numbers *l);
const char *take_json(const char *text, const char *pointer, struct numbers *l);
const char *take_cyclictest(const char *text, struct numbers *l);
const char *take_histogram(const char *text, struct numbers *l);
double unit_factor(const char *from, const char *to); /* NAN: not the same kind */

/* jsonread.c: JSON in. */
struct json_node {
	enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } kind;
	const char *name; /* in an object */
	const char *text;
	double number; /* or bool */
	struct json_node *first, *next;
};
/* NULL with *why.  *end is set behind the value. */
struct json_node *json_read(const char *text, const char **end, const char **why);
const struct json_node *json_member(const struct json_node *object, const char *name);
const struct json_node *json_pointer(const struct json_node *root, const char *pointer); /* RFC 6901 */

/* stats.c: numbers only. */
struct random {
	uint64_t state;
};
uint64_t random_next(struct random *r);
size_t random_below(struct random *r, size_t n);
struct interval {
	double low, high;
};
typedef double statistic(double *values, size_t n);        /* may reorder the values */
double stats_quantile(double *values, size_t n, double p); /* by linear interpolation, type 7 of Hyndman and Fan */
double stats_median(double *values, size_t n);
double stats_hodges_lehmann(double *values, size_t n); /* the median of the averages of all pairs */
double stats_weighted_quantile(const struct samples *s,
			       double p); /* the smallest value with at least p below or at it */
struct interval stats_bootstrap(const double *values, size_t n, statistic *of, double level, struct random *r);
struct interval stats_bootstrap_two(const double *a, size_t n_a, const double *b, size_t n_b, double level,
				    struct random *r);
double stats_signed_rank(const double *differences, size_t n); /* p, two-sided, exact */
double stats_rank_sum(const double *a, size_t n_a, const double *b, size_t n_b, struct random *r); /* p, two-sided */
void stats_holm(const double *p, double *adjusted, size_t n); /* a p that is NAN takes no part */
size_t stats_runs_needed(size_t tests, double alpha);         /* pairs with which the smallest p passes Holm */

/* judge.c: a row for each quantity of each metric, for one arm against the first. */
enum verdict { V_BETTER, V_WORSE, V_NONE, V_NOT_ENOUGH, V_DESCRIPTIVE };
struct row {
	const struct metric *metric;
	const char *quantity; /* "", "p50", "p99", "p99.9", "max" */
	const char *label;    /* "latency p99" */
	size_t arm, pairs;
	double base, value;                /* medians over the runs */
	double effect;                     /* arm minus base */
	struct interval interval, control; /* control: of A/A */
	double limit;                      /* the smallest effect that may be called one */
	double p, adjusted;
	enum verdict verdict;
	const char *why; /* NOT_ENOUGH: what would do; NONE: what could have been seen */
};
struct judgement {
	struct row *rows;
	size_t n, tests;
};
#define AB_LEVEL 0.95
struct judgement judge(const struct experiment *e);
double run_value(const struct experiment *e, const struct run *r, const struct row *row); /* NAN: none */
bool run_counts(const struct experiment *e, const struct run *r);
bool metric_has_samples(const struct experiment *e, size_t metric); /* several values a run */
extern const char *const verdict_words[];

/* report.c: for people, on stdout. */
void report_table(FILE *to, const struct experiment *e, const struct judgement *j);
void report_compare(FILE *to, struct experiment **list, size_t n);
void report_histogram(FILE *to, const struct experiment *e,
		      bool anyway); /* what a terminal can draw; anyway: of runs, too */
const char *report_number(double value);
const char *report_words(char **words);                      /* a command line to read */
const char *report_change(double v, double base, bool sign); /* in percent of the base where there is one */

/* save.c: for machines.  False with everything said. */
bool save(const struct experiment *e, const struct judgement *j, const char *path);
struct experiment *save_read(const char *path);
bool write_file(const char *path, const char *data, size_t length); /* whole or not at all */
bool writable(const char *option, const char *path);

/* plot.c: the picture.  plot_can, before the experiment: false, and said why; without gnuplot it is only said. */
bool plot_can(const char *path);
bool plot_program(void);
bool plot(const struct experiment *e, const struct judgement *j, const char *path);

#endif

/* options.c - the command line.  Options end at the program's name: what follows is the program's. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "launcher.h"

static const struct {
	char letter;
	const char *name, *argument, *assignments, *help;
} table[] = {
#define OPTION(letter, name, argument, assignments, help) {letter, name, argument, assignments, help},
#include "options.def"
#undef OPTION
};
enum { N_OPTIONS = sizeof table / sizeof *table, LONG_ONLY = 256 };

static void add(struct options *o, const char *option, const char *text)
{
	struct assignment *a = memory_get(sizeof *a), **end = &o->assignments;

	a->option = option;
	a->text = text;
	while (*end)
		end = &(*end)->next;
	*end = a;
}

/* The row's assignments with %s replaced; each is one of its own. */
static void add_all(struct options *o, int row, const char *argument)
{
	const char *option = table[row].letter ? memory_printf("-%c", table[row].letter)
					       : memory_printf("--%s", table[row].name);
	const char *p = table[row].assignments;

	o->any_setting = true;
	while (*p) {
		size_t n = strcspn(p, "|");
		const char *one = memory_copy(p, n), *hole = strstr(one, "%s");

		if (hole)
			one = memory_printf("%s%s%s", memory_copy(one, (size_t)(hole - one)), argument, hole + 2);
		add(o, option, one);
		p += n + (p[n] == '|');
	}
}

static void add_word(struct words **end, const char *text)
{
	struct words *w = memory_get(sizeof *w);

	w->text = text;
	while (*end)
		end = &(*end)->next;
	*end = w;
}

/* The options of --ab that only have to be kept.  False: it is none of them, or *ok is false and why has been said. */
static bool handle_ab(struct ab_options *a, const char *name, const char *argument, bool *ok)
{
	const struct {
		const char *name, **to;
	} texts[] = {
		{"ab", &a->arms},     {"ab-each", &a->each}, {"load", &a->load},       {"load-policy", &a->load_policy},
		{"ready", &a->ready}, {"noise", &a->noise},  {"samples", &a->samples}, {"disturbed", &a->disturbed},
		{"plot", &a->plot},
	};
	const struct {
		const char *name;
		int64_t *to, least;
	} numbers[] = {
		{"runs", &a->runs, 1},
		{"seed", &a->seed, 0},
		{"timeout", &a->timeout, 1},
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].to = argument;
			a->given = name;
			return true;
		}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strcmp(name, numbers[i].name) == 0) {
			a->given = name;
			*ok = read_number(argument, numbers[i].least, 1000000000, numbers[i].to);
			if (!*ok)
				say("--%s=%s: expected a number from %d to 1000000000", name, argument,
				    (int)numbers[i].least);
			return *ok;
		}
	if (strcmp(name, "metric") == 0)
		add_word(&a->metrics, argument);
	else if (strcmp(name, "higher-is-better") == 0)
		add_word(&a->higher, argument);
	else if (strcmp(name, "ab-report") == 0)
		a->report = true;
	else
		return false;
	a->given = name;
	return true;
}

static bool handle(struct options *o, int row, const char *argument)
{
	const char *name = table[row].name;
	bool ok = true;

	if (table[row].assignments) {
		if (argument && !*argument) {
			say("--%s needs a value", name);
			return false;
		}
		add_all(o, row, argument);
	} else if (strcmp(name, "policy") == 0) {
		o->policy = argument;
	} else if (strcmp(name, "set") == 0) {
		o->any_setting = true;
		add(o, "-s", argument);
	} else if (strcmp(name, "no-policy") == 0) {
		o->no_policy = o->any_setting = true;
	} else if (strcmp(name, "explain") == 0 || strcmp(name, "dry-run") == 0) {
		o->explain = true;
	} else if (strcmp(name, "status") == 0) {
		o->status = argument;
	} else if (strcmp(name, "check") == 0) {
		o->check = true;
	} else if (strcmp(name, "json") == 0) {
		o->json = true;
		o->ab.json = argument;
	} else if (strcmp(name, "watch") == 0) {
		int64_t seconds;

		if (!read_number(argument, 1, 86400, &seconds)) {
			say("--watch=%s: expected seconds from 1 to 86400", argument);
			return false;
		}
		o->watch = (long)seconds;
	} else if (handle_ab(&o->ab, name, argument, &ok) || !ok) {
		return ok;
	} else if (strcmp(name, "quiet") == 0) {
		quiet = true;
	} else {
		o->show = *name; /* help, version, keys */
	}
	return true;
}

/* getopt's word for it: an argument in brackets is optional. */
static int takes(int row)
{
	return !table[row].argument ? no_argument : *table[row].argument == '[' ? optional_argument : required_argument;
}

bool options_read(struct options *o, int argc, char **argv)
{
	struct option longs[N_OPTIONS + 1] = {{0}};
	char shorts[2 * N_OPTIONS + 2] = "+";
	size_t n = 1;
	int c;

	for (int i = 0; i < N_OPTIONS; i++) {
		longs[i] = (struct option){table[i].name, takes(i), NULL, LONG_ONLY + i};
		if (table[i].letter)
			shorts[n++] = table[i].letter;
		if (table[i].letter && table[i].argument)
			shorts[n++] = ':';
	}
	memset(o, 0, sizeof *o);
	o->ab.runs = o->ab.seed = o->ab.timeout = -1;
	argv[0] = (char *)"llrun"; /* getopt's own messages begin with it, and ours begin so, wherever llrun lies */
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		int row = c - LONG_ONLY;

		if (c == '?') {
			say("try 'llrun --help'");
			return false;
		}
		for (int i = 0; c < LONG_ONLY && i < N_OPTIONS; i++)
			if (table[i].letter == c)
				row = i;
		/* "--json FILE" as well, once --ab says that there is a file; to getopt an optional argument stands behind '='. */
		if (o->ab.given && !optarg && takes(row) == optional_argument && optind < argc && *argv[optind] != '-')
			optarg = argv[optind++];
		if (!handle(o, row, optarg))
			return false;
	}
	o->program = argv + optind;
	if (o->no_policy && o->policy) {
		say("--policy and --no-policy exclude each other");
		return false;
	}
	if (o->ab.given && !o->ab.arms && !o->ab.each && !o->ab.report) {
		say("--%s is an option of --ab", o->ab.given);
		return false;
	}
	return true;
}

void options_help(void)
{
	puts("usage: llrun [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	     "Starts a program, unmodified, under a policy: its threads placed on CPUs, real-time scheduling, memory locked,\n"
	     "sockets set for latency.  The policy is that of -p, or the one named after the program, with the options below\n"
	     "applied last.\n");
	for (int i = 0; i < N_OPTIONS; i++) {
		char left[48];

		snprintf(left, sizeof left, "%c%c%s --%s%s%s", table[i].letter ? '-' : ' ',
			 table[i].letter ? table[i].letter : ' ', table[i].letter ? "," : " ", table[i].name,
			 table[i].argument ? " " : "", table[i].argument ? table[i].argument : "");
		printf("  %-32s %s\n", left, table[i].help);
	}
	puts("\nExit status: 125 llrun itself failed, 126 the program cannot be executed, 127 it was not found; else its own.\n"
	     "Policy language: llrun.policy(5) and llrun --keys.");
}

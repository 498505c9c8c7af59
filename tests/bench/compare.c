/*
 * compare.c - commands against each other.  compare [-p] ROUNDS NAME COMMAND... -- NAME COMMAND... -- ...
 *
 * Each round runs every command once, in an order drawn anew, without a shell between: what a command leaves behind, warm
 * caches or the CPU that it ended on, falls on all alike.  The value is the wall time from spawn to exit in microseconds
 * or, with -p, the number that the command prints.  The ratio is to the first command of the same round, so that what else
 * the machine does falls on all alike.  A line each, separated by tabs:
 *     NAME  median value  median ratio  first and third quartile of the ratio
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"

extern char **environ;

enum { MOST = 16 };
static struct command {
	const char *name;
	char **words;
	double *value, *ratio;
} command[MOST];
static bool printed; /* -p */

static double run(const struct command *c)
{
	posix_spawn_file_actions_t actions;
	int64_t begin, took;
	int status, out[2];
	char text[64] = "";
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		err(1, "pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	begin = now_ns();
	errno = posix_spawnp(&pid, c->words[0], &actions, NULL, c->words, environ);
	if (errno)
		err(1, "%s", c->words[0]);
	if (waitpid(pid, &status, 0) < 0)
		err(1, "waitpid");
	took = now_ns() - begin;
	close(out[1]);
	if (status)
		errx(1, "%s: wait status %#x", c->name, (unsigned)status);
	if (read(out[0], text, sizeof text - 1) < 0)
		err(1, "read");
	close(out[0]);
	posix_spawn_file_actions_destroy(&actions);
	if (!printed)
		return (double)took / 1000;
	if (atof(text) <= 0)
		errx(1, "%s: printed '%s', expected a number", c->name, text);
	return atof(text);
}

/* Fisher and Yates; the seed is always the same. */
static void shuffle(int *order, int n)
{
	static unsigned seed = 1;

	for (int i = n - 1; i > 0; i--) {
		int other = rand_r(&seed) % (i + 1), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

static int read_commands(char **argv)
{
	int n = 0;

	for (; *argv && n < MOST; n++) {
		command[n].name = *argv++;
		command[n].words = argv;
		while (*argv && strcmp(*argv, "--") != 0)
			argv++;
		if (*argv)
			*argv++ = NULL;
		if (!command[n].words[0])
			errx(1, "%s: no command", command[n].name);
	}
	return n;
}

int main(int argc, char **argv)
{
	printed = argc > 1 && strcmp(argv[1], "-p") == 0;
	argv += printed;
	argc -= printed;
	int order[MOST], rounds = argc > 2 ? atoi(argv[1]) : 0, n = rounds > 0 ? read_commands(argv + 2) : 0;

	if (!n)
		errx(1, "usage: compare [-p] ROUNDS NAME COMMAND... -- NAME COMMAND...");
	for (int i = 0; i < n; i++) {
		order[i] = i;
		command[i].value = calloc((size_t)rounds, sizeof(double));
		command[i].ratio = calloc((size_t)rounds, sizeof(double));
		if (!command[i].value || !command[i].ratio)
			err(1, "calloc");
		run(&command[i]); /* warm: its pages, its names */
	}
	for (int r = 0; r < rounds; r++) {
		shuffle(order, n);
		for (int k = 0; k < n; k++)
			command[order[k]].value[r] = run(&command[order[k]]);
		for (int i = 0; i < n; i++)
			command[i].ratio[r] = command[i].value[r] / command[0].value[r];
	}
	for (int i = 0; i < n; i++) {
		struct spread v = spread_of(command[i].value, (size_t)rounds),
			      q = spread_of(command[i].ratio, (size_t)rounds);

		printf("%s\t%.1f\t%.3f\t%.3f\t%.3f\n", command[i].name, v.median, q.median, q.low, q.high);
	}
	return 0;
}

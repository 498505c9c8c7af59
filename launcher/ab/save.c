/* save.c - an experiment for machines: everything into a JSON file, and back. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../json.h"
#include "ab.h"

bool writable(const char *option, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *directory = !slash ? "." : slash == path ? "/" : memory_copy(path, (size_t)(slash - path));
	struct stat s;

	if (!path)
		return true;
	if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
		errno = EISDIR;
	else if (access(path, W_OK) == 0 || (errno == ENOENT && access(directory, W_OK) == 0))
		return true;
	say("%s=%s: %s", option, path, strerror(errno));
	return false;
}

/* Whole or not at all: a file that was there stays if the new one finds no room.  A device is written to as it is. */
bool write_file(const char *path, const char *data, size_t length)
{
	struct stat s;
	bool device = stat(path, &s) == 0 && !S_ISREG(s.st_mode), good;
	const char *name = device ? path : memory_printf("%s.%d", path, (int)getpid());
	int fd = open(name, O_WRONLY | O_CLOEXEC | (device ? 0 : O_CREAT | O_EXCL), 0666);
	ssize_t n = 1;

	while (fd >= 0 && length && n > 0) {
		n = write(fd, data, length);
		data += n > 0 ? n : 0;
		length -= n > 0 ? (size_t)n : 0;
	}
	good = fd >= 0 && length == 0;
	if (fd >= 0 && close(fd) != 0)
		good = false;
	good = good && (device || rename(name, path) == 0);
	if (!good) {
		say("%s: cannot be written: %s", path, strerror(errno));
		if (!device && fd >= 0)
			unlink(name);
	}
	return good;
}

static void put_words(struct json *j, const char *name, const struct words *w)
{
	json_open(j, name, '[');
	for (; w; w = w->next)
		json_text(j, NULL, w->text);
	json_close(j, ']');
}

static void put_run(struct json *j, const struct experiment *e, const struct run *r)
{
	json_open(j, NULL, '{');
	json_number(j, "arm", (long long)r->arm);
	json_number(j, "pair", (long long)r->pair);
	json_bool(j, "warm_up", r->warm_up);
	json_real(j, "at", r->at);
	json_text(j, "failed", r->failed);
	json_text(j, "disturbed", r->disturbed);
	json_text(j, "note", r->note);
	json_real(j, "steal", r->steal);
	json_real(j, "interrupts_per_second", r->interrupts);
	json_open(j, "values", '{'); /* a number, or [value, count] for each of several; null: beyond the histogram */
	for (size_t m = 0; m < e->n_metrics && !r->failed; m++) {
		const struct samples *s = &r->samples[m];

		if (s->n == 0)
			continue;
		if (s->total <= 1) {
			json_real(j, e->metrics[m].name, s->bins[0].value);
			continue;
		}
		json_open(j, e->metrics[m].name, '[');
		for (size_t b = 0; b < s->n; b++) {
			json_open(j, NULL, '[');
			json_real(j, NULL, s->bins[b].value);
			json_real(j, NULL, s->bins[b].count);
			json_close(j, ']');
		}
		json_close(j, ']');
	}
	json_close(j, '}');
	json_close(j, '}');
}

static void put_row(struct json *j, const struct experiment *e, const struct row *r)
{
	json_open(j, NULL, '{');
	json_text(j, "metric", r->metric->name);
	json_text(j, "quantity", r->quantity);
	json_text(j, "unit", r->metric->unit);
	json_text(j, "arm", e->arms[r->arm].name);
	json_number(j, "pairs", (long long)r->pairs);
	json_real(j, "base", r->base);
	json_real(j, "value", r->value);
	json_real(j, "effect", r->effect);
	json_real(j, "low", r->interval.low);
	json_real(j, "high", r->interval.high);
	json_real(j, "control_low", r->control.low);
	json_real(j, "control_high", r->control.high);
	json_real(j, "p", r->p);
	json_real(j, "p_holm", r->adjusted);
	json_text(j, "verdict", r->verdict == V_DESCRIPTIVE ? "none" : verdict_words[r->verdict]);
	json_text(j, "why", r->why);
	json_close(j, '}');
}

bool save(const struct experiment *e, const struct judgement *judgement, const char *path)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	struct json json = {.file = file}, *j = &json;
	bool good;

	if (!file) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	json_open(j, NULL, '{');
	json_number(j, "llrun_ab", 1);
	json_text(j, "version", e->version);
	json_text(j, "date", e->date);
	json_text(j, "kernel", e->kernel);
	json_text(j, "kernel_command_line", e->kernel_line);
	json_text(j, "boot_id", e->boot);
	json_text(j, "machine", e->machine);
	json_open(j, "program", '[');
	for (char **word = e->program; *word; word++)
		json_text(j, NULL, *word);
	json_close(j, ']');
	json_text(j, "load", e->load);
	json_text(j, "load_policy", e->load_arm.bare ? NULL : e->load_arm.name);
	json_text(j, "noise", e->noise);
	json_text(j, "ready", e->ready);
	put_words(j, "settings", e->settings);
	json_number(j, "seed", (long long)e->seed);
	json_number(j, "runs", e->runs);
	json_text(j, "disturbed_rule", DISTURBED_RULE);
	json_bool(j, "disturbed_dropped", e->drop);
	json_open(j, "arms", '[');
	for (size_t i = 0; i < e->n_arms; i++) {
		json_open(j, NULL, '{');
		json_text(j, "name", e->arms[i].name);
		put_words(j, "settings", e->arms[i].settings);
		json_text(j, "explained", e->arms[i].explained);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "metrics", '[');
	for (size_t i = 0; i < e->n_metrics; i++) {
		json_open(j, NULL, '{');
		json_text(j, "name", e->metrics[i].name);
		json_text(j, "unit", e->metrics[i].unit);
		json_text(j, "from", e->metrics[i].spec);
		json_bool(j, "higher_is_better", e->metrics[i].higher);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "runs_made", '['); /* in the order in which they were made */
	for (size_t i = 0; i < e->n_run; i++)
		put_run(j, e, &e->run[i]);
	json_close(j, ']');
	json_open(j, "results", '[');
	for (size_t i = 0; i < judgement->n; i++)
		put_row(j, e, &judgement->rows[i]);
	json_close(j, ']');
	json_close(j, '}');
	putc('\n', file);
	good = !ferror(file);
	good = fclose(file) == 0 && good;
	if (!good)
		say("%s: out of memory", path);
	good = good && write_file(path, text, length);
	free(text);
	return good;
}

static const char *get_text(const struct json_node *n, const char *name, const char *otherwise)
{
	n = json_member(n, name);
	return n && n->kind == JSON_TEXT ? n->text : otherwise;
}

static double get_number(const struct json_node *n, const char *name)
{
	n = json_member(n, name);
	return n && (n->kind == JSON_NUMBER || n->kind == JSON_BOOL) ? n->number : 0;
}

static const struct json_node *get_list(const struct json_node *n, const char *name, size_t *length)
{
	const struct json_node *list = json_member(n, name);

	*length = 0;
	for (const struct json_node *i = list ? list->first : NULL; i; i = i->next)
		++*length;
	return *length ? list->first : NULL;
}

static double value_of(const struct json_node *n)
{
	return n && n->kind == JSON_NUMBER ? n->number : INFINITY;
}

static void get_run(const struct experiment *e, const struct json_node *n, struct run *r)
{
	r->arm = (size_t)get_number(n, "arm");
	r->pair = (size_t)get_number(n, "pair");
	r->warm_up = get_number(n, "warm_up") > 0;
	r->failed = get_text(n, "failed", NULL);
	r->disturbed = get_text(n, "disturbed", NULL);
	r->note = get_text(n, "note", NULL);
	r->samples = memory_get(e->n_metrics * sizeof *r->samples);
	for (size_t m = 0; m < e->n_metrics; m++) {
		const struct json_node *v = json_member(json_member(n, "values"), e->metrics[m].name);
		struct samples *s = &r->samples[m];
		size_t length = 1;

		for (const struct json_node *i = v ? v->first : NULL; i; i = i->next)
			length++;
		s->bins = memory_get(length * sizeof *s->bins);
		if (v && v->kind == JSON_NUMBER)
			s->bins[s->n++] = (struct bin){v->number, 1};
		for (const struct json_node *i = v ? v->first : NULL; i; i = i->next)
			s->bins[s->n++] = (struct bin){value_of(i->first),
						       i->first && i->first->next ? i->first->next->number : 1};
		for (size_t b = 0; b < s->n; b++)
			s->total += s->bins[b].count;
	}
}

static char *read_whole(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL, buffer[65536];
	size_t length = 0, n;
	FILE *to = file ? open_memstream(&text, &length) : NULL;

	while (to && (n = fread(buffer, 1, sizeof buffer, file)) > 0)
		fwrite(buffer, 1, n, to);
	if (to && ferror(file))
		text = NULL;
	if (to)
		fclose(to);
	if (file)
		fclose(file);
	return text;
}

struct experiment *save_read(const char *path)
{
	struct experiment *e = memory_get(sizeof *e);
	char *text = read_whole(path);
	const char *end, *why = "not a saved experiment (--json)";
	const struct json_node *root = text ? json_read(text, &end, &why) : NULL, *n;
	size_t words;

	if (!text || !root || get_number(root, "llrun_ab") != 1) {
		say("%s: %s", path,
		    !text  ? strerror(errno)
		    : root ? "not a saved experiment (llrun --ab --json)"
			   : why);
		free(text);
		return NULL;
	}
	e->title = path;
	e->version = get_text(root, "version", "?");
	e->date = get_text(root, "date", "?");
	e->kernel = get_text(root, "kernel", "?");
	e->kernel_line = get_text(root, "kernel_command_line", "");
	e->boot = get_text(root, "boot_id", "?");
	e->machine = get_text(root, "machine", "?");
	e->load = get_text(root, "load", NULL);
	e->noise = get_text(root, "noise", NULL);
	e->load_arm.name = get_text(root, "load_policy", NULL);
	e->load_arm.bare = !e->load_arm.name;
	e->seed = (uint64_t)get_number(root, "seed");
	e->runs = (long)get_number(root, "runs");
	e->drop = get_number(root, "disturbed_dropped") > 0;
	n = get_list(root, "program", &words);
	e->program = memory_get((words + 1) * sizeof *e->program);
	for (size_t i = 0; n; n = n->next)
		e->program[i++] = (char *)(n->text ? n->text : "");
	n = get_list(root, "arms", &words);
	e->arms = memory_get((words + 1) * sizeof *e->arms);
	for (; n; n = n->next)
		e->arms[e->n_arms++] = (struct arm){.name = get_text(n, "name", "?"),
						    .explained = get_text(n, "explained", "")};
	n = get_list(root, "metrics", &words);
	e->metrics = memory_get((words + 1) * sizeof *e->metrics);
	for (; n; n = n->next)
		e->metrics[e->n_metrics++] = (struct metric){.name = get_text(n, "name", "?"),
							     .unit = get_text(n, "unit", ""),
							     .spec = get_text(n, "from", NULL),
							     .kind = get_text(n, "from", NULL) ? METRIC_REGEX
											       : METRIC_BUILT_IN,
							     .higher = get_number(n, "higher_is_better") > 0};
	n = get_list(root, "runs_made", &words);
	e->run = memory_get((words + 1) * sizeof *e->run);
	for (; n; n = n->next) {
		get_run(e, n, &e->run[e->n_run]);
		if (e->run[e->n_run].arm < e->n_arms)
			e->n_run++;
	}
	free(text);
	if (e->n_arms < 3 || e->runs < 1 || e->runs > (long)e->n_run) {
		say("%s: a damaged experiment", path);
		return NULL;
	}
	return e;
}

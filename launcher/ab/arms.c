/* arms.c - what is compared: the program bare, under a policy, under a policy with changes. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "ab.h"

static void add_setting(struct words **end, const char *text)
{
	struct words *w = memory_get(sizeof *w);

	w->text = text;
	while (*end)
		end = &(*end)->next;
	*end = w;
}

/* "MemoryLock=no" is of [Process]; a key that only sockets have, of all sockets that can have it; else as -s takes it.
 */
static bool read_setting(struct arm *arm, const char *text)
{
	size_t n = strcspn(text, ".=");
	const char *name = memory_copy(text, n);
	int key;

	if (text[n] == '.' && strchr(text, '=')) {
		add_setting(&arm->settings, text);
		return true;
	}
	if (text[n] != '=') {
		say("arm '%s': '%s' is no KEY=VALUE", arm->name, text);
		return false;
	}
	if (key_find(name, P) >= 0) {
		add_setting(&arm->settings, memory_printf("Process.%s", text));
	} else if ((key = key_find(name, S)) >= 0) {
		add_setting(&arm->settings, memory_printf("Socket %s.%s", key_table[key].tcp_only ? "tcp" : "*", text));
	} else {
		say("arm '%s': there is no key %s; llrun --keys lists them", arm->name, name);
		return false;
	}
	return true;
}

/* A piece up to a separator that stands neither in parentheses nor behind a backslash; *text is moved behind it. */
static char *piece(const char **text, char separator)
{
	char *out = memory_get(strlen(*text) + 1), *to = out;
	int depth = 0;

	for (; **text && (**text != separator || depth > 0); ++*text) {
		if (**text == '\\' && (*text)[1] == separator)
			++*text;
		depth += (**text == '(') - (**text == ')');
		*to++ = **text;
	}
	*text += **text == separator;
	return out;
}

static bool read_arm(struct arm *arm, const char *text)
{
	const char *base, *rest = text;

	memset(arm, 0, sizeof *arm);
	arm->name = text;
	base = piece(&rest, '+');
	arm->bare = strcmp(base, "bare") == 0;
	arm->policy = arm->bare || !*base ? NULL : base;
	if ((arm->bare && rest[0]) || !*text) {
		say(arm->bare ? "arm '%s': bare is without llrun, so nothing can be changed in it; '+KEY=VALUE' starts "
				"from no policy"
			      : "--ab: an arm of '%s' is empty",
		    text);
		return false;
	}
	while (*rest)
		if (!read_setting(arm, piece(&rest, '+')))
			return false;
	return true;
}

static struct arm *new_arm(struct experiment *e)
{
	struct arm *more = memory_get((e->n_arms + 1) * sizeof *more);

	if (e->n_arms)
		memcpy(more, e->arms, e->n_arms * sizeof *more);
	e->arms = more;
	return &more[e->n_arms++];
}

/* Keys that mean something only together make one arm. */
static const char *group(enum key_id key)
{
	switch (key) {
	case K_CPUAffinity:
	case K_CPUPlacement:
	case K_CPUOverflow:
		return "CPUAffinity";
	case K_CPUSchedulingPolicy:
	case K_CPUSchedulingPriority:
	case K_CPUSchedulingResetOnFork:
		return "CPUSchedulingPolicy";
	case K_NUMAPolicy:
	case K_NUMAMask:
		return "NUMAPolicy";
	case K_Program:
	case K_Children:
	case K_OnError:
		return ""; /* conditions: in each arm */
	default:
		return key_table[key].name;
	}
}

static void add_values(struct arm *arm, const struct section *s, const char *only)
{
	const char *title = memory_copy(s->title + 1, strlen(s->title) - 2);

	for (int key = 0; key < N_KEYS; key++)
		for (const struct item *i = s->value[key].items; i; i = i->next)
			if (!only || strcmp(group((enum key_id)key), only) == 0)
				add_setting(&arm->settings,
					    memory_printf("%s.%s=%s", title, key_table[key].name, i->text));
}

static void add_alone(struct experiment *e, const struct policy *p, const char *name, const struct section *s,
		      const char *only)
{
	struct arm *arm = new_arm(e);

	arm->name = name;
	add_values(arm, &p->process, "");
	add_values(arm, s, only);
}

/* --ab-each: bare, each part of the policy alone, the whole. */
static bool each_read(struct experiment *e, const char *name)
{
	struct policy policy;
	const char *base = strrchr(e->program[0], '/');

	policy_init(&policy);
	if (!load_policy(&policy, name, base ? base + 1 : e->program[0], false))
		return false;
	policy_check(&policy);
	for (const struct message *m = policy.errors; m; m = m->next)
		say("%s", m->text);
	if (policy.errors)
		return false;
	*new_arm(e) = (struct arm){.name = "bare", .bare = true};
	for (int key = 0; key < N_KEYS; key++) {
		const char *of = group((enum key_id)key);
		bool done = !*of || !policy.process.value[key].items;

		for (size_t i = 0; i < e->n_arms; i++)
			done |= strcmp(e->arms[i].name, memory_printf("+%s", of)) == 0;
		if (!done)
			add_alone(e, &policy, memory_printf("+%s", of), &policy.process, of);
	}
	for (const struct section *s = policy.threads; s; s = s->next)
		add_alone(e, &policy, memory_printf("+%s", s->title), s, NULL);
	for (const struct section *s = policy.sockets; s; s = s->next)
		add_alone(e, &policy, memory_printf("+%s", s->title), s, NULL);
	*new_arm(e) = (struct arm){.name = name, .policy = name};
	return true;
}

bool arms_read(struct experiment *e, const struct ab_options *o)
{
	if (o->arms && o->each) {
		say("--ab and --ab-each exclude each other");
		return false;
	}
	if (o->each && !each_read(e, o->each))
		return false;
	for (const char *rest = o->arms; rest && *rest;)
		if (!read_arm(new_arm(e), piece(&rest, ',')))
			return false;
	if (e->n_arms < 2) {
		say("--ab=%s: needs two arms or more, separated by commas: bare,%s", o->arms ? o->arms : "",
		    o->arms && *o->arms ? o->arms : "POLICY");
		return false;
	}
	*new_arm(e) = e->arms[0];
	e->arms[e->n_arms - 1].name = "A/A";
	e->load_arm.bare = true;
	if (o->load_policy && !read_arm(&e->load_arm, o->load_policy))
		return false;
	if (!e->load_arm.bare) { /* the load is what the shell starts */
		add_setting(&e->load_arm.settings, "Process.Program=*");
		add_setting(&e->load_arm.settings, "Process.Children=all");
	}
	return true;
}

static size_t count(const struct words *w)
{
	size_t n = 0;

	for (; w; w = w->next)
		n++;
	return n;
}

static char **command(const struct experiment *e, const struct arm *arm, char **program, const char *how)
{
	size_t n = 0, words = 0;
	char **c;

	if (arm->bare)
		return program;
	while (program[words])
		words++;
	c = memory_get((9 + 2 * count(e->settings) + 2 * count(arm->settings) + words) * sizeof *c);
	c[n++] = (char *)"/proc/self/exe"; /* llrun itself, wherever it lies */
	c[n++] = (char *)how;
	if (quiet && strcmp(how, "-q") != 0)
		c[n++] = (char *)"-q";
	if (arm->policy)
		c[n++] = (char *)"-p";
	c[n++] = (char *)(arm->policy ? arm->policy : "--no-policy");
	for (const struct words *w = arm == &e->load_arm ? NULL : e->settings; w; w = w->next) {
		c[n++] = (char *)"-s";
		c[n++] = (char *)w->text;
	}
	for (const struct words *w = arm->settings; w; w = w->next) {
		c[n++] = (char *)"-s";
		c[n++] = (char *)w->text;
	}
	c[n++] = (char *)"--";
	memcpy(c + n, program, words * sizeof *c);
	return c;
}

/* -q: what there was to say has been said by arms_check. */
char **arm_command(const struct experiment *e, const struct arm *arm, char **program)
{
	return command(e, arm, program, "-q");
}

const char *arm_label(const struct arm *arm)
{
	size_t plus = strcspn(arm->name, "+"), from = plus;
	bool suffix;

	while (from > 0 && arm->name[from - 1] != '/')
		from--;
	suffix = plus - from > 7 && strncmp(arm->name + plus - 7, ".policy", 7) == 0;
	return memory_printf("%.*s%s", (int)(plus - from - (suffix ? 7 : 0)), arm->name + from, arm->name + plus);
}

bool arms_check(struct experiment *e)
{
	bool good = true;

	for (size_t i = 0; i < e->n_arms && !interrupted; i++) {
		struct arm *a = &e->arms[i];
		size_t length;
		char *text;
		int status;

		for (size_t k = 0; k < i && !a->explained; k++)
			if (strcmp(e->arms[k].name, a->name) == 0 || i == e->n_arms - 1)
				a->explained = e->arms[k].explained;
		if (a->bare)
			a->explained = "";
		if (a->explained)
			continue;
		if (!run_command(command(e, a, e->program, "--explain"), NULL, &text, &length, &status) ||
		    status != 0) {
			say("arm '%s' cannot be started here: nothing was started", a->name);
			free(text);
			good = false;
			continue;
		}
		a->explained = memory_copy(text, length);
		free(text);
	}
	return good && !interrupted;
}

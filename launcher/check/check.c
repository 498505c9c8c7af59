/*
 * check.c - llrun --check: runs the items of items.def, and prints what they found, the worst first.  Nothing is
 * written, and nobody but this process is touched.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../json.h"
#include "check.h"

enum severity { CRIT, HIGH, MED, LOW, INFO };
enum outcome { FAIL, WARN, DONT_KNOW, OK, N_OUTCOMES };
static const char *const outcome_names[] = {"fail", "warn", "unknown", "ok"};
static const char *const severity_names[] = {"critical", "high", "medium", "low", "info"};

static const struct item_row {
	const char *group, *name;
	enum severity severity;
	const char *why, *now, *lasting;
	enum verdict (*read)(struct check *c, struct answer *a);
} rows[] = {
#define ITEM(group, name, severity, why, now, lasting) {#group, #name, severity, why, now, lasting, group##_##name},
#include "items.def"
#undef ITEM
};
enum { N_ROWS = sizeof rows / sizeof *rows };

struct finding_of {
	struct answer answer;
	enum verdict verdict;
	enum outcome outcome;
};

/* --- what is judged --- */

/*
 * The CPUs that the policy cares for: those of its real-time threads and of those that get one each.  A class that
 * shares what is left, [Process] as a rule, counts only if there is nothing else.  No policy: the isolated ones, or
 * all.
 */
static struct cpuset judged_cpus(const struct check *c)
{
	struct cpuset dear = {{0}}, all = {{0}};

	for (uint32_t i = 0; i < c->plan->n_rules; i++) {
		const struct rule *r = &c->plan->rule[i];
		struct cpuset cpus = plan_cpus(c->plan, r);

		if (!(r->has & HAS_CPUS))
			continue;
		cpuset_or(&all, &cpus);
		if (rule_is_real_time(r) || r->placement == PLACE_SPREAD)
			cpuset_or(&dear, &cpus);
	}
	if (cpuset_empty(&dear))
		dear = all;
	if (cpuset_empty(&dear))
		dear = common(&c->isolated, &c->t->usable);
	return cpuset_empty(&dear) ? c->t->usable : dear;
}

static void find_real_time(struct check *c)
{
	for (uint32_t i = 0; i < c->plan->n_rules; i++) {
		const struct rule *r = &c->plan->rule[i];
		struct cpuset cpus = r->has & HAS_CPUS ? plan_cpus(c->plan, r) : c->cpus;

		if (!rule_is_real_time(r))
			continue;
		cpuset_or(&c->real_time, &cpus);
		if (r->priority > c->priority)
			c->priority = r->priority;
	}
}

static void find_busy_poll(struct check *c)
{
	for (uint32_t i = 0; i < c->plan->n_sockets; i++) {
		const struct socket_rule *r = &c->plan->socket[i];

		c->busy_poll |= r->given >> SOCKET_BusyPollSec & 1 && r->value[SOCKET_BusyPollSec] > 0;
		c->prefer_busy_poll |= r->given >> SOCKET_PreferBusyPoll & 1 && r->value[SOCKET_PreferBusyPoll];
	}
}

static void add_name(const char **list, size_t max, const char *name)
{
	size_t n = 0;

	while (list[n] && strcmp(list[n], name) != 0)
		n++;
	if (!list[n] && n + 1 < max)
		list[n] = name;
}

enum { MAX_INTERFACES = 64 };

static void add_near(const char **list, const struct section *s)
{
	for (const struct item *i = s->value[K_CPUAffinity].items; i; i = i->next)
		for (const char *p = i->text; (p = strstr(p, "near:"));) {
			p += strlen("near:");
			add_name(list, MAX_INTERFACES, memory_copy(p, strcspn(p, " \t,&|!()")));
		}
}

/*
 * Those that near: names, or, for a policy with sockets and where there is none, all that are up.  lo is not: its operstate
 * is "unknown".
 */
static void find_interfaces(struct check *c)
{
	const char **names;

	c->interface = memory_get(MAX_INTERFACES * sizeof *c->interface);
	add_near(c->interface, &c->policy->process);
	for (const struct section *s = c->policy->threads; s; s = s->next)
		add_near(c->interface, s);
	if (*c->interface || (!c->plan->n_sockets && (c->policy->path || c->target)))
		return;
	for (names = read_names(c, "/sys/class/net"); names && **names; names++) {
		struct answer unused = {0};
		const char *state = read_text(c, &unused, "/sys/class/net/%s/operstate", *names);

		if (state && strncmp(state, "up", 2) == 0)
			add_name(c->interface, MAX_INTERFACES, *names);
	}
}

/* --- running --- */

static enum outcome outcome_of(const struct check *c, enum severity severity, enum verdict v)
{
	bool strict = c->priority || c->busy_poll;

	if (v == UNKNOWN)
		return DONT_KNOW;
	if (v != BAD)
		return OK;
	return severity == CRIT || (severity == HIGH && strict) ? FAIL : WARN;
}

static void run(struct check *c, struct finding_of *found, bool again)
{
	for (int i = 0; i < N_ROWS; i++) {
		struct finding_of *f = &found[i];

		if (again && f->verdict != LATER)
			continue;
		f->answer = (struct answer){0};
		f->verdict = rows[i].read(c, &f->answer);
		if (f->verdict == MOOT)
			f->answer.text = memory_printf("does not apply: %s", f->answer.text);
		f->outcome = outcome_of(c, rows[i].severity, f->verdict);
	}
}

/* The cures' {words}. */
static const char *fill_in(const struct check *c, const char *text, const struct answer *a)
{
	bool none = cpuset_empty(&c->rest);
	const struct {
		const char *word, *text;
	} words[] = {
		{"{cpus}", list_of(&c->cpus)},
		{"{rest}", none ? "OTHERS" : list_of(&c->rest)},
		{"{restmask}", none ? "MASK_OF_OTHERS" : mask_of(&c->rest)},
		{"{it}", a->it ? a->it : "IT"},
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		for (const char *at; (at = strstr(text, words[i].word));)
			text = memory_printf("%s%s%s", memory_copy(text, (size_t)(at - text)), words[i].text,
					     at + strlen(words[i].word));
	return text;
}

/* --- printing --- */

static void print_item(const struct check *c, const struct item_row *row, const struct finding_of *f)
{
	const struct answer *a = &f->answer;
	bool cure = f->outcome == FAIL || f->outcome == WARN;

	printf("%-8s %s %s: %s", outcome_names[f->outcome], row->group, row->name, a->text);
	if (!cure) {
		puts(!a->where || f->verdict == MOOT ? ""
						     : memory_printf(" (%s%s%.160s)", a->where, a->value ? ": " : "",
								     a->value ? a->value : ""));
		return;
	}
	printf("\n%8s read   %s%s%.160s\n", "", a->where, a->value ? ": " : "", a->value ? a->value : "");
	printf("%8s why    %s\n%8s now    %s\n%8s lasts  %s\n", "", row->why, "", fill_in(c, row->now, a), "",
	       fill_in(c, row->lasting, a));
}

static void json_item(const struct check *c, struct json *out, const struct item_row *row, const struct finding_of *f)
{
	const struct answer *a = &f->answer;

	json_open(out, NULL, '{');
	json_text(out, "group", row->group);
	json_text(out, "item", row->name);
	json_text(out, "outcome", outcome_names[f->outcome]);
	json_text(out, "severity", severity_names[row->severity]);
	json_bool(out, "applies", f->verdict != MOOT);
	json_text(out, "text", a->text);
	json_text(out, "value", a->value);
	json_text(out, "where", a->where);
	json_text(out, "why", row->why);
	json_text(out, "now", fill_in(c, row->now, a));
	json_text(out, "lasting", fill_in(c, row->lasting, a));
	json_close(out, '}');
}

static const char *interfaces_of(const struct check *c)
{
	const char *list = "";

	for (const char **i = c->interface; *i; i++)
		list = memory_printf("%s%s%s", list, *list ? " " : "", *i);
	return *list ? list : "none";
}

static void head(const struct check *c, struct json *out)
{
	const char *policy = c->policy->path ? c->policy->path : "none";

	if (out) {
		json_open(out, NULL, '{');
		json_text(out, "policy", c->policy->path);
		json_text(out, "program", c->target ? c->target->path : NULL);
		json_text(out, "cpus", list_of(&c->cpus));
		json_text(out, "real_time_cpus", list_of(&c->real_time));
		json_text(out, "other_cpus", list_of(&c->rest));
		json_text(out, "interfaces", interfaces_of(c));
		json_open(out, "items", '[');
		return;
	}
	printf("policy %s; judged for CPUs %s (in real time: %s; others: %s); interfaces: %s\n", policy,
	       list_of(&c->cpus), list_of(&c->real_time), list_of(&c->rest), interfaces_of(c));
}

/* Worst first: by outcome, then by severity, then in the order of the table; what does not apply comes last. */
enum { N_SEVERITIES = INFO + 1, N_RANKS = (N_OUTCOMES + 1) * N_SEVERITIES };
static int rank_of(const struct item_row *row, const struct finding_of *f)
{
	return (f->verdict == MOOT ? N_OUTCOMES : (int)f->outcome) * N_SEVERITIES + (int)row->severity;
}

static void print_all(const struct check *c, const struct finding_of *found, struct json *out)
{
	unsigned count[N_OUTCOMES] = {0};

	head(c, out);
	for (int rank = 0; rank < N_RANKS; rank++)
		for (int i = 0; i < N_ROWS; i++) {
			if (rank_of(&rows[i], &found[i]) != rank)
				continue;
			count[found[i].outcome]++;
			if (out)
				json_item(c, out, &rows[i], &found[i]);
			else
				print_item(c, &rows[i], &found[i]);
		}
	if (!out) {
		printf("%u fail, %u warn, %u unknown, %u ok\n", count[FAIL], count[WARN], count[DONT_KNOW], count[OK]);
		return;
	}
	json_close(out, ']');
	for (int outcome = FAIL; outcome < N_OUTCOMES; outcome++)
		json_number(out, outcome_names[outcome], count[outcome]);
	json_close(out, '}');
	putchar('\n');
}

int check(const struct policy *policy, struct topology *t, const struct plan *plan, const struct target *target,
	  const struct findings *findings, bool as_json)
{
	static struct finding_of found[N_ROWS];
	struct check c = {.t = t, .policy = policy, .plan = plan, .target = target, .findings = findings};
	struct json out = {stdout, false};
	struct answer unused = {0};
	int status = CHECK_FIT;

	topology_isolated(t, &c.isolated);
	c.cpus = judged_cpus(&c);
	c.rest = t->online;
	cpuset_minus(&c.rest, &c.cpus);
	find_real_time(&c);
	find_busy_poll(&c);
	find_interfaces(&c);
	machine_guest(&c, &unused); /* other items need to know */
	run(&c, found, false);
	if (c.samples && !*t->root)
		nanosleep(&(struct timespec){1, 0}, NULL);
	c.second = true;
	run(&c, found, true);
	print_all(&c, found, as_json ? &out : NULL);
	for (int i = 0; i < N_ROWS; i++)
		if (found[i].outcome == FAIL)
			status = CHECK_UNFIT;
	return status;
}

/*
 * plan.c - the plan as text and back.  Records end in ';':
 *
 *     1;                                   the version
 *     N pid,children,...;                  PLAN_NUMBERS
 *     L has,placement,...:cpus;            launch; H housekeeping; R one for each rule, in order
 *     T rule,kind,first,last,text;         a selector
 *     S protocols,on_error,i=v,...;        a socket rule
 *     G text;  E text;                     a glob of Program=; what stands before the caller's LD_PRELOAD
 *     #sum;                                FNV-1a of all before it
 *
 * (without the blanks).  CPUs keep their order: 0-6:2+1-7:2.  The reader is also the shim's: no malloc, no stdio, and it
 * does not trust the writer, since anybody can set an environment variable.
 */
#include <string.h>
#include "plan.h"
#include "policy.h"

/* Room for so many bytes more; text[0] is "" for all who have none. */
static bool has_room(struct plan *plan, size_t size)
{
	if (!plan->n_store)
		plan->n_store = 1;
	return size <= PLAN_STORE - plan->n_store;
}

bool plan_add_text(struct plan *plan, const char *text, uint32_t *offset)
{
	size_t size = strlen(text) + 1;

	if (size == 1) {
		*offset = 0;
		return true;
	}
	if (!has_room(plan, size))
		return false;
	memcpy(plan->store + plan->n_store, text, size);
	*offset = plan->n_store;
	plan->n_store += (uint32_t)size;
	return true;
}

bool plan_add_cpu(struct plan *plan, struct rule *rule, unsigned cpu)
{
	if (cpu >= CPUSET_MAX || !has_room(plan, 2))
		return false;
	if (!rule->n_cpus)
		rule->cpus = plan->n_store;
	if (rule->cpus + 2 * rule->n_cpus != plan->n_store)
		return false;
	plan->store[plan->n_store++] = (char)(cpu & 0xff);
	plan->store[plan->n_store++] = (char)(cpu >> 8);
	rule->n_cpus++;
	return true;
}

unsigned plan_cpu(const struct plan *plan, const struct rule *rule, uint32_t i)
{
	const unsigned char *at = (const unsigned char *)plan->store + rule->cpus + 2 * i;

	return at[0] | (unsigned)at[1] << 8;
}

struct cpuset plan_cpus(const struct plan *plan, const struct rule *rule)
{
	struct cpuset set = {{0}};

	for (uint32_t i = 0; i < rule->n_cpus; i++)
		cpuset_add(&set, plan_cpu(plan, rule, i));
	return set;
}

/* --- writing --- */

struct writer {
	char *at, *end;
	bool full;
};

static void put_char(struct writer *w, char c)
{
	if (w->at < w->end)
		*w->at++ = c;
	else
		w->full = true;
}

static void put_number(struct writer *w, int64_t n)
{
	char digit[24];
	int i = 0;
	uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;

	if (n < 0)
		put_char(w, '-');
	do {
		digit[i++] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	while (i)
		put_char(w, digit[--i]);
}

static bool plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("._-/*?", c));
}

static void put_text(struct writer *w, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	for (; *text; text++) {
		if (plain(*text)) {
			put_char(w, *text);
			continue;
		}
		put_char(w, '%');
		put_char(w, hex[(unsigned char)*text >> 4]);
		put_char(w, hex[(unsigned char)*text & 15]);
	}
}

/* How many CPUs from `i` on stand at one distance; the distance goes to *step. */
static uint32_t run_length(const struct plan *plan, const struct rule *rule, uint32_t i, int *step)
{
	uint32_t k = 1;

	*step = 0;
	while (i + k < rule->n_cpus) {
		int distance = (int)plan_cpu(plan, rule, i + k) - (int)plan_cpu(plan, rule, i + k - 1);

		if (distance <= 0 || (k > 1 && distance != *step))
			break;
		*step = distance;
		k++;
	}
	return k;
}

static void put_rule(struct writer *w, char letter, const struct plan *plan, const struct rule *rule)
{
	put_char(w, letter);
#define X(name) put_number(w, rule->name), put_char(w, ',');
	RULE_NUMBERS(X)
#undef X
	w->at[-1] = ':';
	for (uint32_t i = 0; i < rule->n_cpus;) {
		int step;
		uint32_t k = run_length(plan, rule, i, &step);

		if (i)
			put_char(w, '+');
		put_number(w, plan_cpu(plan, rule, i));
		if (k > 1) {
			put_char(w, '-');
			put_number(w, plan_cpu(plan, rule, i + k - 1));
		}
		if (k > 1 && step > 1) {
			put_char(w, ':');
			put_number(w, step);
		}
		i += k;
	}
	put_char(w, ';');
}

static void put_socket(struct writer *w, const struct socket_rule *s)
{
	put_char(w, 'S');
	put_number(w, s->protocols);
	put_char(w, ',');
	put_number(w, s->on_error);
	for (int i = 0; i < N_SOCKET_OPTIONS; i++) {
		if (!(s->given >> i & 1))
			continue;
		put_char(w, ',');
		put_number(w, i);
		put_char(w, '=');
		put_number(w, s->value[i]);
	}
	put_char(w, ';');
}

static void put_selector(struct writer *w, const struct plan *plan, const struct plan_selector *s)
{
	put_char(w, 'T');
	put_number(w, s->rule);
	put_char(w, ',');
	put_number(w, s->kind);
	put_char(w, ',');
	put_number(w, (int64_t)s->first);
	put_char(w, ',');
	put_number(w, (int64_t)s->last);
	put_char(w, ',');
	put_text(w, plan->store + s->text);
	put_char(w, ';');
}

static uint32_t checksum(const char *text, const char *end)
{
	uint32_t sum = 2166136261u;

	for (; text < end; text++)
		sum = (sum ^ (unsigned char)*text) * 16777619u;
	return sum;
}

size_t plan_encode(const struct plan *plan, char *buffer, size_t size)
{
	struct writer w = {buffer, buffer + size, false};

	if (size < 64)
		return 0;
	put_number(&w, PLAN_VERSION);
	put_char(&w, ';');
	put_char(&w, 'N');
#define X(name) put_number(&w, plan->name), put_char(&w, ',');
	PLAN_NUMBERS(X)
#undef X
	w.at[-1] = ';';
	put_rule(&w, 'L', plan, &plan->launch);
	put_rule(&w, 'H', plan, &plan->housekeeping);
	for (uint32_t i = 0; i < plan->n_rules; i++)
		put_rule(&w, 'R', plan, &plan->rule[i]);
	for (uint32_t i = 0; i < plan->n_selectors; i++)
		put_selector(&w, plan, &plan->selector[i]);
	for (uint32_t i = 0; i < plan->n_sockets; i++)
		put_socket(&w, &plan->socket[i]);
	for (uint32_t i = 0; i < plan->n_programs; i++) {
		put_char(&w, 'G');
		put_text(&w, plan->store + plan->program[i]);
		put_char(&w, ';');
	}
	put_char(&w, 'E');
	put_text(&w, plan->store + plan->preload);
	put_char(&w, ';');
	uint32_t sum = checksum(buffer, w.at);
	put_char(&w, '#');
	put_number(&w, sum);
	put_char(&w, ';');
	put_char(&w, '\0');
	return w.full ? 0 : (size_t)(w.at - buffer - 1);
}

/* --- reading --- */

struct reader {
	const char *at;
	bool bad;
};

static void expect(struct reader *r, char c)
{
	if (r->bad || *r->at != c)
		r->bad = true;
	else
		r->at++;
}

static int64_t get_number(struct reader *r, int64_t lowest, int64_t highest)
{
	bool negative = *r->at == '-';
	int64_t n = 0;

	if (negative)
		r->at++;
	if (*r->at < '0' || *r->at > '9')
		r->bad = true;
	while (!r->bad && *r->at >= '0' && *r->at <= '9') {
		int digit = *r->at++ - '0';

		if (n > (INT64_MAX - digit) / 10)
			r->bad = true;
		else
			n = n * 10 + digit;
	}
	if (negative)
		n = -n;
	if (n < lowest || n > highest)
		r->bad = true;
	return r->bad ? lowest : n;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uint32_t get_text(struct reader *r, struct plan *plan)
{
	uint32_t start = plan->n_store;

	if (*r->at == ';')
		return 0;
	while (!r->bad && *r->at != ';') {
		int c = (unsigned char)*r->at++;

		if (c == '%') {
			int high = hex_digit(*r->at), low = high < 0 ? -1 : hex_digit(r->at[1]);

			if (low < 0) {
				r->bad = true;
				break;
			}
			c = high << 4 | low;
			r->at += 2;
		} else if (!plain((char)c)) {
			c = 0;
		}
		if (!c || !has_room(plan, 2))
			r->bad = true;
		else
			plan->store[plan->n_store++] = (char)c;
	}
	if (has_room(plan, 1))
		plan->store[plan->n_store++] = '\0';
	return start;
}

static void get_cpus(struct reader *r, struct plan *plan, struct rule *rule)
{
	struct cpuset seen = {{0}};

	if (rule->n_cpus) /* a second L or H */
		r->bad = true;
	while (!r->bad && *r->at != ';') {
		int64_t first = get_number(r, 0, CPUSET_MAX - 1), last = first, step = 1;

		if (!r->bad && *r->at == '-') {
			r->at++;
			last = get_number(r, first, CPUSET_MAX - 1);
		}
		if (!r->bad && *r->at == ':') {
			r->at++;
			step = get_number(r, 1, CPUSET_MAX);
		}
		for (int64_t cpu = first; !r->bad && cpu <= last; cpu += step) {
			r->bad = cpuset_has(&seen, (unsigned)cpu) || !plan_add_cpu(plan, rule, (unsigned)cpu);
			cpuset_add(&seen, (unsigned)cpu);
		}
		if (!r->bad && *r->at == '+') {
			r->at++;
			r->bad = *r->at == ';';
		} else if (*r->at != ';') {
			r->bad = true;
		}
	}
}

static void get_rule(struct reader *r, struct plan *plan, struct rule *rule)
{
	bool first = true;

#define X(name)                                                                                                        \
	if (!first)                                                                                                    \
		expect(r, ',');                                                                                        \
	first = false;                                                                                                 \
	rule->name = (int8_t)get_number(r, INT8_MIN, INT8_MAX);
	RULE_NUMBERS(X)
#undef X
	expect(r, ':');
	get_cpus(r, plan, rule);
	if (rule->has & HAS_CPUS && !rule->n_cpus)
		r->bad = true;
}

static void get_selector(struct reader *r, struct plan *plan)
{
	struct plan_selector *s = &plan->selector[plan->n_selectors];

	if (plan->n_selectors == PLAN_SELECTORS) {
		r->bad = true;
		return;
	}
	s->rule = (uint16_t)get_number(r, 1, PLAN_RULES - 1);
	expect(r, ',');
	s->kind = (int16_t)get_number(r, SELECT_ALL, SELECT_LIB);
	expect(r, ',');
	s->first = (uint64_t)get_number(r, INT64_MIN, INT64_MAX);
	expect(r, ',');
	s->last = (uint64_t)get_number(r, INT64_MIN, INT64_MAX);
	expect(r, ',');
	s->text = get_text(r, plan);
	plan->n_selectors++;
}

static void get_socket(struct reader *r, struct plan *plan)
{
	struct socket_rule *s = &plan->socket[plan->n_sockets];

	if (plan->n_sockets == PLAN_SOCKETS) {
		r->bad = true;
		return;
	}
	s->protocols = (int32_t)get_number(r, 1, SOCKET_RULE_TCP | SOCKET_RULE_UDP | SOCKET_RULE_OTHER);
	expect(r, ',');
	s->on_error = (int32_t)get_number(r, ON_ERROR_FAIL, ON_ERROR_IGNORE);
	while (!r->bad && *r->at == ',') {
		r->at++;
		int option = (int)get_number(r, 0, N_SOCKET_OPTIONS - 1);
		expect(r, '=');
		s->value[option] = (int32_t)get_number(r, 0, INT32_MAX);
		s->given |= 1u << option;
	}
	plan->n_sockets++;
}

static void get_record(struct reader *r, struct plan *plan)
{
	bool first = true;

	switch (*r->at++) {
	case 'N':
#define X(name)                                                                                                        \
	if (!first)                                                                                                    \
		expect(r, ',');                                                                                        \
	first = false;                                                                                                 \
	plan->name = (int32_t)get_number(r, 0, INT32_MAX);
		PLAN_NUMBERS(X)
#undef X
		break;
	case 'L':
		get_rule(r, plan, &plan->launch);
		break;
	case 'H':
		get_rule(r, plan, &plan->housekeeping);
		break;
	case 'R':
		if (plan->n_rules == PLAN_RULES)
			r->bad = true;
		else
			get_rule(r, plan, &plan->rule[plan->n_rules++]);
		break;
	case 'T':
		get_selector(r, plan);
		break;
	case 'S':
		get_socket(r, plan);
		break;
	case 'G':
		if (plan->n_programs == PLAN_PROGRAMS)
			r->bad = true;
		else
			plan->program[plan->n_programs++] = get_text(r, plan);
		break;
	case 'E':
		plan->preload = get_text(r, plan);
		break;
	default:
		r->bad = true;
	}
	expect(r, ';');
}

bool plan_decode(struct plan *plan, const char *text)
{
	struct reader r = {text, false};

	plan->n_store = 1;
	if (get_number(&r, PLAN_VERSION, PLAN_VERSION) != PLAN_VERSION)
		return false;
	expect(&r, ';');
	while (!r.bad && *r.at && *r.at != '#')
		get_record(&r, plan);
	if (r.bad || *r.at != '#')
		return false;
	uint32_t sum = checksum(text, r.at++);
	if (get_number(&r, 0, UINT32_MAX) != sum || r.bad || strcmp(r.at, ";") != 0)
		return false;
	for (uint32_t i = 0; i < plan->n_selectors; i++)
		if (plan->selector[i].rule >= plan->n_rules ||
		    (i && plan->selector[i].rule < plan->selector[i - 1].rule))
			return false;
	return plan->n_rules > 0;
}

bool plan_names(const struct plan *plan, const char *base_name)
{
	for (uint32_t i = 0; i < plan->n_programs; i++)
		if (glob_match(plan->store + plan->program[i], base_name))
			return true;
	return false;
}

uint32_t plan_match_name(const struct plan *plan, const char *name, uint32_t limit)
{
	for (uint32_t i = 0; i < plan->n_selectors && plan->selector[i].rule < limit; i++)
		if (plan->selector[i].kind == SELECT_NAME && glob_match(plan->store + plan->selector[i].text, name))
			return plan->selector[i].rule;
	return limit;
}

#ifndef LLRUN_PLAN_H
#define LLRUN_PLAN_H
/*
 * The plan: what will be done on this machine.  Numbers and globs only, nothing left to look up.  The launcher makes it,
 * encodes it into LLRUN_PLAN, and the shim decodes it once, without malloc, into one static struct.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cpuset.h"

#define PLAN_VERSION 1
#define PLAN_VARIABLE "LLRUN_PLAN"

enum {
	PLAN_RULES = 64, /* [Thread] sections, and rule 0: the class of [Process] */
	PLAN_SELECTORS = 256,
	PLAN_SOCKETS = 16,
	PLAN_PROGRAMS = 32,
	PLAN_STORE = 72 * 1024, /* bytes: all globs and names, and two for each CPU of each rule */
};

/* What a rule gives its threads.  `has` says which parts it gives at all. */
enum { HAS_CPUS = 1, HAS_SCHED = 2, HAS_NICE = 4 };
#define RULE_NUMBERS(X) X(has) X(placement) X(overflow) X(on_error) X(policy) X(priority) X(nice)
struct rule {
#define X(name) int8_t name;
	RULE_NUMBERS(X)
#undef X
	uint32_t cpus, n_cpus; /* offset in plan.store, for plan_cpu(); in the order in which spread gives them out */
};

struct plan_selector {
	uint64_t first, last; /* INDEX: creation order; START: the routine's offset in the executable, twice */
	uint32_t text;        /* NAME, LIB: offset in plan.store */
	uint16_t rule;
	int16_t kind; /* enum selector_kind */
};

/* The options of a [Socket] section, by their rank among the SOCKET_KEY rows. */
enum socket_option_index {
#define KEY(...)
#define SOCKET_KEY(name, ...) SOCKET_##name,
#include "keys.def"
#undef KEY
#undef SOCKET_KEY
	N_SOCKET_OPTIONS
};

struct socket_rule {
	int32_t protocols; /* SOCKET_RULE_TCP | _UDP | _OTHER */
	int32_t on_error;
	uint32_t given; /* bit per option */
	int32_t value[N_SOCKET_OPTIONS];
};
enum { SOCKET_RULE_TCP = 1, SOCKET_RULE_UDP = 2, SOCKET_RULE_OTHER = 4 };

/*
 * pid              the process that llrun started: covered whatever it execs, unless Program= names programs
 * visible          enum VISIBLE_*; own: enum OWN_*; lock: enum LOCK_*; children: enum CHILDREN_*
 * preload_absent   1: the caller had no LD_PRELOAD at all
 */
#define PLAN_NUMBERS(X)                                                                                                \
	X(pid) X(children) X(on_error) X(lock) X(own) X(visible) X(reset_on_fork) X(named_programs) X(preload_absent)

struct plan {
#define X(name) int32_t name;
	PLAN_NUMBERS(X)
#undef X
	/* In this order, for a usual plan to touch few pages: each is one more in every program that runs under llrun. */
	uint32_t n_rules, n_selectors, n_sockets, n_programs, n_store;
	uint32_t preload;                /* what was put before the caller's LD_PRELOAD, offset in store */
	uint32_t program[PLAN_PROGRAMS]; /* globs, offsets in store */
	struct rule launch;       /* mask, scheduling and nice when llrun was started: what a reset child gets back */
	struct rule housekeeping; /* where CPUOverflow=spill goes */
	struct rule rule[PLAN_RULES];
	struct socket_rule socket[PLAN_SOCKETS];
	char store[PLAN_STORE];                        /* store[0] is "" for all who have no text */
	struct plan_selector selector[PLAN_SELECTORS]; /* in file order */
};

/* Keep a text, or a rule's CPUs in their order and without another between, in the plan.  False if it is full. */
bool plan_add_text(struct plan *plan, const char *text, uint32_t *offset);
bool plan_add_cpu(struct plan *plan, struct rule *rule, unsigned cpu);

/* A rule's CPU number i, below n_cpus; and all of them as a set. */
unsigned plan_cpu(const struct plan *plan, const struct rule *rule, uint32_t i);
struct cpuset plan_cpus(const struct plan *plan, const struct rule *rule);

/* Writes the plan as printable ASCII, NUL-terminated; the length, or 0 if `size` bytes do not hold it. */
size_t plan_encode(const struct plan *plan, char *buffer, size_t size);

/*
 * Reads such a text into *plan (which must be all zero).  False if it is not exactly what plan_encode writes: another
 * version, a changed byte, a number out of range.  Touches nothing else, allocates nothing; *plan is then unusable.
 */
bool plan_decode(struct plan *plan, const char *text);

/* Does the plan cover a program of this base name?  Only meaningful with named_programs. */
bool plan_names(const struct plan *plan, const char *base_name);

/* The first rule below `limit` that has a name selector for `name`; `limit` if there is none. */
uint32_t plan_match_name(const struct plan *plan, const char *name, uint32_t limit);

#endif

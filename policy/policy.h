#ifndef LLRUN_POLICY_H
#define LLRUN_POLICY_H
/*
 * The policy: what the user wrote.  Sections, keys, values and where each stands; it knows no machine.
 * Everything here is kept until the process execs or memory_release().
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cpuset.h"

/* Where something was written: a file and line, or an option ("-c", line 0). */
struct source {
	const char *file;
	unsigned line;
};

const char *source_text(struct source at); /* "file:line", or the option */

enum type { GLOBS, WORD, INT, BOOL, CPUS, NODES, TIME, SIZE, RLIMIT, RLIMIT_SIZE, RLIMIT_TIME };
enum stage { EXEC = 1, SHIM = 2, BOTH = 3 };
enum { P = 1, T = 2, S = 4 }; /* sections, for keys.def */

enum key_id {
#define KEY(sections, name, ...) K_##name,
#define SOCKET_KEY(name, ...) K_##name,
#include "keys.def"
#undef KEY
#undef SOCKET_KEY
	N_KEYS
};

struct key {
	const char *name;
	unsigned sections;
	enum type type;
	const char *values;
	const char *absent; /* the default column */
	enum stage stage;
	bool tcp_only;
	const char *help;
};
extern const struct key key_table[N_KEYS];

/* The index of a word in a WORD key's row, as enums, in the order of the rows. */
enum { CHILDREN_SAME, CHILDREN_ALL, CHILDREN_NONE };
enum { ON_ERROR_FAIL, ON_ERROR_WARN, ON_ERROR_IGNORE };
enum { PLACE_SPREAD, PLACE_SHARE };
enum { OVERFLOW_WRAP, OVERFLOW_SPILL };
enum { SCHED_WORD_OTHER, SCHED_WORD_BATCH, SCHED_WORD_IDLE, SCHED_WORD_FIFO, SCHED_WORD_RR };
enum { NUMA_DEFAULT, NUMA_PREFERRED, NUMA_BIND, NUMA_INTERLEAVE, NUMA_LOCAL };
enum { LOCK_NO, LOCK_CURRENT, LOCK_ALL, LOCK_ONFAULT };
enum { OWN_RESPECT, OWN_OVERRIDE };
enum { VISIBLE_SET, VISIBLE_OWN };

/* One assignment.  A list key may have several; the newest of any other key stands alone. */
struct item {
	const char *text;
	struct source at;
	struct item *next;
};

#define LIMIT_INFINITY INT64_MAX

struct value {
	struct item *items; /* NULL: not given */
	int64_t number;     /* read by type; a default's value if not given */
	int64_t number2;    /* the hard limit of an RLIMIT */
	bool unread;        /* given, but an error: what depends on it is not judged */
};

enum selector_kind {
	SELECT_ALL,
	SELECT_NAME,
	SELECT_MAIN,
	SELECT_INDEX,
	SELECT_START,
	SELECT_LIB,
	SELECT_TCP,
	SELECT_UDP
};

struct selector {
	enum selector_kind kind;
	const char *text;     /* NAME, START, LIB: what to match; always: as written, for messages */
	unsigned first, last; /* INDEX */
	struct selector *next;
};

struct section {
	unsigned kind;     /* P, T or S */
	const char *title; /* as written, "[Thread main rx-*]" */
	struct source at;
	struct selector *selectors;
	struct value value[N_KEYS];
	struct section *next;
};

struct policy {
	const char *path; /* NULL: none, only options */
	struct section process, *threads, *sockets;
	struct message *errors, *warnings;
};

/* A complaint about the policy, in the order found. */
struct message {
	const char *text; /* "file:line: what, what was expected" */
	struct message *next;
};

void policy_init(struct policy *p);

/*
 * Reads a policy's text (policy_parse), then the assignments of the command line (policy_set: "Section.Key=Value", named
 * as `option` in messages), then checks what only the whole can tell (policy_check).  Each adds to p->errors and
 * p->warnings and goes on, so that all mistakes are told at once.
 */
void policy_parse(struct policy *p, const char *path, const char *text, size_t length);
__attribute__((nonnull)) void policy_set(struct policy *p, const char *option, const char *assignment);
void policy_check(struct policy *p);

__attribute__((format(printf, 3, 4))) void policy_error(struct policy *p, struct source at, const char *format, ...);
__attribute__((format(printf, 3, 4))) void policy_warning(struct policy *p, struct source at, const char *format, ...);

/* A section's value, or [Process]'s if the section does not give it: what is in force for the section. */
const struct value *policy_value(const struct policy *p, const struct section *s, enum key_id key);

/* The key of this name that stands in `sections`, or -1; and the nearest name to a misspelt one, or NULL. */
int key_find(const char *name, unsigned sections);
const char *nearest(const char *word, const char *const *candidates, size_t n);

/*
 * value.c: strict readers.  The whole text must be the value; no sign unless the range has one, no wrap-around.
 * On failure *why is what was expected.
 */
bool read_number(const char *text, int64_t lowest, int64_t highest, int64_t *out);
bool value_read(const struct key *k, const char *text, struct value *v, const char **why);

/*
 * expr.c: CPU expressions.  expr_check looks at the form alone.  expr_eval asks `ask` for what each word means here:
 *   word "", set given:      explicit numbers: may they be used?
 *   word "!", set given:     turn the set into all CPUs but those
 *   word "cores", set given: leave one hardware thread of each core
 *   any other word, its argument or NULL: fill the set
 * `ask` answers false with *why if it cannot.  An empty result is not an error here.
 */
typedef bool expr_ask(void *context, const char *word, const char *argument, struct cpuset *set, const char **why);
bool expr_check(const char *text, const char **why);
bool expr_eval(const char *text, expr_ask *ask, void *context, struct cpuset *out, const char **why);

/* glob.c: shell pattern without pathname rules: * ? [a-z] [!a-z] \x. */
bool glob_match(const char *pattern, const char *text);

/* memory.c: what is kept until exec.  Never NULL: llrun ends with 125 when memory is out. */
__attribute__((returns_nonnull)) void *memory_get(size_t size); /* zeroed */
__attribute__((returns_nonnull)) char *memory_copy(const char *text, size_t length);
__attribute__((format(printf, 1, 2))) char *memory_printf(const char *format, ...);
char *memory_vprintf(const char *format, va_list args);
void *memory_mark(void);
void memory_release(void *mark); /* what was got since the mark; NULL: everything */

#endif

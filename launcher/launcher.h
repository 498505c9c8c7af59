#ifndef LLRUN_LAUNCHER_H
#define LLRUN_LAUNCHER_H
/* What the launcher's files offer each other; one block a file. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../policy/plan.h"
#include "../policy/policy.h"

enum { EXIT_LLRUN = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* message.c: all that llrun itself says.  "llrun: ..." on stderr; stdout belongs to the program. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
__attribute__((format(printf, 1, 2))) void warn_user(const char *format, ...); /* nothing under -q */
extern bool quiet;

/*
 * Findings: what cannot take effect, or will hurt.  Collected, told at once, and only main.c decides what follows.
 * on_error is the OnError= in force where the matter was asked for; NOTE is a warning that never stops anything, CAUSE one
 * that also explains a refusal (why a word of a CPU expression is empty here), and so is told with that too.
 */
enum { FINDING_NOTE = 100, FINDING_CAUSE };
struct findings {
	struct finding *first, **end;
	unsigned fatal;
};
void findings_init(struct findings *f);
__attribute__((format(printf, 3, 4))) void finding(struct findings *f, int on_error, const char *format, ...);
void findings_print(const struct findings *f);
/* Those of OnError=fail and warn, "; " between them; *worst, FINDING_NOTE if there are none: the strictest's. */
const char *findings_text(const struct findings *f, int *worst);

/* options.c: the command line, from options.def. */
struct options {
	const char *policy; /* -p, or NULL */
	bool no_policy, explain, any_setting;
	struct assignment {
		const char *option, *text;
		struct assignment *next;
	} * assignments;    /* in order */
	const char *status; /* --status: a pid or a program's name */
	long watch;         /* --watch: seconds, or 0 */
	bool check, json;
	struct ab_options {
		const char *arms, *each, *load, *load_policy, *ready, *noise, *samples, *disturbed, *plot, *json;
		struct words {
			const char *text;
			struct words *next;
		} * metrics, *higher;        /* in order */
		int64_t runs, seed, timeout; /* -1: not given */
		bool report;
		const char *given; /* one of them that was given, or NULL */
	} ab;
	int show;       /* 0, or what to print and end: 'h', 'V', 'k' */
	char **program; /* program and its arguments; program[0] may be NULL */
};
bool options_read(struct options *o, int argc, char **argv); /* false: said why, exit 125 */
void options_help(void);

/* load.c: finds and reads a policy.  False with everything said in p->errors or by say(). */
bool load_policy(struct policy *p, const char *name, const char *program_base, bool optional);

/*
 * topology.c: what this machine has, read from sysfs and procfs, below $LLRUN_SYSROOT if that is set (tests).
 * Cheap parts are read by topology_read; the rest when a word asks for it.
 */
struct topology {
	const char *root; /* "" or $LLRUN_SYSROOT */
	struct cpuset online;
	struct cpuset allowed;  /* what the cpuset lets this process use (cpuset(7)); the inherited mask is no limit */
	struct cpuset usable;   /* online and allowed */
	struct cpuset isolated; /* boot isolation and isolated cpuset partitions; all of the machine's, usable or not */
	bool isolated_known;    /* isolated has been read */
	const char *cpuset_path; /* this process's cpuset, for messages; NULL unknown */
	struct message *notes;   /* what a word could not tell: "near:eth0: the kernel does not know ..." */
};
bool topology_read(struct topology *t, const char **why);
expr_ask topology_ask; /* context: struct topology */
/* Housekeeping: usable minus isolated.  Siblings: the other hardware threads of these CPUs' cores. */
void topology_housekeeping(struct topology *t, struct cpuset *out);
void topology_isolated(struct topology *t, struct cpuset *out);
void topology_siblings(struct topology *t, const struct cpuset *of, struct cpuset *out);
/* The order in which spread gives out the CPUs of a set: one of each core first, then the siblings.  Returns how many. */
size_t topology_spread_order(struct topology *t, const struct cpuset *set, uint16_t *order, size_t max);
/* interface.c: the interrupts of a network interface that may come to these CPUs, "37 38"; NULL: none is known to. */
const char *interface_interrupts(const struct topology *t, const char *name, const struct cpuset *cpus);
/* Nodes: what a NODES text ("0-1", "all") means; nodes that exist and this process may use (Mems_allowed). */
bool topology_nodes(struct topology *t, const char *text, struct cpuset *out, const char **why);

/*
 * target.c: looks at the program before exec.  The only user of libelf.
 */
struct target {
	const char *path; /* what execve gets: found on PATH as execvp does */
	const char *base; /* base name of path */
	const char *
		executable; /* the ELF file that runs in the end: path, or the interpreter at the end of its #! lines */
	const char *executable_base;
	bool script;
	const char *no_shim;      /* why no shim can be loaded into it, "is statically linked", or NULL */
	const char *no_shim_cure; /* what would help, or NULL */
	bool go;                  /* Go: its sockets are raw system calls */
	const char *sanitizer;    /* soname that must stand before the shim in LD_PRELOAD, or NULL */
};
/* Finds the program.  0, or EXIT_NOT_FOUND / EXIT_NOT_EXECUTABLE with the cause said. */
int target_find(struct target *t, const char *program);
/* Fills the rest.  Never fails: what cannot be read is left as if it were an ordinary dynamic program. */
void target_inspect(struct target *t, const char *shim);
/* Offsets of the function `name` in the executable (several static functions may share a name): how many, at most max. */
size_t target_functions(const struct target *t, const char *name, uint64_t *offsets, size_t max, bool *stripped);

/* resolve.c: policy + topology + target -> plan; what cannot be goes to the findings, and is left out of the plan. */
void resolve(const struct policy *p, struct topology *t, const struct target *target, struct plan *plan,
	     struct findings *f);
/* Does the policy cover the program that is started, or only others (Program=)? */
bool covers(const struct policy *p, const struct target *target);
/* What the plan needs the shim for, as the user wrote it ("MemoryLock=all (file:3), [Thread main] (file:7)"); NULL: nothing. */
const char *needs_shim(const struct policy *p, bool sockets_only,
		       int *severity); /* severity: the strictest OnError= among them */

/* hints.c: what will hurt, though it can be done; and what is real time, SCHED_FIFO or SCHED_RR. */
bool is_real_time(int policy);
bool rule_is_real_time(const struct rule *r);
void hints(const struct policy *p, struct topology *t, const struct target *target, const struct plan *plan,
	   struct findings *f);

/* permission.c: may the program do what the plan leaves to the shim?  Found by trying; what it may not is left out. */
void permission_check(const struct policy *p, struct plan *plan, struct findings *f);
/* Why the kernel answered EPERM to this scheduling policy, and the cure. */
const char *permission_sched_cause(int priority);
bool capability_after_exec(unsigned capability);

/* apply.c: all that execve keeps, done to this process. */
void apply_record_launch(struct plan *plan);                   /* before anything else */
void apply_limits(const struct policy *p, struct findings *f); /* before permission_check: they are its measure */
void apply(const struct policy *p, struct topology *t, struct plan *plan, bool covered, struct findings *f);

/* environment.c: the only writer of the environment. */
const char *shim_path(void); /* NULL: not there */
const char *shipped_directory(void);
/*
 * LLRUN_PLAN and LD_PRELOAD: the shim, behind `sanitizer` if that is not NULL (it wants to be first), and what the caller had.
 * Notes in the plan how a child that is reset undoes it.  shim NULL: neither.  False: the plan is too long (execve(2)).
 */
bool environment_set(struct plan *plan, const char *shim, const char *sanitizer);
void environment_keep_heap(void); /* HeapRelease=no */

/* explain.c: --explain and --keys, on stdout. */
void explain(const struct policy *p, struct topology *t, const struct target *target, const struct plan *plan,
	     const char *shim);
void explain_keys(void);

/*
 * status.c: --status, on stdout.  subject: a pid or a program's name; wanted: a plan to judge it by, or NULL for what its ledger
 * says; watch: seconds between reports, 0 for one.  The exit status: 0 all as wanted, 1 drift, 2 cannot tell (said why).
 */
enum { STATUS_AS_WANTED, STATUS_DRIFT, STATUS_CANNOT_TELL };
int status(const char *subject, const struct plan *wanted, long watch, bool as_json);

/*
 * check/: --check, on stdout.  Judges the machine for the plan; target: NULL if no program was named; findings: what resolve and
 * permission_check had to say.  Reads only; takes a second.
 */
enum { CHECK_FIT, CHECK_UNFIT };
int check(const struct policy *policy, struct topology *t, const struct plan *plan, const struct target *target,
	  const struct findings *findings, bool as_json);

/* ab/: --ab and --ab-report.  The exit status. */
int ab(const struct options *o);

#endif

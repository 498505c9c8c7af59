#ifndef LLRUN_CHECK_H
#define LLRUN_CHECK_H
/*
 * launcher/check/: is this machine fit for a policy?  An item is a row of items.def and a reader GROUP_NAME() in
 * GROUP.c, which reads one thing and judges it for the policy's CPUs.  check.c runs them all and prints.
 *
 * A reader returns what one of the verbs below returns.  What cannot be read is unknown, never good; what surely does
 * not apply here is moot.  How bad a bad item is stands in its row, not in the reader.
 */
#include "../launcher.h"
#include "../topology.h"

enum verdict { GOOD, BAD, UNKNOWN, MOOT, LATER };

struct answer {
	const char *value; /* what was read */
	const char *where; /* from which file */
	const char *text;  /* what it means here */
	const char *it;    /* what the cure is for: {it} in the row's cures */
};

struct task {
	pid_t pid, tid;
	const char *name;
	int cpu, policy, priority;
	unsigned long flags; /* PF_*: include/linux/sched.h */
	struct cpuset allowed;
	struct task *next;
};
enum { TASK_KERNEL = 0x00200000, TASK_BOUND = 0x04000000 }; /* PF_KTHREAD, PF_NO_SETAFFINITY */

struct check {
	struct topology *t;
	const struct policy *policy;
	const struct plan *plan;
	const struct target *target; /* NULL: none was named */
	const struct findings *findings;
	struct cpuset cpus, rest; /* the CPUs that are judged, and the other online ones */
	struct cpuset real_time;  /* those of them with real-time threads */
	struct cpuset isolated;
	int priority; /* the highest real-time one; 0: none */
	bool busy_poll, prefer_busy_poll;
	bool guest, guest_known; /* in a virtual machine */
	const char **interface;  /* NULL after the last */
	struct task *tasks;
	const char *tasks_why; /* why there are none */
	bool tasks_read;
	struct sample *samples;
	bool second; /* the second pass: a second has gone by */
};

/* The verbs. */
__attribute__((format(printf, 2, 3))) enum verdict good(struct answer *a, const char *format, ...);
__attribute__((format(printf, 2, 3))) enum verdict bad(struct answer *a, const char *format, ...);
__attribute__((format(printf, 2, 3))) enum verdict unknown(struct answer *a, const char *format, ...);
__attribute__((format(printf, 2, 3))) enum verdict moot(struct answer *a, const char *format, ...);
enum verdict unread(struct answer *a); /* the last read failed, and said why */

/*
 * read.c: files below the topology's root, by absolute paths.  Each notes path and first line in the answer; on failure
 * the reason too, errno tells which, and the reader says `return unread(a)`.
 */
const char *read_gzip(struct check *c, struct answer *a, const char *path);
__attribute__((format(printf, 3, 4))) const char *read_text(struct check *c, struct answer *a, const char *format, ...);
__attribute__((format(printf, 4, 5))) bool read_long(struct check *c, struct answer *a, long long *n,
						     const char *format, ...);
__attribute__((format(printf, 4, 5))) bool read_cpus(struct check *c, struct answer *a, struct cpuset *set,
						     const char *format, ...);
/* A hexadecimal mask, "ff,00000000". */
__attribute__((format(printf, 4, 5))) bool read_mask(struct check *c, struct answer *a, struct cpuset *set,
						     const char *format, ...);
bool exists(struct check *c, const char *path);
/* The names in a directory, "" after the last; NULL: none such. */
const char **read_names(struct check *c, const char *path);
/*
 * Two readings of a file, a second apart.  False: come back later (`return LATER`) or, with *why, it cannot be read.
 * All such items share one second.  Below a fake root there is no waiting: the later file is that below /later, or else
 * the same.
 */
bool read_twice(struct check *c, struct answer *a, const char *path, const char **before, const char **after,
		bool *later);
#define TWICE(c, a, path, before, after)                                                                               \
	do {                                                                                                           \
		bool later_;                                                                                           \
		if (!read_twice(c, a, path, before, after, &later_))                                                   \
			return later_ ? LATER : unread(a);                                                             \
	} while (0)

/* text.c: what such texts say. */
const char *first_line(const char *text);
const char *next_line(const char *line); /* NULL: that was the last */
const char *list_of(const struct cpuset *set);
const char *mask_of(const struct cpuset *set);
bool parse_mask(const char *text, struct cpuset *set);
struct cpuset common(const struct cpuset *a, const struct cpuset *b);
/* "name=value" in a kernel command line: the value, "" for a bare name, NULL for none. */
const char *boot_option(const char *cmdline, const char *name);
/* The rest of a line that begins with this name and a colon or space. */
const char *line_of(const char *text, const char *name);
long long number_in_line(const char *text, const char *name); /* -1: none */
const char *bracketed(const char *text);                      /* "madvise" of "always [madvise] never" */
/* A row of /proc/interrupts or /proc/softirqs: what it grew by on these CPUs; -1: no such row. */
long long row_growth(const char *before, const char *after, const char *row, const struct cpuset *cpus);
const char *row_name(const char *line); /* "36" of " 36:   0 ..."; NULL: none */

/* judge.c: readers that many items share. */
enum verdict number_within(struct check *c, struct answer *a, long long low, long long high, const char *is_bad,
			   const char *path);
/* Each CPU of the set has such a file (%d its number): those whose text does not fit are told. */
enum verdict each_cpu(struct check *c, struct answer *a, const struct cpuset *set, const char *path,
		      bool (*fits)(const char *text), const char *is_good, const char *is_bad);
/* A mask file that should leave the judged CPUs out. */
enum verdict spared(struct check *c, struct answer *a, const struct cpuset *set, const char *what);

/* tasks.c: every thread of the machine.  NULL with *why: they cannot be read. */
struct task *tasks(struct check *c, const char **why);
/* Is it one of the program's own, which the policy covers? */
bool own_task(struct check *c, const struct task *t);

/* group.c: the control group that llrun is in, and so the program.  NULL, the answer says why: not found. */
const char *group_of(struct check *c, struct answer *a, const char *controller, bool *v2);
const char *group_parent(const char *group); /* NULL: it is the top */

/* ethtool.c: what the driver answers to SIOCETHTOOL.  False with errno.  Below a fake root: the numbers in
 * /ethtool/IF/NAME. */
bool ethtool(struct check *c, const char *interface, const char *name, void *numbers, size_t n);

#define ITEM(group, name, ...) enum verdict group##_##name(struct check *c, struct answer *a);
#include "items.def"
#undef ITEM

#endif

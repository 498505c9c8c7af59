#ifndef LLRUN_STATUS_H
#define LLRUN_STATUS_H
/* What --status knows of a process (status.c), and how a thread of it is judged (thread_judge.c). */
#include "observe.h"

/* What is known of a process, and what was wanted of it. */
struct view {
	pid_t pid;
	const struct plan *plan;
	const struct ledger *ledger; /* NULL: judged by a policy */
	struct thread_state *threads;
	struct cpuset cpuset;
	bool cpuset_known;
	int verdict;
};

/* One thread of it. */
struct judgement {
	const char *rule;
	const struct rule *wanted;
	struct cpuset cpus;  /* wanted */
	const char *problem; /* NULL: ok */
	bool drift;
};

/* Is the thread as its rule says?  If not, why: the program, somebody else, its cpuset, a refusal. */
struct judgement judge_thread(const struct view *v, const struct thread_state *t);

#endif

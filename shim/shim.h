#ifndef LLRUN_SHIM_H
#define LLRUN_SHIM_H
/*
 * What the shim's files share.  The shim holds no policy: it decodes the plan once and acts in its hooks.
 * Rules for everything in here: no malloc, no stdio, no lock, no thread, no kept fd, no TLS variable; errno as it was.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <threads.h>
#include "../policy/plan.h"
#include "../policy/policy.h"
#include "ledger.h"

#define HOOK __attribute__((visibility("default")))

/*
 * For what is long and of which a usual program touches the beginning, if anything.  The linker puts it behind all that is
 * short (--sort-section=name), which then shares a page: each page is one more in every program that runs under llrun.
 */
#define LONG_ARRAY __attribute__((section(".bss.long")))

/*
 * Every function that the shim hooks, once.  From these rows come the pointers to the real ones and (lint) shim.map.
 * REAL(result, name, parameters)
 */
#define REAL_FUNCTIONS(REAL)                                                                                           \
	REAL(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))                    \
	REAL(int, thrd_create, (thrd_t *, thrd_start_t, void *))                                                       \
	REAL(int, pthread_setname_np, (pthread_t, const char *))                                                       \
	REAL(int, prctl, (int, unsigned long, unsigned long, unsigned long, unsigned long))                            \
	REAL(int, socket, (int, int, int))                                                                             \
	REAL(int, accept, (int, struct sockaddr *, socklen_t *))                                                       \
	REAL(int, accept4, (int, struct sockaddr *, socklen_t *, int))                                                 \
	REAL(int, epoll_create, (int))                                                                                 \
	REAL(int, epoll_create1, (int))                                                                                \
	REAL(int, sched_setaffinity, (pid_t, size_t, const cpu_set_t *))                                               \
	REAL(int, sched_getaffinity, (pid_t, size_t, cpu_set_t *))                                                     \
	REAL(int, pthread_setaffinity_np, (pthread_t, size_t, const cpu_set_t *))                                      \
	REAL(int, pthread_getaffinity_np, (pthread_t, size_t, cpu_set_t *))                                            \
	REAL(int, sched_setscheduler, (pid_t, int, const struct sched_param *))                                        \
	REAL(int, sched_setparam, (pid_t, const struct sched_param *))                                                 \
	REAL(int, pthread_setschedparam, (pthread_t, int, const struct sched_param *))                                 \
	REAL(int, pthread_setschedprio, (pthread_t, int))

#define REAL(result, name, parameters)                                                                                 \
	typedef result name##_function parameters;                                                                     \
	name##_function *real_##name(void);
REAL_FUNCTIONS(REAL)
#undef REAL

/* init.c */
bool active(void); /* Is there a plan for this process?  Initialises on the first call; a hook forwards if not. */
extern struct plan plan;
extern struct ledger *ledger;
void deactivate(void); /* every hook is a plain pass-through from now on */

/* place.c: records and the CPUs that spread gives out. */
struct record *record_take(uint32_t rule, uint32_t base); /* with a CPU if the rule spreads; NULL: none left */
void record_release(struct record *r);
uint32_t record_index(const struct record *r);
struct record *record_of_tid(pid_t tid);           /* of this process; NULL */
void record_move(struct record *r, uint32_t rule); /* another rule for a running thread that was placed, done by tid */
/*
 * The mask for a thread of this rule: the CPU that spread gave it, or, if that is none of the rule's (-1, or whatever somebody
 * else wrote into the ledger), all of them.  Returns its size in bytes, as short as can be: the kernel reads no further than it
 * has CPUs, and glibc copies it all.
 */
size_t rule_mask(const struct rule *rule, int cpu, struct cpuset *set);
int record_apply(struct record *r); /* gives the running thread its rule: 0 or the errno of what was refused */
const struct rule *
record_rule(const struct record *r); /* what is in force for it: its rule, or housekeeping if spilled */

/* attr.c */
bool attr_carries(int policy); /* can an attr hold this scheduling policy? */
/* All that the caller's says, into a fresh attr; *own is what the caller chose itself, RECORD_OWN_*.  False: not possible. */
bool attr_copy(pthread_attr_t *to, const pthread_attr_t *from, int *own);
/* The rule's parts (HAS_*); cpu: the one that spread gave, or -1.  False: not possible. */
bool attr_set(pthread_attr_t *attr, const struct rule *rule, int cpu, int parts);

/* thread.c */
bool threads_init(void);
bool threads_are_placed(void); /* does any rule give its threads anything? */
bool threads_were_made(void);
bool in_a_strange_child(void); /* of vfork and the like: not the process whose threads we know */
struct record *own_record(void);
struct record *inherited_record(void); /* in a forked child, before forget_threads(): the parent's */
struct record *record_of_thread(pthread_t thread);
void bind_thread(struct record *r);                        /* the record is the calling thread's */
struct record *adopt_thread(uint32_t rule, uint32_t base); /* a record for the calling thread, which has none */
void forget_threads(void); /* in a forked child: it has one thread, and creation order starts again */
uint32_t rule_of_main(void);

/* name.c */
bool names_matter(void);
void thread_named(struct record *r, const char *name);

/* memory.c */
int lock_memory(void); /* 0 or errno */

/* process.c */
enum coverage { COVERED_FIRST, COVERED, RESET, NOT_YET };
enum coverage process_coverage(char mark);
void process_mark_covered(void);
void process_reset(bool exec);        /* back to the launch-time class; with exec also the caller's environment */
void process_forget_scheduling(void); /* in a child under CPUSchedulingResetOnFork= */
void process_watch_forks(void);

/* notice.c: one line on stderr, once a kind, if fd 2 is still the file that it was at start. */
enum notice {
	NOTICE_PLAN,
	NOTICE_THREAD,
	NOTICE_MAIN,
	NOTICE_SOCKET,
	NOTICE_EPOLL,
	NOTICE_MEMORY,
	NOTICE_RECORDS,
	NOTICE_CHILD,
	N_NOTICES
};
void notice_init(void);
void notice(enum notice kind, int on_error, const char *what, int error);

#endif

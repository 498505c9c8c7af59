/*
 * place.c - records of threads, and which CPU spread gives to whom.  Lock-free: a creator takes a record, chooses the least
 * loaded CPU of the rule in the plan's order, and counts itself there; the thread's end gives both back.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shim.h"

uint32_t record_index(const struct record *r)
{
	return (uint32_t)(r - ledger->record);
}

const struct rule *record_rule(const struct record *r)
{
	uint32_t rule = atomic_load(&((struct record *)r)->rule);

	if (atomic_load(&((struct record *)r)->flags) & RECORD_SPILLED)
		return &plan.housekeeping;
	return &plan.rule[rule < plan.n_rules ? rule : 0];
}

/* The least loaded CPU of the rule, the first in the plan's order among equals; its load to *load. */
static int least_loaded(const struct rule *rule, uint16_t *load)
{
	int found = -1;

	for (uint32_t i = 0; i < rule->n_cpus; i++) {
		unsigned cpu = plan_cpu(&plan, rule, i);
		uint16_t n = atomic_load_explicit(&ledger->load[cpu], memory_order_relaxed);

		if (found < 0 || n < *load) {
			found = (int)cpu;
			*load = n;
		}
		if (n == 0)
			break;
	}
	return found;
}

static void cpu_release(int cpu)
{
	if (cpu >= 0 && cpu < CPUSET_MAX)
		atomic_fetch_sub_explicit(&ledger->load[cpu], 1, memory_order_relaxed);
}

/*
 * Is this process or thread still there, and still running our program?  After an exec its slots are no longer its own.
 * A zombie, which its parent has not waited for, has no executable any more: ENOENT.
 */
static bool runs_our_program(pid_t pid)
{
	char path[32] = "/proc/", digit[12];
	struct stat mine, its;
	int n = 6, i = 0;

	if (kill(pid, 0) != 0 && errno == ESRCH)
		return false;
	for (pid_t rest = pid; rest; rest /= 10)
		digit[i++] = (char)('0' + rest % 10);
	while (i)
		path[n++] = digit[--i];
	for (const char *tail = "/exe"; *tail; tail++)
		path[n++] = *tail;
	if (stat("/proc/self/exe", &mine) != 0)
		return true; /* cannot tell: leave it its slots */
	if (stat(path, &its) != 0)
		return errno != ENOENT;
	return mine.st_dev == its.st_dev && mine.st_ino == its.st_ino;
}

/* Gives back what dead processes held (a worker that was killed ran no destructor). */
static void reclaim(void)
{
	pid_t me, asked = 0;
	bool lives = true;
	int saved = errno;

	if (atomic_load(&ledger->processes) < 2)
		return;
	me = getpid();
	for (uint32_t i = 0; i < LEDGER_THREADS; i++) {
		struct record *r = &ledger->record[i];
		pid_t pid = atomic_load(&r->pid);

		if (atomic_load(&r->state) == RECORD_FREE || pid == me || pid <= 0)
			continue;
		if (pid != asked)
			lives = runs_our_program(pid);
		asked = pid;
		/* A process whose first thread alone has ended looks like a zombie too: ask for this thread. */
		if (!lives && !(atomic_load(&r->tid) && runs_our_program(atomic_load(&r->tid))))
			record_release(r);
	}
	errno = saved;
}

/* Chooses and counts a CPU for a rule that spreads.  -1: none, the rule shares; *spilled: there was none left. */
static int cpu_take(const struct rule *rule, bool *spilled)
{
	bool reclaimed = false;

	*spilled = false;
	if (rule->placement != PLACE_SPREAD || !(rule->has & HAS_CPUS))
		return -1;
	for (;;) {
		uint16_t load = 0;
		int cpu = least_loaded(rule, &load);

		if (cpu < 0)
			return -1;
		if (load && !reclaimed) {
			reclaim();
			reclaimed = true;
			continue;
		}
		if (load && rule->overflow == OVERFLOW_SPILL) {
			*spilled = true;
			return -1;
		}
		/* Lost against another creator: look again, somebody else may now be the least loaded. */
		if (load == UINT16_MAX || atomic_compare_exchange_weak(&ledger->load[cpu], &load, (uint16_t)(load + 1)))
			return cpu;
	}
}

struct record *record_take(uint32_t rule, uint32_t base)
{
	uint32_t hint = atomic_fetch_add_explicit(&ledger->hint, 1, memory_order_relaxed);

	for (uint32_t i = 0; i < LEDGER_THREADS; i++) {
		struct record *r = &ledger->record[(hint + i) % LEDGER_THREADS];
		uint8_t free_state = RECORD_FREE;
		bool spilled;

		if (atomic_load_explicit(&r->state, memory_order_relaxed) != RECORD_FREE ||
		    !atomic_compare_exchange_strong(&r->state, &free_state, RECORD_TAKEN))
			continue;
		atomic_store(&r->pid, getpid());
		atomic_store(&r->tid, 0);
		atomic_store(&r->rule, (uint16_t)rule);
		atomic_store(&r->base, (uint16_t)base);
		atomic_store(&r->error, 0);
		atomic_store(&r->named, 0);
		atomic_store(&r->cpu, (int16_t)cpu_take(&plan.rule[rule], &spilled));
		atomic_store(&r->flags, spilled ? RECORD_SPILLED : 0);
		return r;
	}
	atomic_fetch_add(&ledger->unrecorded, 1);
	notice(NOTICE_RECORDS, plan.on_error, "more than 4096 threads: the others share the CPUs of their rule", 0);
	return NULL;
}

void record_release(struct record *r)
{
	uint8_t was = atomic_load(&r->state);

	/* Several may try: the thread's end, and sibling processes that found it dead.  One of them does it. */
	if (was == RECORD_FREE || was == RECORD_ENDING ||
	    !atomic_compare_exchange_strong(&r->state, &was, RECORD_ENDING))
		return;
	cpu_release(atomic_exchange(&r->cpu, -1));
	atomic_store(&r->pid, 0);
	atomic_store(&r->state, RECORD_FREE);
}

struct record *record_of_tid(pid_t tid)
{
	pid_t me = getpid();

	for (uint32_t i = 0; i < LEDGER_THREADS; i++) {
		struct record *r = &ledger->record[i];

		if (atomic_load_explicit(&r->tid, memory_order_relaxed) == tid &&
		    atomic_load(&r->state) == RECORD_LIVE && atomic_load(&r->pid) == me)
			return r;
	}
	return NULL;
}

static int apply_sched(pid_t tid, const struct rule *rule)
{
	struct sched_param param = {.sched_priority = rule->priority};
	int policy = rule->policy | (plan.reset_on_fork && tid == getpid() ? SCHED_RESET_ON_FORK : 0);

	return syscall(SYS_sched_setscheduler, tid, policy, &param) == 0 ? 0 : errno;
}

size_t rule_mask(const struct rule *rule, int cpu, struct cpuset *set)
{
	size_t words = 1;

	for (uint32_t i = 0; cpu >= 0 && i < rule->n_cpus; i++)
		if (plan_cpu(&plan, rule, i) == (unsigned)cpu) {
			*set = (struct cpuset){{0}};
			cpuset_add(set, (unsigned)cpu);
			return ((size_t)cpu / 64 + 1) * sizeof set->word[0];
		}
	*set = plan_cpus(&plan, rule);
	for (size_t i = words; i < CPUSET_WORDS; i++)
		words = set->word[i] ? i + 1 : words;
	return words * sizeof set->word[0];
}

static int apply_cpus(pid_t tid, const struct rule *rule, int cpu)
{
	struct cpuset set;
	size_t size = rule_mask(rule, cpu, &set);

	return syscall(SYS_sched_setaffinity, tid, size, &set) == 0 ? 0 : errno;
}

/* cpus: those too, or does it run there already? */
static int apply_rule(struct record *r, bool cpus)
{
	const struct rule *rule = record_rule(r);
	pid_t tid = atomic_load(&r->tid);
	int flags = atomic_load(&r->flags), saved = errno, error = 0, e;

	/*
	 * The scheduling first: a running thread that is moved to a busy CPU under SCHED_OTHER queues there for its turn (2.7 ms
	 * against 95 us, measured), under SCHED_FIFO it runs at once.
	 */
	if (rule->has & HAS_SCHED && !(flags & RECORD_OWN_SCHED) && (e = apply_sched(tid, rule)))
		error = e;
	if (rule->has & HAS_NICE && setpriority(PRIO_PROCESS, (id_t)tid, rule->nice) != 0)
		error = errno;
	if (cpus && rule->has & HAS_CPUS && !(flags & RECORD_OWN_CPUS) &&
	    (e = apply_cpus(tid, rule, atomic_load(&r->cpu))))
		error = e;
	if (error) {
		atomic_store(&r->error, (uint8_t)error);
		atomic_fetch_or(&r->flags, RECORD_REFUSED);
	}
	errno = saved;
	return error;
}

int record_apply(struct record *r)
{
	return apply_rule(r, true);
}

void record_move(struct record *r, uint32_t rule)
{
	/* Its old CPU first: it may well get that again, and should not count as its own neighbour. */
	int before = atomic_exchange(&r->cpu, -1), now, meanwhile;
	bool spilled, stays;

	cpu_release(before);
	atomic_store(&r->rule, (uint16_t)rule);
	now = cpu_take(&plan.rule[rule], &spilled);
	/* Its creator and the thread itself may both be moving it: what the other has taken meanwhile is given back. */
	meanwhile = atomic_exchange(&r->cpu, (int16_t)now);
	cpu_release(meanwhile);
	if (spilled)
		atomic_fetch_or(&r->flags, RECORD_SPILLED);
	else
		atomic_fetch_and(&r->flags, (uint8_t)~RECORD_SPILLED);
	stays = before >= 0 && now == before && meanwhile < 0 && !(atomic_load(&r->flags) & RECORD_REFUSED);
	int error = apply_rule(r, !stays);
	if (error)
		notice(NOTICE_THREAD, plan.rule[rule].on_error, "a thread could not be placed", error);
}

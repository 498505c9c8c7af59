/*
 * thread.c - new threads.  A thread is placed before it runs, through a fresh attr that glibc applies while the thread is
 * still held back: 84-99 us to user code on a busy CPU, against 2-4 ms for a thread that moves itself, and a FIFO creator
 * that spins for its new thread does not deadlock.  The CPU is chosen in the creator, so creation order is the order.
 *
 * The thread starts in a small function of ours that notes its tid and goes on to the caller's routine by a tail call, so
 * that backtraces look as they would without us.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shim.h"

/* What a new thread is to run, by the index of its record.  Not in the ledger: others could write there. */
LONG_ARRAY static struct start {
	void *(*routine)(void *);
	thrd_start_t c11_routine;
	void *argument;
	char creator[16]; /* the creator's name, if rules go by name */
	pthread_t handle; /* set by the thread itself: the creator's copy may be gone by then */
} start[LEDGER_THREADS];

static pthread_key_t key;        /* the thread's record; its destructor gives the record back */
static _Atomic uint32_t created; /* creation order: 1 is the first created */
static uintptr_t executable_base;
static bool placing;  /* some rule gives its threads something */
static pid_t process; /* whose threads these are */

static void thread_ended(void *record)
{
	int saved = errno;

	record_release(record);
	errno = saved;
}

/* The start of the executable in memory: where its first PT_LOAD lies. */
static int find_base(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			executable_base = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & ~(uintptr_t)4095;
			break;
		}
	return 1; /* the first entry is the executable */
}

bool threads_init(void)
{
	for (uint32_t i = 0; i < plan.n_rules; i++)
		placing |= plan.rule[i].has != 0;
	dl_iterate_phdr(find_base, NULL);
	process = getpid();
	return pthread_key_create(&key, thread_ended) == 0;
}

bool threads_are_placed(void)
{
	return placing;
}

bool threads_were_made(void)
{
	return atomic_load(&created) != 0;
}

/*
 * A child by vfork, clone or _Fork shares or copies its creator's memory without a word to us (fork tells: forked()).  It
 * must not take the creator's record for its own: what it does to itself before its exec would be done to the creator.
 */
bool in_a_strange_child(void)
{
	return getpid() != process;
}

struct record *own_record(void)
{
	return in_a_strange_child() ? NULL : pthread_getspecific(key);
}

struct record *inherited_record(void)
{
	return pthread_getspecific(key);
}

struct record *record_of_thread(pthread_t thread)
{
	if (pthread_equal(thread, pthread_self()))
		return own_record();
	for (uint32_t i = 0; i < LEDGER_THREADS; i++) {
		struct record *r = &ledger->record[i];

		if (start[i].handle && pthread_equal(start[i].handle, thread) &&
		    atomic_load(&r->state) == RECORD_LIVE && atomic_load(&r->pid) == getpid())
			return r;
	}
	return NULL;
}

void bind_thread(struct record *r)
{
	atomic_store(&r->tid, (pid_t)syscall(SYS_gettid));
	start[record_index(r)].handle = pthread_self();
	atomic_store(&r->state, RECORD_LIVE);
	pthread_setspecific(key, r);
}

struct record *adopt_thread(uint32_t rule, uint32_t base)
{
	struct record *r = record_take(rule, base);

	if (r)
		bind_thread(r);
	return r;
}

/* The handles of the parent's threads stay: their records are not of this process, so they are never found. */
void forget_threads(void)
{
	process = getpid();
	atomic_store(&created, 0);
	pthread_setspecific(key, NULL); /* the parent's record: not ours to give back */
}

/* --- which rule --- */

struct object_search {
	uintptr_t address;
	const struct plan_selector *selector;
	bool match;
};

/* dl_iterate_phdr and not dladdr: dladdr waits for a dlopen that is still in its constructors, which may wait for us. */
static int find_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object_search *s = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && s->address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) {
			const char *slash = strrchr(info->dlpi_name, '/');

			s->match = glob_match(plan.store + s->selector->text, slash ? slash + 1 : info->dlpi_name);
			return 1;
		}
	}
	return 0;
}

static bool from_object(const struct plan_selector *selector, uintptr_t routine)
{
	struct object_search s = {routine, selector, false};

	dl_iterate_phdr(find_object, &s);
	return s.match;
}

static bool selected(const struct plan_selector *s, uintptr_t routine, uint32_t index)
{
	switch (s->kind) {
	case SELECT_ALL:
		return true;
	case SELECT_INDEX:
		return index >= s->first && index <= s->last;
	case SELECT_START:
		return routine - executable_base == s->first;
	case SELECT_LIB:
		return from_object(s, routine);
	default:
		return false; /* main is no new thread, and a name comes later */
	}
}

/* The first rule that what is known at creation chooses; 0, the class of [Process], if none does. */
static uint32_t rule_of_new(uintptr_t routine, uint32_t index)
{
	for (uint32_t i = 0; i < plan.n_selectors; i++)
		if (selected(&plan.selector[i], routine, index))
			return plan.selector[i].rule;
	return 0;
}

uint32_t rule_of_main(void)
{
	for (uint32_t i = 0; i < plan.n_selectors; i++)
		if (plan.selector[i].kind == SELECT_MAIN || plan.selector[i].kind == SELECT_ALL)
			return plan.selector[i].rule;
	return 0;
}

/* --- the new thread's first steps --- */

/* Its creator may have named it before it ran, and found no record to move: then it is no longer called as its creator. */
static void named_before_birth(struct record *r, const struct start *s)
{
	char name[16] = "";

	syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
	if (strcmp(name, s->creator) != 0)
		thread_named(r, name);
}

static __attribute__((noinline)) void thread_begins(struct start *s)
{
	struct record *r = &ledger->record[s - start];
	const struct rule *rule = record_rule(r);

	bind_thread(r);
	/* What an attr cannot carry.  Down from FIFO, or sideways: nobody can wait for this thread in vain. */
	if (rule->has & HAS_SCHED && !attr_carries(rule->policy) && !(atomic_load(&r->flags) & RECORD_OWN_SCHED)) {
		struct sched_param none = {0};

		syscall(SYS_sched_setscheduler, 0, rule->policy, &none);
	}
	if (rule->has & HAS_NICE && setpriority(PRIO_PROCESS, 0, rule->nice) != 0) {
		atomic_store(&r->error, (uint8_t)errno);
		atomic_fetch_or(&r->flags, RECORD_REFUSED);
		notice(NOTICE_THREAD, rule->on_error, "a thread's Nice= was refused", errno);
	}
	if (names_matter())
		named_before_birth(r, s);
	errno = 0; /* a new thread's is 0 */
}

static void *run(void *p)
{
	struct start *s = p;
	void *(*routine)(void *) = s->routine;
	void *argument = s->argument;

	thread_begins(s);
	return routine(argument);
}

static void *run_c11(void *p)
{
	struct start *s = p;

	thread_begins(s);
	return (void *)(intptr_t)s->c11_routine(s->argument);
}

/* --- creation --- */

/* Creates with these parts of the rule in the attr.  -1: the attr could not be built. */
static int create_with(pthread_t *thread, const pthread_attr_t *callers, struct record *r, int parts,
		       void *(*routine)(void *), void *argument)
{
	const struct rule *rule = record_rule(r);
	pthread_attr_t attr;
	int error = -1, own;

	/* NULL means the default attr, which the program may have changed (pthread_setattr_default_np). */
	if (callers ? pthread_attr_init(&attr) : pthread_getattr_default_np(&attr))
		return -1;
	if (attr_copy(&attr, callers, &own)) {
		if (plan.own == OWN_OVERRIDE)
			own = 0;
		/* Before it runs: its first steps look there, and it may have ended, and its record be another's, when we return. */
		atomic_fetch_or(&r->flags, (uint8_t)own);
		parts &= rule->has;
		parts &= ~((own & RECORD_OWN_CPUS ? HAS_CPUS : 0) | (own & RECORD_OWN_SCHED ? HAS_SCHED : 0));
		if (attr_set(&attr, rule, own & RECORD_OWN_CPUS ? -1 : atomic_load(&r->cpu), parts))
			error = real_pthread_create()(thread, &attr, routine, argument);
	}
	pthread_attr_destroy(&attr);
	return error;
}

/* --status must not claim it.  Before the next try, for the same reason. */
static void mark_refused(struct record *r, int error)
{
	atomic_store(&r->error, (uint8_t)error);
	atomic_fetch_or(&r->flags, RECORD_REFUSED);
}

/* The whole rule; what the kernel refuses is left out, until a create that would have worked works. */
static int create_placed(pthread_t *thread, const pthread_attr_t *callers, struct record *r, void *(*routine)(void *),
			 void *argument)
{
	/* After EPERM more likely without the scheduling, after EINVAL without the CPUs; then the other way round. */
	static const int tries[2][2] = {{HAS_CPUS, HAS_SCHED}, {HAS_SCHED, HAS_CPUS}};
	int on_error = record_rule(r)->on_error, refused = 0, error;

	error = create_with(thread, callers, r, HAS_CPUS | HAS_SCHED, routine, argument);
	for (int i = 0; i < 3 && (error == EPERM || error == EINVAL); i++) {
		if (!refused)
			mark_refused(r, refused = error);
		error = i < 2 ? create_with(thread, callers, r, tries[refused == EINVAL][i], routine, argument) : -1;
	}
	if (error == -1) { /* no attr of ours fits: the caller's own */
		if (!refused)
			mark_refused(r, refused = EINVAL);
		error = real_pthread_create()(thread, callers, routine, argument);
	}
	if (refused && error == 0)
		notice(NOTICE_THREAD, on_error, "a thread could not be placed as its rule says", refused);
	return error;
}

static int create(pthread_t *thread, const pthread_attr_t *attr, struct start what)
{
	uint32_t index = atomic_fetch_add(&created, 1) + 1;
	uintptr_t routine = what.routine ? (uintptr_t)what.routine : (uintptr_t)what.c11_routine;
	uint32_t rule = rule_of_new(routine, index);
	struct record *r = record_take(rule, rule);
	int error;

	if (!r)
		return -1;
	if (names_matter())
		syscall(SYS_prctl, PR_GET_NAME, what.creator, 0, 0, 0);
	start[record_index(r)] = what;
	error = create_placed(thread, attr, r, what.routine ? run : run_c11, &start[record_index(r)]);
	if (error) {
		uint32_t mine = index;

		record_release(r);
		atomic_compare_exchange_strong(&created, &mine, index - 1);
		atomic_fetch_add(&ledger->threads.failed, 1);
		atomic_store(&ledger->threads.error, error);
	} else {
		atomic_fetch_add(&ledger->threads.set, 1);
	}
	return error;
}

HOOK int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*routine)(void *),
			void *restrict argument)
{
	int saved, error;

	if (!active() || !placing)
		return real_pthread_create()(thread, attr, routine, argument);
	saved = errno;
	error = create(thread, attr, (struct start){.routine = routine, .argument = argument});
	if (error == -1)
		error = real_pthread_create()(thread, attr, routine, argument);
	if (error == 0)
		errno = saved;
	return error;
}

/* libc's own goes straight to its internal create (glibc nptl/../sysdeps/pthread/thrd_create.c), so it needs its hook. */
HOOK int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
	int saved, error;

	if (!active() || !placing)
		return real_thrd_create()(thread, routine, argument);
	saved = errno;
	error = create((pthread_t *)thread, NULL, (struct start){.c11_routine = routine, .argument = argument});
	if (error == -1)
		return real_thrd_create()(thread, routine, argument);
	if (error == 0)
		errno = saved;
	return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}

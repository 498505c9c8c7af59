/*
 * init.c - the shim's one initialisation, and the pointers to the real functions.
 *
 * Our constructor runs after those of the libraries that the program needs, so a hook may be called before it (another
 * library's constructor makes a thread): each hook asks active(), which initialises.  Without a plan, or in a process that
 * the plan does not cover, every hook is a plain pass-through.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shim.h"

LONG_ARRAY struct plan plan;
struct ledger *ledger;

static _Atomic int state;
enum { UNKNOWN, WORKING, ACTIVE, INACTIVE };

/*
 * Looked up at the first use and kept.  Two threads may both look: they find the same.  dlsym costs 62 ns once it is warm
 * and does not allocate when it succeeds.
 */
#define REAL(result, name, parameters)                                                                                 \
	name##_function *real_##name(void)                                                                             \
	{                                                                                                              \
		static _Atomic(name##_function *) found;                                                               \
		name##_function *f = atomic_load_explicit(&found, memory_order_relaxed);                               \
                                                                                                                       \
		if (__builtin_expect(!f, 0)) {                                                                         \
			f = (name##_function *)dlsym(RTLD_NEXT, #name);                                                \
			atomic_store_explicit(&found, f, memory_order_relaxed);                                        \
		}                                                                                                      \
		return f;                                                                                              \
	}
REAL_FUNCTIONS(REAL)
#undef REAL

/* Shared, so that forked workers see each other's slots; its name makes it findable from outside. */
static bool make_ledger(const char *plan_text)
{
	size_t length = strlen(plan_text) + 1, size = sizeof *ledger + length;
	int fd = memfd_create(LEDGER_NAME, MFD_CLOEXEC);
	int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0); /* without memfd (seccomp): the same, only nameless */

	if (fd >= 0 && ftruncate(fd, (off_t)size) != 0)
		flags |= MAP_ANONYMOUS;
	ledger = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, flags & MAP_ANONYMOUS ? -1 : fd, 0);
	if (fd >= 0)
		close(fd);
	if (ledger == MAP_FAILED) {
		ledger = NULL;
		return false;
	}
	ledger->magic = LEDGER_MAGIC;
	ledger->size = (uint32_t)size;
	memcpy(ledger->plan, plan_text, length);
	atomic_store(&ledger->pid, getpid());
	atomic_store(&ledger->processes, 1);
	return true;
}

/* A setting that the constructor could not make.  The only place where the shim may end a program. */
static void refused(bool first, enum notice kind, const char *what, int error)
{
	notice(kind, plan.on_error, what, error);
	if (first && plan.on_error == ON_ERROR_FAIL)
		_exit(125);
}

static void place_main(bool first)
{
	uint32_t rule = rule_of_main();
	struct record *r = adopt_thread(rule, rule);
	int error = r ? record_apply(r) : 0;

	if (error)
		refused(first, NOTICE_MAIN, "the main thread could not be placed", error);
}

static bool initialise(void)
{
	const char *text = getenv(PLAN_VARIABLE);
	enum coverage coverage;

	if (!text || !*text)
		return false;
	notice_init();
	if (!plan_decode(&plan, text + 1)) {
		notice(NOTICE_PLAN, ON_ERROR_WARN,
		       PLAN_VARIABLE " is not of this version of llrun or damaged: nothing is applied", 0);
		return false;
	}
	coverage = process_coverage(*text);
	if (coverage == RESET)
		process_reset(true);
	if (coverage == RESET || coverage == NOT_YET)
		return false;
	bool first = coverage == COVERED_FIRST;
	if (!make_ledger(text + 1) || !threads_init()) {
		refused(first, NOTICE_PLAN,
			"no memory or no thread-specific key is left for the shim: nothing is applied", 0);
		return false;
	}
	if (!first && plan.reset_on_fork && getpid() != plan.pid)
		process_forget_scheduling();
	process_mark_covered();
	place_main(first);
	int error = lock_memory();
	if (error)
		refused(first, NOTICE_MEMORY, "MemoryLock= failed: mlockall", error);
	process_watch_forks();
	return true;
}

bool active(void)
{
	int now = atomic_load_explicit(&state, memory_order_acquire);

	if (__builtin_expect(now != UNKNOWN, 1))
		return now == ACTIVE;
	int saved = errno, unknown = UNKNOWN;
	/* One thread initialises; another that comes meanwhile is not made to wait, its call is forwarded. */
	if (!atomic_compare_exchange_strong(&state, &unknown, WORKING))
		return unknown == ACTIVE;
	bool ok = initialise();
	atomic_store_explicit(&state, ok ? ACTIVE : INACTIVE, memory_order_release);
	errno = saved;
	return ok;
}

void deactivate(void)
{
	atomic_store_explicit(&state, INACTIVE, memory_order_release);
}

__attribute__((constructor)) static void begin(void)
{
	active();
}

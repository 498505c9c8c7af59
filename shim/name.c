/*
 * name.c - rules by name.  A name comes after creation, by a call of the thread itself or of its creator; then the thread
 * is placed again.  A name that a thread merely inherited from its creator matches nothing.
 */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shim.h"

bool names_matter(void)
{
	static _Atomic int known; /* 0 not looked, 1 no, 2 yes */
	int now = atomic_load_explicit(&known, memory_order_relaxed);

	if (!now) {
		now = 1;
		for (uint32_t i = 0; i < plan.n_selectors; i++)
			if (plan.selector[i].kind == SELECT_NAME)
				now = 2;
		atomic_store_explicit(&known, now, memory_order_relaxed);
	}
	return now == 2;
}

/* The first match in file order, of all that is known: what chose the rule at creation, and now the name. */
void thread_named(struct record *r, const char *name)
{
	uint32_t base = atomic_load(&r->base), limit = base ? base : plan.n_rules, rule;

	if (!names_matter())
		return;
	rule = plan_match_name(&plan, name, limit);
	if (rule == limit)
		rule = base;
	atomic_store(&r->named, rule != base);
	if (rule < plan.n_rules && rule != atomic_load(&r->rule))
		record_move(r, rule);
}

static void self_named(const char *name)
{
	int saved = errno, error;
	struct record *r;

	if (in_a_strange_child())
		return;
	r = own_record();
	/*
	 * A thread that no hook saw being made (libjemalloc asks dlsym(RTLD_NEXT) for pthread_create, and so passes us by) and
	 * that has inherited its creator's class: now that it names itself, it can be placed.
	 */
	if (!r && threads_are_placed()) {
		r = adopt_thread(0, 0);
		error = r ? record_apply(r) : 0;
		if (error)
			notice(NOTICE_THREAD, plan.rule[0].on_error, "a thread could not be placed", error);
	}
	if (r)
		thread_named(r, name);
	errno = saved;
}

HOOK int pthread_setname_np(pthread_t thread, const char *name)
{
	int error = real_pthread_setname_np()(thread, name);

	if (error || !active())
		return error;
	if (pthread_equal(thread, pthread_self())) {
		self_named(name);
	} else if (names_matter()) {
		int saved = errno;
		struct record *r = record_of_thread(thread);

		if (r)
			thread_named(r, name);
		errno = saved;
	}
	return 0;
}

/*
 * Declared variadic in <sys/prctl.h>, under another name here: on every machine that Linux runs on, variadic integers of up
 * to five come in the same registers as fixed ones, and the kernel ignores those that the option does not use.
 */
int prctl_hook(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) __asm__("prctl");

HOOK int prctl_hook(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	int result = real_prctl()(option, a, b, c, d);

	if (__builtin_expect(option == PR_SET_NAME, 0) && result == 0 && active()) {
		char name[16] = "";
		int saved = errno;

		/* As the kernel has it: cut to 15 bytes. */
		syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
		self_named(name);
		errno = saved;
	}
	return result;
}

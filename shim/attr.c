/*
 * attr.c - the attr that a new thread is made with: the caller's, and what its rule says.  Always a fresh one, never a
 * memcpy: copies share the extension that holds the affinity.
 */
#include <string.h>
#include "shim.h"

bool attr_carries(int policy)
{
	return policy == SCHED_OTHER || policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool all_ones(const struct cpuset *set, size_t size)
{
	for (size_t i = 0; i < size / sizeof set->word[0]; i++)
		if (set->word[i] != ~(uint64_t)0)
			return false;
	return true;
}

/*
 * A fresh attr with all that the caller's says.  Never a memcpy: copies share the extension that holds the affinity.
 * *own tells what the caller chose itself.  False: something could not be carried over.
 */
bool attr_copy(pthread_attr_t *to, const pthread_attr_t *from, int *own)
{
	struct sched_param param;
	struct cpuset cpus;
	sigset_t mask;
	void *stack = NULL;
	size_t size = 0, guard = 0;
	int detach, inherit = PTHREAD_INHERIT_SCHED, policy = SCHED_OTHER, scope;
	bool ok;

	*own = 0;
	if (!from)
		return true;
	ok = !pthread_attr_getdetachstate(from, &detach) && !pthread_attr_setdetachstate(to, detach) &&
	     !pthread_attr_getguardsize(from, &guard) && !pthread_attr_setguardsize(to, guard) &&
	     !pthread_attr_getscope(from, &scope) && !pthread_attr_setscope(to, scope) &&
	     !pthread_attr_getstack(from, &stack, &size) && !pthread_attr_getinheritsched(from, &inherit) &&
	     !pthread_attr_getschedpolicy(from, &policy) && !pthread_attr_getschedparam(from, &param);
	/* An attr without a stack of its own answers with an address that ends at 0. */
	if (ok && stack && (uintptr_t)stack + size != 0)
		ok = !pthread_attr_setstack(to, stack, size);
	else if (ok && !pthread_attr_getstacksize(from, &size) && size)
		ok = !pthread_attr_setstacksize(to, size);
	/* glibc 2.32; answers PTHREAD_ATTR_NO_SIGMASK_NP if there is none */
	if (ok && pthread_attr_getsigmask_np(from, &mask) == 0)
		ok = !pthread_attr_setsigmask_np(to, &mask);
	memset(&cpus, 0xff, sizeof cpus);
	if (ok && pthread_attr_getaffinity_np(from, sizeof cpus, (cpu_set_t *)&cpus) == 0 &&
	    !all_ones(&cpus, sizeof cpus) && !all_ones(&cpus, sizeof(cpu_set_t))) {
		*own |= RECORD_OWN_CPUS;
		ok = !pthread_attr_setaffinity_np(to, sizeof cpus, (cpu_set_t *)&cpus);
	}
	if (ok && inherit == PTHREAD_EXPLICIT_SCHED) {
		*own |= RECORD_OWN_SCHED;
		ok = !pthread_attr_setinheritsched(to, inherit) && !pthread_attr_setschedpolicy(to, policy) &&
		     !pthread_attr_setschedparam(to, &param);
	}
	return ok;
}

bool attr_set(pthread_attr_t *attr, const struct rule *rule, int cpu, int parts)
{
	bool ok = true;

	if (parts & HAS_CPUS) {
		struct cpuset set;
		size_t size = rule_mask(rule, cpu, &set);

		ok = !pthread_attr_setaffinity_np(attr, size, (const cpu_set_t *)&set);
	}
	if (ok && parts & HAS_SCHED) {
		struct sched_param param = {.sched_priority = rule->priority};

		ok = !pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED) &&
		     !pthread_attr_setschedpolicy(attr, attr_carries(rule->policy) ? rule->policy : SCHED_OTHER) &&
		     !pthread_attr_setschedparam(attr, &param);
	}
	return ok;
}

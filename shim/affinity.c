/*
 * affinity.c - the program's own affinity and scheduling calls (OwnAffinity=) and what it sees of its CPUs (VisibleCPUs=).
 * Only calls on threads of this process that the ledger knows are looked at; all others are forwarded untouched.
 */
#include <errno.h>
#include <string.h>
#include "shim.h"

static struct record *record_of_pid(pid_t pid)
{
	if (!active())
		return NULL;
	return pid == 0 ? own_record() : record_of_tid(pid);
}

static struct record *record_of_handle(pthread_t thread)
{
	return active() ? record_of_thread(thread) : NULL;
}

/* Placed by spread, still where it was put, and shown the whole set. */
static bool shows_set(const struct record *r)
{
	struct record *record = (struct record *)r;

	return r && plan.visible == VISIBLE_SET && atomic_load(&record->cpu) >= 0 &&
	       !(atomic_load(&record->flags) & RECORD_OWN_CPUS);
}

static bool equals_set(const struct record *r, size_t size, const cpu_set_t *mask)
{
	struct cpuset given = {{0}}, set = plan_cpus(&plan, record_rule(r));

	memcpy(&given, mask, size < sizeof given ? size : sizeof given);
	return cpuset_equal(&given, &set);
}

/* Is this call to be answered with success and not made?  Setting the very set that we show is save-and-restore. */
static bool affinity_kept(const struct record *r, size_t size, const cpu_set_t *mask)
{
	if (!r)
		return false;
	return plan.own == OWN_OVERRIDE || (shows_set(r) && mask && equals_set(r, size, mask));
}

/* The program's own call on this thread, made, with its answer: where it succeeded, the choice is the program's. */
static int own(struct record *r, uint8_t flag, int result)
{
	if (r && result == 0)
		atomic_fetch_or(&r->flags, flag);
	return result;
}

HOOK int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
	struct record *r = record_of_pid(pid);

	return affinity_kept(r, size, mask) ? 0 : own(r, RECORD_OWN_CPUS, real_sched_setaffinity()(pid, size, mask));
}

HOOK int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
	struct record *r = record_of_handle(thread);

	if (affinity_kept(r, size, mask))
		return 0;
	return own(r, RECORD_OWN_CPUS, real_pthread_setaffinity_np()(thread, size, mask));
}

/* The kernel is asked first: its answer's size and errors are the program's. */
static void show_set(const struct record *r, size_t size, cpu_set_t *mask)
{
	struct cpuset set = plan_cpus(&plan, record_rule(r));

	memset(mask, 0, size);
	memcpy(mask, &set, size < sizeof set ? size : sizeof set);
}

HOOK int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	int result = real_sched_getaffinity()(pid, size, mask);
	struct record *r = result == 0 ? record_of_pid(pid) : NULL;

	if (shows_set(r))
		show_set(r, size, mask);
	return result;
}

HOOK int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
	int error = real_pthread_getaffinity_np()(thread, size, mask);
	struct record *r = error == 0 ? record_of_handle(thread) : NULL;

	if (shows_set(r))
		show_set(r, size, mask);
	return error;
}

/* Of the calls that choose the scheduling: is this one to be answered with success and not made? */
static bool scheduling_kept(const struct record *r)
{
	return r && plan.own == OWN_OVERRIDE;
}

HOOK int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	struct record *r = record_of_pid(pid);

	return scheduling_kept(r) ? 0 : own(r, RECORD_OWN_SCHED, real_sched_setscheduler()(pid, policy, param));
}

HOOK int sched_setparam(pid_t pid, const struct sched_param *param)
{
	struct record *r = record_of_pid(pid);

	return scheduling_kept(r) ? 0 : own(r, RECORD_OWN_SCHED, real_sched_setparam()(pid, param));
}

HOOK int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	struct record *r = record_of_handle(thread);

	return scheduling_kept(r) ? 0 : own(r, RECORD_OWN_SCHED, real_pthread_setschedparam()(thread, policy, param));
}

HOOK int pthread_setschedprio(pthread_t thread, int priority)
{
	struct record *r = record_of_handle(thread);

	return scheduling_kept(r) ? 0 : own(r, RECORD_OWN_SCHED, real_pthread_setschedprio()(thread, priority));
}

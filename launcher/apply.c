/*
 * apply.c - all that execve keeps, done to this process.  What the kernel refuses becomes a finding, with its cause and
 * cure; since this process is still llrun, nothing has happened to the program then.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "launcher.h"

void apply_record_launch(struct plan *plan)
{
	struct cpuset set = {{0}};
	struct sched_param param = {0};

	/* By raw system call: glibc's cpu_set_t ends at CPU 1023. */
	syscall(SYS_sched_getaffinity, 0, sizeof set, &set);
	sched_getparam(0, &param);
	plan->launch.has = HAS_CPUS | HAS_SCHED | HAS_NICE;
	plan->launch.placement = PLACE_SHARE;
	plan->launch.policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	plan->launch.priority = param.sched_priority;
	plan->launch.nice = getpriority(PRIO_PROCESS, 0);
	plan->pid = getpid();
	CPUSET_EACH(cpu, &set)
	plan_add_cpu(plan, &plan->launch, (unsigned)cpu);
}

static void refused(const struct policy *p, enum key_id key, struct findings *f, const char *why)
{
	const struct item *i = p->process.value[key].items;
	const char *where;

	if (!i)
		return; /* not asked for */
	where = source_text(i->at);
	finding(f, (int)p->process.value[K_OnError].number, "%s: %s=%s: %s", where, key_table[key].name, i->text, why);
}

static rlim_t limit_of(int64_t value)
{
	return value == LIMIT_INFINITY ? RLIM_INFINITY : (rlim_t)value;
}

static void set_limit(const struct policy *p, enum key_id key, __rlimit_resource_t resource, bool soft_only,
		      struct findings *f)
{
	const struct value *v = &p->process.value[key];
	struct rlimit limit, old;

	if (!v->items)
		return;
	getrlimit(resource, &old);
	limit.rlim_cur = limit_of(v->number);
	limit.rlim_max = soft_only ? old.rlim_max : limit_of(v->number2);
	if (setrlimit(resource, &limit) == 0)
		return;
	char hard[24] = "infinity";
	if (old.rlim_max != RLIM_INFINITY)
		strcpy(hard, memory_printf("%llu", (unsigned long long)old.rlim_max));
	refused(p, key, f,
		errno == EPERM || errno == EINVAL
			? memory_printf(
				  "the hard limit is %s and raising it needs CAP_SYS_RESOURCE; give %s%s in the unit, or raise it in "
				  "limits.conf",
				  hard, soft_only ? "LimitSTACK" : key_table[key].name, "=")
			: strerror(errno));
}

void apply_limits(const struct policy *p, struct findings *f)
{
	set_limit(p, K_LimitRTPRIO, RLIMIT_RTPRIO, false, f);
	set_limit(p, K_LimitMEMLOCK, RLIMIT_MEMLOCK, false, f);
	set_limit(p, K_LimitRTTIME, RLIMIT_RTTIME, false, f);
	set_limit(p, K_LimitSTACK, RLIMIT_STACK, false, f);
	/* glibc and musl take the soft limit at start as the default size of thread stacks (pthread_create(3)). */
	set_limit(p, K_ThreadStackSize, RLIMIT_STACK, true, f);
}

static void apply_numa(const struct policy *p, struct topology *t, struct findings *f)
{
	static const int modes[] = {
		[NUMA_DEFAULT] = MPOL_DEFAULT,       [NUMA_PREFERRED] = MPOL_PREFERRED, [NUMA_BIND] = MPOL_BIND,
		[NUMA_INTERLEAVE] = MPOL_INTERLEAVE, [NUMA_LOCAL] = MPOL_LOCAL,
	};
	const struct value *policy = &p->process.value[K_NUMAPolicy], *mask = &p->process.value[K_NUMAMask];
	struct cpuset nodes = {{0}};
	const char *why;

	if (!policy->items)
		return;
	for (const struct item *i = mask->items; i; i = i->next) {
		struct cpuset some;

		if (!topology_nodes(t, i->text, &some, &why)) {
			refused(p, K_NUMAMask, f, why);
			return;
		}
		cpuset_or(&nodes, &some);
	}
	if (policy->number == NUMA_PREFERRED && cpuset_count(&nodes) > 1) {
		refused(p, K_NUMAMask, f, "NUMAPolicy=preferred takes one node");
		return;
	}
	/* The kernel reads one bit less than the size says (set_mempolicy(2), its old off-by-one). */
	if (syscall(SYS_set_mempolicy, modes[policy->number], mask->items ? &nodes : NULL,
		    mask->items ? CPUSET_MAX / 8 + 1 : 0) != 0)
		refused(p, K_NUMAPolicy, f,
			errno == ENOSYS ? "this kernel is built without NUMA"
			: errno == EPERM
				? "a seccomp filter forbids set_mempolicy (containers do unless given CAP_SYS_NICE)"
				: strerror(errno));
}

static void apply_prctl(const struct policy *p, struct findings *f)
{
	const struct value *slack = &p->process.value[K_TimerSlackNSec],
			   *thp = &p->process.value[K_TransparentHugePages];

	if (slack->items && prctl(PR_SET_TIMERSLACK, (unsigned long)slack->number, 0, 0, 0) != 0)
		refused(p, K_TimerSlackNSec, f, strerror(errno));
	if (thp->items && prctl(PR_SET_THP_DISABLE, thp->number ? 0UL : 1UL, 0, 0, 0) != 0)
		refused(p, K_TransparentHugePages, f,
			errno == EINVAL ? "this kernel is built without transparent huge pages" : strerror(errno));
}

/* The request holds as long as the file is open: not CLOEXEC, so as long as the program lives (pm_qos_interface.rst). */
static void apply_latency(const struct policy *p, struct findings *f)
{
	const struct value *v = &p->process.value[K_CPULatencySec];
	int32_t microseconds = (int32_t)v->number;
	int fd;

	if (!v->items)
		return;
	fd = open("/dev/cpu_dma_latency", O_WRONLY);
	if (fd >= 0 && write(fd, &microseconds, sizeof microseconds) == (ssize_t)sizeof microseconds)
		return;
	refused(p, K_CPULatencySec, f,
		errno == EACCES || errno == EPERM
			? "/dev/cpu_dma_latency may not be opened; start as root, or let the user write it (a udev rule: "
			  "KERNEL==\"cpu_dma_latency\", GROUP=\"...\", MODE=\"0660\")"
		: errno == ENOENT ? "there is no /dev/cpu_dma_latency (in a container, or a unit with PrivateDevices=)"
				  : strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void apply_class(struct plan *plan, struct findings *f)
{
	const struct rule *rule = &plan->rule[0];
	struct cpuset cpus = plan_cpus(plan, rule);
	struct sched_param param = {.sched_priority = rule->priority};
	int policy = rule->policy | (plan->reset_on_fork ? SCHED_RESET_ON_FORK : 0);
	char list[128];

	if (rule->has & HAS_NICE && setpriority(PRIO_PROCESS, 0, rule->nice) != 0)
		finding(f, rule->on_error, "Nice=%d: %s", rule->nice, strerror(errno));
	if (rule->has & HAS_CPUS && syscall(SYS_sched_setaffinity, 0, sizeof cpus, &cpus) != 0) {
		bool forbidden = errno == EPERM;

		finding(f, rule->on_error, "CPUs %s: sched_setaffinity: %s%s", cpuset_format(&cpus, list, sizeof list),
			strerror(errno),
			forbidden ? " (a seccomp filter? in a unit: @resources in SystemCallFilter=)" : "");
		/* One's own threads need no right, so it is the call that is forbidden: the shim need not try it on each. */
		for (uint32_t i = 0; forbidden && i < plan->n_rules; i++)
			plan->rule[i].has &= ~HAS_CPUS;
	}
	/* Not what is so already: a filter would refuse that too, and a refused class be told a second time. */
	if (rule->has & HAS_SCHED && (policy != plan->launch.policy || rule->priority != plan->launch.priority) &&
	    sched_setscheduler(0, policy, &param) != 0)
		finding(f, rule->on_error, "CPUSchedulingPolicy=: %s",
			errno == EPERM ? permission_sched_cause(rule->priority) : strerror(errno));
}

void apply(const struct policy *p, struct topology *t, struct plan *plan, bool covered, struct findings *f)
{
	const struct value *heap = &p->process.value[K_HeapRelease];

	apply_numa(p, t, f);
	apply_prctl(p, f);
	apply_latency(p, f);
	if (heap->items && !heap->number)
		environment_keep_heap();
	if (covered)
		apply_class(plan, f);
}

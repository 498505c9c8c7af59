/*
 * permission.c - may the program do what the plan leaves to the shim?  Found by trying here, where it can still be told
 * before the program starts; and an EPERM is explained, because five different causes look the same.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <linux/securebits.h>
#include <unistd.h>
#include "../policy/sockets.h"
#include "launcher.h"

/*
 * Will the program have it?  Root gets what the bounding set leaves, anybody else only what is ambient (capabilities(7));
 * what llrun itself may do by file capabilities is gone after exec.
 */
bool capability_after_exec(unsigned capability)
{
	if ((getuid() == 0 || geteuid() == 0) && !(prctl(PR_GET_SECUREBITS) & SECBIT_NOROOT))
		return prctl(PR_CAPBSET_READ, capability) == 1;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1;
}

/* One line of a small file, without its end.  NULL: not there. */
static char *first_line(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256] = "";

	if (!file)
		return NULL;
	if (!fgets(line, sizeof line, file))
		*line = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return memory_copy(line, strlen(line));
}

/* The value behind `field` in /proc/self/status, or NULL. */
static char *status_field(const char *field)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[512], *found = NULL;

	while (file && !found && fgets(line, sizeof line, file))
		if (strncmp(line, field, strlen(field)) == 0)
			found = memory_copy(line + strlen(field), strcspn(line + strlen(field), "\n"));
	if (file)
		fclose(file);
	return found;
}

/* cgroup v1: a cpu group without a real-time budget refuses even root (sched-rt-group.rst); v2 has no such file. */
static const char *group_without_budget(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[512];
	const char *path = NULL;

	while (file && !path && fgets(line, sizeof line, file)) {
		char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		controllers = memory_printf(",%s,", controllers + 1);
		if (!strstr(controllers, ",cpu,"))
			continue;
		path = memory_printf("/sys/fs/cgroup/cpu%s/cpu.rt_runtime_us", strcmp(group, "/") == 0 ? "" : group);
		if (access(path, F_OK) != 0)
			path = memory_printf("/sys/fs/cgroup/cpu,cpuacct%s/cpu.rt_runtime_us", group);
	}
	if (file)
		fclose(file);
	char *budget = path ? first_line(path) : NULL;
	return budget && strcmp(budget, "0") == 0 ? path : NULL;
}

static bool in_user_namespace(void)
{
	char *map = first_line("/proc/self/uid_map");
	unsigned inside, outside, count;

	return map && sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 &&
	       (inside || outside || count != UINT32_MAX);
}

const char *permission_sched_cause(int priority)
{
	struct rlimit limit = {0, 0};
	const char *group = group_without_budget(), *seccomp = status_field("Seccomp:");
	const char *cause;

	getrlimit(RLIMIT_RTPRIO, &limit);
	if (group)
		return memory_printf(
			"the control group has no real-time budget: %s is 0, which holds for root too; write 950000 "
			"there (to its parents first), or start from the root group",
			group);
	if (!capability_after_exec(CAP_SYS_NICE) && limit.rlim_cur < (rlim_t)priority)
		return memory_printf(
			"RLIMIT_RTPRIO is %llu and CAP_SYS_NICE is missing; give LimitRTPRIO=%d (systemd), `%s - rtprio "
			"%d` (limits.conf), or AmbientCapabilities=CAP_SYS_NICE",
			(unsigned long long)limit.rlim_cur, priority, "USER", priority);
	if (seccomp && atoi(seccomp) != 0)
		return "a seccomp filter forbids it; in a unit: RestrictRealtime=no, and @resources in SystemCallFilter=";
	cause = in_user_namespace()
			? "this user namespace (a container) has no such right outside itself; give the container "
			  "CAP_SYS_NICE and --ulimit rtprio, or start llrun on the host"
			: "the kernel refuses it without a cause that llrun knows (a security module?)";
	return cause;
}

/* The section that a rule of the plan was made from: rule 0 from [Process], the others from [Thread], in their order. */
static const struct section *section_of(const struct policy *p, uint32_t rule)
{
	const struct section *s = rule ? p->threads : &p->process;

	for (; rule > 1; rule--)
		s = s->next;
	return s;
}

/* "file:line: ", "-f: " or, for what nobody wrote, "". */
static const char *where(const struct policy *p, const struct section *s, enum key_id key)
{
	const struct item *i = policy_value(p, s, key)->items;

	return i ? memory_printf("%s: ", source_text(i->at)) : "";
}

static int try_sched(int policy, int priority)
{
	struct sched_param param = {.sched_priority = priority}, old = {0};
	int old_policy = sched_getscheduler(0), error = 0;

	sched_getparam(0, &old);
	if (sched_setscheduler(0, policy, &param) != 0)
		return errno;
	if (sched_setscheduler(0, old_policy, &old) != 0)
		error = errno;
	return error;
}

/* 0, or why the program will not be able to take this rule's scheduling. */
static int sched_error(const struct plan *plan, const struct rule *rule)
{
	struct rlimit limit = {0, 0};
	int error;

	/* What was so at launch needs no right. */
	if (!(rule->has & HAS_SCHED) || !rule->priority ||
	    (rule->policy == plan->launch.policy && rule->priority <= plan->launch.priority))
		return 0;
	getrlimit(RLIMIT_RTPRIO, &limit);
	error = try_sched(rule->policy, rule->priority);
	/* llrun's own right may be one that exec takes away. */
	if (!error && !capability_after_exec(CAP_SYS_NICE) && limit.rlim_cur < (rlim_t)rule->priority)
		error = EPERM;
	return error;
}

/* Said once, of the highest priority that is refused; the rules that may have theirs keep it. */
static void check_sched(const struct policy *p, struct plan *plan, struct findings *f)
{
	int severity = ON_ERROR_IGNORE, error = 0, worst_error = 0;
	struct rule worst = {.priority = 0}, asked = {.priority = 0};
	uint32_t worst_rule = 0;

	for (uint32_t i = 0; i < plan->n_rules; i++) {
		struct rule *rule = &plan->rule[i];

		/* Rules that take it from [Process] all say the same. */
		if (rule->policy != asked.policy || rule->priority != asked.priority || rule->has != asked.has) {
			asked = *rule;
			error = sched_error(plan, rule);
		}
		if (!error)
			continue;
		if (rule->priority > worst.priority) {
			worst = *rule;
			worst_rule = i;
			worst_error = error;
		}
		if (rule->on_error < severity)
			severity = rule->on_error;
		rule->policy = plan->launch.policy;
		rule->priority = plan->launch.priority;
	}
	if (!worst_error)
		return;
	finding(f, severity, "%sSCHED_%s with priority %d: %s",
		where(p, section_of(p, worst_rule), K_CPUSchedulingPolicy), worst.policy == SCHED_FIFO ? "FIFO" : "RR",
		worst.priority, worst_error == EPERM ? permission_sched_cause(worst.priority) : strerror(worst_error));
	/* Nothing left that is not so already: where a filter forbids the call, the shim would be refused that as well. */
	for (uint32_t i = 0; i < plan->n_rules; i++)
		if (plan->rule[i].policy != plan->launch.policy || plan->rule[i].priority != plan->launch.priority)
			return;
	for (uint32_t i = 0; i < plan->n_rules; i++)
		plan->rule[i].has &= ~HAS_SCHED;
}

/* RLIMIT_NICE counts 1 for 19 up to 40 for -20 (setrlimit(2)). */
static void check_nice(const struct policy *p, struct plan *plan, struct findings *f)
{
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_NICE, &limit);
	if (capability_after_exec(CAP_SYS_NICE))
		return;
	for (uint32_t i = 0; i < plan->n_rules; i++) {
		struct rule *rule = &plan->rule[i];

		if (!(rule->has & HAS_NICE) || rule->nice >= plan->launch.nice ||
		    (rlim_t)(20 - rule->nice) <= limit.rlim_cur)
			continue;
		finding(f, rule->on_error,
			"%sNice=%d: RLIMIT_NICE is %llu and CAP_SYS_NICE is missing; give LimitNICE=%d (systemd) or "
			"AmbientCapabilities=CAP_SYS_NICE",
			where(p, section_of(p, i), K_Nice), rule->nice, (unsigned long long)limit.rlim_cur, rule->nice);
		rule->nice = plan->launch.nice;
	}
}

static void check_lock(const struct policy *p, struct plan *plan, struct findings *f)
{
	const struct value *v = &p->process.value[K_MemoryLock];
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (plan->lock == LOCK_NO || limit.rlim_cur == RLIM_INFINITY || (plan->lock == LOCK_CURRENT && limit.rlim_cur))
		return;
	if (capability_after_exec(CAP_IPC_LOCK)) {
		/* A program that gives up root loses the capability, and then the limit counts: nginx's workers died of ENOMEM. */
		struct rlimit infinite = {RLIM_INFINITY, RLIM_INFINITY};

		if (!p->process.value[K_LimitMEMLOCK].items && plan->lock != LOCK_CURRENT &&
		    setrlimit(RLIMIT_MEMLOCK, &infinite) != 0)
			finding(f, FINDING_NOTE,
				"RLIMIT_MEMLOCK is %llu bytes and could not be raised: should the program give up root, "
				"its later mmap and pthread_create would fail; give LimitMEMLOCK=infinity (systemd)",
				(unsigned long long)limit.rlim_cur);
		return;
	}
	finding(f, plan->on_error,
		"%sMemoryLock=%s: RLIMIT_MEMLOCK is %llu bytes and CAP_IPC_LOCK is missing; all that the program "
		"maps counts, every thread's stack whole (8M by default), so its later mmap, malloc and pthread_create would fail; "
		"give LimitMEMLOCK=infinity (systemd), `USER - memlock unlimited` (limits.conf), or "
		"AmbientCapabilities=CAP_IPC_LOCK",
		where(p, &p->process, K_MemoryLock), v->items ? v->items->text : "",
		(unsigned long long)limit.rlim_cur);
	plan->lock = LOCK_NO;
}

static const char *socket_cause(int option, int error)
{
	if (error == EPERM)
		return memory_printf("CAP_NET_ADMIN%s is missing; give AmbientCapabilities=CAP_NET_ADMIN (systemd)",
				     option == SOCKET_Priority ? " or CAP_NET_RAW" : "");
	if (error == ENOPROTOOPT)
		return "this kernel does not have the option";
	return strerror(error);
}

static void try_option(const struct policy *p, const struct section *s, struct socket_rule *rule, int fd, int i,
		       struct findings *f)
{
	const struct socket_option *o = &socket_options[i];
	enum key_id key = (enum key_id)(N_KEYS - N_SOCKET_OPTIONS + i); /* they are the last keys, in the same order */
	int value = rule->value[i], error = 0;

	/* Those of tcp(7) need no right, and every kernel has them since 3.12. */
	if (fd < 0 || !(rule->given >> i & 1) || o->tcp_only)
		return;
	if (setsockopt(fd, o->level, o->option, &value, sizeof value) != 0)
		error = errno;
	else if ((i == SOCKET_BusyPollBudget || (i == SOCKET_PreferBusyPoll && value)) &&
		 !capability_after_exec(CAP_NET_ADMIN))
		error = EPERM; /* llrun's own right is gone after exec */
	if (!error)
		return;
	finding(f, rule->on_error, "%s%s=%s: %s", where(p, s, key), o->name, s->value[key].items->text,
		socket_cause(i, error));
	rule->given &= ~(1u << i);
}

static void try_epoll(struct socket_rule *rule, struct findings *f)
{
	struct epoll_busy_poll p = socket_rule_epoll(rule);
	int fd = epoll_create1(EPOLL_CLOEXEC);

	/* Left in the rule: sockets that are read without epoll do busy-poll. */
	if (fd >= 0 && ioctl(fd, EPOLL_SET_BUSY_POLL, &p) != 0)
		finding(f, errno == EPERM ? rule->on_error : FINDING_NOTE, "BusyPollSec= on epoll instances: %s",
			errno == EPERM
				? "CAP_NET_ADMIN is missing for a BusyPollBudget= above 64"
				: "needs Linux 6.9; before it, the sysctl net.core.busy_poll is the only way, for all programs at once");
	if (fd >= 0)
		close(fd);
}

static void check_sockets(const struct policy *p, struct plan *plan, struct findings *f)
{
	/* For all protocols: what may be set does not depend on it, and a datagram socket takes a third of the time. */
	int fd = plan->n_sockets ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	const struct section *s = p->sockets;
	bool epoll_tried = false;

	for (uint32_t r = 0; r < plan->n_sockets; r++, s = s->next) {
		struct socket_rule *rule = &plan->socket[r];

		for (int i = 0; i < N_SOCKET_OPTIONS; i++)
			try_option(p, s, rule, fd, i, f);
		if (!epoll_tried && rule->given >> SOCKET_BusyPollSec & 1) {
			try_epoll(rule, f);
			epoll_tried = true;
		}
	}
	if (fd >= 0)
		close(fd);
}

void permission_check(const struct policy *p, struct plan *plan, struct findings *f)
{
	check_sched(p, plan, f);
	check_nice(p, plan, f);
	check_lock(p, plan, f);
	check_sockets(p, plan, f);
}

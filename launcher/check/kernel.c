/* kernel.c judges how this kernel schedules and keeps time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "check.h"

enum verdict kernel_rt_throttling(struct check *c, struct answer *a)
{
	long long runtime, period;

	if (!c->priority)
		return moot(a, "the policy has no real-time threads");
	if (!read_long(c, a, &period, "/proc/sys/kernel/sched_rt_period_us") ||
	    !read_long(c, a, &runtime, "/proc/sys/kernel/sched_rt_runtime_us"))
		return unread(a);
	if (runtime < 0 || runtime >= period)
		return good(a, "real-time threads are not throttled");
	if (!c->busy_poll)
		return good(a, "of each %lld us, %lld are left to others: a brake, and nothing in the policy spins",
			    period, period - runtime);
	return bad(a, "real-time threads that busy-poll stand still for %lld us of each %lld", period - runtime,
		   period);
}

/* v1 has a budget in each cpu group; v2 has no such file, and only the root group has a budget. */
enum verdict kernel_rt_group(struct check *c, struct answer *a)
{
	const char *own;
	long long budget;
	bool v2;

	if (!c->priority)
		return moot(a, "the policy has no real-time threads");
	own = group_of(c, a, "cpu", &v2);
	if (!own)
		return unread(a);
	if (v2)
		return good(a, "no cpu group of cgroup v1 stands in the way");
	a->it = memory_printf("%s/cpu.rt_runtime_us", own);
	if (!read_long(c, a, &budget, "%s", a->it))
		return errno == ENOENT && exists(c, memory_printf("%s/cgroup.procs", own))
			       ? moot(a, "a kernel without RT_GROUP_SCHED")
			       : unread(a);
	return budget ? good(a, "the group has a real-time budget") : bad(a, "the group has no real-time budget");
}

enum verdict kernel_preemption(struct check *c, struct answer *a)
{
	long long realtime;
	const char *text, *model;
	bool there = read_long(c, a, &realtime, "/sys/kernel/realtime");

	if (there && realtime)
		return good(a, "a PREEMPT_RT kernel");
	if (!there && errno != ENOENT)
		return unread(a);
	text = read_text(c, a, "/sys/kernel/debug/sched/preempt");
	if (text) {
		/* "none voluntary (full) lazy" */
		const char *from = strchr(text, '(');

		model = from ? memory_copy(from + 1, strcspn(from + 1, ")")) : "?";
		a->value = model;
	} else {
		struct answer boot = {0};
		const char *cmdline = read_text(c, &boot, "/proc/cmdline");

		model = cmdline ? boot_option(cmdline, "preempt") : NULL;
		if (!model) /* PREEMPT_DYNAMIC in `uname -v` says that it may be chosen, not what was */
			return unread(a);
		a->where = boot.where;
		a->value = memory_printf("preempt=%s", model);
	}
	if (strcmp(model, "full") == 0 || strcmp(model, "lazy") == 0)
		return good(a, "real-time threads preempt the kernel");
	if (strcmp(model, "none") == 0 || strcmp(model, "voluntary") == 0)
		return bad(a, "the kernel is preempted only where it offers it (%s)", model);
	return unknown(a, "cannot be told: the model '%s' is not known", model);
}

enum verdict kernel_timer_migration(struct check *c, struct answer *a)
{
	return number_within(c, a, 0, 0, "timers may move to busy CPUs", "/proc/sys/kernel/timer_migration");
}

/* Below a fake root, what /proc/timer_list says; here, the clock itself, which needs no root. */
enum verdict kernel_timers(struct check *c, struct answer *a)
{
	struct timespec resolution = {0, 0};
	const char *text;

	if (!*c->t->root) {
		clock_getres(CLOCK_MONOTONIC, &resolution);
		a->where = "clock_getres(CLOCK_MONOTONIC)";
		a->value = memory_printf("%ld ns", resolution.tv_nsec);
		return resolution.tv_nsec == 1 ? good(a, "high-resolution timers") : bad(a, "timers end on a tick");
	}
	text = read_text(c, a, "/proc/timer_list");
	if (!text)
		return unread(a);
	text = strstr(text, ".hres_active");
	a->value = text ? first_line(text) : "no .hres_active";
	if (!text)
		return unknown(a, "cannot be told: no .hres_active there");
	return number_in_line(text, ".hres_active") > 0 ? good(a, "high-resolution timers")
							: bad(a, "timers end on a tick");
}

enum verdict kernel_clocksource(struct check *c, struct answer *a)
{
	static const char *const quick[] = {
		"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "timebase",
		"tod", "riscv_clocksource"};
	static const char *const slow[] = {
		"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen", "hyperv_clocksource_msr"};
	const char *text = read_text(c, a, "/sys/devices/system/clocksource/clocksource0/current_clocksource");

	if (!text)
		return unread(a);
	for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
		if (strcmp(a->value, quick[i]) == 0)
			return good(a, "read without a system call");
	for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
		if (strcmp(a->value, slow[i]) == 0)
			return bad(a, "%s is slow to read", a->value);
	return unknown(a, "the clocksource '%s' is not known here", a->value);
}

enum verdict kernel_smi(struct check *c, struct answer *a)
{
	const char *before, *after, *path = memory_printf("/dev/cpu/%d/msr", cpuset_next(&c->cpus, 0));
	long long n;

	if (c->guest_known && c->guest)
		return moot(a, "firmware stops the host, not a virtual machine: look there");
	TWICE(c, a, path, &before, &after);
	n = atoll(after) - atoll(before);
	a->value = memory_printf("MSR 0x34 is %s, grew by %lld in a second", after, n);
	return n ? bad(a, "%lld system management interrupts in this second", n) : good(a, "none in this second");
}

enum verdict kernel_mitigations(struct check *c, struct answer *a)
{
	static const char directory[] = "/sys/devices/system/cpu/vulnerabilities";
	const char **names = read_names(c, directory), *cmdline, *list = "";

	a->where = directory;
	if (!names)
		return unknown(a, "cannot be read: %s", strerror(errno));
	for (; **names; names++) {
		const char *text = read_text(c, a, "%s/%s", directory, *names);

		if (!text)
			return unread(a);
		if (strncmp(text, "Mitigation", 10) == 0)
			list = memory_printf("%s%s%s", list, *list ? " " : "", *names);
	}
	cmdline = read_text(c, &(struct answer){0}, "/proc/cmdline");
	cmdline = cmdline ? boot_option(cmdline, "mitigations") : NULL;
	a->where = directory;
	a->value = memory_printf("mitigations=%s", cmdline ? cmdline : "(default)");
	return good(a, "in force: %s", *list ? list : "none");
}

enum verdict kernel_tracing(struct check *c, struct answer *a)
{
	const char *directory = exists(c, "/sys/kernel/tracing/current_tracer") ? "/sys/kernel/tracing"
										: "/sys/kernel/debug/tracing";
	const char *tracer = read_text(c, a, "%s/current_tracer", directory), *events;

	if (!tracer)
		return unread(a);
	if (strncmp(tracer, "nop", 3) != 0)
		return bad(a, "the tracer %s is on", a->value);
	events = read_text(c, a, "%s/events/enable", directory);
	if (!events)
		return unread(a);
	return *events == '0' ? good(a, "no tracer, no event") : bad(a, "trace events are on");
}

/* The running kernel's own configuration, if it was built with CONFIG_IKCONFIG_PROC, or what distributions keep in /boot. */
enum verdict kernel_debug_options(struct check *c, struct answer *a)
{
	static const char *const options[] = {"CONFIG_PROVE_LOCKING",
					      "CONFIG_KASAN",
					      "CONFIG_KCSAN",
					      "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
					      "CONFIG_DEBUG_ATOMIC_SLEEP",
					      "CONFIG_DEBUG_PREEMPT",
					      "CONFIG_DEBUG_OBJECTS",
					      "CONFIG_SLUB_DEBUG_ON",
					      "CONFIG_DEBUG_KMEMLEAK",
					      "CONFIG_UBSAN_TRAP"};
	const char *text = read_gzip(c, a, "/proc/config.gz"), *release, *list = "";

	if (!text) {
		release = read_text(c, a, "/proc/sys/kernel/osrelease");
		text = release ? read_text(c, a, "/boot/config-%s", first_line(release)) : NULL;
	}
	if (!text)
		return unread(a);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const char *value = line_of(text, options[i]);

		if (value && *value == 'y')
			list = memory_printf("%s%s%s", list, *list ? " " : "", options[i]);
	}
	a->it = list;
	a->value = *list ? list : "none of those known to be slow";
	return *list ? bad(a, "built with %s", list) : good(a, "no debugging option that slows it");
}

enum verdict kernel_boot_options(struct check *c, struct answer *a)
{
	const char *cmdline = read_text(c, a, "/proc/cmdline"), *skew;

	if (!cmdline)
		return unread(a);
	skew = boot_option(cmdline, "skew_tick");
	a->value = memory_printf("skew_tick=%s", skew ? skew : "(default 0)");
	return skew && strcmp(skew, "1") == 0 ? good(a, "the ticks of the CPUs are spread")
					      : bad(a, "all CPUs tick at the same time");
}

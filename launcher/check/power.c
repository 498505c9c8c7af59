/* power.c judges clocks and idle states of the policy's CPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

/* A guest has no cpufreq: the host clocks it.  Real hardware without it is one that this kernel cannot judge. */
static enum verdict no_cpufreq(struct check *c, struct answer *a, enum verdict v)
{
	if (v == UNKNOWN &&
	    !exists(c, memory_printf("/sys/devices/system/cpu/cpu%d/cpufreq", cpuset_next(&c->cpus, 0))) &&
	    c->guest_known && c->guest)
		return moot(a, "the host clocks the CPUs of a virtual machine");
	return v;
}

/* intel_pstate and amd_pstate in active mode call "powersave" what their EPP decides about: see epp. */
static bool is_active_pstate(const char *driver)
{
	return strncmp(driver, "intel_pstate", 12) == 0 || strncmp(driver, "amd-pstate-epp", 14) == 0 ||
	       strncmp(driver, "amd_pstate_epp", 14) == 0;
}

static bool is_performance(const char *text)
{
	return strncmp(text, "performance", 11) == 0;
}

enum verdict power_governor(struct check *c, struct answer *a)
{
	struct answer driver_answer = {0};
	const char *driver = read_text(c, &driver_answer, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_driver",
				       cpuset_next(&c->cpus, 0));
	enum verdict v = each_cpu(c, a, &c->cpus, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
				  is_performance, "the highest clock is asked for", "the governor may clock down");

	if (v == BAD && driver && is_active_pstate(driver))
		return moot(a, "%s itself chooses the clock, see epp", first_line(driver));
	return no_cpufreq(c, a, v);
}

static bool is_epp_performance(const char *text)
{
	return is_performance(text) || strncmp(text, "0\n", 2) == 0;
}

enum verdict power_epp(struct check *c, struct answer *a)
{
	enum verdict v = each_cpu(c, a, &c->cpus, "/sys/devices/system/cpu/cpu%d/cpufreq/energy_performance_preference",
				  is_epp_performance, "performance is preferred",
				  "the processor prefers to save energy");

	if (v == UNKNOWN && errno == ENOENT &&
	    exists(c, memory_printf("/sys/devices/system/cpu/cpu%d/cpufreq", cpuset_next(&c->cpus, 0))))
		return moot(a, "the processor or its driver has no such preference");
	return no_cpufreq(c, a, v);
}

enum verdict power_min_frequency(struct check *c, struct answer *a)
{
	long long lowest, highest;

	CPUSET_EACH(cpu, &c->cpus)
	{
		if (!read_long(c, a, &highest, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq", cpu) ||
		    !read_long(c, a, &lowest, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_min_freq", cpu))
			return no_cpufreq(c, a, unread(a));
		if (lowest < highest)
			return bad(a, "CPU %d may run at %lld kHz, below its %lld", cpu, lowest, highest);
	}
	return good(a, "the lowest clock is the highest");
}

enum verdict power_turbo(struct check *c, struct answer *a)
{
	long long n;

	if (read_long(c, a, &n, "/sys/devices/system/cpu/intel_pstate/no_turbo"))
		return good(a, "turbo is %s", n ? "off" : "on");
	if (errno == ENOENT && read_long(c, a, &n, "/sys/devices/system/cpu/cpufreq/boost"))
		return good(a, "boost is %s", n ? "on" : "off");
	return no_cpufreq(c, a, unread(a));
}

enum verdict power_throttling(struct check *c, struct answer *a)
{
	long long most = 0;
	bool wait = false;

	CPUSET_EACH(cpu, &c->cpus)
	{
		const char *before, *after,
			*path = memory_printf("/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
					      cpu);
		bool later;

		if (!read_twice(c, a, path, &before, &after, &later)) {
			if (!later)
				return c->guest_known && c->guest && errno == ENOENT
					       ? moot(a, "the host cools the CPUs of a virtual machine")
					       : unread(a);
			wait = true;
		} else if (atoll(after) - atoll(before) > most) {
			most = atoll(after) - atoll(before);
		}
	}
	if (wait)
		return LATER;
	return most ? bad(a, "throttled %lld times in this second", most) : good(a, "not throttled in this second");
}

/* The longest exit latency of the states of a CPU that are not disabled, in us; -1: there are no states to read. */
static long long deepest(struct check *c, struct answer *a, int cpu, const char **name)
{
	long long latency, off, most = -1;

	for (int i = 0; read_long(c, a, &latency, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency", cpu, i);
	     i++) {
		struct answer state = {0};

		if (read_long(c, &state, &off, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", cpu, i) && off)
			continue;
		if (latency >= most) {
			const char *text = read_text(c, &state, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/name",
						     cpu, i);

			most = latency;
			*name = text ? first_line(text) : "?";
		}
	}
	return most;
}

/* What PM QoS allows now, in us: the smallest of all requests.  It can be read by root only; -1: it cannot. */
static long long latency_limit(struct check *c)
{
	struct answer unused = {0};
	const char *bytes = read_text(c, &unused, "/dev/cpu_dma_latency");
	int32_t limit = -1;

	if (bytes)
		memcpy(&limit, bytes, sizeof limit);
	return limit;
}

enum verdict power_idle_states(struct check *c, struct answer *a)
{
	const struct value *asked = &c->policy->process.value[K_CPULatencySec];
	long long most = -1, limit = latency_limit(c);
	const char *name = "?", *worst = "?";
	int at = 0;

	if (asked->items && (limit < 0 || asked->number < limit))
		limit = asked->number; /* will be in force while the program runs */
	CPUSET_EACH(cpu, &c->cpus)
	{
		long long latency = deepest(c, a, cpu, &name);

		if (latency < 0)
			return c->guest_known && c->guest && errno == ENOENT
				       ? moot(a, "the host chooses the idle states, see guest_idle")
				       : unread(a);
		if (latency > most) {
			most = latency;
			worst = name;
			at = cpu;
		}
	}
	a->where = memory_printf("/sys/devices/system/cpu/cpu%d/cpuidle/state*/latency", at);
	a->value = memory_printf("%s, %lld us", worst, most);
	if (most <= 10)
		return good(a, "the deepest idle state is left within 10 us");
	if (limit >= 0 && limit <= 10)
		return good(a, "PM QoS allows %lld us%s", limit, asked->items ? ", by CPULatencySec=" : "");
	return bad(a, "CPU %d may sleep in %s, which takes %lld us to leave%s", at, worst, most,
		   limit < 0 ? " (the PM QoS request in force cannot be read)" : "");
}

/* "n/a": no latency at all; "0": no constraint (sysfs-devices-power). */
static bool is_constrained(const char *text)
{
	return strncmp(text, "n/a", 3) == 0 || (atoi(text) > 0 && atoi(text) <= 10);
}

enum verdict power_cpu_qos(struct check *c, struct answer *a)
{
	const struct value *asked = &c->policy->process.value[K_CPULatencySec];
	enum verdict v = each_cpu(c, a, &c->cpus, "/sys/devices/system/cpu/cpu%d/power/pm_qos_resume_latency_us",
				  is_constrained, "at most 10 us are allowed there", "no constraint of their own");

	return v == BAD && asked->items && asked->number <= 10
		       ? good(a, "CPULatencySec= of the policy holds for all CPUs")
		       : v;
}

enum verdict power_guest_idle(struct check *c, struct answer *a)
{
	struct answer polls = {0};
	const char *driver, *governor;
	long long ns;

	if (c->guest_known && !c->guest)
		return moot(a, "no virtual machine");
	driver = read_text(c, a, "/sys/devices/system/cpu/cpuidle/current_driver");
	if (!driver)
		return unread(a);
	governor = read_text(c, a, "/sys/devices/system/cpu/cpuidle/current_governor");
	if (!governor)
		return unread(a);
	if (strncmp(governor, "haltpoll", 8) != 0)
		return bad(a, "an idle CPU halts, and the host must wake it (driver %s)", first_line(driver));
	if (read_long(c, &polls, &ns, "/sys/module/haltpoll/parameters/guest_halt_poll_ns") && ns == 0) {
		*a = polls;
		return bad(a, "haltpoll polls for 0 ns: it halts at once");
	}
	return good(a, "an idle CPU polls before it halts");
}

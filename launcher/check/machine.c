/* machine.c judges what stands above this kernel: a hypervisor, a container, others' load. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

/* "cpu3 user nice system idle iowait irq softirq steal ..." (proc(5)): all of them, and the steal. */
static bool cpu_times(const char *text, int cpu, long long *total, long long *steal)
{
	const char *line = line_of(text, memory_printf("cpu%d", cpu));
	long long t[8] = {0};
	int n = line ? sscanf(line, "%lld %lld %lld %lld %lld %lld %lld %lld", t, t + 1, t + 2, t + 3, t + 4, t + 5,
			      t + 6, t + 7)
		     : 0;

	*total = 0;
	for (int i = 0; i < n; i++)
		*total += t[i];
	*steal = t[7];
	return n == 8;
}

enum verdict machine_steal(struct check *c, struct answer *a)
{
	const char *before, *after;
	double worst = 0;
	int at = -1;

	TWICE(c, a, "/proc/stat", &before, &after);
	CPUSET_EACH(cpu, &c->cpus)
	{
		long long total[2], steal[2];
		double share;

		if (!cpu_times(before, cpu, &total[0], &steal[0]) || !cpu_times(after, cpu, &total[1], &steal[1]))
			return unknown(a, "cannot be read: no steal time of CPU %d there", cpu);
		share = total[1] > total[0] ? 100.0 * (double)(steal[1] - steal[0]) / (double)(total[1] - total[0]) : 0;
		if (share > worst) {
			worst = share;
			at = cpu;
		}
	}
	a->value = memory_printf("%.1f %% in a second", worst);
	if (worst > 0.1)
		return bad(a, "the host took %.1f %% of CPU %d", worst, at);
	return good(a, c->guest_known && !c->guest ? "none: no virtual machine" : "none (some hosts never tell)");
}

enum verdict machine_pressure(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/pressure/cpu"), *at = text ? strstr(text, "avg10=") : NULL;

	if (!text)
		return unread(a);
	if (!at)
		return unknown(a, "cannot be read: no avg10 there");
	return atof(at + 6) >= 10 ? bad(a, "somebody waited for a CPU in %.0f %% of the last 10 s", atof(at + 6))
				  : good(a, "hardly anybody waits for a CPU");
}

/* /proc/cpuinfo has the flag on x86; elsewhere firmware tables or /sys/hypervisor tell. */
enum verdict machine_guest(struct check *c, struct answer *a)
{
	const char *text = read_text(c, a, "/proc/cpuinfo"), *flags = text ? line_of(text, "flags") : NULL, *vendor;

	if (!text)
		return unread(a);
	if (exists(c, "/sys/hypervisor/type") && (vendor = read_text(c, a, "/sys/hypervisor/type"))) {
		c->guest = c->guest_known = true;
		return good(a, "a guest of %s", first_line(vendor));
	}
	if (!flags) {
		a->value = "no flags";
		return unknown(a, "cannot be told on this architecture");
	}
	c->guest_known = true;
	c->guest = strstr(memory_printf(" %s ", flags), " hypervisor ") != NULL;
	a->value = c->guest ? "flag hypervisor" : "no flag hypervisor";
	return good(a, c->guest ? "a virtual machine" : "no virtual machine");
}

enum verdict machine_container(struct check *c, struct answer *a)
{
	static const char *const marks[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
	const char *map = read_text(c, a, "/proc/self/uid_map");
	unsigned inside, outside, count;

	if (!map)
		return unread(a);
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (exists(c, marks[i])) {
			a->where = marks[i];
			a->value = "there";
			return good(a, "a container");
		}
	if (sscanf(map, "%u %u %u", &inside, &outside, &count) != 3)
		return unknown(a, "cannot be told: no user namespace there");
	return good(a, inside || outside || count != UINT32_MAX ? "a user namespace, as of a container"
								: "no sign of a container");
}

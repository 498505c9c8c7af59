/* around.c - the machine around an experiment: which it is, and what else it did during a run. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "ab.h"

/* The first line of a small file without its end, or NULL. */
static const char *first_line(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	bool got = file && fgets(line, sizeof line, file);

	if (file)
		fclose(file);
	return got ? memory_copy(line, strcspn(line, "\n")) : NULL;
}

void around_read(struct around *a)
{
	FILE *stat = fopen("/proc/stat", "re"), *interrupts = fopen("/proc/interrupts", "re");
	unsigned long long t[8] = {0};
	struct timespec now;
	char line[8192];

	clock_gettime(CLOCK_MONOTONIC, &now);
	memset(a, 0, sizeof *a);
	a->seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	if (stat && fscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4],
			   &t[5], &t[6], &t[7]) == 8)
		a->steal = (double)t[7] / (double)sysconf(_SC_CLK_TCK);
	if (stat)
		fclose(stat);
	/* The numbered rows are the devices'; timers, rescheduling and the like have letters. */
	while (interrupts && fgets(line, sizeof line, interrupts)) {
		char *p = line + strspn(line, " ");

		if (!isdigit((unsigned char)*p))
			continue;
		for (p = strchr(p, ':') ? strchr(p, ':') + 1 : p; *(p += strspn(p, " ")) && isdigit((unsigned char)*p);)
			a->interrupts += strtod(p, &p);
	}
	if (interrupts)
		fclose(interrupts);
	for (int cpu = 0; cpu < get_nprocs_conf(); cpu++) {
		char path[96];
		FILE *file;

		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", cpu);
		file = fopen(path, "re");
		if (!file)
			break;
		if (fscanf(file, "%llu", &t[0]) == 1)
			a->throttled += (double)t[0];
		fclose(file);
	}
}

/* The rule is relative to the arm's own runs: an arm that makes interrupts by its nature is not disturbed by them. */
void around_mark(struct experiment *e)
{
	double *rates = memory_get((e->n_run + 1) * sizeof *rates);

	for (size_t arm = 0; arm < e->n_arms; arm++) {
		double usual;
		size_t n = 0;

		for (size_t i = 0; i < e->n_run; i++)
			if (e->run[i].arm == arm && !e->run[i].warm_up && !e->run[i].failed)
				rates[n++] = e->run[i].interrupts;
		usual = n ? stats_median(rates, n) : 0;
		for (size_t i = 0; i < e->n_run; i++) {
			struct run *r = &e->run[i];

			if (r->arm == arm && !r->disturbed && !r->warm_up && r->interrupts > 3 * usual &&
			    r->interrupts > usual + 1000)
				r->disturbed = memory_printf("%.0f interrupts/s, usually %.0f", r->interrupts, usual);
		}
	}
}

void around_describe(struct experiment *e)
{
	struct utsname u;
	time_t now = time(NULL);
	struct tm *local = localtime(&now);
	char date[64] = "", line[512];
	FILE *info = fopen("/proc/cpuinfo", "re");

	if (uname(&u) == 0)
		e->kernel = memory_printf("%s %s %s", u.sysname, u.release, u.version);
	if (local)
		strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S%z", local);
	e->date = memory_copy(date, strlen(date));
	e->machine = memory_printf("%d CPUs", get_nprocs());
	while (info && fgets(line, sizeof line, info))
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
			const char *model = strchr(line, ':') + 1;

			model += strspn(model, " ");
			e->machine = memory_printf("%d CPUs, %.*s", get_nprocs(), (int)strcspn(model, "\n"), model);
			break;
		}
	if (info)
		fclose(info);
	e->kernel_line = first_line("/proc/cmdline");
	e->boot = first_line("/proc/sys/kernel/random/boot_id");
	e->version = VERSION;
}

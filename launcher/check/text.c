/* text.c owns the forms in which /proc and /sys say things: masks, bracketed words, tables with a column for each CPU.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

const char *first_line(const char *text)
{
	return memory_copy(text, strcspn(text, "\n"));
}

const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

const char *list_of(const struct cpuset *set)
{
	char text[256];

	cpuset_format(set, text, sizeof text);
	return memory_copy(text, strlen(text));
}

/* As the kernel writes masks: groups of 8 digits, commas between, the highest first. */
const char *mask_of(const struct cpuset *set)
{
	const char *mask = "";

	for (int i = CPUSET_WORDS * 2 - 1; i >= 0; i--) {
		uint32_t part = (uint32_t)(set->word[i / 2] >> (i % 2 * 32));

		if (*mask)
			mask = memory_printf("%s,%08x", mask, part);
		else if (part || i == 0)
			mask = memory_printf("%x", part);
	}
	return mask;
}

bool parse_mask(const char *text, struct cpuset *set)
{
	const char *end = text + strcspn(text, "\n");
	unsigned cpu = 0;

	*set = (struct cpuset){0};
	if (end == text)
		return false;
	for (const char *p = end; p > text; p--) {
		char digit[2] = {p[-1], '\0'};

		if (*digit == ',')
			continue;
		if (!isxdigit((unsigned char)*digit))
			return false;
		for (unsigned bit = 0, value = (unsigned)strtoul(digit, NULL, 16); bit < 4; bit++)
			if (value >> bit & 1)
				cpuset_add(set, cpu + bit);
		cpu += 4;
	}
	return true;
}

struct cpuset common(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset both = *a;

	cpuset_and(&both, b);
	return both;
}

const char *boot_option(const char *cmdline, const char *name)
{
	size_t n = strlen(name);
	const char *found = NULL;

	/* The last one counts. */
	for (const char *p = cmdline; *p;) {
		size_t length;

		p += strspn(p, " \n");
		length = strcspn(p, " \n");
		if (length >= n && strncmp(p, name, n) == 0 && (length == n || p[n] == '='))
			found = length == n ? "" : memory_copy(p + n + 1, length - n - 1);
		p += length;
	}
	return found;
}

const char *line_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = next_line(line))
		if (strncmp(line, name, n) == 0 && line[n] && strchr(": \t=", line[n]))
			return first_line(line + n + strspn(line + n, ": \t="));
	return NULL;
}

long long number_in_line(const char *text, const char *name)
{
	const char *line = line_of(text, name);

	return line && isdigit((unsigned char)*line) ? strtoll(line, NULL, 10) : -1;
}

const char *bracketed(const char *text)
{
	const char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;

	return to ? memory_copy(from + 1, (size_t)(to - from - 1)) : first_line(text);
}

/* --- tables --- */

const char *row_name(const char *line)
{
	size_t n;

	line += strspn(line, " ");
	n = strcspn(line, ": \n");
	return n && line[n] == ':' ? memory_copy(line, n) : NULL;
}

static const char *find_row(const char *text, const char *row)
{
	size_t n = strlen(row);

	for (const char *line = text; line; line = next_line(line)) {
		const char *name = line + strspn(line, " ");

		if (strncmp(name, row, n) == 0 && name[n] == ':')
			return name + n + 1;
	}
	return NULL;
}

/* The columns are named in the first line, "CPU0 CPU1 CPU3": offline CPUs have none in /proc/interrupts. */
static long long row_sum(const char *text, const char *row, const struct cpuset *cpus)
{
	const char *at = find_row(text, row), *column = text, *end;
	long long sum = 0;

	if (!at)
		return -1;
	end = text + strcspn(text, "\n");
	while ((column = strstr(column, "CPU")) && column < end) {
		char *after;
		unsigned long cpu = strtoul(column + 3, NULL, 10);
		long long n;

		at += strspn(at, " ");
		if (!isdigit((unsigned char)*at))
			break; /* ERR and MIS have one number for all CPUs */
		n = strtoll(at, &after, 10);
		at = after;
		if (cpuset_has(cpus, (unsigned)cpu))
			sum += n;
		column += 3;
	}
	return sum;
}

long long row_growth(const char *before, const char *after, const char *row, const struct cpuset *cpus)
{
	long long from = row_sum(before, row, cpus), to = row_sum(after, row, cpus);

	return from < 0 || to < 0 ? -1 : to - from;
}

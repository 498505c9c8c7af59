/* sysfs.c owns the reading of small files below the topology's root; what they mean is for its callers. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "topology.h"

__attribute__((format(printf, 4, 0))) static bool read_file(const struct topology *t, char *text, size_t size,
							    const char *format, va_list args)
{
	char path[PATH_MAX];
	size_t at = (size_t)snprintf(path, sizeof(path), "%s/", t->root), got = 0;
	ssize_t n = 0;
	int fd;

	if (at >= sizeof(path) || (size_t)vsnprintf(path + at, sizeof(path) - at, format, args) >= sizeof(path) - at)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (got < size - 1 && (n = read(fd, text + got, size - 1 - got)) > 0)
		got += (size_t)n;
	close(fd);
	text[got] = '\0';
	return n >= 0;
}

bool sysfs_text(const struct topology *t, char *text, size_t size, const char *format, ...)
{
	va_list args;
	bool ok;

	va_start(args, format);
	ok = read_file(t, text, size, format, args);
	va_end(args);
	return ok;
}

bool sysfs_list(const struct topology *t, struct cpuset *set, const char *format, ...)
{
	/* Room for every second CPU of the largest machine, "8190," each: too much to grow the stack by. */
	static char text[CPUSET_MAX * 5];
	va_list args;
	bool ok;

	va_start(args, format);
	ok = read_file(t, text, sizeof(text), format, args);
	va_end(args);
	*set = (struct cpuset){0};
	return ok && cpuset_parse(set, text);
}

int sysfs_int(const struct topology *t, const char *format, ...)
{
	char text[16], *end;
	va_list args;
	long n;
	bool ok;

	va_start(args, format);
	ok = read_file(t, text, sizeof(text), format, args);
	va_end(args);
	if (!ok)
		return INT_MIN;
	n = strtol(text, &end, 10);
	return end > text && n > INT_MIN && n <= INT_MAX ? (int)n : INT_MIN;
}

/* read.c owns how --check reads: files below the topology's root, and pairs of readings a second apart. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "check.h"

enum { FIRST_SIZE = 4096, LARGEST = 16 << 20, MSR_SMI_COUNT = 0x34 };

/* A whole file, or NULL with errno.  A model-specific register is no file to read from the start: the one that counts
 * SMIs. */
static char *read_file(const char *path)
{
	size_t size = FIRST_SIZE, got = 0, n = strlen(path);
	char *text = memory_get(size);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;

	if (fd < 0)
		return NULL;
	if (n > 4 && strcmp(path + n - 4, "/msr") == 0) {
		uint64_t count = 0;
		ssize_t length = pread(fd, &count, sizeof count, MSR_SMI_COUNT);

		error = length == sizeof count ? 0 : length < 0 ? errno : EIO;
		close(fd);
		errno = error;
		return error ? NULL : memory_printf("%llu", (unsigned long long)count);
	}
	for (;;) {
		ssize_t length = read(fd, text + got, size - 1 - got);

		if (length < 0)
			error = errno;
		if (length <= 0)
			break;
		got += (size_t)length;
		if (got == size - 1 && size < LARGEST) {
			char *larger = memory_get(2 * size);

			memcpy(larger, text, got);
			text = larger;
			size *= 2;
		}
	}
	close(fd);
	errno = error;
	return error ? NULL : text;
}

/* The same of a gzip file, such as /proc/config.gz. */
static char *read_gzip_file(const char *path)
{
	char *text = memory_get(LARGEST);
	gzFile file = gzopen(path, "re");
	int damaged, error;

	if (!file)
		return NULL;
	gzread(file, text, LARGEST - 1);
	gzerror(file, &damaged); /* a file that is cut off too, of which gzread itself says nothing */
	error = damaged == Z_ERRNO ? errno : damaged ? EIO : 0;
	gzclose(file);
	errno = error;
	return error ? NULL : text;
}

static const char *why_not(int error)
{
	return error == ENOENT                     ? "no such file"
	       : error == EACCES || error == EPERM ? "no permission: try as root"
						   : strerror(error);
}

/* What was read, or why not (errno), as the answer tells it. */
static const char *noted(struct answer *a, const char *path, const char *text)
{
	int error = errno;

	a->where = path;
	a->value = text ? first_line(text) : NULL;
	if (!text)
		a->text = memory_printf("cannot be read: %s", why_not(error));
	errno = error;
	return text;
}

__attribute__((format(printf, 3, 0))) static const char *read_at(struct check *c, struct answer *a, const char *format,
								 va_list args)
{
	const char *path = memory_vprintf(format, args);

	return noted(a, path, read_file(memory_printf("%s%s", c->t->root, path)));
}

const char *read_text(struct check *c, struct answer *a, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = read_at(c, a, format, args);
	va_end(args);
	return text;
}

const char *read_gzip(struct check *c, struct answer *a, const char *path)
{
	return noted(a, path, read_gzip_file(memory_printf("%s%s", c->t->root, path)));
}

/* What was read says something else than it should: as good as not read. */
static bool strange(struct answer *a, const char *expected)
{
	a->text = memory_printf("cannot be read: it says '%.60s', expected %s", a->value, expected);
	errno = EINVAL;
	return false;
}

bool read_long(struct check *c, struct answer *a, long long *n, const char *format, ...)
{
	const char *text;
	va_list args;
	char *end;

	va_start(args, format);
	text = read_at(c, a, format, args);
	va_end(args);
	if (!text)
		return false;
	*n = strtoll(text, &end, 10);
	return (end > text && strspn(end, " \t\n") == strlen(end)) || strange(a, "a number");
}

bool read_cpus(struct check *c, struct answer *a, struct cpuset *set, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = read_at(c, a, format, args);
	va_end(args);
	return text && (cpuset_parse(set, text) || strange(a, "a list of CPUs"));
}

bool read_mask(struct check *c, struct answer *a, struct cpuset *set, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = read_at(c, a, format, args);
	va_end(args);
	return text && (parse_mask(text, set) || strange(a, "a hexadecimal mask"));
}

bool exists(struct check *c, const char *path)
{
	return access(memory_printf("%s%s", c->t->root, path), F_OK) == 0;
}

const char **read_names(struct check *c, const char *path)
{
	DIR *dir = opendir(memory_printf("%s%s", c->t->root, path));
	size_t n = 0, size = 64;
	const char **names;

	if (!dir)
		return NULL;
	names = memory_get(size * sizeof *names);
	for (struct dirent *d; (d = readdir(dir));) {
		if (d->d_name[0] == '.')
			continue;
		if (n + 1 == size) {
			const char **more = memory_get(2 * size * sizeof *more);

			memcpy(more, names, n * sizeof *more);
			names = more;
			size *= 2;
		}
		names[n++] = memory_copy(d->d_name, strlen(d->d_name));
	}
	closedir(dir);
	names[n] = "";
	return names;
}

/* --- pairs --- */

struct sample {
	const char *path, *before, *after;
	struct sample *next;
};

static const char *read_later(struct check *c, struct answer *a, const char *path)
{
	const char *root = c->t->root;

	if (*root && exists(c, memory_printf("/later%s", path)))
		c->t->root = memory_printf("%s/later", root);
	const char *text = read_text(c, a, "%s", path);
	c->t->root = root;
	return text;
}

bool read_twice(struct check *c, struct answer *a, const char *path, const char **before, const char **after,
		bool *later)
{
	struct sample *s = c->samples;

	while (s && strcmp(s->path, path) != 0)
		s = s->next;
	*later = false;
	if (!s) {
		const char *text = read_text(c, a, "%s", path);

		if (!text)
			return false;
		s = memory_get(sizeof *s);
		*s = (struct sample){.path = path, .before = text, .next = c->samples};
		c->samples = s;
	}
	*later = !c->second;
	if (*later)
		return false;
	if (!s->after)
		s->after = read_later(c, a, path);
	*before = s->before;
	*after = s->after;
	a->where = path;
	a->value = s->after ? first_line(s->after) : NULL;
	return s->after != NULL;
}

/*
 * memory.c - memory that is kept until exec.  A launcher lives for a millisecond: freeing piece by piece would only be
 * a chance for mistakes.  memory_release() is for those who run the same code in a loop (fuzzers).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy.h"

static struct block {
	struct block *next;
	_Alignas(max_align_t) char data[];
} * blocks;

void *memory_get(size_t size)
{
	struct block *b = calloc(1, sizeof *b + size);

	if (!b) {
		/* Nothing sensible is left to do, and no caller could do better: the one exit outside main.c. */
		static const char text[] = "llrun: out of memory\n";
		if (write(2, text, sizeof text - 1) < 0) {
		}
		_exit(125);
	}
	b->next = blocks;
	blocks = b;
	return b->data;
}

char *memory_copy(const char *text, size_t length)
{
	char *copy = memory_get(length + 1);

	memcpy(copy, text, length);
	return copy;
}

char *memory_vprintf(const char *format, va_list args)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = memory_get(n < 0 ? 1 : (size_t)n + 1);
	if (n > 0)
		vsnprintf(text, (size_t)n + 1, format, args);
	return text;
}

char *memory_printf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = memory_vprintf(format, args);
	va_end(args);
	return text;
}

void *memory_mark(void)
{
	return blocks;
}

void memory_release(void *mark)
{
	while (blocks && blocks != mark) {
		struct block *b = blocks;

		blocks = b->next;
		free(b);
	}
}

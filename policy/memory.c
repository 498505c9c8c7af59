/*
 * memory.c - memory that is kept until exec, in chunks from which pieces are cut.  A launcher lives for a millisecond:
 * freeing piece by piece would only be a chance for mistakes, and malloc for each a tenth of what llrun does.
 * memory_release() is for those who run the same code in a loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "policy.h"

/*
 * calloc(3) maps so much afresh: it is zero already, and of it only what is used costs anything.  For a sanitizer each
 * piece is a chunk of its own, or it could not see where one ends.
 */
#ifdef EXACT_MEMORY
enum { CHUNK = 0 };
#else
enum { CHUNK = 256 * 1024 };
#endif

static struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(max_align_t) char data[];
} * chunks; /* pieces come from the first, the newest */

static void add_chunk(size_t size)
{
	struct chunk *c = calloc(1, sizeof *c + size);

	if (!c) {
		/* Nothing sensible is left to do, and no caller could do better: the one exit outside main.c. */
		static const char text[] = "llrun: out of memory\n";
		if (write(2, text, sizeof text - 1) < 0) {
		}
		_exit(125);
	}
	c->size = size;
	c->next = chunks;
	chunks = c;
}

void *memory_get(size_t size)
{
	const size_t unit = _Alignof(max_align_t);
	size_t at = chunks ? (chunks->used + unit - 1) & ~(unit - 1) : 0;

	if (!chunks || at > chunks->size || size > chunks->size - at) {
		add_chunk(size > CHUNK ? size : CHUNK);
		at = 0;
	}
	chunks->used = at + size;
	return chunks->data + at;
}

char *memory_copy(const char *text, size_t length)
{
	char *copy = memory_get(length + 1);

	memcpy(copy, text, length);
	return copy;
}

char *memory_vprintf(const char *format, va_list args)
{
	char *text = memory_get(0); /* where the next piece begins: most texts fit into what is left there */
	size_t room = chunks->size - chunks->used;
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(text, room, format, again);
	va_end(again);
	if (n < 0)
		return memory_get(1);
	if ((size_t)n < room)
		return memory_get((size_t)n + 1);
	memset(text, 0, room);
	text = memory_get((size_t)n + 1);
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
	return chunks ? chunks->data + chunks->used : NULL;
}

void memory_release(void *mark)
{
	char *end = mark;

	while (chunks && !(end >= chunks->data && end <= chunks->data + chunks->used)) {
		struct chunk *c = chunks;

		chunks = c->next;
		free(c);
	}
	if (!chunks)
		return;
	memset(end, 0, (size_t)(chunks->data + chunks->used - end));
	chunks->used = (size_t)(end - chunks->data);
}

/* message.c - all that llrun itself says: "llrun: ..." on stderr.  stdout belongs to the program. */
#include <stdio.h>
#include <string.h>
#include "launcher.h"

bool quiet;

static void vsay(const char *format, va_list args)
{
	fflush(NULL); /* one pipe may take both outputs, and that of --explain is written in blocks that end within a line */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): both callers start it */
	const char *text = memory_vprintf(format, args);

	fprintf(stderr, "llrun: %s\n", text); /* in one write(2): several llrun may share a terminal or a log */
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

void warn_user(const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

struct finding {
	int on_error;
	const char *text;
	struct finding *next;
};

void findings_init(struct findings *f)
{
	f->first = NULL;
	f->end = &f->first;
	f->fatal = 0;
}

void finding(struct findings *f, int on_error, const char *format, ...)
{
	struct finding *new = memory_get(sizeof *new);
	va_list args;

	va_start(args, format);
	new->text = memory_vprintf(format, args);
	va_end(args);
	/* A key that several rules take from [Process] is refused in each: said once. */
	for (const struct finding *i = f->first; i; i = i->next)
		if (i->on_error == on_error && strcmp(i->text, new->text) == 0)
			return;
	new->on_error = on_error;
	*f->end = new;
	f->end = &new->next;
	f->fatal += on_error == ON_ERROR_FAIL;
}

void findings_print(const struct findings *f)
{
	for (const struct finding *i = f->first; i; i = i->next) {
		if (i->on_error == ON_ERROR_FAIL)
			say("%s", i->text);
		else if (i->on_error == ON_ERROR_WARN)
			warn_user("%s: left out (OnError=warn)", i->text);
		else if (i->on_error == FINDING_CAUSE && f->fatal)
			say("%s", i->text);
		else if (i->on_error == FINDING_CAUSE || (i->on_error == FINDING_NOTE && !f->fatal))
			warn_user("warning: %s", i->text);
	}
	if (f->fatal)
		say("nothing was started; OnError=warn (-w) starts with what can be had");
}

const char *findings_text(const struct findings *f, int *worst)
{
	const char *text = "";

	*worst = FINDING_NOTE;
	for (const struct finding *i = f->first; i; i = i->next) {
		if (i->on_error > ON_ERROR_WARN)
			continue;
		text = memory_printf("%s%s%s", text, *text ? "; " : "", i->text);
		if (i->on_error < *worst)
			*worst = i->on_error;
	}
	return text;
}

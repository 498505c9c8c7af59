/* json.c - JSON as others read it (RFC 8259).  Text that is not UTF-8 is written byte by byte as if Latin-1. */
#include <math.h>
#include "json.h"

static void quoted(FILE *file, const char *text)
{
	putc('"', file);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			fprintf(file, "\\%c", *p);
		else if (*p < 0x20 || *p >= 0x7f)
			fprintf(file, "\\u%04x", *p);
		else
			putc(*p, file);
	}
	putc('"', file);
}

static void begin(struct json *j, const char *name)
{
	if (j->after)
		putc(',', j->file);
	j->after = true;
	if (name) {
		quoted(j->file, name);
		putc(':', j->file);
	}
}

void json_open(struct json *j, const char *name, char bracket)
{
	begin(j, name);
	putc(bracket, j->file);
	j->after = false;
}

void json_close(struct json *j, char bracket)
{
	putc(bracket, j->file);
	j->after = true;
}

void json_text(struct json *j, const char *name, const char *text)
{
	begin(j, name);
	if (text)
		quoted(j->file, text);
	else
		fputs("null", j->file);
}

void json_number(struct json *j, const char *name, long long number)
{
	begin(j, name);
	fprintf(j->file, "%lld", number);
}

void json_real(struct json *j, const char *name, double number)
{
	begin(j, name);
	if (isfinite(number))
		fprintf(j->file, "%.17g", number);
	else
		fputs("null", j->file);
}

void json_bool(struct json *j, const char *name, bool value)
{
	begin(j, name);
	fputs(value ? "true" : "false", j->file);
}

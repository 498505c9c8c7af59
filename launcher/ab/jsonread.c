/* jsonread.c - JSON in (RFC 8259): programs' output and saved experiments. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ab.h"

enum { DEEPEST = 64 };

struct reader {
	const char *at, *why;
	int depth;
};

static void blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
}

/* json.c writes each byte that is not ASCII as \u00xx: it comes back as that byte. */
static char *text_of(struct reader *r)
{
	const char *p = r->at + 1;
	char *out = memory_get(strcspn(p, "\"") + 1), *to = out;
	size_t room = strcspn(p, "\"");

	for (; *p && *p != '"'; p++) {
		unsigned code = (unsigned char)*p;
		char hex[5] = "";

		if ((size_t)(to - out) + 4 > room) { /* a quote behind a backslash: the text is longer than it seemed */
			char *more = memory_get(2 * room + 16);

			memcpy(more, out, (size_t)(to - out));
			to = more + (to - out);
			out = more;
			room = 2 * room + 15;
		}
		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		switch (*++p) {
		case 'n':
			code = '\n';
			break;
		case 't':
			code = '\t';
			break;
		case 'r':
			code = '\r';
			break;
		case 'b':
			code = '\b';
			break;
		case 'f':
			code = '\f';
			break;
		case 'u':
			strncpy(hex, p + 1, 4);
			code = (unsigned)strtoul(hex, NULL, 16);
			if (strspn(hex, "0123456789abcdefABCDEF") != 4)
				code = 0;
			p += strlen(hex);
			break;
		case '\0':
			p--;
			continue;
		default:
			code = (unsigned char)*p;
		}
		if (code < 0x100) {
			*to++ = (char)code;
		} else if (code < 0x800) {
			*to++ = (char)(0xc0 | code >> 6);
			*to++ = (char)(0x80 | (code & 0x3f));
		} else {
			*to++ = (char)(0xe0 | code >> 12);
			*to++ = (char)(0x80 | (code >> 6 & 0x3f));
			*to++ = (char)(0x80 | (code & 0x3f));
		}
	}
	*to = '\0';
	if (*p != '"')
		r->why = "a string does not end";
	r->at = p + (*p == '"');
	return out;
}

static struct json_node *value(struct reader *r)
{
	static const char *const words[] = {"null", "false", "true"};
	struct json_node *n = memory_get(sizeof *n), **end = &n->first;
	char close;

	blanks(r);
	if (*r->at == '"') {
		n->kind = JSON_TEXT;
		n->text = text_of(r);
		return n;
	}
	if (*r->at == '-' || isdigit((unsigned char)*r->at)) {
		char *after;

		n->kind = JSON_NUMBER;
		n->number = strtod(r->at, &after);
		r->at = after;
		return n;
	}
	for (int i = 0; i < 3; i++)
		if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
			n->kind = i ? JSON_BOOL : JSON_NULL;
			n->number = i == 2;
			r->at += strlen(words[i]);
			return n;
		}
	if ((*r->at != '{' && *r->at != '[') || r->depth >= DEEPEST) {
		r->why = r->depth >= DEEPEST ? "nested too deep" : "no value where one was expected";
		return n;
	}
	n->kind = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
	close = *r->at++ == '{' ? '}' : ']';
	r->depth++;
	for (blanks(r); *r->at != close && !r->why; blanks(r)) {
		const char *name = NULL;

		if (n->first && *r->at++ != ',') {
			r->why = "no comma where one was expected";
			break;
		}
		blanks(r);
		if (close == '}') {
			if (*r->at != '"') {
				r->why = "no name where one was expected";
				break;
			}
			name = text_of(r);
			blanks(r);
			if (*r->at++ != ':') {
				r->why = "no colon where one was expected";
				break;
			}
		}
		*end = value(r);
		(*end)->name = name;
		end = &(*end)->next;
	}
	r->at += *r->at == close;
	r->depth--;
	return n;
}

struct json_node *json_read(const char *text, const char **end, const char **why)
{
	struct reader r = {.at = text};
	struct json_node *n = value(&r);

	*end = r.at;
	*why = r.why;
	return r.why ? NULL : n;
}

const struct json_node *json_member(const struct json_node *object, const char *name)
{
	const struct json_node *n = object && object->kind == JSON_OBJECT ? object->first : NULL;

	while (n && strcmp(n->name, name) != 0)
		n = n->next;
	return n;
}

const struct json_node *json_pointer(const struct json_node *n, const char *pointer)
{
	while (n && *pointer == '/') {
		size_t length = strcspn(pointer + 1, "/");
		char *name = memory_copy(pointer + 1, length), *to = name;

		pointer += 1 + length;
		for (const char *p = name; *p; p++) /* ~1 is a slash, ~0 a tilde */
			*to++ = *p == '~' && (p[1] == '0' || p[1] == '1') ? *++p == '1' ? '/' : '~' : *p;
		*to = '\0';
		if (n->kind == JSON_ARRAY) {
			int64_t i;

			n = read_number(name, 0, INT32_MAX, &i) ? n->first : NULL;
			for (; n && i > 0; i--)
				n = n->next;
		} else {
			n = json_member(n, name);
		}
	}
	return *pointer ? NULL : n;
}

/*
 * parse.c - policy text to policy.  The form is that of systemd unit files (systemd.syntax(7)): sections, Key=Value,
 * comments on lines of their own, a trailing backslash continues, a list key appends and an empty value resets.
 */
#include <ctype.h>
#include <string.h>
#include "policy.h"

const char *source_text(struct source at)
{
	return at.line ? memory_printf("%s:%u", at.file, at.line) : at.file;
}

static void add_message(struct message **list, struct source at, const char *format, va_list args)
{
	struct message *m = memory_get(sizeof *m);
	const char *what = memory_vprintf(format, args);

	m->text = memory_printf("%s: %s", source_text(at), what);
	while (*list)
		list = &(*list)->next;
	*list = m;
}

void policy_error(struct policy *p, struct source at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_message(&p->errors, at, format, args);
	va_end(args);
}

void policy_warning(struct policy *p, struct source at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_message(&p->warnings, at, format, args);
	va_end(args);
}

static void section_init(struct section *s, unsigned kind, const char *title, struct source at)
{
	const char *why;

	memset(s, 0, sizeof *s);
	s->kind = kind;
	s->title = title;
	s->at = at;
	for (int i = 0; i < N_KEYS; i++)
		if (key_table[i].sections & kind && *key_table[i].absent != '(')
			value_read(&key_table[i], key_table[i].absent, &s->value[i], &why);
}

void policy_init(struct policy *p)
{
	memset(p, 0, sizeof *p);
	section_init(&p->process, P, "[Process]", (struct source){"default", 0});
}

const struct value *policy_value(const struct policy *p, const struct section *s, enum key_id key)
{
	return s->value[key].items || s->value[key].unread || !(key_table[key].sections & P) ? &s->value[key]
											     : &p->process.value[key];
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* A copy of the text without blanks at its ends. */
static __attribute__((returns_nonnull)) char *trim(const char *text, size_t length)
{
	while (length && is_space(text[length - 1]))
		length--;
	while (length && is_space(*text))
		text++, length--;
	return memory_copy(text, length);
}

/* The next blank-separated word at *text, without its quotes; *quoted tells.  NULL at the end or at an open quote. */
static char *next_word(const char **text, bool *quoted)
{
	const char *p = *text, *end;
	char *word;

	while (is_space(*p))
		p++;
	*quoted = *p == '"';
	if (*quoted) {
		end = strchr(++p, '"');
		if (!end || (end[1] && !is_space(end[1])))
			return NULL;
		word = memory_copy(p, (size_t)(end - p));
		*text = end + 1;
		return word;
	}
	for (end = p; *end && !is_space(*end); end++)
		;
	*text = end;
	return end == p ? NULL : memory_copy(p, (size_t)(end - p));
}

/* How many bytes a name must have at least to match: a longer one than the kernel keeps (15, prctl(2)) never does. */
static size_t shortest_match(const char *glob)
{
	size_t n = 0;

	for (; *glob; glob++) {
		if (*glob == '*')
			continue;
		if (*glob == '\\' && glob[1])
			glob++;
		if (*glob == '[') {
			const char *end = strchr(glob + 2 - (glob[1] == '\0'), ']');
			if (end)
				glob = end;
		}
		n++;
	}
	return n;
}

static bool read_index(struct selector *s, const char *text)
{
	const char *dash = strchr(text, '-');
	int64_t first, last;

	if (!read_number(dash ? memory_copy(text, (size_t)(dash - text)) : text, 1, INT32_MAX, &first) ||
	    !read_number(dash ? dash + 1 : text, first, INT32_MAX, &last))
		return false;
	s->first = (unsigned)first;
	s->last = (unsigned)last;
	return true;
}

static void thread_selector(struct policy *p, struct source at, struct selector *s, bool quoted)
{
	static const char *const prefixes[] = {"index=", "start=", "lib="};
	const char *w = s->text;

	s->kind = SELECT_NAME;
	if (quoted) {
		/* "main" in quotes is a name like any other */
	} else if (strcmp(w, "*") == 0) {
		s->kind = SELECT_ALL;
	} else if (strcmp(w, "main") == 0) {
		s->kind = SELECT_MAIN;
	} else if (strncmp(w, "index=", 6) == 0) {
		s->kind = SELECT_INDEX;
		if (!read_index(s, w + 6))
			policy_error(p, at, "%s: expected a creation index from 1, or a range such as index=2-5", w);
	} else if (strncmp(w, "start=", 6) == 0 || strncmp(w, "lib=", 4) == 0) {
		s->kind = *w == 's' ? SELECT_START : SELECT_LIB;
		s->text = strchr(w, '=') + 1;
		if (!*s->text)
			policy_error(p, at, "%s: expected a %s after it", w, *w == 's' ? "function" : "library");
	} else if (strchr(w, '=')) {
		const char *head = memory_copy(w, (size_t)(strchr(w, '=') - w) + 1);
		const char *near = nearest(head, prefixes, 3);

		policy_error(p, at,
			     "'%s' is no selector%s%s%s; expected index=, start=, lib=, main, * or a thread's name "
			     "(in double quotes if it holds a '=')",
			     w, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	if (s->kind == SELECT_NAME && shortest_match(s->text) > 15)
		policy_error(p, at,
			     "the thread name '%s' is longer than 15 bytes, it can never match: the kernel cuts names "
			     "there; expected at most 15, or a shorter pattern ending in *",
			     s->text);
}

static void socket_selector(struct policy *p, struct source at, struct selector *s)
{
	if (strcmp(s->text, "*") == 0)
		s->kind = SELECT_ALL;
	else if (strcmp(s->text, "tcp") == 0)
		s->kind = SELECT_TCP;
	else if (strcmp(s->text, "udp") == 0)
		s->kind = SELECT_UDP;
	else
		policy_error(p, at, "'%s' is no kind of socket, expected tcp, udp or *", s->text);
}

static void read_selectors(struct policy *p, struct section *s, const char *text)
{
	struct selector **end = &s->selectors;
	const char *word;
	bool quoted;

	while ((word = next_word(&text, &quoted))) {
		*end = memory_get(sizeof **end);
		(*end)->text = word;
		if (s->kind == T)
			thread_selector(p, s->at, *end, quoted);
		else
			socket_selector(p, s->at, *end);
		end = &(*end)->next;
	}
	if (quoted)
		policy_error(p, s->at, "%s: a quote that is not closed", s->title);
	else if (!s->selectors)
		policy_error(p, s->at, "%s names nothing, expected %s", s->title,
			     s->kind == T ? "[Thread NAME...], for example [Thread main] or [Thread rx-*]"
					  : "[Socket tcp], [Socket udp] or [Socket *]");
}

/* Opens the section that a title (without brackets) names.  NULL with an error if there is no such kind. */
static struct section *open_section(struct policy *p, struct source at, const char *title, bool in_front)
{
	static const char *const kinds[] = {"Process", "Thread", "Socket"};
	size_t length = strcspn(title, " \t");
	const char *kind = memory_copy(title, length);
	struct section *s, **list;

	if (strcmp(kind, "Process") == 0) {
		if (*trim(title + length, strlen(title + length)))
			policy_error(p, at, "[%s]: [Process] takes no selector", title);
		if (!p->process.at.line)
			p->process.at = at;
		return &p->process;
	}
	if (strcmp(kind, "Thread") != 0 && strcmp(kind, "Socket") != 0) {
		const char *near = nearest(kind, kinds, 3);

		policy_error(p, at, "there is no section [%s]%s%s%s, expected [Process], [Thread ...] or [Socket ...]",
			     kind, near ? ", did you mean [" : "", near ? near : "", near ? "]?" : "");
		return NULL;
	}
	s = memory_get(sizeof *s);
	section_init(s, *kind == 'T' ? T : S, memory_printf("[%s]", title), at);
	list = s->kind == T ? &p->threads : &p->sockets;
	while (!in_front && *list)
		list = &(*list)->next;
	s->next = *list; /* NOLINT(clang-analyzer-core.NullDereference): the list's head is in *p */
	*list = s;
	read_selectors(p, s, title + length);
	return s;
}

static const char *section_kind_name(unsigned kind)
{
	return kind == P ? "[Process]" : kind == T ? "[Thread]" : "[Socket]";
}

static void unknown_key(struct policy *p, struct source at, const struct section *s, const char *name)
{
	const char *names[N_KEYS], *near;
	size_t n = 0;
	int elsewhere = key_find(name, P | T | S);

	if (elsewhere >= 0) {
		policy_error(p, at, "%s= does not belong in %s, expected it in %s", name, section_kind_name(s->kind),
			     section_kind_name(key_table[elsewhere].sections & P ? P : key_table[elsewhere].sections));
		return;
	}
	for (int i = 0; i < N_KEYS; i++)
		if (key_table[i].sections & s->kind)
			names[n++] = key_table[i].name;
	near = nearest(name, names, n);
	if (near)
		policy_error(p, at, "unknown key '%s', did you mean '%s'?", name, near);
	else
		policy_error(p, at, "unknown key '%s', expected one of those that `llrun --keys` lists for %s", name,
			     section_kind_name(s->kind));
}

/* NUMAMask= takes blanks between its nodes as well, as in systemd: "0 1" and "0, 1" are "0,1". */
static const char *with_commas(const char *text)
{
	char *copy = memory_copy(text, strlen(text)), *end = copy;

	for (const char *c = text; *c; c++) {
		if (!is_space(*c))
			*end++ = *c;
		else if (c[1] && !is_space(c[1]) && c[1] != ',' && end > copy && end[-1] != ',')
			*end++ = ',';
	}
	*end = '\0';
	return copy;
}

static void assign(struct policy *p, struct section *s, struct source at, const char *name, const char *text,
		   bool append)
{
	int key = key_find(name, s->kind);
	struct value *v, read = {0};
	struct item *item, **end;
	const char *why = "";

	if (key < 0) {
		unknown_key(p, at, s, name);
		return;
	}
	v = &s->value[key];
	if (!*text) { /* back to the default, as in systemd */
		struct section fresh;

		section_init(&fresh, s->kind, s->title, s->at);
		*v = fresh.value[key];
		return;
	}
	if (key_table[key].type == NODES)
		text = with_commas(text);
	if (!value_read(&key_table[key], text, &read, &why)) {
		policy_error(p, at, "%s=%s: %s", name, text, why);
		v->unread = true;
		return;
	}
	item = memory_get(sizeof *item);
	item->text = text;
	item->at = at;
	if (key_table[key].type != GLOBS && key_table[key].type != CPUS && key_table[key].type != NODES)
		append = false;
	if (!append)
		v->items = NULL;
	for (end = &v->items; *end; end = &(*end)->next)
		;
	*end = item;
	v->number = read.number;
	v->number2 = read.number2;
	v->unread = false;
}

static void parse_line(struct policy *p, struct section **section, struct source at, const char *line, size_t length)
{
	char *text = trim(line, length), *equals;
	bool skipped = *section == &p->process && !p->process.at.line; /* after a section that does not exist */

	if (!*text || *text == '#' || *text == ';')
		return;
	if (*text == '[') {
		size_t n = strlen(text);

		if (text[n - 1] != ']') {
			policy_error(p, at, "'%s': expected ']' at the end of the line", text);
			return;
		}
		*section = open_section(p, at, trim(text + 1, n - 2), false);
		return;
	}
	equals = strchr(text, '=');
	if (!equals || equals == text) {
		policy_error(p, at, "'%s': expected Key=Value, [Section] or a comment", text);
		return;
	}
	if (!*section)
		return;
	if (skipped) {
		policy_error(p, at,
			     "'%s' stands before any section, expected [Process], [Thread ...] or [Socket ...] first",
			     text);
		return;
	}
	assign(p, *section, at, trim(text, (size_t)(equals - text)), trim(equals + 1, strlen(equals + 1)), true);
}

/* A line and those that continue it; the backslash becomes a blank, comment lines in between are skipped. */
static size_t join_lines(const char *text, size_t length, char *joined, size_t *joined_length, unsigned *lines)
{
	size_t at = 0, n = 0;
	bool first = true;

	*lines = 0;
	while (at < length) {
		const char *end = memchr(text + at, '\n', length - at);
		size_t size = end ? (size_t)(end - text) - at : length - at, skip = 0;
		bool more;

		++*lines;
		if (end && size && end[-1] == '\r') /* CRLF: the backslash before it continues as well */
			size--;
		while (skip < size && is_space(text[at + skip]))
			skip++;
		bool comment = skip < size && (text[at + skip] == '#' || text[at + skip] == ';');
		more = size && text[at + size - 1] == '\\';
		if (first && comment)
			more = false;
		if (first || !comment) {
			size_t keep = more ? size - 1 : size;

			memcpy(joined + n, text + at, keep);
			n += keep;
			if (more)
				joined[n++] = ' ';
		} else {
			more = true;
		}
		at = end ? (size_t)(end - text) + 1 : length;
		first = false;
		if (!more)
			break;
	}
	*joined_length = n;
	return at;
}

void policy_parse(struct policy *p, const char *path, const char *text, size_t length)
{
	struct source at = {path, 1};
	struct section *section = &p->process;
	char *joined = memory_get(length + 1);

	p->path = path;
	if (memchr(text, '\0', length)) {
		policy_error(p, at, "a NUL byte in the text: is this a policy file?");
		return;
	}
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark, as editors elsewhere leave it */
		text += 3, length -= 3;
	while (length) {
		size_t n, used;
		unsigned lines;

		used = join_lines(text, length, joined, &n, &lines);
		parse_line(p, &section, at, joined, n);
		text += used;
		length -= used;
		at.line += lines;
	}
}

static struct section *find_section(struct policy *p, const char *title)
{
	const char *bracketed = memory_printf("[%s]", title);

	for (struct section *s = p->threads; s; s = s->next)
		if (strcmp(s->title, bracketed) == 0)
			return s;
	for (struct section *s = p->sockets; s; s = s->next)
		if (strcmp(s->title, bracketed) == 0)
			return s;
	return NULL;
}

/* Does the section take what this selector chooses?  (Of sockets: there is one tcp and one udp.) */
static bool takes(const struct section *s, const struct selector *selector)
{
	for (const struct selector *e = s->selectors; e; e = e->next)
		if (e->kind == SELECT_ALL || e->kind == selector->kind)
			return true;
	return false;
}

/*
 * A section of the command line's, before the file's.  For sockets it begins with what the file says of them, so that -d
 * adds to a [Socket *] and does not hide it.
 */
static struct section *add_section(struct policy *p, struct source at, const char *title)
{
	struct section *s = open_section(p, at, title, true);

	if (!s || s->kind != S || !s->selectors)
		return s;
	for (const struct section *file = s->next; file; file = file->next)
		if (takes(file, s->selectors)) {
			memcpy(s->value, file->value, sizeof s->value);
			break;
		}
	return s;
}

void policy_set(struct policy *p, const char *option, const char *assignment)
{
	struct source at = {option, 0};
	const char *equals, *dot, *title;
	struct section *s;

	/* The key is what stands between the last '.' and the '=' after it: globs may hold dots, "[Thread start=f]" a '='. */
	for (equals = strchr(assignment, '='); equals; equals = strchr(equals + 1, '=')) {
		for (dot = equals; dot > assignment && *dot != '.'; dot--)
			;
		const char *key = dot + 1;
		if (*dot == '.' && dot > assignment &&
		    strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == (size_t)(equals - key) &&
		    isupper((unsigned char)*key))
			break;
	}
	if (!equals) {
		policy_error(p, at, "'%s': expected Section.Key=Value, for example Process.Nice=5", assignment);
		return;
	}
	title = trim(assignment, (size_t)(dot - assignment));
	s = strcmp(title, "Process") == 0 ? &p->process : find_section(p, title);
	if (!s) /* in front: what the command line adds goes before the file */
		s = add_section(p, at, title);
	if (s)
		assign(p, s, at, memory_copy(dot + 1, (size_t)(equals - dot - 1)), trim(equals + 1, strlen(equals + 1)),
		       false);
}

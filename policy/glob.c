/*
 * glob.c owns the matching of names against shell patterns.  It is compiled into the shim, where it runs in the hooks:
 * no malloc, no locale (fnmatch(3) has both in glibc), and no recursion, so that "*a*a*a*b" cannot blow up.
 */
#include "policy.h"

/* One character of a set, "\x" being x. */
static unsigned char set_character(const char **at)
{
	if (**at == '\\' && (*at)[1])
		++*at;
	return (unsigned char)*(*at)++;
}

/*
 * Is c in the set whose text begins after the '['?  Returns where the pattern goes on, NULL if there is no closing ']'.
 * A ']' that stands first is a member, as in sh(1); '^' negates like '!', as in fnmatch(3).
 */
static const char *match_set(const char *at, unsigned char c, bool *matched)
{
	bool negated = *at == '!' || *at == '^', found = false;
	const char *first = at += negated;

	while (*at && (*at != ']' || at == first)) {
		unsigned char low = set_character(&at), high = low;

		if (at[0] == '-' && at[1] && at[1] != ']') {
			at++;
			high = set_character(&at);
		}
		found |= low <= c && c <= high;
	}
	*matched = found != negated;
	return *at ? at + 1 : NULL;
}

/* Matches one character, not NUL, against the next element of the pattern, no '*'; returns the rest, NULL: no match. */
static const char *match_one(const char *pattern, char c)
{
	bool matched;

	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[') {
		const char *rest = match_set(pattern + 1, (unsigned char)c, &matched);

		if (rest)
			return matched ? rest : NULL;
	} else if (*pattern == '\\' && pattern[1]) {
		pattern++;
	}
	return *pattern == c ? pattern + 1 : NULL;
}

bool glob_match(const char *pattern, const char *text)
{
	const char *after_star = NULL, *retry = NULL;

	while (*text) {
		const char *rest;

		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text;
			continue;
		}
		rest = match_one(pattern, *text);
		if (rest) {
			pattern = rest;
			text++;
		} else if (after_star) {
			/* Only the newest '*' takes one more: what an older one took was the shortest that matches. */
			pattern = after_star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

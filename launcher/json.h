#ifndef LLRUN_JSON_H
#define LLRUN_JSON_H
/*
 * json.c: writes JSON to a file, commas and escapes by itself.  A name of NULL makes an array's element.
 *     json_open(j, NULL, '{'); json_text(j, "name", "x"); json_number(j, "n", 1); json_close(j, '}');
 */
#include <stdbool.h>
#include <stdio.h>

struct json {
	FILE *file;
	bool after; /* something stands before: a comma is due */
};

void json_open(struct json *j, const char *name, char bracket);
void json_close(struct json *j, char bracket);
void json_text(struct json *j, const char *name, const char *text); /* NULL: null */
void json_number(struct json *j, const char *name, long long number);
void json_real(struct json *j, const char *name, double number); /* not finite: null */
void json_bool(struct json *j, const char *name, bool value);

#endif

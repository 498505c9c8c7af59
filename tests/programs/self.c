/* Shows its own class and what it has of the launcher's environment: the program that others exec. */
#include "show.h"

int main(int argc, char **argv)
{
	char line[SHOW_LINE + 64];
	const char *preload = getenv("LD_PRELOAD");
	show_self(line, sizeof line);
	size_t n = strlen(line);
	snprintf(line + n, sizeof line - n, "\tpreload=%s\tplan=%d", preload ? preload : "(none)",
		 getenv("LLRUN_PLAN") != NULL);
	show_print(argc > 1 ? argv[1] : "self", line);
	return 0;
}

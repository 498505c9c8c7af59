/* Shows a thread and a socket made after the program has overwritten and cleared its environment. */
#include "show.h"
#include "options.h"
#include <pthread.h>

extern char **environ;

static void *runs(void *unused)
{
	return show("thread"), unused;
}

int main(void)
{
	pthread_t id;
	char line[SHOW_LINE];
	for (char **e = environ; *e; e++)
		memset(*e, 0, strlen(*e));
	clearenv();
	if (pthread_create(&id, NULL, runs, NULL) != 0)
		return 3;
	pthread_join(id, NULL);
	options_line(line, sizeof line, socket(AF_INET, SOCK_STREAM, 0));
	show_print("socket", line);
	return 0;
}

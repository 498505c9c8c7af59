/* A library whose constructor makes a thread and a socket, before any preloaded library's constructor has run. */
#include "show.h"
#include "options.h"
#include <pthread.h>

void ctorlib_report(void);

static char helper[SHOW_LINE], sock[SHOW_LINE];
static pthread_t thread;

static void *helps(void *unused)
{
	show_self(helper, sizeof helper);
	return unused;
}

__attribute__((constructor)) static void start(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	options_line(sock, sizeof sock, fd);
	close(fd);
	pthread_create(&thread, NULL, helps, NULL);
}

void ctorlib_report(void)
{
	pthread_join(thread, NULL);
	show_print("constructor", helper);
	show_print("constructor-socket", sock);
}

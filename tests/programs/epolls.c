/* An epoll instance by each call, kept: for a look from outside.  `epolls SECONDS`. */
#include "show.h"
#include <sys/epoll.h>

int main(int argc, char **argv)
{
	if (epoll_create(1) < 0 || epoll_create1(0) < 0)
		return 3;
	puts("ready");
	fflush(stdout);
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 0);
	return 0;
}

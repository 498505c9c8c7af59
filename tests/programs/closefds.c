/* Checks that nothing of ours is lost or written to when a program closes all descriptors and reuses 2: `closefds FILE`. */
#include "show.h"
#include "options.h"
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/stat.h>

static void *runs(void *unused)
{
	pthread_setname_np(pthread_self(), "closefds-1");
	return show("thread"), unused;
}

int main(int argc, char **argv)
{
	pthread_t id;
	struct stat file;
	char line[SHOW_LINE];
	if (argc != 2)
		return 2;
	syscall(SYS_close_range, 3, ~0U, 0);
	close(2);
	if (open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) != 2)
		return 3;
	check("thread", pthread_create(&id, NULL, runs, NULL) == 0 && pthread_join(id, NULL) == 0, "cannot be created");
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	check("socket-is-3", fd == 3, "another descriptor is open");
	check("epoll-is-4", epoll_create1(0) == 4, "another descriptor is open");
	options_line(line, sizeof line, fd);
	show_print("socket", line);
	return check("file-unharmed", fstat(2, &file) == 0 && file.st_size == 0 && lseek(2, 0, SEEK_CUR) == 0,
		     "something was written") != 0;
}

/* A Type=notify service: says READY=1 to $NOTIFY_SOCKET, then `exit N`, `kill SIGNAL` itself, or `wait` for a signal. */
#include "show.h"
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char **argv)
{
	const char *path = getenv("NOTIFY_SOCKET"), *what = argc > 1 ? argv[1] : "exit";
	int number = argc > 2 ? atoi(argv[2]) : 0;
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof to.sun_path, "%s", path ? path : "");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sendto(fd, "READY=1", 7, 0, (struct sockaddr *)&to, sizeof to) != 7)
		return perror("notify"), 99;
	if (strcmp(what, "kill") == 0)
		raise(number);
	else if (strcmp(what, "wait") == 0)
		pause();
	return number;
}

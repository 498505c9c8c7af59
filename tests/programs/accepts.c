/* Shows the options of accepted sockets: of its own listener, of one that it inherited, or by accept4. */
#include "show.h"
#include "options.h"
#include <arpa/inet.h>

static const char usage[] =
	"usage: accepts self               its own client connects, twice: accept, accept4\n"
	"       accepts PORT [N]           wait for N clients (default 1); port 0: any, is printed\n"
	"       accepts fd N               as self, the listener being descriptor N\n"
	"       accepts pass COMMAND...    make a listener descriptor 3 and exec COMMAND\n";

static void print(const char *who, int fd)
{
	char line[SHOW_LINE];
	options_line(line, sizeof line, fd);
	show_print(who, line);
}

static int listener(int port)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
	socklen_t size = sizeof any;
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, size) != 0 || listen(fd, 8) != 0 ||
	    getsockname(fd, (struct sockaddr *)&any, &size) != 0) {
		perror("accepts: listener");
		exit(3);
	}
	return fd;
}

static int port_of(int fd)
{
	struct sockaddr_in name;
	socklen_t size = sizeof name;
	return getsockname(fd, (struct sockaddr *)&name, &size) == 0 ? ntohs(name.sin_port) : -1;
}

static void self(int fd)
{
	print("listener", fd);
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in to = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
					 .sin_port = htons((uint16_t)port_of(fd))};
		int client = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(client, (struct sockaddr *)&to, sizeof to) != 0)
			exit(3);
		print(i ? "accept4" : "accept", i ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : accept(fd, NULL, NULL));
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return fputs(usage, stderr), 2;
	if (strcmp(argv[1], "self") == 0) {
		self(listener(0));
	} else if (strcmp(argv[1], "fd") == 0 && argc == 3) {
		self(atoi(argv[2]));
	} else if (strcmp(argv[1], "pass") == 0 && argc > 2) {
		int fd = listener(0);
		if (fd != 3)
			dup2(fd, 3), close(fd);
		execvp(argv[2], argv + 2);
		return perror(argv[2]), 127;
	} else {
		int fd = listener(atoi(argv[1]));
		printf("port=%d\n", port_of(fd));
		fflush(stdout);
		for (int n = argc > 2 ? atoi(argv[2]) : 1; n > 0; n--)
			print("accept", accept(fd, NULL, NULL));
	}
	return 0;
}

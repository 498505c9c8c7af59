/*
 * sockets.c - the price of a socket, and the data path.
 *     sockets plain|own COUNT   median ns of socket and close, COUNT blocks of 32; own: with TCP_NODELAY, SO_BUSY_POLL
 *     sockets data COUNT        sends and receives COUNT times over TCP to itself, for those who count instructions
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "bench.h"

static void one(bool own)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1, poll = 50;

	if (fd < 0)
		err(1, "socket");
	if (own && (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) ||
		    setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &poll, sizeof poll)))
		err(1, "setsockopt");
	close(fd);
}

static void exchange(int count)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), server;
	char byte = 'x';

	if (listener < 0 || client < 0 || bind(listener, (void *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &size) || connect(client, (void *)&address, size) ||
	    (server = accept(listener, NULL, NULL)) < 0)
		err(1, "no connection over loopback");
	for (int i = 0; i < count; i++)
		if (send(client, &byte, 1, 0) != 1 || recv(server, &byte, 1, 0) != 1)
			err(1, "send and recv");
}

int main(int argc, char **argv)
{
	enum { BLOCK = 32 };

	if (argc < 3)
		errx(1, "usage: sockets plain|own|data COUNT");
	int count = atoi(argv[2]);
	if (strcmp(argv[1], "data") == 0) {
		exchange(count);
		return 0;
	}
	bool own = strcmp(argv[1], "own") == 0;
	double *took = calloc((size_t)count, sizeof *took);
	for (int i = 0; i < 64; i++)
		one(own);
	for (int i = 0; i < count; i++) {
		int64_t begin = now_ns();

		for (int k = 0; k < BLOCK; k++)
			one(own);
		took[i] = (double)(now_ns() - begin) / BLOCK;
	}
	printf("%.1f\n", spread_of(took, (size_t)count).median);
	return 0;
}

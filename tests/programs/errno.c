/* Checks that errno is 0 at main, that success leaves it alone and that failure sets the kernel's. */
#include "show.h"
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <threads.h>

static void *nothing(void *unused)
{
	return unused;
}
static int zero(void *unused)
{
	return unused != NULL;
}

/* `good` and errno as it was before the call: 7777. */
#define UNTOUCHED(name, good)                                                                                          \
	do {                                                                                                           \
		errno = 7777;                                                                                          \
		int good_ = (good), after_ = errno;                                                                    \
		char why_[32];                                                                                         \
		snprintf(why_, sizeof why_, "%d, errno %d", good_, after_);                                            \
		check(name, good_ &&after_ == 7777, why_);                                                             \
	} while (0)

static int client(int listener)
{
	struct sockaddr_in to;
	socklen_t size = sizeof to;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	getsockname(listener, (struct sockaddr *)&to, &size);
	return connect(fd, (struct sockaddr *)&to, size);
}

int main(void)
{
	int at_main = errno, listener = -1;
	char why[16];
	pthread_t thread;
	thrd_t c11;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	snprintf(why, sizeof why, "%d", at_main);
	check("at-main", at_main == 0, why);
	UNTOUCHED("socket", (listener = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
	UNTOUCHED("socket-udp", socket(AF_INET, SOCK_DGRAM, 0) >= 0);
	UNTOUCHED("socket-unix", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	if (bind(listener, (struct sockaddr *)&any, sizeof any) || listen(listener, 8) || client(listener) ||
	    client(listener))
		return 3;
	UNTOUCHED("accept", accept(listener, NULL, NULL) >= 0);
	UNTOUCHED("accept4", accept4(listener, NULL, NULL, SOCK_CLOEXEC) >= 0);
	UNTOUCHED("epoll_create", epoll_create(1) >= 0);
	UNTOUCHED("epoll_create1", epoll_create1(0) >= 0);
	UNTOUCHED("pthread_create", pthread_create(&thread, NULL, nothing, NULL) == 0);
	pthread_join(thread, NULL);
	UNTOUCHED("thrd_create", thrd_create(&c11, zero, NULL) == thrd_success);
	thrd_join(c11, NULL);
	UNTOUCHED("pthread_setname_np", pthread_setname_np(pthread_self(), "renamed") == 0);
	UNTOUCHED("prctl", prctl(PR_SET_NAME, "again") == 0);
	check("fails-socket", socket(999, SOCK_STREAM, 0) == -1 && errno == EAFNOSUPPORT, "not EAFNOSUPPORT");
	check("fails-accept", accept(0, NULL, NULL) == -1 && errno == ENOTSOCK, "not ENOTSOCK");
	check("fails-accept4", accept4(-1, NULL, NULL, 0) == -1 && errno == EBADF, "not EBADF");
	check("fails-epoll_create", epoll_create(0) == -1 && errno == EINVAL, "not EINVAL");
	return check("fails-epoll_create1", epoll_create1(-1) == -1 && errno == EINVAL, "not EINVAL") != 0;
}

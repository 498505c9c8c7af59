/*
 * wrong.c - two deliberately wrong shims, to prove that the comparison sees.  WRONG=errno: accept and accept4 lose the errno of
 * their failure.  WRONG=attr: pthread_create drops the caller's attr.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int wrong(const char *what)
{
	const char *asked = getenv("WRONG");

	return asked && strcmp(asked, what) == 0;
}

int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
	int (*real)(int, struct sockaddr *,
		    socklen_t *) = (int (*)(int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "accept");
	int result = real(fd, address, size);

	if (result < 0 && wrong("errno"))
		errno = EINVAL;
	return result;
}

int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
	int (*real)(int, struct sockaddr *, socklen_t *,
		    int) = (int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4");
	int result = real(fd, address, size, flags);

	if (result < 0 && wrong("errno"))
		errno = EINVAL;
	return result;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*routine)(void *),
		   void *restrict argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = (int (*)(
		pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");

	return real(thread, wrong("attr") ? NULL : attr, routine, argument);
}

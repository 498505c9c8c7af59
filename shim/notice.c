/*
 * notice.c - the only voice of the shim: one line a kind, on stderr, and only while fd 2 is the file that it was at start
 * (a program may have closed it and opened its data there).  Never blocks and never raises SIGPIPE: it writes only where
 * poll(2) sees room and no error.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "shim.h"

static dev_t device;
static ino_t inode;
static bool known;
static _Atomic uint32_t told; /* until there is a ledger */

void notice_init(void)
{
	struct stat st;

	known = fstat(2, &st) == 0;
	if (known) {
		device = st.st_dev;
		inode = st.st_ino;
	}
}

static bool stderr_is_the_same(void)
{
	struct stat st;
	struct pollfd fd = {.fd = 2, .events = POLLOUT};

	return known && fstat(2, &st) == 0 && st.st_dev == device && st.st_ino == inode && poll(&fd, 1, 0) == 1 &&
	       fd.revents == POLLOUT;
}

static size_t append(char *line, size_t n, size_t size, const char *text)
{
	while (*text && n < size - 1)
		line[n++] = *text++;
	return n;
}

/* strerror(3) is not async-signal-safe; these are what the calls that we make answer. */
static const char *error_name(int error)
{
	switch (error) {
	case EPERM:
		return "EPERM (a right is missing: RLIMIT_RTPRIO, CAP_SYS_NICE or CAP_NET_ADMIN; or seccomp)";
	case EINVAL:
		return "EINVAL (the cpuset or the online CPUs have changed, or the kernel does not know it)";
	case ENOMEM:
		return "ENOMEM (RLIMIT_MEMLOCK is too low, or memory is out)";
	case EAGAIN:
		return "EAGAIN (memory could not be locked)";
	case EACCES:
		return "EACCES";
	case ENOPROTOOPT:
		return "ENOPROTOOPT (this kernel does not have the option)";
	case ENOTTY:
		return "ENOTTY (needs Linux 6.9)";
	default:
		return "an error";
	}
}

void notice(enum notice kind, int on_error, const char *what, int error)
{
	char line[256];
	size_t n = 0;
	int saved = errno;
	/* A memory of their own would have each forked child say it again. */
	_Atomic uint32_t *already = ledger ? &ledger->told : &told;

	if (on_error == ON_ERROR_IGNORE || atomic_fetch_or(already, 1u << kind) & 1u << kind || !stderr_is_the_same()) {
		errno = saved;
		return;
	}
	n = append(line, n, sizeof line, "llrun: ");
	n = append(line, n, sizeof line, what);
	if (error) {
		n = append(line, n, sizeof line, ": ");
		n = append(line, n, sizeof line, error_name(error));
	}
	line[n++] = '\n';
	if (write(2, line, n) < 0) {
		/* then nobody reads it */
	}
	errno = saved;
}

/* Starts a command as systemd does with Type=notify and tells who said READY=1 and how it ended. */
#include "show.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static const char usage[] = "usage: fakesystemd [-k SIGNAL] COMMAND [ARGUMENT...]   -k: send it once ready\n"
			    "prints: ready=same|other|never, then exit=N or signal=N\n";

/* The pid that sent READY=1, as the kernel says; -1 if none did within 10 s or before the child ended. */
static pid_t ready(int fd, pid_t child)
{
	struct pollfd p[] = {{.fd = fd, .events = POLLIN},
			     {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN}};
	char text[256], room[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec data = {text, sizeof text - 1};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	int r;
	while ((r = poll(p, 2, 10000)) < 0 && errno == EINTR)
		;
	close(p[1].fd);
	if (r < 1 || !p[0].revents || recvmsg(fd, &message, 0) < 7 || strncmp(text, "READY=1", 7) != 0)
		return -1;
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	return c && c->cmsg_type == SCM_CREDENTIALS ? ((struct ucred *)(void *)CMSG_DATA(c))->pid : -1;
}

int main(int argc, char **argv)
{
	int on = 1, signal_number = 0, status;
	for (int c; (c = getopt(argc, argv, "+k:")) != -1;)
		if (c == 'k')
			signal_number = atoi(optarg);
		else
			return fputs(usage, stderr), 2;
	if (!argv[optind])
		return fputs(usage, stderr), 2;

	struct sockaddr_un name = {.sun_family = AF_UNIX};
	snprintf(name.sun_path, sizeof name.sun_path, "/tmp/fakesystemd.%d", (int)getpid());
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unlink(name.sun_path);
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
	    bind(fd, (struct sockaddr *)&name, sizeof name) != 0)
		return perror("fakesystemd"), 3;
	setenv("NOTIFY_SOCKET", name.sun_path, 1);

	pid_t child = fork();
	if (child == 0) {
		execvp(argv[optind], argv + optind);
		int why = errno;
		perror(argv[optind]);
		_exit(why == ENOENT ? 127 : 126);
	}
	pid_t sender = ready(fd, child);
	unlink(name.sun_path);
	printf("ready=%s\n", sender == child ? "same" : sender > 0 ? "other" : "never");
	if (signal_number)
		kill(child, signal_number);
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal=%d\n", WTERMSIG(status));
	else
		printf("exit=%d\n", WEXITSTATUS(status));
	return 0;
}

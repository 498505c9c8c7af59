/* Shows what a process is born with: ids, arguments, environment, descriptors, signals, directory, class. */
#include "show.h"
#include <ctype.h>
#include <dirent.h>

extern char **environ;

static void quoted(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if (isprint((unsigned char)*text))
			putchar(*text);
		else
			printf("\\x%02x", (unsigned char)*text);
	putchar('"');
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	return atoi((*a)->d_name) - atoi((*b)->d_name);
}

static int number(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"SigBlk", "SigIgn", "SigCgt", "Cpus_allowed_list", "Umask", "NoNewPrivs"};
	char value[4096];
	struct dirent **fd;
	int names = 0;
	/* The descriptors first: scandir's own is closed again, and shown by no one else. */
	int n = scandir("/proc/self/fd", &fd, number, by_number);
	printf("fds=");
	for (int i = 0, first = 1; i < n; i++)
		if (fcntl(atoi(fd[i]->d_name), F_GETFD) != -1)
			printf("%s%s", first ? "" : " ", fd[i]->d_name), first = 0;
	printf("\npid=%d\nppid=%d\npgrp=%d\nsid=%d\n", (int)getpid(), (int)getppid(), (int)getpgrp(), (int)getsid(0));
	for (int i = 0; i < argc; i++) {
		printf("argv[%d]=", i);
		quoted(argv[i]);
		putchar('\n');
	}
	while (environ[names])
		names++;
	printf("environ=%d\nLD_PRELOAD=%s\n", names, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "(none)");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		show_status("/proc/self/status", keys[i], value, sizeof value);
		printf("%s=%s\n", keys[i], value);
	}
	printf("cwd=%s\n", getcwd(value, sizeof value));
	int priority = -1;
	syscall(SYS_sched_getparam, 0, &priority);
	printf("policy=%s\nprio=%d\n", show_policy(syscall(SYS_sched_getscheduler, 0)), priority);
	return 0;
}

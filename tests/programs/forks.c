/* Shows the class of a child that was made in each of the usual ways.  PROGRAM is what is executed; default: forks itself. */
#include "show.h"
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const char usage[] = "usage: forks fork | doublefork | workers [N]\n"
			    "       forks vfork-exec | posix_spawn | system | popen | execempty | exec [PROGRAM]\n"
			    "       forks daemon [FILE]   with FILE: daemon(0, 0), the lines go there\n";
extern char **environ;
static char self[4096];

static void *thread(void *who)
{
	return show(who), NULL;
}

static void show_with_threads(const char *who, int n)
{
	show(who);
	for (int i = 0; i < n; i++) {
		pthread_t id;
		char name[32];
		snprintf(name, sizeof name, "%s-thread%d", who, i + 1);
		if (pthread_create(&id, NULL, thread, name) != 0)
			exit(3);
		pthread_join(id, NULL);
	}
}

static void reap(void)
{
	while (wait(NULL) > 0)
		;
}

static void doublefork(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			show_with_threads("grandchild", 1);
		reap();
		_exit(0);
	}
	reap();
}

static void workers(int n)
{
	for (int i = 1; i <= n; i++)
		if (fork() == 0) {
			char who[32];
			snprintf(who, sizeof who, "worker%d", i);
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			show_with_threads(who, 1);
			pause();
			_exit(0);
		}
	puts("ready");
	fflush(stdout);
	reap();
}

static void daemonise(const char *file)
{
	if (daemon(0, file == NULL) != 0)
		exit(3);
	if (file) {
		int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		dup2(fd, STDOUT_FILENO);
	}
	show_with_threads("daemon", 4);
}

static void run(const char *how, char *program)
{
	char command[4200], line[SHOW_LINE];
	char *arguments[] = {program, "show", NULL}, *none[] = {NULL};
	pid_t pid;
	snprintf(command, sizeof command, "%s show", program);
	if (strcmp(how, "vfork-exec") == 0) {
		if (vfork() == 0) {
			execve(program, arguments, environ);
			_exit(127);
		}
	} else if (strcmp(how, "posix_spawn") == 0) {
		if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0)
			exit(3);
	} else if (strcmp(how, "system") == 0) {
		if (system(command) != 0)
			exit(3);
	} else if (strcmp(how, "popen") == 0) {
		FILE *pipe = popen(command, "re");
		while (pipe && fgets(line, sizeof line, pipe))
			fputs(line, stdout);
		if (!pipe || pclose(pipe) != 0)
			exit(3);
	} else if (strcmp(how, "execempty") == 0) {
		execve(program, arguments, none);
		exit(127);
	} else if (strcmp(how, "exec") == 0) {
		execv(program, arguments);
		exit(127);
	} else {
		fputs(usage, stderr);
		exit(2);
	}
	reap();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return 3;
	if (strcmp(how, "show") == 0)
		return show("show"), 0;
	show("parent");
	if (strcmp(how, "fork") == 0) {
		if (fork() == 0)
			return show_with_threads("child", 1), 0;
		reap();
	} else if (strcmp(how, "doublefork") == 0) {
		doublefork();
	} else if (strcmp(how, "workers") == 0) {
		workers(argc > 2 ? atoi(argv[2]) : 4);
	} else if (strcmp(how, "daemon") == 0) {
		daemonise(argc > 2 ? argv[2] : NULL);
	} else {
		run(how, argc > 2 ? argv[2] : self);
	}
	return 0;
}

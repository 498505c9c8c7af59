/*
 * process.c - starting programs, and knowing that they have ended.  The only file that forks.
 *
 * Whatever is started is a child, or becomes one when its parent ends (we are a subreaper), so that "all have ended"
 * can be known and not hoped: end_all returns when there is no child left.  Each is in a process group of its own, so
 * Ctrl-C reaches us alone, and dies with us, should we be killed.  Output goes into memory files: nothing is left on a
 * disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../observe.h"
#include "ab.h"
#include "process.h"

int interrupted;
struct process program, load, noise, helper;
static sigset_t ours, before;

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* From here on signals wait until we look for them.  One that is ignored stays so (nohup). */
void run_begin(void)
{
	const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;

	sigemptyset(&ours);
	sigaddset(&ours, SIGCHLD);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&ours, ends[i]);
	signal(SIGCHLD, SIG_DFL); /* ignored, children would vanish untold */
	sigprocmask(SIG_BLOCK, &ours, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool spawn(struct process *p, char **words, int input)
{
	static double *exec_at; /* shared with the child: the clock starts where it becomes the program */
	pid_t us = getpid();

	memset(p, 0, sizeof *p);
	if (!exec_at)
		exec_at = mmap(NULL, sizeof *exec_at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	p->output = memfd_create("llrun-output", MFD_CLOEXEC);
	*exec_at = now();
	fflush(NULL); /* or the child would hold what is not written yet */
	p->pid = exec_at == MAP_FAILED || p->output < 0 ? -1 : fork();
	if (p->pid == 0) {
		int error;

		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != us)
			_exit(EXIT_LLRUN);
		dup2(input, 0);
		if (p != &helper)
			dup2(p->output, 2);
		dup2(p->output, 1);
		sigprocmask(SIG_SETMASK, &before, NULL);
		*exec_at = now();
		execvp(words[0], words);
		error = errno;
		say("%s: %s", words[0], strerror(error));
		_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
	}
	if (p->pid < 0) {
		say("%s cannot be started: %s", words[0], strerror(errno));
		p->pid = 0;
		return false;
	}
	setpgid(p->pid, p->pid);
	p->running = true;
	p->started = *exec_at;
	return true;
}

/* Takes in whoever has ended. */
static void reap(double at)
{
	struct process *of[] = {&program, &load, &noise, &helper};
	siginfo_t info;

	for (;;) {
		struct process other = {0}, *p = &other;

		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
			return;
		for (size_t i = 0; i < sizeof of / sizeof *of; i++)
			if (of[i]->running && of[i]->pid == info.si_pid)
				p = of[i];
		if (p == &program)
			sampler_look(p->pid); /* its main thread can still be asked */
		wait4(info.si_pid, &p->status, 0, &p->usage);
		p->running = false;
		p->ended = at;
	}
}

/* Sleeps until something happens or the time has come. */
void rest(double until)
{
	double left = fmax(0, until - now());
	struct timespec t = {(time_t)left, (long)((left - floor(left)) * 1e9)};
	siginfo_t info;
	int signal = sigtimedwait(&ours, &info, &t);

	if (signal > 0 && signal != SIGCHLD)
		interrupted = signal;
	reap(now());
}

static const char *one_of_ours(void)
{
	char path[64], text[32] = "";
	int fd;
	ssize_t n;
	const struct child_state *c;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) { /* a kernel without CONFIG_PROC_CHILDREN */
		c = observe_children(getpid());
		return c ? memory_printf("%d", (int)c->pid) : NULL;
	}
	n = read(fd, text, sizeof text - 1);
	close(fd);
	return n > 0 ? memory_copy(text, strcspn(text, " ")) : NULL;
}

/* Nothing that was started is left.  Killed one after the other: the children of each become ours then. */
void end_all(void)
{
	void *mark = memory_mark();
	struct process *of[] = {&load, &program, &noise, &helper};
	const char *child;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (of[i]->running)
			kill(-of[i]->pid, SIGKILL);
	while ((child = one_of_ours())) {
		kill((pid_t)atoi(child), SIGKILL);
		rest(now() + 0.05);
	}
	memory_release(mark);
}

char *take_output(struct process *p, char *text, size_t *length)
{
	struct stat s;
	char *more;
	ssize_t n;

	if (!p->pid || fstat(p->output, &s) != 0)
		return text;
	more = realloc(text, *length + (size_t)s.st_size + 2);
	if (!more)
		return text;
	n = pread(p->output, more + *length, (size_t)s.st_size, 0);
	*length += n > 0 ? (size_t)n : 0;
	if (n > 0 && more[*length - 1] != '\n')
		more[(*length)++] = '\n';
	more[*length] = '\0';
	return more;
}

/* The end of what it said, for messages. */
const char *last_words(struct process *p)
{
	size_t length = 0, from;
	char *text = take_output(p, NULL, &length);
	const char *kept;

	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	from = length;
	for (int lines = 0; from > 0 && length - from < 600; from--)
		if (text[from - 1] == '\n' && ++lines == 3)
			break;
	kept = length ? memory_printf("; it said: %.*s", (int)(length - from), text + from) : "";
	free(text);
	return kept;
}

const char *how_ended(const char *who, struct process *p)
{
	if (WIFSIGNALED(p->status))
		return memory_printf("%s was killed by signal %d (%s)%s", who, WTERMSIG(p->status),
				     strsignal(WTERMSIG(p->status)), last_words(p));
	return memory_printf("%s ended with status %d%s", who, WEXITSTATUS(p->status), last_words(p));
}

void forget(struct process *p)
{
	if (p->pid)
		close(p->output);
	memset(p, 0, sizeof *p);
}

bool run_command(char **words, const char *input, char **output, size_t *length, int *status)
{
	int in = memfd_create("llrun-input", MFD_CLOEXEC);
	size_t size = input ? strlen(input) : 0;
	bool started;

	*output = NULL;
	*length = 0;
	started = in >= 0 && (!size || (write(in, input, size) == (ssize_t)size && lseek(in, 0, SEEK_SET) == 0)) &&
		  spawn(&helper, words, in);
	while (started && helper.running && !interrupted)
		rest(now() + 1);
	end_all();
	if (started) {
		*output = take_output(&helper, NULL, length);
		*status = helper.status;
	}
	forget(&helper);
	if (in >= 0)
		close(in);
	return started && !interrupted;
}

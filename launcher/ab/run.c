/* run.c - one run: noise, program, readiness, load; the numbers that the kernel has of it; and the end of all of them.
 */
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../observe.h"
#include "ab.h"
#include "process.h"

enum { READY_SECONDS = 30, STOP_SECONDS = 10, OUTPUT_MAX = 256 << 20 };

static bool connects(const char *text)
{
	int64_t port = 0;
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd, connected;

	read_number(text, 1, 65535, &port);
	four.sin_port = six.sin6_port = htons((uint16_t)port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connected = connect(fd, (struct sockaddr *)&four, sizeof four);
	close(fd);
	if (connected != 0) {
		fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
		connected = connect(fd, (struct sockaddr *)&six, sizeof six);
		close(fd);
	}
	return connected == 0;
}

static bool listens(pid_t pid)
{
	struct socket_state *sockets;
	struct epoll_state *epolls;
	const char *why;

	observe_files(pid, &sockets, &epolls, &why);
	for (; sockets; sockets = sockets->next)
		if (sockets->listening)
			return true;
	return false;
}

static bool succeeds(const char *command, int null, double until)
{
	char *words[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
	bool good;

	if (!spawn(&helper, words, null))
		return false;
	while (helper.running && !interrupted && now() < until)
		rest(until);
	good = !helper.running && WIFEXITED(helper.status) && WEXITSTATUS(helper.status) == 0;
	if (helper.running)
		kill(-helper.pid, SIGKILL);
	while (helper.running)
		rest(now() + 1);
	close(helper.output);
	helper.pid = 0;
	return good;
}

/* Until the server can take its load.  NULL, or why not. */
static const char *wait_ready(const struct experiment *e, int null)
{
	double seconds = fmin(READY_SECONDS, (double)e->timeout), until = now() + seconds;
	char *unit = NULL;
	double delay = e->ready ? strtod(e->ready, &unit) * unit_factor(unit && *unit ? unit : "s", "s") : 0;

	if (delay > 0)
		until = now() + delay;
	while (program.running && !interrupted) {
		void *mark = memory_mark();
		bool ready = delay > 0                           ? now() >= until
			     : !e->ready                         ? listens(program.pid)
			     : strncmp(e->ready, "tcp:", 4) == 0 ? connects(e->ready + 4)
								 : succeeds(e->ready, null, until);

		memory_release(mark);
		if (ready && program.running)
			return NULL;
		if (now() >= until)
			return memory_printf("the server was not ready within %g s (%s)%s", seconds,
					     e->ready ? e->ready
						      : "it listens on no TCP port; --ready says how to tell",
					     last_words(&program));
		rest(fmin(until, now() + 0.02));
	}
	return interrupted ? "interrupted" : how_ended("the server, before it was ready,", &program);
}

/* Until the measured one has ended.  NULL, or why the run does not count. */
static const char *watch(const struct experiment *e, struct process *measured)
{
	double end = now() + (double)e->timeout, next = now() + 0.1;

	while (measured->running && !interrupted) {
		struct stat s;

		rest(fmin(end, next));
		if (noise.pid && !noise.running && noise.status != 0)
			return how_ended("the noise", &noise);
		if (!program.running && measured != &program)
			return how_ended("the server, under its load,", &program);
		if (measured->running && now() >= end)
			return memory_printf("it did not end within %ld s%s; --timeout allows more%s", e->timeout,
					     e->load ? "" : " (a server needs --load)", last_words(measured));
		if (now() >= next) {
			double before_look = now();

			sampler_look(program.pid);
			next = now() + fmax(0.1, 20 * (now() - before_look)); /* never more than a twentieth of a CPU */
			if (fstat(measured->output, &s) == 0 && s.st_size > OUTPUT_MAX)
				return "it writes more than 256 MiB";
		}
	}
	if (interrupted)
		return "interrupted";
	return measured->status != 0 ? how_ended(measured == &load ? "the load" : "the program", measured) : NULL;
}

static const char *measure(const struct experiment *e, const struct arm *arm, int null, struct measured *m,
			   const char **note)
{
	char *noise_words[] = {(char *)"sh", (char *)"-c", (char *)e->noise, NULL};
	char *load_words[] = {(char *)"sh", (char *)"-c", (char *)e->load, NULL};
	struct process *measured = e->load ? &load : &program;
	const struct rusage *u = &program.usage;
	const char *why;

	if (e->load && e->ready && strncmp(e->ready, "tcp:", 4) == 0 && connects(e->ready + 4))
		return memory_printf("port %s answers before the server was started: another server has it",
				     e->ready + 4);
	if (e->noise) {
		double settled;

		if (!spawn(&noise, noise_words, null))
			return "the noise did not start";
		for (settled = now() + 0.2; now() < settled && !interrupted;)
			rest(settled);
	}
	if (interrupted || !spawn(&program, arm_command(e, arm, e->program), null))
		return "it did not start";
	if (e->load) {
		why = wait_ready(e, null);
		if (why)
			return why;
		if (!spawn(&load, arm_command(e, &e->load_arm, load_words), null))
			return "the load did not start";
	}
	why = watch(e, measured);
	if (why)
		return why;
	if (program.running) {
		double patience = now() + STOP_SECONDS;

		sampler_look(program.pid);
		kill(program.pid, SIGTERM);
		while (program.running && now() < patience && !interrupted)
			rest(patience);
		if (program.running)
			*note = "the server did not end on SIGTERM and was killed";
		if (program.running)
			kill(program.pid, SIGKILL);
		while (program.running)
			rest(now() + 1);
	}
	m->wall = measured->ended - measured->started;
	m->built[BUILT_WALL] = m->wall * 1e3;
	m->built[BUILT_CPU] = (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
			      (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
	m->built[BUILT_WAIT] = sampler_sum().wait_ms;
	m->built[BUILT_INVOLUNTARY] = (double)u->ru_nivcsw;
	m->built[BUILT_MIGRATIONS] = sampler_sum().migrations;
	m->built[BUILT_FAULTS] = (double)(u->ru_minflt + u->ru_majflt);
	m->built[BUILT_MEMORY] = (double)u->ru_maxrss / 1024;
	return interrupted ? "interrupted" : NULL;
}

const char *run_once(const struct experiment *e, const struct arm *arm, struct measured *m, const char **note)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t length = 0;
	const char *why;

	memset(m, 0, sizeof *m);
	*note = NULL;
	sampler_reset();
	why = measure(e, arm, null, m, note);
	end_all();
	m->output = take_output(&load, NULL, &length);
	m->output = take_output(&program, m->output, &length);
	forget(&program);
	forget(&load);
	forget(&noise);
	forget(&helper);
	close(null);
	return why;
}

/*
 * main.c - the order of things, and the only place that decides to end.
 *
 *     options -> program -> policy -> topology -> plan -> what execve keeps -> execve
 *
 * All mistakes are told before anything is started; success is exec: llrun never forks and never waits, so pid, fds,
 * signals, terminal and exit status are the program's own.  (--ab, which starts llrun again and again, is another trade.)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher.h"
#include "observe.h"

extern char **environ;

/* Everything that main's steps hand on to each other. */
static struct policy policy;
static struct topology topology;
static struct target target;
static struct plan plan;
static struct findings findings;

static bool read_policy(const struct options *o)
{
	policy_init(&policy);
	if (!o->no_policy && !load_policy(&policy, o->policy, target.base, o->any_setting))
		return false;
	for (const struct assignment *a = o->assignments; a; a = a->next)
		policy_set(&policy, a->option, a->text);
	policy_check(&policy);
	for (const struct message *m = policy.errors; m; m = m->next)
		say("%s", m->text);
	return !policy.errors;
}

/* Can the shim be loaded?  If not, what of the policy would silently not be applied becomes a finding. */
static const char *usable_shim(void)
{
	const char *shim = shim_path(), *list, *reason;
	int severity;

	target_inspect(&target, shim);
	reason = shim ? target.no_shim : "needs libllrun.so, which is neither beside llrun nor in ../lib/llrun";
	list = reason ? needs_shim(&policy, false, &severity) : NULL;
	if (reason && list)
		finding(&findings, severity, "%s %s, so these would not be applied: %s%s%s", target.executable, reason,
			list, target.no_shim_cure && shim ? "; " : "",
			target.no_shim_cure && shim ? target.no_shim_cure : "");
	if (!reason && target.go) {
		list = needs_shim(&policy, true, &severity);
		if (list)
			finding(&findings, severity,
				"%s is a Go program, whose sockets are raw system calls that no shim sees, so these "
				"would not be applied: %s",
				target.executable, list);
	}
	return reason ? NULL : shim;
}

static void start(char **arguments)
{
	int error;

	execve(target.path, arguments, environ);
	error = errno;
	if (error == ENOEXEC) { /* a text without "#!": execvp(3) gives it to the shell */
		size_t n = 0;
		char **with_shell;

		while (arguments[n])
			n++;
		with_shell = memory_get((n + 2) * sizeof *with_shell);
		with_shell[0] = (char *)"sh";
		with_shell[1] = (char *)target.path;
		memcpy(with_shell + 2, arguments + 1, n * sizeof *arguments);
		execve("/bin/sh", with_shell, environ);
		error = errno;
	}
	if (error == ENOENT && target.script)
		say("%s: its interpreter %s is not there", target.path, target.executable);
	else
		say("%s: %s", target.path, strerror(error));
	exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static int show(int what)
{
	if (what == 'h')
		options_help();
	else if (what == 'k')
		explain_keys();
	else
		puts("llrun " VERSION);
	return fflush(stdout) == 0 ? 0 : EXIT_LLRUN;
}

/* --status.  With -p or other settings the process is judged by them: what they would be for its program. */
static int show_status(const struct options *o)
{
	const char *why, *executable;
	pid_t pid;

	if (!o->policy && !o->any_setting)
		return status(o->status, NULL, o->watch, o->json);
	pid = observe_find(o->status, &why);
	executable = pid ? observe_executable(pid) : NULL;
	if (!executable) {
		say("%s", pid ? memory_printf("/proc/%d/exe: %s; run as root or as its user", (int)pid, strerror(errno))
			      : why);
		return STATUS_CANNOT_TELL;
	}
	target.path = target.executable = executable;
	target.base = target.executable_base = strrchr(executable, '/') + 1;
	if (!read_policy(o) || !topology_read(&topology, &why))
		return STATUS_CANNOT_TELL;
	resolve(&policy, &topology, &target, &plan, &findings);
	findings_print(&findings);
	return findings.fatal ? STATUS_CANNOT_TELL : status(o->status, &plan, o->watch, o->json);
}

/* --check: of a program and its policy as at start, of a policy alone, or of quick options, or of nothing: the CPUs alone. */
static int show_check(const struct options *o)
{
	static struct plan tried;
	struct options mine = *o;
	const char *why;
	bool named = o->program[0];

	mine.no_policy |= !named && !o->policy;
	target.base = target.executable_base = "";
	if (named && target_find(&target, o->program[0]))
		return EXIT_LLRUN;
	if (!read_policy(&mine))
		return EXIT_LLRUN;
	if (!topology_read(&topology, &why)) {
		say("%s", why);
		return EXIT_LLRUN;
	}
	if (named)
		target_inspect(&target, shim_path());
	resolve(&policy, &topology, &target, &plan, &findings);
	/* What this process may do says nothing of a machine that is only described (LLRUN_SYSROOT). */
	if (!*topology.root) {
		tried = plan; /* what is refused is struck out, and would not be judged */
		apply_limits(&policy, &findings);
		permission_check(&policy, &tried, &findings);
	}
	int status = check(&policy, &topology, &plan, named ? &target : NULL, &findings, o->json);
	return fflush(stdout) == 0 ? status : EXIT_LLRUN;
}

int main(int argc, char **argv)
{
	struct options options;
	const char *why, *shim;
	bool covered;
	int error;

	if (!options_read(&options, argc, argv))
		return EXIT_LLRUN;
	if (options.show)
		return show(options.show);
	apply_record_launch(&plan);
	findings_init(&findings);
	if (options.status)
		return show_status(&options);
	if (options.check)
		return show_check(&options);
	if (options.ab.report)
		return ab(&options);
	if (!options.program[0]) {
		say("no program given; try 'llrun --help'");
		return EXIT_LLRUN;
	}
	error = target_find(&target, options.program[0]);
	if (error)
		return error;
	if (options.ab.given)
		return ab(&options);
	if (!read_policy(&options))
		return EXIT_LLRUN;
	if (!topology_read(&topology, &why)) {
		say("%s", why);
		return EXIT_LLRUN;
	}
	shim = usable_shim();
	resolve(&policy, &topology, &target, &plan, &findings);
	covered = covers(&policy, &target);
	if (!covered)
		finding(&findings, FINDING_NOTE, "Program= does not name %s: only what it starts can be covered",
			target.base);
	if (!shim) { /* told above what will not be done; whether it might be is no question any more */
		plan.lock = LOCK_NO;
		plan.n_sockets = 0;
	}
	apply_limits(&policy, &findings);
	permission_check(&policy, &plan, &findings);
	hints(&policy, &topology, &target, &plan, &findings);
	/*
	 * Under --explain as well: this process ends after it, and only trying tells what the kernel would refuse.  Not for
	 * a machine that is only explained (LLRUN_SYSROOT): this kernel has not got its CPUs.
	 */
	if (!options.explain || !*topology.root)
		apply(&policy, &topology, &plan, covered, &findings);
	if (options.explain)
		explain(&policy, &topology, &target, &plan, shim);
	if (!environment_set(&plan, shim, target.sanitizer))
		finding(&findings, ON_ERROR_FAIL,
			"the plan is too long for the environment (128 KiB): fewer sections or CPUs");
	findings_print(&findings);
	if (findings.fatal)
		return EXIT_LLRUN;
	if (options.explain)
		return fflush(stdout) == 0 ? 0 : EXIT_LLRUN;
	start(options.program);
}

/*
 * status.c - llrun --status: what is in force, asked of the kernel.  The ledger says only what was wanted; with -p a policy
 * says it, for programs that llrun did not start.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "../policy/sockets.h"
#include "json.h"
#include "status.h"

static const char *sched_text(int policy, int priority)
{
	static const char *const names[] = {"other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext"};
	const char *name = policy >= 0 && policy < 8 ? names[policy] : "?";

	return priority ? memory_printf("%s %d", name, priority) : name;
}

static const char *count_text(long long n)
{
	return n < 0 ? "?" : memory_printf("%lld", n);
}

static void print_thread(const struct thread_state *t, const struct judgement *j)
{
	char wanted[48] = "-", actual[48];

	if (j->wanted->has & HAS_CPUS)
		cpuset_format(&j->cpus, wanted, sizeof wanted);
	cpuset_format(&t->cpus, actual, sizeof actual);
	printf("%-8d %-16s %-22.22s %-8s %-8s %3d  %-9s %-9s %8s %6s %9s %8s  %s\n", (int)t->tid, t->name, j->rule,
	       wanted, actual, t->on_cpu,
	       j->wanted->has & HAS_SCHED ? sched_text(j->wanted->policy, j->wanted->priority) : "-",
	       sched_text(t->policy, t->priority), count_text(t->involuntary), count_text(t->migrations),
	       t->wait_ns < 0 ? "?" : memory_printf("%.3f", (double)t->wait_ns / 1e6), count_text(t->faults),
	       j->problem ? j->problem : "ok");
}

static void json_thread(struct json *out, const struct thread_state *t, const struct judgement *j)
{
	char list[256];

	json_open(out, NULL, '{');
	json_number(out, "tid", t->tid);
	json_text(out, "name", t->name);
	json_text(out, "rule", j->rule);
	json_text(out, "cpus_wanted", j->wanted->has & HAS_CPUS ? cpuset_format(&j->cpus, list, sizeof list) : NULL);
	json_text(out, "cpus", cpuset_format(&t->cpus, list, sizeof list));
	json_number(out, "on_cpu", t->on_cpu);
	json_text(out, "sched_wanted",
		  j->wanted->has & HAS_SCHED ? sched_text(j->wanted->policy, j->wanted->priority) : NULL);
	json_text(out, "sched", sched_text(t->policy, t->priority));
	json_number(out, "nice", t->nice);
	json_number(out, "involuntary_switches", t->involuntary);
	json_number(out, "migrations", t->migrations);
	json_number(out, "run_queue_wait_ns", t->wait_ns);
	json_number(out, "faults", t->faults);
	json_bool(out, "ok", !j->problem);
	json_text(out, "problem", j->problem);
	json_close(out, '}');
}

/* One line of the report below the threads, "memory: ...". */
static void line(struct json *out, const char *what, bool ok, const char *text)
{
	if (!out) {
		printf("%-9s %-5s %s\n", what, ok ? "ok" : "DRIFT", text);
		return;
	}
	json_open(out, what, '{');
	json_bool(out, "ok", ok);
	json_text(out, "text", text);
	json_close(out, '}');
}

static void drift(struct view *v, bool ok)
{
	if (!ok && v->verdict == STATUS_AS_WANTED)
		v->verdict = STATUS_DRIFT;
}

static void show_threads(struct view *v, struct json *out)
{
	if (out)
		json_open(out, "threads", '[');
	else
		printf("%-8s %-16s %-22s %-8s %-8s %3s  %-9s %-9s %8s %6s %9s %8s\n%-8s %-16s %-22s %-8s %-8s %3s  %-9s %-9s %8s %6s %9s %8s\n",
		       "", "", "", "CPUs", "CPUs", "on", "sched", "sched", "invol.", "migra-", "run-queue", "", "tid",
		       "name", "rule", "wanted", "actual", "CPU", "wanted", "actual", "switches", "tions", "wait ms",
		       "faults");
	for (const struct thread_state *t = v->threads; t; t = t->next) {
		struct judgement j = judge_thread(v, t);

		drift(v, !j.drift);
		if (out)
			json_thread(out, t, &j);
		else
			print_thread(t, &j);
	}
	if (out)
		json_close(out, ']');
}

static void show_memory(struct view *v, struct json *out)
{
	static const char *const words[] = {"no", "current", "all", "onfault"};
	long long locked = observe_status(v->pid, "VmLck"), resident = observe_status(v->pid, "VmRSS");
	struct rlimit limit = {0, 0};
	bool ok = v->plan->lock <= LOCK_NO || locked > 0;
	const char *limits = "unknown";

	if (prlimit(v->pid, RLIMIT_MEMLOCK, NULL, &limit) == 0)
		limits = limit.rlim_cur == RLIM_INFINITY
				 ? "infinity"
				 : memory_printf("%llu bytes", (unsigned long long)limit.rlim_cur);
	drift(v, ok);
	line(out, "memory", ok,
	     memory_printf("MemoryLock=%s, locked %lld kB, resident %lld kB, RLIMIT_MEMLOCK %s%s",
			   words[v->plan->lock & 3], locked, resident, limits,
			   ok ? "" : "; nothing is locked: refused, munlockall, or a sanitizer that ignores mlockall"));
}

static void show_machine(struct view *v, struct json *out)
{
	const char *numa = observe_numa_policy(v->pid);
	bool known, held = observe_holds_latency(v->pid, &known);

	line(out, "pm_qos", true,
	     !known ? "its files cannot be read"
	     : held ? "/dev/cpu_dma_latency is held"
		    : "no request is held");
	line(out, "numa", true, numa ? memory_printf("policy %s", numa) : "its policy cannot be read");
}

/* "NoDelay=0 (wanted 1)..." for one socket, or "". */
static const char *socket_differences(const struct plan *plan, const struct socket_state *s)
{
	const struct socket_rule *rule = NULL;
	const char *list = "";

	for (uint32_t i = 0; !rule && i < plan->n_sockets; i++)
		if (plan->socket[i].protocols & s->protocol)
			rule = &plan->socket[i];
	for (int i = 0; rule && i < N_SOCKET_OPTIONS; i++) {
		bool applies = rule->given >> i & 1 && (!socket_options[i].tcp_only || s->protocol == SOCKET_RULE_TCP);

		/* TCP_QUICKACK is the kernel's to change; buffers it doubles, and caps by sysctls (socket(7)). */
		if (!applies || !s->readable[i] || i == SOCKET_QuickAck || i == SOCKET_ReceiveBuffer ||
		    i == SOCKET_SendBuffer)
			continue;
		if (s->value[i] != rule->value[i])
			list = memory_printf("%s%s%s=%d (wanted %d)", list, *list ? ", " : "", socket_options[i].name,
					     s->value[i], rule->value[i]);
	}
	return list;
}

static bool wants_busy_poll(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_sockets; i++)
		if (plan->socket[i].given >> SOCKET_BusyPollSec & 1)
			return true;
	return false;
}

static void show_tally(const struct view *v, struct json *out, const char *why)
{
	const char *text = "";

	for (uint32_t i = 0; v->ledger && i < v->plan->n_sockets; i++) {
		const struct tally *t = &v->ledger->socket[i];

		text = memory_printf("%s%srule %u: %u seen, %u set, %u refused", text, *text ? "; " : "", i + 1,
				     t->seen, t->set, t->failed);
	}
	line(out, "sockets", true,
	     memory_printf("cannot be looked at (%s); the ledger counts: %s", why, *text ? text : "nothing"));
}

static void show_sockets(struct view *v, struct json *out)
{
	struct socket_state *sockets;
	struct epoll_state *epolls;
	const char *why, *wrong = "";
	unsigned n = 0, bad = 0, napi = 0, polling = 0, instances = 0;

	if (!observe_files(v->pid, &sockets, &epolls, &why)) {
		show_tally(v, out, why);
		return;
	}
	for (const struct socket_state *s = sockets; s; s = s->next) {
		const char *differences = socket_differences(v->plan, s);

		n++;
		napi += s->napi != 0;
		bad += *differences != '\0';
		if (*differences)
			wrong = memory_printf("%s; fd %d: %s", wrong, s->fd, differences);
	}
	for (const struct epoll_state *e = epolls; e; e = e->next) {
		instances++;
		polling += e->parameters && e->parameters->microseconds;
	}
	drift(v, !bad);
	line(out, "sockets", !bad,
	     memory_printf("%u inet, %u as wanted%s%s%s", n, n - bad, wrong,
			   bad ? " (set by the program itself, or made by "
				 "no hook)"
			       : "",
			   wants_busy_poll(v->plan) && n
				   ? memory_printf("; %u of them on a queue that busy polling can poll", napi)
				   : ""));
	if (instances)
		line(out, "epoll", true, memory_printf("%u instances, %u busy-poll", instances, polling));
}

static void show_children(struct view *v, struct json *out)
{
	unsigned covered = 0, others = 0;
	const char *names = "";

	for (const struct child_state *c = observe_children(v->pid); c; c = c->next) {
		covered += c->covered;
		others += !c->covered;
		names = memory_printf("%s%s%d %s%s", names, *names ? ", " : "", (int)c->pid, c->name,
				      c->covered ? "" : " (not covered)");
	}
	if (covered + others)
		line(out, "children", true,
		     memory_printf("%u covered, %u reset or never covered: %s", covered, others, names));
}

static void show(struct view *v, struct json *out)
{
	const char *exe = observe_executable(v->pid);

	if (out) {
		json_open(out, NULL, '{');
		json_number(out, "pid", v->pid);
		json_text(out, "executable", exe);
	} else {
		printf("process %d %s%s\n", (int)v->pid, exe ? exe : "",
		       v->ledger ? "" : " (judged by the policy of -p)");
	}
	show_threads(v, out);
	show_memory(v, out);
	show_machine(v, out);
	show_sockets(v, out);
	show_children(v, out);
	if (v->ledger && v->ledger->unrecorded)
		line(out, "records", true,
		     memory_printf("%u threads found no record: the shim keeps %d", v->ledger->unrecorded,
				   LEDGER_THREADS));
	if (out) {
		json_number(out, "status", v->verdict);
		json_close(out, '}');
		putchar('\n');
	}
	fflush(stdout);
}

/* --- the command --- */

/* What was wanted, as the ledger keeps it. */
static const struct plan *plan_of(pid_t pid, const struct ledger *ledger, const char **why)
{
	struct plan *plan = memory_get(sizeof *plan);

	if (plan_decode(plan, ledger->plan)) {
		/* CPUSchedulingResetOnFork=: its children keep all of the policy but that. */
		for (uint32_t i = 0; plan->reset_on_fork && pid != plan->pid && i < plan->n_rules; i++) {
			plan->rule[i].policy = SCHED_OTHER;
			plan->rule[i].priority = 0;
		}
		return plan;
	}
	*why = "the plan in its ledger is damaged";
	return NULL;
}

int status(const char *subject, const struct plan *wanted, long watch, bool as_json)
{
	struct view v = {0};
	const char *why = "";

	for (;;) {
		struct json out = {stdout, false};
		void *mark = memory_mark();

		v = (struct view){.pid = observe_find(subject, &why), .plan = wanted};
		if (v.pid && !wanted)
			v.ledger = observe_ledger(v.pid, &why);
		if (v.ledger)
			v.plan = plan_of(v.pid, v.ledger, &why);
		if (v.plan && v.pid)
			v.threads = observe_threads(v.pid, &why);
		if (!v.threads) {
			say("%s", why);
			return STATUS_CANNOT_TELL;
		}
		v.cpuset = observe_cpuset(v.pid, &v.cpuset_known);
		show(&v, as_json ? &out : NULL);
		if (!watch)
			return v.verdict;
		memory_release(mark);
		sleep((unsigned)watch);
		if (!as_json)
			putchar('\n');
	}
}

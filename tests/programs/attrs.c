/* Checks that threads behave as their creator's attributes say: `attrs` all, `attrs NAME...` some; "depth=N" is to be compared. */
#include "show.h"
#include <arpa/inet.h>
#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

typedef const char *test(void); /* NULL, or what is wrong */
typedef void *routine(void *);

static pthread_attr_t attr;
static atomic_int count;

/* A thread with `attr` and its result; what is wrong otherwise is told as its result too. */
static void *run(routine *start, void *argument)
{
	pthread_t id;
	void *result;
	int error = pthread_create(&id, &attr, start, argument);
	if (error)
		return strerror(error);
	return pthread_join(id, &result) == 0 ? result : "cannot be joined";
}

static void raw_mask(cpu_set_t *set)
{
	CPU_ZERO(set);
	syscall(SYS_sched_getaffinity, 0, sizeof *set, set);
}

static void wait_count(int wanted)
{
	for (int i = 0; i < 2000 && atomic_load(&count) < wanted; i++)
		usleep(5000);
}

static void count_one(void *unused)
{
	(void)unused;
	atomic_fetch_add(&count, 1);
}

static void *counts(void *unused)
{
	return count_one(NULL), unused;
}

static const char *detached(void)
{
	pthread_t id;
	atomic_store(&count, 0);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 2000; i++)
		if (pthread_create(&id, &attr, counts, NULL) != 0)
			return "cannot be created";
	wait_count(2000);
	return atomic_load(&count) == 2000 ? NULL : "not all ran";
}

static void *is_detached(void *unused)
{
	pthread_attr_t mine;
	int state = -1;
	pthread_getattr_np(pthread_self(), &mine);
	pthread_attr_getdetachstate(&mine, &state);
	pthread_attr_destroy(&mine);
	atomic_fetch_add(&count, 1 + (state == PTHREAD_CREATE_DETACHED));
	return unused;
}

static const char *detach_state(void)
{
	pthread_t id;
	atomic_store(&count, 0);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&id, &attr, is_detached, NULL) != 0)
		return "cannot be created";
	wait_count(1);
	return atomic_load(&count) == 2 ? NULL : "not detached";
}

static void *nothing(void *unused)
{
	return unused;
}

static const char *stack_min(void)
{
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	return run(nothing, NULL);
}

static void *stack_size_is(void *wanted)
{
	pthread_attr_t mine;
	size_t size = 0, guard = 0;
	void *low;
	pthread_getattr_np(pthread_self(), &mine);
	pthread_attr_getstack(&mine, &low, &size);
	pthread_attr_getguardsize(&mine, &guard);
	pthread_attr_destroy(&mine);
	return size == ((size_t *)wanted)[0] && guard == ((size_t *)wanted)[1] ? NULL : "another stack or guard size";
}

static const char *stack_size(void)
{
	size_t wanted[2] = {256 * 1024, 4096};
	pthread_attr_setstacksize(&attr, wanted[0]);
	return run(stack_size_is, wanted);
}

static const char *stack_default(void)
{
	size_t wanted[2];
	pthread_attr_t standard;
	pthread_getattr_default_np(&standard);
	pthread_attr_getstacksize(&standard, &wanted[0]);
	pthread_attr_getguardsize(&standard, &wanted[1]);
	pthread_attr_destroy(&standard);
	return run(stack_size_is, wanted);
}

static const char *guard_size(void)
{
	size_t wanted[2] = {512 * 1024, 65536}, none[2] = {512 * 1024, 0};
	pthread_attr_setstacksize(&attr, wanted[0]);
	pthread_attr_setguardsize(&attr, wanted[1]);
	const char *why = run(stack_size_is, wanted);
	pthread_attr_setguardsize(&attr, 0);
	return why ? why : run(stack_size_is, none);
}

static void *stands_in(void *stack)
{
	char here;
	uintptr_t low = (uintptr_t)stack, at = (uintptr_t)&here;
	return at >= low && at < low + 65536 ? NULL : "another stack";
}

static const char *own_stack(void)
{
	void *stack = aligned_alloc(4096, 65536);
	pthread_attr_setstack(&attr, stack, 65536);
	const char *why = run(stands_in, stack);
	free(stack);
	return why;
}

static void *mask_is(void *wanted)
{
	sigset_t mask;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	return sigismember(&mask, SIGUSR1) == ((int *)wanted)[0] && sigismember(&mask, SIGUSR2) == ((int *)wanted)[1]
		       ? NULL
		       : "another mask";
}

static const char *signal_mask(void)
{
	sigset_t usr1;
	int wanted[2] = {1, 0};
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_attr_setsigmask_np(&attr, &usr1);
	return run(mask_is, wanted);
}

static const char *signal_mask_inherited(void)
{
	sigset_t usr2, before;
	int wanted[2] = {0, 1};
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &usr2, &before);
	const char *why = run(mask_is, wanted);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return why;
}

static void *affinity_is(void *wanted)
{
	cpu_set_t set;
	raw_mask(&set);
	return CPU_EQUAL(&set, (cpu_set_t *)wanted) ? NULL : "another affinity";
}

/* The caller's own affinity, CPU 0 and then the last, for two threads each, in an attr that is as it was afterwards. */
static const char *attr_reused(void)
{
	for (int last = 0; last < 2; last++) {
		pthread_attr_t before;
		cpu_set_t one, after;
		CPU_ZERO(&one);
		CPU_SET(last ? (int)sysconf(_SC_NPROCESSORS_ONLN) - 1 : 0, &one);
		pthread_attr_setaffinity_np(&attr, sizeof one, &one);
		memcpy(&before, &attr, sizeof attr);
		for (int i = 0; i < 2; i++) {
			const char *why = run(affinity_is, &one);
			if (why)
				return why;
		}
		pthread_attr_getaffinity_np(&attr, sizeof after, &after);
		if (memcmp(&before, &attr, sizeof attr) != 0 || !CPU_EQUAL(&after, &one))
			return "the attr has changed";
	}
	return NULL;
}

static const char *attr_unchanged(void)
{
	pthread_attr_t before;
	cpu_set_t full, after;
	sigset_t mask;
	memcpy(&before, &attr, sizeof attr);
	pthread_attr_getaffinity_np(&attr, sizeof full, &full);
	const char *why = run(nothing, NULL);
	pthread_attr_getaffinity_np(&attr, sizeof after, &after);
	if (memcmp(&before, &attr, sizeof attr) != 0 || !CPU_EQUAL(&full, &after) ||
	    pthread_attr_getsigmask_np(&attr, &mask) != PTHREAD_ATTR_NO_SIGMASK_NP)
		return "the attr has changed";
	return why;
}

static void *is_other(void *unused)
{
	(void)unused;
	return syscall(SYS_sched_getscheduler, 0) == SCHED_OTHER ? NULL : "not SCHED_OTHER";
}

static const char *explicit_other(void)
{
	struct sched_param zero = {0};
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &zero);
	return run(is_other, NULL);
}

static const char *too_large_stack(void)
{
	pthread_t id;
	pthread_attr_setstacksize(&attr, (size_t)1 << 47);
	return pthread_create(&id, &attr, nothing, NULL) == EAGAIN ? NULL : "not EAGAIN";
}

/* RLIMIT_NPROC does not bind root, so a child of another user tries. */
static const char *process_limit(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		pthread_t id;
		struct rlimit none = {0, 0};
		if ((geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) || setrlimit(RLIMIT_NPROC, &none) != 0)
			_exit(2);
		_exit(pthread_create(&id, NULL, nothing, NULL) != EAGAIN);
	}
	return waitpid(child, &status, 0) == child && status == 0 ? NULL : "not EAGAIN";
}

static void *leaves(void *value)
{
	pthread_exit(value);
}

static const char *exit_value(void)
{
	return run(leaves, &count) == &count ? NULL : "another value";
}

static void *arms_cleanup(void *fd)
{
	int sock = fd ? *(int *)fd : -1;
	pthread_cleanup_push(count_one, NULL);
	if (sock >= 0)
		accept(sock, NULL, NULL);
	else
		sleep(100);
	pthread_cleanup_pop(0);
	return "not cancelled";
}

static const char *cancel(void *fd)
{
	pthread_t id;
	void *result;
	atomic_store(&count, 0);
	if (pthread_create(&id, &attr, arms_cleanup, fd) != 0)
		return "cannot be created";
	usleep(20000);
	pthread_cancel(id);
	pthread_join(id, &result);
	return result == PTHREAD_CANCELED && atomic_load(&count) == 1 ? NULL : "not cancelled, or no cleanup";
}

static const char *cancel_sleep(void)
{
	return cancel(NULL);
}

static const char *cancel_accept(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0 || listen(fd, 1) != 0)
		return "no listener";
	const char *why = cancel(&fd);
	close(fd);
	return why;
}

static void *spins(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	atomic_store(&count, 1);
	for (time_t start = time(NULL);
	     time(NULL) - start < 3;) /* an end and a yield, should both be SCHED_FIFO on one CPU */
		sched_yield();
	return unused;
}

static const char *cancel_asynchronous(void)
{
	pthread_t id;
	void *result;
	atomic_store(&count, 0);
	if (pthread_create(&id, &attr, spins, NULL) != 0)
		return "cannot be created";
	wait_count(1);
	pthread_cancel(id);
	pthread_join(id, &result);
	return result == PTHREAD_CANCELED ? NULL : "not cancelled";
}

static void *counts_frames(void *unused)
{
	void *frame[64];
	char line[32];
	int n = snprintf(line, sizeof line, "depth=%d\n", backtrace(frame, 64));
	return write(STDOUT_FILENO, line, (size_t)n) == n ? unused : "cannot write";
}

static const char *depth(void)
{
	return run(counts_frames, NULL);
}

static pthread_key_t key;

static void *sets_key(void *unused)
{
	pthread_setspecific(key, &count);
	return unused;
}

static const char *key_destructor(void)
{
	atomic_store(&count, 0);
	pthread_key_create(&key, count_one);
	const char *why = run(sets_key, NULL);
	pthread_key_delete(key);
	return why ? why : atomic_load(&count) == 1 ? NULL : "not called";
}

static pthread_t own_id;

static void *finds_own_id(void *unused)
{
	(void)unused;
	return pthread_equal(own_id, pthread_self()) ? NULL : "not yet set when the thread starts";
}

static const char *id_set_before_start(void)
{
	for (int i = 0; i < 200; i++) {
		void *why;
		memset(&own_id, 0, sizeof own_id);
		if (pthread_create(&own_id, &attr, finds_own_id, NULL) != 0)
			return "cannot be created";
		pthread_t copy = own_id;
		pthread_join(copy, &why);
		if (why)
			return why;
	}
	return NULL;
}

static pthread_t *id_page;

static void *frees(void *unused)
{
	(void)unused;
	munmap(id_page, 4096);
	return counts(NULL);
}

/* The thread unmaps the page where its id is: whoever writes there after it has started dies by SIGSEGV. */
static const char *id_freed_by_thread(void)
{
	atomic_store(&count, 0);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 200; i++) {
		id_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (id_page == MAP_FAILED || pthread_create(id_page, &attr, frees, NULL) != 0)
			return "cannot be created";
		wait_count(i + 1);
	}
	return NULL;
}

/* Finished threads, joined late, many of them: main must stay where it is. */
static const char *churn(void)
{
	enum { LATE = 8 };
	pthread_t id[LATE];
	cpu_set_t before, after;
	raw_mask(&before);
	for (int i = 0; i < 4000; i++) {
		if (i >= LATE)
			pthread_join(id[i % LATE], NULL);
		if (pthread_create(&id[i % LATE], i % 2 ? &attr : NULL, nothing, NULL) != 0)
			return "cannot be created";
	}
	for (int i = 0; i < LATE; i++)
		pthread_join(id[i], NULL);
	raw_mask(&after);
	return CPU_EQUAL(&before, &after) ? NULL : "main has moved";
}

#define TEST(name)                                                                                                     \
	{                                                                                                              \
#name, name                                                                                            \
	}
static const struct {
	const char *name;
	test *run;
} tests[] = {
	TEST(detached),
	TEST(detach_state),
	TEST(stack_min),
	TEST(stack_size),
	TEST(stack_default),
	TEST(guard_size),
	TEST(own_stack),
	TEST(signal_mask),
	TEST(signal_mask_inherited),
	TEST(attr_reused),
	TEST(attr_unchanged),
	TEST(explicit_other),
	TEST(too_large_stack),
	TEST(process_limit),
	TEST(exit_value),
	TEST(cancel_sleep),
	TEST(cancel_accept),
	TEST(cancel_asynchronous),
	TEST(depth),
	TEST(key_destructor),
	TEST(id_set_before_start),
	TEST(id_freed_by_thread),
	TEST(churn),
};

int main(int argc, char **argv)
{
	int failures = 0;
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		int wanted = argc == 1;
		for (int a = 1; a < argc; a++)
			wanted |= strcmp(argv[a], tests[i].name) == 0;
		if (!wanted)
			continue;
		pthread_attr_init(&attr);
		const char *why = tests[i].run();
		failures = check(tests[i].name, why == NULL, why);
		pthread_attr_destroy(&attr);
	}
	return failures != 0;
}

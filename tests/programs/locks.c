/* What memory is locked: main, with N idle threads, in a forked child, and what a later mapping adds.  `locks [N]`. */
#include "show.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

static pthread_barrier_t started, end;

static void *idles(void *unused)
{
	pthread_barrier_wait(&started);
	pthread_barrier_wait(&end);
	return unused;
}

static long kilobytes(const char *key)
{
	char value[64];
	show_status("/proc/self/status", key, value, sizeof value);
	return atol(value);
}

static void tell(const char *who)
{
	char line[128];
	snprintf(line, sizeof line, "locked=%ld\tresident=%ld", kilobytes("VmLck"), kilobytes("VmRSS"));
	show_print(who, line);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	size_t size = 64 << 20;
	tell("main");
	pthread_barrier_init(&started, NULL, (unsigned)n + 1);
	pthread_barrier_init(&end, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++) {
		pthread_t id;
		if (pthread_create(&id, NULL, idles, NULL) != 0)
			return 3;
	}
	pthread_barrier_wait(&started);
	tell("threads");
	char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tell(block == MAP_FAILED ? "mmap-failed" : "mapped");
	munmap(block, size);
	if (fork() == 0) {
		tell("child");
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	pthread_barrier_wait(&end);
	return 0;
}

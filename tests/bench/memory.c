/* memory.c - memory THREADS: resident KiB of a program with so many idle threads; memory THREADS shim: of the shim's mappings. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"

static void *idle(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* Of all mappings, or of those of the shim: its file, the zeroed data behind it, the ledger. */
static long resident(int shim_only)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[4096], path[4096] = "";
	long sum = 0, kib;
	int counts = 0;

	if (!file)
		err(1, "/proc/self/smaps");
	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "Rss: %ld", &kib) == 1) {
			sum += counts || !shim_only ? kib : 0;
		} else if (strchr("0123456789abcdef", line[0])) {
			int fields = sscanf(line, "%*s %*s %*s %*s %*s %4095s", path);

			/* A mapping without a name continues the one before: .bss. */
			counts = fields == 1 ? strstr(path, "libllrun.so") || strstr(path, "llrun-ledger") : counts;
		}
	}
	fclose(file);
	return sum;
}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, idle, NULL))
			err(1, "pthread_create");
	}
	usleep(50000);
	printf("%ld\n", resident(argc > 2));
	fflush(stdout);
	_exit(0);
}

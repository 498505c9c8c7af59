/* Shows what a launcher can leave to a program over exec: limits, timer slack, huge pages, memory policy, heap, PM QoS. */
#include "show.h"
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/prctl.h>

static void limit(const char *name, int resource)
{
	struct rlimit r;
	getrlimit((__rlimit_resource_t)resource, &r);
	printf("%s=", name);
	for (int hard = 0; hard < 2; hard++) {
		rlim_t value = hard ? r.rlim_max : r.rlim_cur;
		if (value == RLIM_INFINITY)
			printf("%sinfinity", hard ? ":" : "");
		else
			printf("%s%llu", hard ? ":" : "", (unsigned long long)value);
	}
	putchar('\n');
}

static void memory_policy(void)
{
	static const char *const name[] = {"default",        "preferred",          "bind", "interleave", "local",
					   "preferred-many", "weighted-interleave"};
	enum { NODES = 4096, BITS = 8 * sizeof(unsigned long) };
	unsigned long nodes[NODES / BITS] = {0};
	int mode = -1;
	if (syscall(SYS_get_mempolicy, &mode, nodes, (unsigned long)NODES, NULL, 0UL) != 0)
		perror("get_mempolicy");
	mode &= 0x0fff; /* without MPOL_F_ flags */
	printf("NUMAPolicy=%s\nNUMAMask=", mode >= 0 && mode < 7 ? name[mode] : "unknown");
	for (unsigned i = 0, first = 1; i < NODES; i++)
		if (nodes[i / BITS] >> i % BITS & 1)
			printf("%s%u", first ? "" : ",", i), first = 0;
	putchar('\n');
}

static int holds(const char *file)
{
	DIR *fds = opendir("/proc/self/fd");
	int found = 0;
	for (struct dirent *e; fds && (e = readdir(fds));) {
		char link[256] = "";
		if (readlinkat(dirfd(fds), e->d_name, link, sizeof link - 1) > 0)
			found |= strcmp(link, file) == 0;
	}
	closedir(fds);
	return found;
}

int main(void)
{
	pthread_attr_t attr;
	size_t stack;
	limit("LimitRTPRIO", RLIMIT_RTPRIO);
	limit("LimitMEMLOCK", RLIMIT_MEMLOCK);
	limit("LimitRTTIME", RLIMIT_RTTIME);
	limit("LimitSTACK", RLIMIT_STACK);
	limit("LimitNICE", RLIMIT_NICE);
	limit("LimitNOFILE", RLIMIT_NOFILE);
	pthread_getattr_default_np(&attr);
	pthread_attr_getstacksize(&attr, &stack);
	printf("ThreadStackSize=%zu\n", stack);
	printf("TimerSlackNSec=%d\n", prctl(PR_GET_TIMERSLACK)); /* 0 in a real-time class */
	printf("THPDisable=%d\n", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
	memory_policy();
	void *volatile block = malloc(1 << 20);
	printf("HeapMaps=%zu\n", mallinfo2().hblks); /* 0: malloc(1M) used no mmap */
	free(block);
	void *before = sbrk(0);
	block = malloc(8 << 20);
	free(block);
	printf("HeapKept=%d\n", sbrk(0) > before);
	printf("CPULatency=%d\n", holds("/dev/cpu_dma_latency"));
	return 0;
}

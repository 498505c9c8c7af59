/*
 * memory.c - resident KiB of a program with THREADS idle threads.
 *     memory THREADS           all of it
 *     memory THREADS dirty     what is its own (Private_Dirty): file pages around those that it needs come and go by chance
 *     memory THREADS shim      the shim and its ledger
 *     memory THREADS private   of these, what is not the file's and so shared with every program under llrun
 */
#include <fcntl.h>
#include <link.h>
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

/* /proc/PID/pagemap: a word for each page, its top bit says present (proc(5)). */
static long present_pages(uintptr_t from, uintptr_t to)
{
	long size = sysconf(_SC_PAGESIZE), n = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t word;

	if (fd < 0)
		err(1, "/proc/self/pagemap");
	for (uintptr_t page = from / (uintptr_t)size; page < (to + (uintptr_t)size - 1) / (uintptr_t)size; page++)
		n += pread(fd, &word, sizeof word, (off_t)(page * sizeof word)) == sizeof word && word >> 63;
	close(fd);
	return n;
}

static int private_only;

static int of_shim(struct dl_phdr_info *info, size_t size, void *pages)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libllrun.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_W || !private_only))
			*(long *)pages += present_pages(info->dlpi_addr + p->p_vaddr,
							info->dlpi_addr + p->p_vaddr + p->p_memsz);
	}
	return 1;
}

static long shim_kib(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[4096];
	long pages = 0;

	dl_iterate_phdr(of_shim, &pages);
	while (file && fgets(line, sizeof line, file))
		if (strstr(line, "llrun-ledger") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			pages += present_pages(from, to);
	if (file)
		fclose(file);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static long all_kib(const char *row)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[4096];
	long kib = 0;

	if (!file)
		err(1, "/proc/self/smaps_rollup");
	while (!kib && fgets(line, sizeof line, file))
		if (strncmp(line, row, strlen(row)) == 0)
			kib = atol(line + strlen(row));
	fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, idle, NULL))
			err(1, "pthread_create");
	}
	private_only = argc > 2 && strcmp(argv[2], "private") == 0;
	usleep(50000);
	if (argc > 2 && strcmp(argv[2], "dirty") != 0)
		printf("%ld\n", shim_kib());
	else
		printf("%ld\n", all_kib(argc > 2 ? "Private_Dirty:" : "Rss:"));
	fflush(stdout);
	_exit(0);
}

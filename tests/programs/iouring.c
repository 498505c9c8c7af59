/* Shows the kernel's own worker thread of an io_uring (iou-wrk-PID), which no hook makes: `iouring [SECONDS]` stays. */
#include "show.h"
#include <dirent.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>

#define FIELD(ring, offset) ((unsigned *)((char *)(ring) + (offset)))

int main(int argc, char **argv)
{
	struct io_uring_params p = {0};
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	if (fd < 0)
		return perror("io_uring_setup"), 2;
	char *ring = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	struct io_uring_sqe *sqe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || (void *)sqe == MAP_FAILED)
		return perror("mmap"), 3;
	memset(sqe, 0, sizeof *sqe);
	sqe->opcode = IORING_OP_NOP;
	sqe->flags = IOSQE_ASYNC;
	*FIELD(ring, p.sq_off.array) = 0;
	__atomic_store_n(FIELD(ring, p.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return perror("io_uring_enter"), 3;

	DIR *tasks = opendir("/proc/self/task");
	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		char line[SHOW_LINE];
		if (e->d_name[0] == '.')
			continue;
		show_thread(line, sizeof line, "self", atoi(e->d_name));
		show_print(atoi(e->d_name) == getpid() ? "main" : "worker", line);
	}
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		sleep((unsigned)atoi(argv[1]));
	}
	return 0;
}

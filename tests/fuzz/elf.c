/* elf.c - a hostile executable: what target.c, and libelf through it, make of the input; a memfd is its file. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../launcher/launcher.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"main", "worker", ""};
	struct target target = {0};
	uint64_t offsets[4];
	bool stripped;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	target.path = target.executable = path;
	target.base = target.executable_base = "fuzz";
	target_inspect(&target, "/proc/self/exe"); /* some ELF file of this machine's kind */
	PROMISE(target.executable && target.executable_base);
	PROMISE(!target.no_shim || *target.no_shim);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		PROMISE(target_functions(&target, names[i], offsets, 4, &stripped) <= 4);
	close(fd);
	memory_release(NULL);
	return 0;
}

/* memory.c - MemoryLock=.  execve drops locks and fork does not inherit them (mlockall(2)): only we can set them. */
#include <errno.h>
#include <sys/mman.h>
#include "shim.h"

int lock_memory(void)
{
	static const int flags[] = {
		[LOCK_CURRENT] = MCL_CURRENT,
		[LOCK_ALL] = MCL_CURRENT | MCL_FUTURE,
		[LOCK_ONFAULT] = MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT, /* Linux 4.4 */
	};
	int saved = errno, error = 0;

	if (plan.lock > LOCK_NO && plan.lock <= LOCK_ONFAULT && mlockall(flags[plan.lock]) != 0)
		error = errno;
	errno = saved;
	if (plan.lock > LOCK_NO) {
		atomic_fetch_add(error ? &ledger->memory.failed : &ledger->memory.set, 1);
		atomic_store(&ledger->memory.error, error);
	}
	return error;
}

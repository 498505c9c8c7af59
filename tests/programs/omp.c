/* Shows the class of each OpenMP thread and how many there are. */
#include "show.h"
#include <omp.h>

int main(void)
{
	int threads = 0;
	printf("max=%d\n", omp_get_max_threads());
	fflush(stdout);
#pragma omp parallel
	{
#pragma omp critical
		{
			char who[16];
			snprintf(who, sizeof who, "%d", omp_get_thread_num());
			show(who);
			threads++;
		}
	}
	printf("threads=%d\n", threads);
	return 0;
}

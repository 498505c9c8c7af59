/* delays USEC MORE: sleeps USEC microseconds, and MORE of them if its nice value is not 0.  Says how long it was told to sleep. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

int main(int argc, char **argv)
{
	long usec = argc > 1 ? atol(argv[1]) : 0;
	struct timespec t;

	if (argc > 2 && getpriority(PRIO_PROCESS, 0) != 0)
		usec += atol(argv[2]);
	t = (struct timespec){usec / 1000000, usec % 1000000 * 1000};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	printf("slept %ld us\n", usec);
	return 0;
}

/*
 * delays USEC MORE [COUNTER]: sleeps USEC microseconds, and MORE of them if its nice value is not 0, and says so.  With a
 * COUNTER file it sleeps not at all and only says it, with a noise of up to 300 us that goes by how often it was called: the
 * same in every run of a test, however busy the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static long noise(const char *path)
{
	FILE *file = fopen(path, "r+");
	unsigned n = 0;

	if (!file || fscanf(file, "%u", &n) != 1)
		exit(2);
	rewind(file);
	fprintf(file, "%u\n", n + 1);
	fclose(file);
	return (long)(n * 2654435761u >> 8) % 601 - 300;
}

int main(int argc, char **argv)
{
	long usec = argc > 1 ? atol(argv[1]) : 0;
	struct timespec t;

	if (argc > 2 && getpriority(PRIO_PROCESS, 0) != 0)
		usec += atol(argv[2]);
	if (argc > 3) {
		usec += noise(argv[3]);
	} else {
		t = (struct timespec){usec / 1000000, usec % 1000000 * 1000};
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	}
	printf("slept %ld us\n", usec);
	return 0;
}

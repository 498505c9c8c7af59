/* replay.c - the targets without libFuzzer: each file given is one input; a bad one ends it by a signal. */
#include "fuzz.h"

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, got;

	if (!file) {
		perror(path);
		exit(2);
	}
	do {
		data = realloc(data, size + 4096);
		if (!data)
			abort();
		got = fread(data + size, 1, 4096, file);
		size += got;
	} while (got);
	fclose(file);
	/* A block of just this size, so that a sanitizer sees a read past it. */
	uint8_t *exact = malloc(size ? size : 1);
	if (!exact)
		abort();
	for (size_t i = 0; i < size; i++)
		exact[i] = data[i];
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%d inputs\n", argc - 1);
	return 0;
}

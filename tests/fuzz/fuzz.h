#ifndef LLRUN_FUZZ_H
#define LLRUN_FUZZ_H
/* What every target here is: one input in, 0 back.  libFuzzer calls it in a loop, replay.c once a file. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise that a header makes, broken by this input. */
#define PROMISE(condition)                                                                                             \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                        \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

#endif

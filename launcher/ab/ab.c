#include "ab.h"

int ab(const struct options *o)
{
	(void)o;
	return EXIT_LLRUN;
}

/* empty.c - a dynamic program that does nothing; given an argument, it locks its memory first. */
#include <sys/mman.h>

int main(int argc, char **argv)
{
	(void)argv;
	return argc > 1 && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0;
}

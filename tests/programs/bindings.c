/* Shows a thread made by each way to pthread_create: the linker's version, the one of before glibc 2.34, dlsym. */
#include "show.h"
#include <dlfcn.h>
#include <pthread.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

#ifdef __x86_64__
create old_create;
__asm__(".symver old_create,pthread_create@GLIBC_2.2.5"); /* as a binary from Debian 11 has it */
#else
#define old_create pthread_create
#endif

static void *runs(void *who)
{
	return show(who), NULL;
}

static void make(create *how, const char *who)
{
	pthread_t id;
	if (!how || how(&id, NULL, runs, (void *)who) != 0)
		exit(3);
	pthread_join(id, NULL);
}

int main(void)
{
	make(pthread_create, "new");
	make(old_create, "old");
	make((create *)dlsym(RTLD_DEFAULT, "pthread_create"), "dlsym");
	return 0;
}

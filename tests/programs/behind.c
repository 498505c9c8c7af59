/* Shows a thread that no hook sees being made, when it starts and after it has named itself: `behind NAME`. */
#include "show.h"
#include <dlfcn.h>
#include <pthread.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static void *runs(void *name)
{
	show("born");
	pthread_setname_np(pthread_self(), name);
	show("named");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;
	/* Asked of libc itself: the search does not begin with the preloaded libraries. */
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	create *how = libc ? (create *)dlsym(libc, "pthread_create") : NULL;
	if (argc != 2 || !how)
		return 2;
	show("main");
	if (how(&id, NULL, runs, argv[1]) != 0)
		return 3;
	pthread_join(id, NULL);
	return 0;
}

/*
 * Shows threads that their creator names at once, two at a time: `threadnames ROUNDS`; or one that renames itself:
 * `threadnames again`.
 */
#include "show.h"
#include <dirent.h>
#include <pthread.h>

static pthread_barrier_t started, end;

static void *waits(void *unused)
{
	pthread_barrier_wait(&started);
	pthread_barrier_wait(&end);
	return unused;
}

static void *renames(void *unused)
{
	static const char *const name[] = {"born", "rx", "other"};
	for (int i = 0; i < 3; i++) {
		pthread_setname_np(pthread_self(), name[i]);
		show(name[i]);
	}
	return unused;
}

static void show_others(void)
{
	DIR *tasks = opendir("/proc/self/task");
	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		char line[SHOW_LINE];
		if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
			continue;
		show_thread(line, sizeof line, "self", atoi(e->d_name));
		show_print("thread", line);
	}
	closedir(tasks);
}

int main(int argc, char **argv)
{
	pthread_t id[2];
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	if (rounds == 0)
		return pthread_create(&id[0], NULL, renames, NULL) || pthread_join(id[0], NULL);
	pthread_barrier_init(&started, NULL, 3);
	pthread_barrier_init(&end, NULL, 3);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 2; i++)
			if (pthread_create(&id[i], NULL, waits, NULL) != 0 || pthread_setname_np(id[i], "rx") != 0)
				return 3;
		pthread_barrier_wait(&started);
		show_others();
		pthread_barrier_wait(&end);
		for (int i = 0; i < 2; i++)
			pthread_join(id[i], NULL);
	}
	return 0;
}

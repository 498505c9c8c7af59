/* Checks C11 threads: return values, thrd_exit, detached ones, many at once; and shows the class of the first. */
#include "show.h"
#include <stdatomic.h>
#include <threads.h>

enum { MANY = 400 };
static atomic_int ended;
static mtx_t gate;

static int shows(void *who)
{
	return show(who), 1;
}
static int returns(void *value)
{
	return *(int *)value;
}
static int exits(void *value)
{
	thrd_exit(*(int *)value);
}
static int detaches(void *unused)
{
	(void)unused;
	return thrd_detach(thrd_current()), atomic_fetch_add(&ended, 1), 0;
}
static int waits(void *unused)
{
	(void)unused;
	return mtx_lock(&gate), mtx_unlock(&gate), 5;
}

static int joined(thrd_start_t start, int value)
{
	thrd_t t;
	int result = ~value;
	return thrd_create(&t, start, &value) == thrd_success && thrd_join(t, &result) == thrd_success &&
	       result == value;
}

int main(void)
{
	static char who[4][2] = {"1", "2", "3", "4"};
	static thrd_t many[MANY];
	int result, good = 1;
	show("main");
	for (int i = 0; i < 4; i++) {
		thrd_t t;
		if (thrd_create(&t, shows, who[i]) != thrd_success || thrd_join(t, &result) != thrd_success)
			return 3;
		check("joins", result == 1, "other result");
	}
	check("returns-42", joined(returns, 42), "other result");
	check("returns-minus-1", joined(returns, -1), "other result");
	check("thrd_exit-7", joined(exits, 7), "other result");

	for (int i = 0; i < MANY; i++) {
		thrd_t t;
		good &= thrd_create(&t, detaches, NULL) == thrd_success;
	}
	for (int i = 0; i < 1000 && atomic_load(&ended) < MANY; i++)
		thrd_sleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	check("detached", good && atomic_load(&ended) == MANY, "not all ran");

	mtx_init(&gate, mtx_plain);
	mtx_lock(&gate);
	good = 1;
	for (int i = 0; i < MANY; i++)
		good &= thrd_create(&many[i], waits, NULL) == thrd_success;
	mtx_unlock(&gate);
	for (int i = 0; i < MANY; i++)
		good &= thrd_join(many[i], &result) == thrd_success && result == 5;
	return check("many-at-once", good, "not all returned 5");
}

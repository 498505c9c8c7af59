#ifndef LLRUN_AB_PROCESS_H
#define LLRUN_AB_PROCESS_H
/* process.c: what run.c does a run with. */
#include <sys/resource.h>

struct process {
	pid_t pid; /* 0: not started */
	bool running;
	int status, output; /* wait(2)'s; a memory file */
	double started, ended;
	struct rusage usage;
};
extern struct process program, load, noise, helper; /* helper: what is asked on the way */

double now(void); /* s, CLOCK_MONOTONIC */
bool spawn(struct process *p, char **words, int input);
void rest(double until); /* sleeps until something happens or the time has come */
void end_all(void);
void forget(struct process *p);
char *take_output(struct process *p, char *text, size_t *length); /* appended to text; malloc'd */
const char *last_words(struct process *p);                        /* for messages: the end of what it said */
const char *how_ended(const char *who, struct process *p);

#endif

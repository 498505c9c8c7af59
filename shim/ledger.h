#ifndef LLRUN_LEDGER_H
#define LLRUN_LEDGER_H
/*
 * The ledger: what the shim did, in memory that an outsider can read (process_vm_readv on the mapping whose name in
 * /proc/PID/maps holds LEDGER_NAME).  One shared mapping, made in the constructor: forked workers share it, so that ten
 * workers get ten CPUs.
 *
 * Since workers with fewer rights may write into it, nothing here is ever called or followed: numbers only, and every
 * number read from it is checked before use.
 */
#include <stdatomic.h>
#include <stdint.h>
#include "../policy/plan.h"

#define LEDGER_NAME "llrun-ledger"
#define LEDGER_MAGIC 0x3272646cu /* "ldr2"; changes with the layout */

enum { LEDGER_THREADS = 4096 };

enum record_state { RECORD_FREE, RECORD_TAKEN, RECORD_LIVE, RECORD_ENDING };
enum {
	RECORD_OWN_CPUS = 1,  /* the program set this thread's affinity itself */
	RECORD_OWN_SCHED = 2, /* ... its scheduling */
	RECORD_SPILLED = 4,   /* CPUOverflow=spill sent it to the housekeeping CPUs */
	RECORD_REFUSED = 8,   /* a part of the rule was refused: see error */
};

struct record {
	_Atomic uint8_t state;
	_Atomic uint8_t flags;
	_Atomic uint8_t error; /* errno of what was refused, 0 */
	_Atomic uint8_t named; /* the name that it gave itself chose the rule */
	_Atomic uint16_t rule;
	_Atomic int16_t cpu;   /* the CPU that spread gave it, or -1 */
	_Atomic int32_t pid;   /* of its process */
	_Atomic int32_t tid;   /* 0 until it runs */
	_Atomic uint16_t base; /* the rule known at creation, should it get another name */
	uint16_t reserved;
};

struct tally {
	_Atomic uint32_t seen, set, failed;
	_Atomic int32_t error; /* the newest failure's errno */
};

struct ledger {
	uint32_t magic, size;
	_Atomic int32_t pid;        /* the process that made it */
	_Atomic uint32_t processes; /* that ever shared it */
	struct tally threads, epoll, memory;
	struct tally socket[PLAN_SOCKETS];
	_Atomic uint32_t unrecorded; /* threads placed with no record left for them */
	_Atomic uint32_t hint;       /* where to look for a free record */
	_Atomic uint32_t told;       /* a bit for each kind of notice: once for all the processes that share this */
	struct record record[LEDGER_THREADS];
	_Atomic uint16_t load[CPUSET_MAX]; /* threads that spread gave each CPU */
	char plan[]; /* the text that the plan was read from: a program may overwrite its environment (setproctitle) */
};

#endif

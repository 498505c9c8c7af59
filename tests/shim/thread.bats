#!/usr/bin/env bats
# shim/thread.c and shim/place.c: new threads are placed before they run, each on a CPU of its own; else they are as
# without us.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

# "CPUS CPUS ...": where the threads of the last run started, in the order of their creation; main is not among them.
starts() { grep -v $'^who=0\t' <<<"$output" | row when=start | field "$1" | xargs; }

# A policy that goes through every hook and every kind of rule.
everything() {
	policy everything <<-EOF
		[Process]
		OnError=warn
		CPUAffinity=0-1
		MemoryLock=onfault
		OwnAffinity=respect
		[Thread start=nothing index=3-5]
		CPUAffinity=1
		[Thread lib=libc*]
		CPUAffinity=1
		Nice=1
		[Thread "GC Thread#*" zz*]
		CPUAffinity=1
		CPUSchedulingPolicy=batch
		[Socket tcp]
		NoDelay=yes
		Priority=6
		[Socket udp]
		BusyPollSec=1us
	EOF
}

@test "attributes, stacks, masks, cancellation, exit values and 10000 creations are as without us" {
	need_cpus 2
	run --separate-stderr llrun -q -p "$(everything)" -- "$TESTS/attrs"
	all_ok
	equal "$stderr" ""
}

@test "the same under SCHED_FIFO" {
	need_cpus 2
	need_fifo
	run llrun -q --no-policy -c 0-1 -f 5 -- "$TESTS/attrs"
	all_ok
}

@test "a backtrace in a thread is as deep as without us" {
	run "$TESTS/attrs" depth
	local bare
	bare=$(grep ^depth= <<<"$output")
	run llrun -q --no-policy -c 0 -- "$TESTS/attrs" depth
	matches "$output" "^$bare\$"
}

@test "C11 threads are placed, and return, exit and detach as without us" {
	need_cpus 2
	run llrun -q --no-policy -c 0-1 -- "$TESTS/c11"
	all_ok
	equal "$(row who=1 <<<"$output" | field cpus)" 1
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -s 'Thread *.Nice=3' -- "$TESTS/c11"
	all_ok
	equal "$(row cpus=1 nice=3 <<<"$output" | wc -l)" 5
}

@test "C++ threads are placed, and exceptions pass" {
	need_program cxx
	need_cpus 2
	run llrun -q --no-policy -s 'Thread index=1-9.CPUAffinity=1' -- "$TESTS/cxx"
	all_ok
	equal "$(row cpus=1 <<<"$output" | grep -v ^who=main | field who | xargs)" "1 2 3 async"
}

@test "spread: one CPU each in the order of creation, main first; then around again" {
	need_cpus 2
	run llrun -q --no-policy -c 0-1 -- "$TESTS/threads" -n 6
	equal "$(row who=0 <<<"$output" | field cpus)" 0
	equal "$(starts cpus)" "1 0 1 0 1 0"
}

@test "slots are given back: 300 rounds of two threads find the same two CPUs" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 '[Thread *]' CPUAffinity=0-1)" \
		-- "$TESTS/threads" -n 2 -r 300
	# Thread * has no main: that has a section of its own.
	equal "$(row when=start cpus=0 <<<"$output" | wc -l)" 301
	equal "$(row when=start cpus=1 <<<"$output" | wc -l)" 300
}

@test "a create that fails takes no slot and no index" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 '[Thread index=3]' CPUAffinity=1 \
		'[Thread *]' CPUAffinity=0)" \
		-- "$TESTS/threads" -n 4 -f
	equal "$(starts cpus)" "0 0 1 0"
	run llrun -q --no-policy -c 0-1 -- "$TESTS/threads" -n 4 -f
	equal "$(starts cpus)" "1 0 1 0"
}

@test "share: each thread may use the whole set" {
	need_cpus 2
	run llrun -q --no-policy -s Process.CPUAffinity=0-1 -s Process.CPUPlacement=share -- "$TESTS/threads" -n 3
	equal "$(starts cpus)" "0-1 0-1 0-1"
}

@test "spill: the threads that find no CPU left share the housekeeping CPUs under SCHED_OTHER" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 '[Thread *]' CPUAffinity=1 CPUOverflow=spill Nice=4)" \
		-- "$TESTS/threads" -n 3
	local rest
	rest=$(starts cpus)
	equal "${rest%% *}" 1
	lacks "${rest#* }" '^1 |^1$'
	need_fifo
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 \
		'[Thread *]' CPUAffinity=1 CPUOverflow=spill CPUSchedulingPolicy=fifo CPUSchedulingPriority=7)" \
			-- "$TESTS/threads" -n 3
	equal "$(starts policy)" "fifo other other"
}

@test "a spilled slot is used again when its thread has ended" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 '[Thread *]' CPUAffinity=1 CPUOverflow=spill)" \
		-- "$TESTS/threads" -n 1 -r 50
	equal "$(row when=start cpus=1 <<<"$output" | wc -l)" 50
}

@test "index=: by the order of creation; the rest get the class of [Process]" {
	need_cpus 2
	run llrun -q --no-policy -s Process.CPUAffinity=0 -s 'Thread index=2-3 index=5.CPUAffinity=1' \
		-- "$TESTS/threads" -n 6
	equal "$(starts cpus)" "0 1 1 0 1 0"
}

@test "start=: by the start routine, a static one too, in executables with and without PIE" {
	need_cpus 2
	local program
	for program in "$TESTS/starts" "$BATS_TEST_TMPDIR/starts"; do
		[[ -e $program ]] || gcc -no-pie -O1 -pthread -o "$program" "$ROOT/tests/programs/starts.c" ||
			skip_or_fail "no gcc here"
		run llrun -q -p "$(rules '[Process]' CPUAffinity=0 '[Thread start=works]' CPUAffinity=1 \
			'[Thread start=exported]' Nice=2)" -- "$program"
		equal "$(row cpus=1 <<<"$output" | field who | xargs)" "works1 works2"
		equal "$(row nice=2 <<<"$output" | field who | xargs)" exported
	done
}

@test "lib=: by the object that holds the start routine" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread lib=ctorlib.so]' CPUAffinity=1 '[Thread *]' CPUAffinity=0)" -- "$TESTS/ctormain"
	equal "$(row cpus=1 <<<"$output" | field who | xargs)" constructor
	equal "$(row cpus=0 <<<"$output" | field who | xargs)" "main worker1 worker2"
}

@test "main and *: the first match in file order" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=1 '[Thread *]' CPUAffinity=0)" -- "$TESTS/threads" -n 2
	equal "$(row who=0 <<<"$output" | field cpus)" 1
	equal "$(starts cpus)" "0 0"
}

# A thread never merely inherits: main is SCHED_FIFO on CPU 1, and the threads that no section names are as at launch.
@test "a thread that no rule names gets the launch-time class explicitly" {
	need_cpus 2
	need_fifo
	run llrun -q --no-policy -s 'Thread main.CPUAffinity=1' -s 'Thread main.CPUSchedulingPolicy=fifo' \
		-s 'Thread main.CPUSchedulingPriority=9' -s 'Thread main.Nice=3' -- "$TESTS/threads" -n 2
	matches "$output" $'^who=0\t.*cpus=1\tpolicy=fifo\tprio=9'
	local launch
	launch=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
	equal "$(starts cpus)" "$launch $launch"
	equal "$(starts policy)" "other other"
	equal "$(starts nice)" "0 0"
}

@test "the caller's own affinity and scheduling in an attr are respected, and overridden if so told" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -s 'Thread *.CPUSchedulingPolicy=batch' \
		-- "$TESTS/attrs" attr_reused explicit_other
	all_ok
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -s 'Thread *.CPUSchedulingPolicy=batch' \
		-s Process.OwnAffinity=override -- "$TESTS/attrs" attr_reused explicit_other
	matches "$output" '^FAIL attr_reused another affinity'
	matches "$output" '^FAIL explicit_other not SCHED_OTHER'
}

@test "real-time scheduling comes with the thread, by its attr" {
	need_fifo
	local each
	for each in fifo rr; do
		run llrun -q --no-policy -s "Thread index=2.CPUSchedulingPolicy=$each" \
			-s 'Thread index=2.CPUSchedulingPriority=12' \
			-- "$TESTS/threads" -n 3
		equal "$(starts policy)" "other $each other"
		equal "$(starts prio)" "0 12 0"
	done
}

@test "nice, batch and idle, which an attr cannot carry" {
	run llrun -q -p "$(rules '[Thread index=1]' Nice=7 '[Thread index=2]' CPUSchedulingPolicy=batch \
		'[Thread index=3]' CPUSchedulingPolicy=idle)" -- "$TESTS/threads" -n 4
	equal "$(starts nice)" "7 0 0 0"
	equal "$(starts policy)" "other batch idle other"
}

# The first EPERM is that of SCHED_FIFO: the pinning is still to be had.
@test "EPERM at creation: created all the same, still pinned, told once" {
	need_root
	need_fifo
	need_cpus 2
	run --separate-stderr llrun -q -w -p "$(rules '[Thread main]' CPUAffinity=0 \
		'[Thread *]' CPUAffinity=1 CPUSchedulingPolicy=fifo CPUSchedulingPriority=7)" -- "$TESTS/creators" nobody
	equal "$status" 0
	equal "$(row who=thread <<<"$output" | field policy | xargs)" "other other other"
	equal "$(row who=thread <<<"$output" | field cpus | xargs)" "1 1 1"
	equal "$stderr" "$(grep -m1 'a thread could not be placed as its rule says: EPERM' <<<"$stderr")"
}

@test "EPERM found by llrun itself: left out with its cause, and the threads still pinned" {
	need_cpus 2
	if ((EUID != 0)) && [[ $(ulimit -r) != 0 ]]; then skip_or_fail "RLIMIT_RTPRIO is not 0"; fi
	run --separate-stderr as_nobody llrun --no-policy -w -s 'Thread *.CPUAffinity=1' \
		-s 'Thread *.CPUSchedulingPolicy=fifo' \
		-s 'Thread *.CPUSchedulingPriority=7' -- "$TESTS/threads" -n 2
	equal "$status" 0
	matches "$stderr" 'RLIMIT_RTPRIO is 0 .*left out'
	equal "$(starts cpus)" "1 1"
	equal "$(starts policy)" "other other"
}

# A seccomp filter that allows the one and refuses the other, installed after llrun has tried both.
@test "what is refused at creation is left out, the other part is not" {
	need_fifo
	need_cpus 2
	local path
	path=$(rules '[Process]' OnError=warn '[Thread main]' CPUAffinity=0 \
		'[Thread *]' CPUAffinity=1 CPUSchedulingPolicy=fifo CPUSchedulingPriority=7)
	run --separate-stderr llrun -q -p "$path" -- "$TESTS/seccomp" -c sched_setscheduler "$TESTS/threads" -n 2
	equal "$(starts policy) $(starts cpus)" "other other 1 1"
	matches "$stderr" 'a thread could not be placed'
	run --separate-stderr llrun -q -p "$path" -- "$TESTS/seccomp" -c sched_setaffinity "$TESTS/threads" -n 2
	equal "$(starts policy)" "fifo fifo"
	matches "$stderr" 'a thread could not be placed'
}

# Case 26: with a thread that has to move itself the creator would spin for ever on the CPU where the thread waits.
@test "a SCHED_FIFO creator that spins for its new thread sees it run" {
	need_cpus 2
	need_fifo
	run chrt -f 10 taskset -c 1 "$TESTS/spinwait"
	matches "$output" '^NEVER$' # the machine does what the test is about
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=1 CPUSchedulingPolicy=fifo CPUSchedulingPriority=10 \
		'[Thread *]' CPUAffinity=0)" -- "$TESTS/spinwait"
	matches "$output" '^ok$'
	equal "$(row who=thread <<<"$output" | field cpus)" 0
}

# Case 26 (a): no placement cures a waiter that yields to a lower priority on its own CPU; llrun warns.
@test "two real-time priorities on one CPU: started as asked, with a warning" {
	need_cpus 2
	need_fifo
	run --separate-stderr llrun -p "$(rules \
		'[Thread low]' CPUAffinity=1 CPUSchedulingPolicy=fifo CPUSchedulingPriority=10 \
		'[Thread high]' CPUAffinity=1 CPUSchedulingPolicy=fifo CPUSchedulingPriority=20)" -- "$TESTS/threads" -n 1
	matches "$stderr" 'warning: CPU 1 is given to real-time threads of priority (10 and 20|20 and 10)'
	equal "$status" 0
}

# Case 26 (b)
@test "RLIMIT_RTTIME ends a thread that the shim made SCHED_FIFO, and llrun has warned of it" {
	need_cpus 2
	need_fifo
	need prlimit
	run --separate-stderr prlimit --rttime=200000:200000 "$LLRUN" --no-policy -s 'Thread index=1.CPUAffinity=1' \
		-s 'Thread index=1.CPUSchedulingPolicy=fifo' -s 'Thread index=1.CPUSchedulingPriority=10' \
			-- "$TESTS/rtwait" spin 20
	matches "$stderr" 'warning: RLIMIT_RTTIME is 200000 us'
	equal "$status" 137
}

@test "a creator with SCHED_RESET_ON_FORK: its threads get what their rule says" {
	need_fifo
	run llrun -q --no-policy -s 'Thread index=1-9.CPUSchedulingPolicy=fifo' \
		-s 'Thread index=1-9.CPUSchedulingPriority=7' \
		-- "$TESTS/creators" reset
	equal "$(row who=thread <<<"$output" | field policy | xargs) $(row who=thread <<<"$output" | field prio \
		| xargs)" \
		"fifo fifo fifo 7 7 7"
}

@test "a SCHED_DEADLINE creator gets its EAGAIN" {
	run "$TESTS/creators" deadline
	((status == 0)) || skip_or_fail "SCHED_DEADLINE: $output"
	local bare=$output
	matches "$bare" EAGAIN
	run --separate-stderr llrun -q --no-policy -s 'Thread *.Nice=1' -- "$TESTS/creators" deadline
	equal "$output" "$bare"
	equal "$stderr" ""
}

@test "a thread's errno is 0 when it starts, a C++ exception and a detached thread need no slot for ever" {
	need_cpus 2
	run llrun -q --no-policy -c 0-1 -- "$TESTS/errno"
	all_ok
	# More detached threads one after the other than the ledger has records.
	run --separate-stderr llrun -q --no-policy -c 0-1 -- "$TESTS/attrs" detached churn
	all_ok
	equal "$stderr" ""
}

@test "more threads at once than the ledger has records: all run, and it is said" {
	need_cpus 2
	(($(ulimit -u) == 0)) && skip_or_fail "no processes"
	[[ $(ulimit -u) == unlimited ]] || (($(ulimit -u) > 6000)) || skip_or_fail "RLIMIT_NPROC is $(ulimit -u)"
	(($(</proc/sys/kernel/threads-max) > 8000 \
		&& $(</proc/sys/vm/max_map_count) > 12000)) || skip_or_fail "too few threads allowed"
	run --separate-stderr llrun -q --no-policy -w -c 0-1 -- "$TESTS/threads" -n 4200
	((status == 0)) || skip_or_fail "this machine takes no 4200 threads: $stderr"
	equal "$(row when=start <<<"$output" | wc -l)" 4201
	matches "$stderr" 'more than 4096 threads'
}

# Case 16 (a)
@test "a helper thread of a library does not shift the workers' CPUs: lib= takes it out" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main lib=ctorlib.so]' CPUAffinity=0 CPUPlacement=share \
		'[Thread *]' CPUAffinity=1,0)" -- "$TESTS/ctormain"
	equal "$(row who=worker1 <<<"$output" | field cpus)" 0
	equal "$(row who=constructor <<<"$output" | field cpus)" 0
	# and index= can skip it: it was the first created
	run llrun -q -p "$(rules '[Thread index=2]' CPUAffinity=0 '[Thread index=3]' CPUAffinity=1)" -- "$TESTS/ctormain"
	equal "$(row who=worker1 <<<"$output" | field cpus) $(row who=worker2 <<<"$output" | field cpus)" "0 1"
}

# Case 16 (b)
@test "OpenMP: one CPU each, and as many threads as without us" {
	need_program omp
	need_cpus 2
	OMP_NUM_THREADS=2 run llrun -q --no-policy -c 0-1 -- "$TESTS/omp"
	matches "$output" '^threads=2$'
	equal "$(row who=0 <<<"$output" | field cpus) $(row who=1 <<<"$output" | field cpus)" "0 1"
	# Not told how many: VisibleCPUs=set shows it the set that it had at launch.
	run taskset -c 0,1 "$LLRUN" -q --no-policy -c 0-1 -- "$TESTS/omp"
	matches "$output" '^threads=2$'
}

@test "OpenMP with places of its own: its own call wins, or ours if so told" {
	need_program omp
	need_cpus 2
	OMP_NUM_THREADS=2 OMP_PROC_BIND=true OMP_PLACES='{1},{0}' run llrun -q --no-policy -c 0-1 -- "$TESTS/omp"
	equal "$status" 0
	equal "$(row who=0 <<<"$output" | field cpus) $(row who=1 <<<"$output" | field cpus)" "1 0"
	OMP_NUM_THREADS=2 OMP_PROC_BIND=true OMP_PLACES='{1},{0}' run llrun -q --no-policy -c 0-1 \
		-s Process.OwnAffinity=override \
		-- "$TESTS/omp"
	equal "$status" 0
	equal "$(row who=0 <<<"$output" | field cpus) $(row who=1 <<<"$output" | field cpus)" "0 1"
}

# Case 29: two hardware threads of one core are never given out while another core is free, however they are numbered.
@test "spread: distinct cores before hardware threads of the same" {
	local numbering path=/sys/devices/system/cpu root
	[[ -r $path/cpu1/topology/thread_siblings_list ]] || skip_or_fail "no topology in sysfs, or one CPU"
	run llrun -q --no-policy -c 'cores(online)' -s Process.CPUPlacement=share -- "$TESTS/self"
	local cores
	cores=$(row who=self <<<"$output" | field cpus)
	need_cpus 4
	# A machine with four CPUs can be made to believe either numbering.
	source "$ROOT/tests/topology.bash"
	for numbering in "0,2 1,3 0,2 1,3" "0-1 0-1 2-3 2-3"; do
		read -ra siblings <<<"$numbering"
		root=$BATS_TEST_TMPDIR/$RANDOM
		fake_cpus "$root" 0-3 0-3 "" ""
		for cpu in 0 1 2 3; do fake_cpu "$root" "$cpu" "${siblings[cpu]}" 0 0-3; done
		fake_nodes "$root" 0-3
		LLRUN_SYSROOT=$root run llrun -q --no-policy -c 0-3 -- "$TESTS/threads" -n 1
		lacks "$(row who=0 <<<"$output" | field cpus),$(starts cpus)" "^(${siblings[0]//-/,}|${siblings[3]//-/,})\$"
	done
	[[ -n $cores ]]
}

#!/usr/bin/env bats
# shim/affinity.c: programs that place themselves (OwnAffinity=), and programs that count their CPUs (VisibleCPUs=).
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

# Case 30 (a)
@test "OwnAffinity=respect: the program's own call wins, for good" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -- "$TESTS/ownaffinity" 0
	equal "$(row call=0 changes=0 <<<"$output" | wc -l)" 5
	equal "$(grep -E '^who=(attr|sched_setaffinity|pthread_setaffinity_np)' <<<"$output" | field cpus \
		| xargs)" "0 0 0"
	equal "$(grep -E '^who=(sched_setscheduler|pthread_setschedparam)' <<<"$output" | row policy=batch cpus=1 \
		| wc -l)" 2
}

@test "OwnAffinity=override: its calls return 0 and change nothing" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -s Process.OwnAffinity=override -- "$TESTS/ownaffinity" 0
	equal "$(row call=0 changes=0 cpus=1 policy=other <<<"$output" | wc -l)" 5
}

@test "a priority that a thread chooses itself is a scheduling of its own" {
	need_fifo
	local each
	for each in "respect 7" "override 5"; do
		run llrun -q --no-policy -s 'Thread *.CPUSchedulingPolicy=fifo' -s 'Thread *.CPUSchedulingPriority=5' \
			-s "Process.OwnAffinity=${each% *}" -- "$TESTS/ownaffinity" 0 7
		equal "$(row call=0 changes=0 policy=fifo "prio=${each#* }" <<<"$output" | wc -l)" 2
	done
}

@test "OwnAffinity=override is about the program's own threads: another process can still be placed" {
	need_cpus 2
	need taskset
	start sleep 60
	run llrun -q --no-policy -c 0-1 -s Process.OwnAffinity=override -- taskset -cp 1 "$pid"
	equal "$status" 0
	equal "$(look threads "$pid" | field cpus)" 1
}

# redis-server names its threads, then places them by its own option.
@test "redis-server: bio_cpulist against a rule by name" {
	need redis-server
	need_cpus 2
	local port each
	for each in "respect 0" "override 1"; do
		port=$(free_port)
		start llrun -q --no-policy -s 'Thread bio_*.CPUAffinity=1' -s "Process.OwnAffinity=${each% *}" -- \
			redis-server --port "$port" --bind 127.0.0.1 --save '' --server_cpulist 0 --bio_cpulist 0 \
			--dir "$BATS_TEST_TMPDIR"
		wait_for bio_threads "${each#* }"
		sleep 0.2
		bio_threads "${each#* }"
	done
}
bio_threads() { equal "$(look threads "$pid" | grep comm=bio_ | field cpus | sort -u)" "$1"; }

@test "VisibleCPUs=set: a placed thread is told of the whole set, and setting that again keeps its place" {
	need_cpus 2
	run llrun -q --no-policy -c 0-1 -- "$TESTS/visible"
	equal "$(field told <<<"$output" | xargs) $(field pthread_told <<<"$output" | xargs)" "2 2 2 2"
	equal "$(field set <<<"$output" | xargs) $(field pthread_set <<<"$output" | xargs)" "0 0 0 0"
	equal "$(field same <<<"$output" | xargs)" "1 1"
	equal "$(field cpus <<<"$output" | xargs)" "0 1"
}

@test "VisibleCPUs=own: the kernel's answer" {
	need_cpus 2
	run llrun -q --no-policy -c 0-1 -s Process.VisibleCPUs=own -- "$TESTS/visible"
	equal "$(field told <<<"$output" | xargs) $(field pthread_told <<<"$output" | xargs)" "1 1 1 1"
	equal "$(field same <<<"$output" | xargs)" "1 1"
}

@test "a share rule and a thread with no rule are told the truth" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread main.CPUAffinity=1' -s 'Thread index=1.CPUAffinity=0-1' \
		-s 'Thread index=1.CPUPlacement=share' \
		-- "$TESTS/visible"
	equal "$(field told <<<"$output" | xargs)" "1 2"
}

# Case 30 (c)
@test "programs that size their pools by their CPUs see as many as without llrun" {
	need_cpus 2
	need taskset
	local command bare
	local commands=(nproc)
	command -v python3 >/dev/null && commands+=('python3 -c "import os; print(len(os.sched_getaffinity(0)))"')
	command -v node >/dev/null && commands+=('node -p "os.availableParallelism()"')
	[[ -e $TESTS/omp ]] && commands+=("$TESTS/omp | grep -e max= -e threads=")
	[[ -e $TESTS/Hello.class ]] && commands+=("java -cp $TESTS Hello")
	for command in "${commands[@]}"; do
		bare=$(taskset -c 0,1 bash -c "exec $command")
		equal "$(taskset -c 0,1 "$LLRUN" -q --no-policy -c 0-1 -s Process.Children=all \
			-- bash -c "exec $command")" "$bare"
	done
}

@test "java keeps its parallel collector, which one visible CPU would take away" {
	need java
	need_cpus 2
	local bare
	bare=$(taskset -c 0,1 java -XX:+PrintFlagsFinal -version 2>/dev/null \
		| grep -E ' (Use[A-Za-z0-9]*GC|ParallelGCThreads) ')
	run taskset -c 0,1 "$LLRUN" -q --no-policy -c 0-1 -- java -XX:+PrintFlagsFinal -version
	equal "$(grep -E ' (Use[A-Za-z0-9]*GC|ParallelGCThreads) ' <<<"$output")" "$bare"
}

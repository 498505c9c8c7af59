#!/usr/bin/env bats
# shim/memory.c: MemoryLock=, which neither exec nor fork keeps.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

# CAP_IPC_LOCK, or no limit
need_lock() { llrun -q --no-policy -m -- true 2>/dev/null || skip_or_fail "memory may not be locked here"; }

@test "no: nothing is locked" {
	start llrun -q --no-policy -c 0 -- "$TESTS/threads" -n 2 -s 30
	wait_ready
	equal "$(look memory "$pid" | field VmLck)" 0
}

@test "current: what is mapped at the start, and nothing that comes later" {
	need_lock
	run llrun -q --no-policy -s Process.MemoryLock=current -- "$TESTS/locks" 8
	local main threads mapped
	main=$(row who=main <<<"$output" | field locked) threads=$(row who=threads <<<"$output" | field locked)
	mapped=$(row who=mapped <<<"$output" | field locked)
	((main > 500 && threads < main + 4000 && mapped < main + 4000))
}

# 8 stacks of 8M: all of them resident, or only locked once they are touched.
@test "all: later mappings too, and they are resident" {
	need_lock
	ulimit -s 8192
	run llrun -q --no-policy -s Process.MemoryLock=all -- "$TESTS/locks" 8
	(($(row who=threads <<<"$output" | field locked) > 65000 && $(row who=threads <<<"$output" \
		| field resident) > 60000))
	(($(row who=mapped <<<"$output" | field locked) > 130000 && $(row who=mapped <<<"$output" \
		| field resident) > 120000))
}

@test "onfault: later mappings too, and idle stacks stay out of memory" {
	need_lock
	ulimit -s 8192
	run llrun -q --no-policy -s Process.MemoryLock=onfault -- "$TESTS/locks" 8
	(($(row who=threads <<<"$output" | field locked) > 65000 && $(row who=threads <<<"$output" \
		| field resident) < 16000))
	(($(row who=mapped <<<"$output" | field locked) > 130000 && $(row who=mapped <<<"$output" \
		| field resident) < 16000))
}

@test "as seen from outside, in a program and in its forked workers" {
	need_lock
	local one
	start llrun -q --no-policy -m -- "$TESTS/forks" workers 2
	wait_ready
	for one in "$pid" $(wait_for pgrep -P "$pid" && pgrep -P "$pid"); do
		wait_for locked_memory "$one"
	done
}
locked_memory() { (($(look memory "$1" | field VmLck) > 500)); }

@test "a forked child is locked again, a child that executes another program is not" {
	need_lock
	run llrun -q --no-policy -m -- "$TESTS/forks" fork
	(($(row who=child <<<"$output" | field locked) > 500))
	run llrun -q --no-policy -m -- "$TESTS/forks" system "$TESTS/self"
	equal "$(row who=show <<<"$output" | field locked)" 0
	run llrun -q --no-policy -m -s Process.Children=none -- "$TESTS/forks" fork
	equal "$(row who=child <<<"$output" | field locked)" 0
}

# Case 27, T1
@test "a daemon, two forks away, is locked, has its class, and its threads are placed in order again" {
	need_lock
	need_fifo
	need_cpus 2
	local file=$BATS_TEST_TMPDIR/daemon
	run llrun -q -p "$(rules '[Process]' MemoryLock=onfault \
		'[Thread main]' CPUAffinity=1 CPUSchedulingPolicy=fifo CPUSchedulingPriority=10 \
		'[Thread index=1 index=3]' CPUAffinity=0 '[Thread index=2 index=4]' CPUAffinity=1)" \
			-- "$TESTS/forks" daemon "$file"
	wait_for grep -q daemon-thread4 "$file"
	output=$(<"$file")
	equal "$(row who=daemon policy=fifo prio=10 cpus=1 <<<"$output" | wc -l)" 1
	equal "$(grep thread <<<"$output" | field cpus | xargs)" "0 1 0 1"
	equal "$(grep thread <<<"$output" | field policy | sort -u)" other
	equal "$(awk '$1 < 500' <<<"$(field locked <<<"$output")")" ""
}

# Case 27, T3
@test "Java starts with its memory locked" {
	need_lock
	need java
	need_program Hello.class
	start llrun -q --no-policy -m -- java -cp "$TESTS" Hello 30
	wait_ready
	(($(look memory "$pid" | field VmLck) > 100000))
}

# V8 aborts where memory that comes later is locked too: madvise(MADV_DONTNEED) is refused there.
@test "Node starts with what it has mapped at the start locked, and its shipped policy locks nothing" {
	need_lock
	need node
	run llrun -q --no-policy -s Process.MemoryLock=current -- node -e \
		'console.log(require("fs").readFileSync("/proc/self/status", "utf8").match(/VmLck:\s+(\d+)/)[1])'
	equal "$status" 0
	((output > 10000))
	lacks "$(cat "$ROOT/policy/shipped/node.policy")" '^MemoryLock=(all|onfault)'
}

# mlockall(MCL_FUTURE) would succeed, and break the program later.
@test "a finite RLIMIT_MEMLOCK without the capability: refused at start with the cure" {
	[[ $(ulimit -H -l) != unlimited ]] || skip_or_fail "RLIMIT_MEMLOCK is not finite here"
	run as_nobody llrun --no-policy -m -- "$TESTS/locks"
	equal "$status" 125
	matches "$output" 'RLIMIT_MEMLOCK is .*LimitMEMLOCK=infinity'
	run as_nobody llrun --no-policy -m -w -- "$TESTS/locks" 2
	equal "$status" 0
	equal "$(row who=child <<<"$output" | field locked)" 0
}

@test "an mlockall that a filter refuses: told once, in children no more" {
	need_lock
	run --separate-stderr llrun -q -w --no-policy -m -s Process.Program=forks \
		-- "$TESTS/seccomp" -c mlockall "$TESTS/forks" fork
	equal "$status" 0
	equal "$stderr" "$(grep -m1 '^llrun: MemoryLock= failed: mlockall: EPERM' <<<"$stderr")"
	equal "$(row who=child-thread1 <<<"$output" | wc -l)" 1
}

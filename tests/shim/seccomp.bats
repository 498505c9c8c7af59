#!/usr/bin/env bats
# Case 28: hardened units.  What a filter refuses is said once and left out; thread creation never fails because of us.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

hard() {
	rules '[Process]' OnError=warn MemoryLock=onfault '[Thread main]' CPUAffinity=0 '[Thread *]' CPUAffinity=1 \
		CPUSchedulingPolicy=fifo CPUSchedulingPriority=7
}

@test "a filter around llrun: each setting said once, with its cause, and the program runs" {
	need_cpus 2
	run --separate-stderr "$TESTS/seccomp" "$LLRUN" -p "$(hard)" -- "$TESTS/threads" -n 8
	equal "$status" 0
	equal "$(row when=start policy=other locked=0 <<<"$output" | wc -l)" 9
	equal "$(grep -c seccomp <<<"$stderr")" "$(grep seccomp <<<"$stderr" | sort -u | wc -l)"
	matches "$stderr" 'SCHED_FIFO with priority 7: .*'
	matches "$stderr" 'sched_setaffinity: .*seccomp'
	equal "$(sort <<<"$stderr" | uniq -d)" ""
}

@test "a filter that the program installs after its start: one line a kind, all threads are made" {
	need_cpus 2
	need_fifo
	run --separate-stderr llrun -q -p "$(hard)" -- "$TESTS/seccomp" "$TESTS/threads" -n 8
	equal "$status" 0
	equal "$(row when=start policy=other <<<"$output" | grep -vc ^who=0)" 8
	equal "$(sort <<<"$stderr" | uniq -d)" ""
	equal "$(grep -c 'a thread could not be placed' <<<"$stderr")" 1
}

@test "OnError=ignore: not a word" {
	need_cpus 2
	need_fifo
	run --separate-stderr llrun -q --no-policy -s Process.OnError=ignore -s 'Thread *.CPUAffinity=1' \
		-s 'Thread *.CPUSchedulingPolicy=fifo' \
		-s 'Thread *.CPUSchedulingPriority=7' -- "$TESTS/seccomp" "$TESTS/threads" -n 3
	equal "$status" 0
	equal "$stderr" ""
	equal "$(row when=start <<<"$output" | wc -l)" 4
}

# A filter that kills cannot be survived: a unit's SystemCallFilter= needs @resources.
@test "a filter that kills: the program ends by SIGSYS, which is not hidden" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -- "$TESTS/seccomp" -k "$TESTS/threads" -n 1
	equal "$status" 159
}

@test "a program whose filter kills, under a policy that has nothing to do with threads: runs" {
	run llrun -q --no-policy -d -- "$TESTS/seccomp" -k "$TESTS/threads" -n 2
	equal "$status" 0
	equal "$(row when=start <<<"$output" | wc -l)" 3
}

@test "memory-deny-write-execute: works" {
	need_kernel 6.3
	need_cpus 2
	run "$TESTS/seccomp" -m true
	((status == 0)) || skip_or_fail "PR_SET_MDWE is refused here"
	run --separate-stderr "$TESTS/seccomp" -m "$LLRUN" -q --no-policy -s 'Thread *.CPUAffinity=1' -d \
		-- "$TESTS/threads" -n 2
	equal "$status" 0
	equal "$stderr" ""
	equal "$(row when=start cpus=1 <<<"$output" | wc -l)" 3
}

# (d): ld.so would only say "cannot be preloaded ... ignored".
@test "a shim that the program's user cannot open: refused, not run bare" {
	local prefix=$BATS_TEST_TMPDIR/prefix
	mkdir -p "$prefix/bin" "$prefix/lib/llrun"
	cp "$LLRUN" "$prefix/bin"
	cp "$BUILD/libllrun.so" "$prefix/lib/llrun"
	run as_nobody "$prefix/bin/llrun" -q --no-policy -d -- "$TESTS/self"
	equal "$status" 0
	chmod 0 "$prefix/lib/llrun/libllrun.so"
	run as_nobody "$prefix/bin/llrun" -q --no-policy -d -- "$TESTS/self"
	equal "$status" 125
	matches "$output" '^llrun: .*libllrun.so'
	chmod 644 "$prefix/lib/llrun/libllrun.so"
	chmod 0 "$prefix/lib/llrun"
	run as_nobody "$prefix/bin/llrun" -q --no-policy -d -- "$TESTS/self"
	chmod 755 "$prefix/lib/llrun"
	equal "$status" 125
	matches "$output" '^llrun: .*libllrun.so'
}

@test "a small stack limit and few descriptors: as without us" {
	run bash -c 'ulimit -s 64; exec "$@"' _ "$LLRUN" -q --no-policy -c 0 -d -- "$TESTS/threads" -n 4
	equal "$status" 0
	run bash -c 'ulimit -n 6; exec "$@"' _ "$LLRUN" -q --no-policy -c 0 -- "$TESTS/c11"
	equal "$status" 0
}

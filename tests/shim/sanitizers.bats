#!/usr/bin/env bats
# Case 21: sanitizer builds start under the shim, their threads are placed, and nothing is reported.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

under_sanitizer() {
	need_program "threads-$1"
	need_cpus 2
	run --separate-stderr "$TESTS/threads-$1" -n 100
	[[ $status == 0 && -z $stderr ]] || skip_or_fail "threads-$1 does not run here by itself: $stderr"
	run --separate-stderr llrun -q --no-policy -s 'Thread main.CPUAffinity=0' -s 'Thread n*.CPUAffinity=1' -d -m -w \
		-s 'Thread n*.Nice=1' -- "$TESTS/threads-$1" -n 100 -N n
	equal "$status" 0
	equal "$stderr" ""
	equal "$(row when=named cpus=1 nice=1 <<<"$output" | wc -l)" 100
}

@test "address" { under_sanitizer asan; }
@test "thread" { under_sanitizer tsan; }
@test "undefined" { under_sanitizer ubsan; }

@test "address, with another library of the caller's preloaded: that stays, byte for byte, in children" {
	need_program threads-asan
	local libm
	libm=$(ldconfig -p 2>/dev/null | awk '/libm\.so\.6.*x86-64/ { print $NF; exit }')
	[[ -n $libm ]] || skip_or_fail "no libm found"
	run "$TESTS/threads-asan" -n 1
	((status == 0)) || skip_or_fail "threads-asan does not run here"
	LD_PRELOAD=$libm run --separate-stderr llrun -q --no-policy -c 0 -- "$TESTS/threads-asan" -n 10
	equal "$status" 0
	equal "$stderr" ""
}

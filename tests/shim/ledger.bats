#!/usr/bin/env bats
# shim/ledger.h: one shared mapping that an outsider can find, and no descriptor.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

ledger_of() { grep -o '[^ ]* [^ ]* [^ ]* [^ ]* [0-9]* */memfd:llrun-ledger.*' "/proc/$1/maps"; }

@test "a shared mapping that is called llrun-ledger, with its magic at the start" {
	start llrun -q --no-policy -c 0 -- "$TESTS/threads" -n 2 -s 30
	wait_ready
	matches "$(ledger_of "$pid")" '^[0-9a-f]*-[0-9a-f]* rw-s 00000000 .*/memfd:llrun-ledger'
	equal "$(ledger_of "$pid" | wc -l)" 1
	local at
	at=$(ledger_of "$pid")
	equal "$(dd if="/proc/$pid/mem" bs=4 count=1 skip=$((16#${at%%-*} / 4)) 2>/dev/null)" ldr2
}

@test "no descriptor is kept: they are as without us" {
	run "$TESTS/state"
	local bare
	bare=$(grep ^fds= <<<"$output")
	run llrun -q --no-policy -c 0 -d -m -w -- "$TESTS/state"
	matches "$output" "^$bare\$"
	start llrun -q --no-policy -c 0 -- "$TESTS/threads" -n 2 -s 30
	wait_ready
	equal "$(find "/proc/$pid/fd" -lname '*llrun*' | wc -l)" 0
}

@test "forked workers share it" {
	local inodes
	start llrun -q --no-policy -c 0 -- "$TESTS/forks" workers 3
	wait_ready
	wait_for three_workers
	inodes=$(for one in $(pgrep -P "$pid"); do awk '/llrun-ledger/ { print $5 }' "/proc/$one/maps"; done | sort -u)
	equal "$inodes" "$(awk '/llrun-ledger/ { print $5 }' "/proc/$pid/maps")"
}
three_workers() { (($(pgrep -cP "$pid") == 3)); }

# Workers that gave up their rights share it with a parent that did not.
@test "what a worker writes into it cannot hurt its parent" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=0' -s Process.Children=all -- "$TESTS/scribble" 20000 1
	equal "$status" 0
	equal "$output" ended=20000
}

@test "none without a plan, none in a child that is reset" {
	LD_PRELOAD=$BUILD/libllrun.so start sleep 30
	wait_for grep -q libllrun "/proc/$pid/maps"
	run ledger_of "$pid"
	equal "$output" ""
	run llrun -q --no-policy -c 0 -- "$TESTS/forks" system "grep -c llrun-ledger /proc/self/maps; : "
	matches "$output" '^0$'
}

@test "1000 threads leave it one" {
	start llrun -q --no-policy -c 0 -- "$TESTS/threads" -n 4 -r 250 -s 30
	wait_ready
	equal "$(ledger_of "$pid" | wc -l)" 1
}

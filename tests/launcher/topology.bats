#!/usr/bin/env bats
# What this machine has: SMT, nodes, isolation, offline and far CPUs, cpusets; made-up machines and this one.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib
source "$(dirname "$BATS_TEST_FILENAME")/../topology.bash"

# machine NAME: the fake_NAME of topology.bash.
machine() {
	export LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root
	rm -rf "$LLRUN_SYSROOT"
	"fake_$1" "$LLRUN_SYSROOT"
}

plan() { run --separate-stderr llrun --no-policy "$@" --explain true; }
cpus() { sed -nE 's/^  all threads +CPUs ([^ ]+).*/\1/p' <<<"$output"; }

# means EXPRESSION CPUS
means() {
	plan -c "$1" -s Process.CPUPlacement=share
	equal "$1: $(cpus)" "$1: $2" || { echo "$stderr" >&2; return 1; }
}

fails() {
	plan -c "$1"
	equal "$1: $status" "$1: 125"
	matches "$stderr" "$2"
}

cgroup=''
teardown() {
	stop_all
	# A group can only be removed once nothing runs in it any more.
	[[ -z $cgroup ]] || wait_for rmdir "$cgroup"
}

# --- made-up machines ---

@test "one thread of each core, whichever way siblings are numbered" {
	machine smt_adjacent
	means 'cores(online)' 0,2,4,6
	means 'cores(1-3)' 1-2
	machine smt_split
	means 'cores(online)' 0-3
	means 'cores(4-7,1)' 1,4,6-7
	machine offline
	means 'cores(online)' 0,2,4,6
}

@test "no topology/ at all: each CPU is a core" {
	machine big
	means 'cores(0-7)' 0-7
}

@test "siblings left to others are warned of, isolated ones are not" {
	need_fifo
	machine smt_adjacent
	plan -c 0 -f 5
	matches "$stderr" 'warning: CPUs 1 are hardware threads of the same cores as the real-time ones'
	plan -c 4 -f 5
	lacks "$stderr" 'hardware threads'
	plan -c 0-1 -f 5
	lacks "$stderr" 'hardware threads'
}

@test "FIFO on all housekeeping CPUs is warned of, on all but one it is not" {
	need_fifo
	machine smt_adjacent
	plan -c 0-3 -f 5
	matches "$stderr" 'warning: real-time threads may run on every housekeeping CPU'
	plan -c 0-2 -f 5
	lacks "$stderr" 'every housekeeping CPU'
	plan -c isolated -f 5
	lacks "$stderr" 'every housekeeping CPU'
}

@test "threads that share isolated CPUs under SCHED_OTHER are warned of" {
	machine smt_adjacent
	plan -c isolated -s Process.CPUPlacement=share
	matches "$stderr" 'warning: threads under SCHED_OTHER share the isolated CPUs 4-7: the kernel does not balance'
	plan -c isolated
	lacks "$stderr" 'does not balance'
	plan -c housekeeping -s Process.CPUPlacement=share
	lacks "$stderr" 'does not balance'
}

@test "nodes, packages and last-level caches" {
	machine smt_adjacent
	means node:1 4-7
	means 'node:1 & cores(online)' 4,6
	means 'node:0 & !isolated' 0-3
	means package:0-1 0-7
	means llc:0 0-3
	machine smt_split
	means node:0 0-7
	means 'node:0 & !isolated' 0-7
	fails node:1 'node 1 does not exist \(nodes: 0\)'
}

@test "near: climbs to the PCI device, goes through bonds, and says what the kernel does not know" {
	machine smt_adjacent
	means near:eth0 4-7
	plan -c near:eth1
	equal "$(cpus)" 0-7
	matches "$stderr" "warning: near:eth1: the kernel does not know the interface's node: all usable CPUs, 0-7"
	plan -c near:lo
	matches "$stderr" 'near:lo: the kernel does not know'
	means near:bond0 4-7
	# with one node there is nothing to know
	machine smt_split
	plan -c near:eth0
	equal "$(cpus)" 0-7
	lacks "$stderr" 'near:eth0'
}

@test "isolated: at boot, by a partition, by an older kernel's partition; an invalid one isolates nothing" {
	machine smt_adjacent
	means isolated 4-7
	means housekeeping 0-3
	machine partition
	means isolated 6-7
	means housekeeping 0-5
	machine old_partition
	means isolated 6-7
	means housekeeping 0-5
}

@test "nothing is isolated: an error, not all CPUs and not CPU 0" {
	machine smt_split
	fails isolated 'no CPU of this machine fits \(usable: 0-7\)'
	means housekeeping 0-7
	fails nohz_full 'no CPU of this machine fits'
}

@test "offline CPUs: named, with those that are online" {
	machine offline
	means online 0,2,4,6
	fails 1 'CPU 1 is offline \(online: 0,2,4,6\)'
	fails 0-2 'CPU 1 is offline'
	fails 8 'CPU 8 does not exist \(CPUs: 0-7\)'
	fails llc:1 'CPU 1 is offline'
	# words give what there is
	means llc:0 0,2,4,6
	means package:0 0,2,4,6
}

@test "CPUs above 63 and above 1023, in the plan and in the environment of the program" {
	machine big
	means 64 64
	means 1024 1024
	means 2047 2047
	means 0-2047 0-2047
	means isolated 1024-2047
	means '1,63,64,1023,1024' 1,63-64,1023-1024
	fails 2048 'CPU 2048 does not exist \(CPUs: 0-2047\)'
	fails 0-4095 'CPU 2048 does not exist'
	plan -c 0-2047
	equal "$status" 0
	matches "$output" 'CPUs 0-2047 one each'
}

@test "a cpuset: what it does not allow is named with it" {
	machine cpuset
	means allowed 2-3
	means online 2-3
	means 'node:0' 2-3
	fails 0 'CPU 0 is outside the cpuset /t of this process \(allowed: 2-3\)'
	fails 2-4 'CPU 4 is outside the cpuset /t'
	fails 8 'CPU 8 does not exist'
	fails isolated 'CPUs 4-7 are outside the cpuset /t of this process \(allowed: 2-3\)|no CPU of this machine fits'
	plan -N 1
	lacks "$output" 'NUMAMask=1 .*default'
}

@test "a root that is none" {
	LLRUN_SYSROOT=$BATS_TEST_TMPDIR/nowhere plan -c 0
	equal "$status" 125
	matches "$stderr" "^llrun: cannot read $BATS_TEST_TMPDIR/nowhere/sys/devices/system/cpu/online"
}

# --- this machine ---

@test "the first CPU number that does not exist, 1024 and far beyond: refused, with what there is" {
	local first cpu
	first=$(($(sed -E 's/.*[-,]//' /sys/devices/system/cpu/present) + 1))
	for cpu in "$first" "0-$first" 0-4095; do
		run --separate-stderr llrun -c "$cpu" -- touch "$BATS_TEST_TMPDIR/started"
		equal "$cpu: $status" "$cpu: 125"
		matches "$stderr" "^llrun: -c: CPUAffinity=$cpu: CPU $first does not exist \(CPUs: $(</sys/devices/system/cpu/present)\)"
		[[ ! -e $BATS_TEST_TMPDIR/started ]]
	done
}

@test "the inherited mask is no limit" {
	need_cpus 2
	run taskset -c 0 "$LLRUN" -c 1 "$TESTS/self"
	equal "$status" 0
	equal "$(field cpus <<<"$output")" 1
	# and asking for what it is not changes nothing
	run taskset -c 1 "$LLRUN" -n 5 "$TESTS/self"
	equal "$(field cpus <<<"$output")" 1
}

@test "words of this machine agree with its files" {
	run --separate-stderr llrun --no-policy -c online -s Process.CPUPlacement=share "$TESTS/self"
	equal "$status" 0
	run --separate-stderr llrun --no-policy -c isolated --explain true
	if [[ -n $(</sys/devices/system/cpu/isolated) ]]; then
		equal "$status" 0
	else
		matches "$output$stderr" 'no CPU of this machine fits|CPUs '
	fi
}

# make_cpuset CPUS: a cgroup of ours with these CPUs, v1 or v2.  Sets cgroup.
make_cpuset() {
	need_root || return
	local base
	for base in /sys/fs/cgroup/cpuset /sys/fs/cgroup; do
		if [[ -e $base/cpuset.mems ]] || grep -qw cpuset "$base/cgroup.controllers" 2>/dev/null; then break; fi
		base=
	done
	[[ -n $base ]] || { skip_or_fail "no cpuset controller here" || return; }
	[[ -e $base/cpuset.mems ]] || echo +cpuset >"$base/cgroup.subtree_control" 2>/dev/null || true
	mkdir "$base/llrun-test.$$" 2>/dev/null || { skip_or_fail "no cgroup can be made here" || return; }
	cgroup=$base/llrun-test.$$
	[[ ! -e $base/cpuset.mems ]] || cat "$base/cpuset.mems" >"$cgroup/cpuset.mems"
	echo "$1" >"$cgroup/cpuset.cpus" 2>/dev/null || skip_or_fail "a cpuset of CPU $1 cannot be made here"
}

# In the cpuset: llrun's first words are the shell's last.
inside() { bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$cgroup" "$@"; }

@test "in a cpuset of this machine: 'allowed' is what it allows, anything else is refused with its name" {
	need_cpus 2
	make_cpuset 1
	run --separate-stderr inside "$LLRUN" -c allowed "$TESTS/self"
	equal "$(field cpus <<<"$output")" 1
	run --separate-stderr inside "$LLRUN" -c 1 "$TESTS/self"
	equal "$(field cpus <<<"$output")" 1
	run --separate-stderr inside "$LLRUN" -c online "$TESTS/self"
	equal "$(field cpus <<<"$output")" 1
	local cpu
	for cpu in 0 0-1; do
		run --separate-stderr inside "$LLRUN" -c "$cpu" -- touch "$BATS_TEST_TMPDIR/started"
		equal "$cpu: $status" "$cpu: 125"
		matches "$stderr" "CPU 0 is outside the cpuset /?.*/?llrun-test.$$ of this process \(allowed: 1\)"
		[[ ! -e $BATS_TEST_TMPDIR/started ]]
	done
	run --separate-stderr inside "$LLRUN" -w -c 0-1 "$TESTS/self"
	equal "$status" 0
	equal "$(field cpus <<<"$output")" 1
}

#!/usr/bin/env bats
# llrun on a machine that isolates nothing at boot, with a cgroup v2 cpuset: an isolated partition of the CPUs 4-7.
# shellcheck disable=SC2154 # `result` sets errors

load ../lib
load vm

setup_file() {
	boot -a '' <<'GUEST'
cd /sys/fs/cgroup
echo +cpuset >cgroup.subtree_control
mkdir iso
mine() { grep Cpus_allowed_list "/proc/$1/status" | cut -f 2; }
cpus isolated
cpus nohz_full
cpus 'isolated || 2'
cpus housekeeping
sleep 1000 & bare=$!
"$LLRUN" -n 5 sleep 1000 & under=$!
echo 4-7 >iso/cpuset.cpus
echo isolated >iso/cpuset.cpus.partition
keep partition <iso/cpuset.cpus.partition
outside="bare $(mine $bare) llrun $(mine $under)"

run outside-number "$LLRUN" -c 4-7 /bin/true
run outside-word "$LLRUN" -c isolated /bin/true
run outside-or "$LLRUN" --explain -c 'isolated || online' /bin/true
run outside-housekeeping "$LLRUN" --explain -c housekeeping /bin/true

# A subshell of its own: who has joined stays.
(
	echo $BASHPID >iso/cgroup.procs
	table partition
	run inside-word "$LLRUN" --explain -c isolated /bin/true
	run inside-number "$LLRUN" -c 3,5 /bin/true
	run inside-housekeeping "$LLRUN" -c housekeeping /bin/true
	run inside-spill "$LLRUN" -c 4-5 -s Process.CPUOverflow=spill "$TESTS/spin" -n 4 -s 0.5
	run inside-taskset taskset -c 4 "$LLRUN" --explain -c isolated /bin/true
	echo 1 >iso/cpuset.mems
	run inside-node-0 "$LLRUN" -N 0 "$TESTS/limits"
	run inside-node-all "$LLRUN" -N all "$TESTS/limits"
)

# The write of `isolated` succeeds and isolates nothing: the CPUs are a sibling's too.
echo member >iso/cpuset.cpus.partition
keep after <<<"$outside bare $(mine $bare) llrun $(mine $under)"
mkdir other
echo 4-5 >other/cpuset.cpus
echo isolated >other/cpuset.cpus.partition
keep invalid <other/cpuset.cpus.partition
run invalid-word "$LLRUN" -c isolated /bin/true
kill $bare $under
GUEST
}

@test "before there is a partition nothing is isolated, and nohz_full's \"(null)\" is no CPU" {
	result cpus
	matches "$output" $'^isolated\t.*no CPU of this machine fits \(usable: 0-7\)'
	matches "$output" $'^nohz_full\t.*no CPU of this machine fits \(usable: 0-7\)'
	matches "$output" $'^isolated \|\| 2\t2$'
	matches "$output" $'^housekeeping\t0-7$'
}

@test "outside the partition its CPUs are refused, and the cpuset is named" {
	result partition
	equal "$output" isolated
	result outside-number
	equal "$status" 125
	matches "$errors" 'CPU 4 is outside the cpuset / of this process \(allowed: 0-3\)'
	result outside-word
	equal "$status" 125
	matches "$errors" 'isolated: CPUs 4-7 are outside the cpuset / of this process \(allowed: 0-3\)'
}

@test "outside the partition: isolated || online is what may be used" {
	result outside-or
	equal "$status" 0
	matches "$output" 'all threads +CPUs 0-3 '
	result outside-housekeeping
	matches "$output" 'all threads +CPUs 0-3 '
}

@test "bare, in the partition: taskset puts four SCHED_OTHER threads on one CPU" {
	local name
	for name in taskset-other taskset-fifo taskset-later llrun-other llrun-fifo llrun-later; do
		show_row "partition-$name"
	done
	result partition-taskset-other
	equal "$(row who=all <<<"$output" | field used)" 1
}

@test "in the partition llrun gives each SCHED_OTHER thread a CPU" { one_each partition-llrun-other other; }
@test "in the partition llrun gives each SCHED_FIFO thread a CPU" { one_each partition-llrun-fifo fifo; }
@test "in the partition llrun gives each thread that becomes SCHED_FIFO later a CPU" { one_each partition-llrun-later fifo; }

@test "in the partition isolated is its CPUs, from a narrower mask too; the others are refused" {
	result inside-word
	equal "$status" 0
	matches "$output" 'all threads +CPUs 4-7 '
	result inside-taskset
	matches "$output" 'all threads +CPUs 4-7 '
	result inside-number
	equal "$status" 125
	matches "$errors" 'CPU 3 is outside the cpuset /iso of this process \(allowed: 4-7\)'
	result inside-housekeeping
	equal "$status" 125
	matches "$errors" 'housekeeping: CPUs 0-3 are outside the cpuset /iso'
}

# There is no housekeeping CPU in this cpuset: the rest goes to all that there are.
@test "in the partition CPUOverflow=spill stays within the cpuset" {
	result inside-spill
	equal "$status" 0
	equal "$(row cpus=4-7 <<<"$output" | grep -c '^who=[1-4]')" 3
}

@test "a cpuset's nodes: another one is refused, all is those" {
	result inside-node-0
	equal "$status" 125
	matches "$errors" 'node 0 has no memory or is outside the cpuset /iso \(allowed: 1\)'
	result inside-node-all
	equal "$status" 0
	matches "$output" '^NUMAMask=1$'
}

# llrun tries which CPUs it may use; what it starts must not be left with a wish that the kernel would remember.
@test "a program under llrun loses the partition's CPUs and gets them back, as a bare one does" {
	result after
	equal "$output" 'bare 0-3 llrun 0-3 bare 0-7 llrun 0-7'
}

@test "an invalid partition isolates nothing" {
	result invalid
	matches "$output" '^isolated invalid'
	result invalid-word
	equal "$status" 125
	matches "$errors" 'no CPU of this machine fits'
}

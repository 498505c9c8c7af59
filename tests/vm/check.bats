#!/usr/bin/env bats
# --check in a guest whose CPUs 4-7 (node 1) are isolated at boot: the same kind of policy judged differently.
# shellcheck disable=SC2154 # `result` sets output, status

load ../lib
load vm

setup_file() {
	boot <<'GUEST'
policy() { printf '[Process]\nCPUAffinity=%s\nCPUPlacement=%s\nCPUSchedulingPolicy=%s\nOnError=warn\n[Socket tcp]\nBusyPollSec=50us\n' "$@"; }
policy 4-7 spread 'fifo
CPUSchedulingPriority=50' >$kept/isolated.policy
policy 3-4 spread 'fifo
CPUSchedulingPriority=50' >$kept/mixed.policy
policy 4-7 share other >$kept/shared.policy
for one in isolated mixed shared; do
	run "$one" "$LLRUN" -p "$kept/$one.policy" --check
done
# a partition of CPUs that isolcpus= has is invalid; the write succeeds all the same
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/p
echo 3-4 >/sys/fs/cgroup/p/cpuset.cpus
echo isolated >/sys/fs/cgroup/p/cpuset.cpus.partition
keep partition </sys/fs/cgroup/p/cpuset.cpus.partition
run invalid "$LLRUN" -p "$kept/isolated.policy" --check
GUEST
}

outcome() { sed -nE "s/^([a-z]+) +$1: .*/\1/p" <<<"$output"; }
# outcomes RESULT OUTCOME ITEM...: each of these items came out so.
outcomes() {
	local item
	result "$1"
	for item in "${@:3}"; do
		equal "$item: $(outcome "$item")" "$item: $2" || { cat <<<"$output$errors" >&2; return 1; }
	done
}

@test "isolated CPUs, whole cores, one node: fit in all that boot options decide" {
	outcomes isolated ok 'isolation domains' 'isolation nohz_full' 'isolation rcu_nocbs' 'isolation smt' 'isolation numa' 'isolation stacking' \
		'isolation housekeeping' 'isolation cpu0' 'isolation isolcpus_flags' 'machine guest'
}

@test "one CPU of each kind: not isolated, ticking, a sibling left to others, two nodes" {
	outcomes mixed warn 'isolation domains' 'isolation nohz_full' 'isolation rcu_nocbs'
	outcomes mixed fail 'isolation smt' 'isolation numa'
	equal "$status" 1
	matches "$output" '^fail +isolation smt: CPUs 2 are hardware threads of the same cores, and left to others'
	matches "$output" '^fail +isolation numa: CPUs 3-4 are on nodes 0-1'
}

@test "ordinary threads that share isolated CPUs stack: fail" {
	outcomes shared fail 'isolation stacking'
	outcomes isolated ok 'isolation stacking'
}

@test "a partition that the kernel took and made invalid is told, with the kernel's reason" {
	result partition
	[[ $output == *invalid* ]] || skip_or_fail "this kernel takes such a partition: $output"
	outcomes invalid fail 'isolation partition'
	matches "$output" 'isolation partition: .* is no partition: isolated invalid \('
}

#!/usr/bin/env bats
# llrun on a machine whose CPUs 4-7 (node 1) are isolated at boot; siblings are 0-1 2-3 4-5 6-7; eth0 is a NIC on node 1.
# shellcheck disable=SC2154 # `result` sets errors

load ../lib
load vm

setup_file() {
	# near: climbs to a PCI device that knows its node: one behind an expander bridge of node 1.  eth1 knows none.
	boot -q '-device pxb-pcie,id=px1,bus_nr=64,numa_node=1,bus=pcie.0
		-device pcie-root-port,id=rp1,bus=px1,chassis=1,slot=1
		-netdev hubport,id=h0,hubid=0 -device virtio-net-pci,netdev=h0,bus=rp1,mac=52:54:00:00:00:01
		-netdev hubport,id=h1,hubid=1 -device virtio-net-pci,netdev=h1,bus=pcie.0,mac=52:54:00:00:00:02' <<'GUEST'
cpu=/sys/devices/system/cpu
nic() { basename "$(dirname "$(grep -l "$1" /sys/class/net/*/address | head -n 1)")"; }
near=$(nic 52:54:00:00:00:01) far=$(nic 52:54:00:00:00:02)
ip link add link "$near" name stacked type macvlan
ip link add link "$far" name nowhere type macvlan
keep machine <<END
isolated=$(<$cpu/isolated)
nohz_full=$(<$cpu/nohz_full)
near=$near node $(cat "/sys/class/net/$near/device/numa_node" "/sys/class/net/$near/device/../numa_node" 2>/dev/null | head -n 1)
launch=$(grep Cpus_allowed_list /proc/self/status)
END

table boot
run shared "$LLRUN" -c isolated -s Process.CPUPlacement=share "$TESTS/spin"
run wrap "$LLRUN" -c isolated -s 'Thread main.CPUAffinity=housekeeping' "$TESTS/spin" -n 6
run spill "$LLRUN" -c isolated -f 50 -s Process.CPUOverflow=spill -s 'Thread main.CPUAffinity=housekeeping' "$TESTS/spin" -n 6
run latency-max "$LLRUN" -p latency-max "$TESTS/spin" -s 0.3
run child "$LLRUN" -c isolated bash -c 'grep Cpus_allowed_list /proc/$$/status; grep Cpus_allowed_list /proc/self/status; true'

for word in online allowed isolated housekeeping nohz_full 'cores(isolated)' node:1 package:0 llc:5 '!isolated' 'isolated & node:0 || 1' \
	"near:$near" near:stacked "cores(isolated & near:$near)" 'isolated & node:0' 5,8 near:nosuch0; do
	cpus "$word"
done
cpus near:nowhere
for policy in "$ROOT"/policy/shipped/*.policy; do
	name=${policy##*/}
	run "shipped-${name%.policy}" "$LLRUN" --explain -p "${name%.policy}" /bin/true
done

run numa-bind "$LLRUN" -N 1 -c 0 "$TESTS/limits"
run numa-maps "$LLRUN" -N 1 -c 0 cat /proc/self/numa_maps
run numa-interleave "$LLRUN" --interleave all "$TESTS/limits"
run numa-missing "$LLRUN" -N 2 "$TESTS/limits"

hint() { run "hint-$1" "$LLRUN" "${@:2}" /bin/true; }
hint shared -c isolated -s Process.CPUPlacement=share
hint shared-fifo -c isolated -f 50 -s Process.CPUPlacement=share
hint shared-one -c 3-4 -s Process.CPUPlacement=share
hint shared-housekeeping -c housekeeping -s Process.CPUPlacement=share
hint spread -c isolated
hint sibling -c 2 -f 50
hint sibling-isolated -c 4 -f 50
hint sibling-both -c 2-3 -f 50
hint sibling-other -c 2
hint starved -c housekeeping -f 50
hint quiet -q -c housekeeping -f 50

# The kernel moves a running thread off its CPU; one that sleeps stays pinned to it until it wakes.
"$LLRUN" -c isolated "$TESTS/spin" -s 1000 >/dev/null & pid=$!
until [[ $(ls "/proc/$pid/task" | wc -l) == 5 ]]; do sleep 0.1; done
sleep 1
run status-before "$LLRUN" --status $pid
echo 0 >$cpu/cpu5/online
sleep 1
run status-offline "$LLRUN" --status $pid
run offline-5 "$LLRUN" -c 5 /bin/true
run offline-list "$LLRUN" -c 4-7 /bin/true
run offline-word "$LLRUN" -c isolated "$TESTS/spin" -n 3 -s 0.5
echo 1 >$cpu/cpu5/online
run status-online "$LLRUN" --status $pid
kill $pid
echo off >$cpu/smt/control
run smt-off "$LLRUN" --explain -c 'cores(isolated)' /bin/true
run smt-off-sibling "$LLRUN" -c 2 -f 50 /bin/true
echo on >$cpu/smt/control
run online-again "$LLRUN" -c 5 grep Cpus_allowed_list /proc/self/status
GUEST
}

means() { # EXPRESSION LIST
	result cpus
	equal "$1 = $(awk -F '\t' -v e="$1" '$1 == e { print $2 }' <<<"$output")" "$1 = $2"
}

@test "the guest is what these tests take it for" {
	result machine
	matches "$output" '^isolated=4-7$'
	matches "$output" '^nohz_full=4-7$'
	matches "$output" '^near=eth[01] node 1$'
	matches "$output" '^launch=Cpus_allowed_list:.0-3$'
}

# Not balanced, so they stay where they were created.  If this ever fails, the kernel has learnt to spread them.
@test "bare: taskset puts four SCHED_OTHER threads on one isolated CPU" {
	local name
	for name in taskset-other taskset-fifo taskset-later llrun-other llrun-fifo llrun-later; do
		show_row "boot-$name"
	done
	result boot-taskset-other
	equal "$(row who=all <<<"$output" | field used)" 1
}

@test "llrun gives each SCHED_OTHER thread an isolated CPU" { one_each boot-llrun-other other; }
@test "llrun gives each SCHED_FIFO thread an isolated CPU" { one_each boot-llrun-fifo fifo; }
@test "llrun gives each thread that becomes SCHED_FIFO later an isolated CPU" { one_each boot-llrun-later fifo; }

@test "CPUPlacement=share on isolated CPUs: all on one, as with taskset" {
	result shared
	equal "$status" 0
	equal "$(row who=all <<<"$output" | field used)" 1
	equal "$(row who=1 <<<"$output" | field cpus)" 4-7
}

@test "CPUOverflow=wrap: six threads on four isolated CPUs, none on more than its own, at most two on each" {
	result wrap
	equal "$status" 0
	matches "$(row who=main <<<"$output" | field cpus)" '^[0-3]$'
	equal "$(row who=all <<<"$output" | field seen)" 4,5,6,7
	equal "$(grep -E '^who=[1-6]' <<<"$output" | field cpus | sort | uniq -c | awk '{ print $1 }' | sort | xargs)" "1 1 2 2"
}

@test "CPUOverflow=spill: four FIFO threads on the isolated CPUs, the other two SCHED_OTHER on the housekeeping ones" {
	result spill
	equal "$status" 0
	equal "$(row policy=fifo <<<"$output" | grep -v who=main | field cpus | sort | xargs)" "4 5 6 7"
	equal "$(row policy=other cpus=0-3 <<<"$output" | grep -c '^who=[56]')" 2
}

@test "latency-max takes effect: FIFO 49, one isolated CPU each, memory locked" {
	result latency-max
	equal "$status" 0
	equal "$(grep -E '^who=[1-4]' <<<"$output" | field cpus | sort | xargs)" "4 5 6 7"
	equal "$(grep -E '^who=[1-4]' <<<"$output" | field prio | sort -u)" 49
	lacks "$output" 'locked=0'
}

@test "another program that a pinned one starts is back on the housekeeping CPUs" {
	result child
	equal "$(awk '{ print $2 }' <<<"$output" | xargs)" "4 0-3"
}

@test "CPU words mean what this machine is" {
	means online 0-7
	means allowed 0-7
	means isolated 4-7
	means housekeeping 0-3
	means nohz_full 4-7
	means 'cores(isolated)' 4,6
	means node:1 4-7
	means package:0 0-3
	means llc:5 4-7
	means '!isolated' 0-3
	means 'isolated & node:0 || 1' 1
}

@test "near: is the NIC's node, through a virtual interface too, and says so when the node is unknown" {
	local near
	result machine
	near=$(sed -n 's/^near=\(eth[01]\) .*/\1/p' <<<"$output")
	means "near:$near" 4-7
	means near:stacked 4-7
	means "cores(isolated & near:$near)" 4,6
	result cpus
	matches "$output" $'^near:nowhere\t.*(unknown|not know|does not tell)'
}

@test "a CPU or an interface that does not exist, and an empty set, are refused by name" {
	result cpus
	matches "$output" $'^5,8\t.*CPU 8 does not exist \(CPUs: 0-7\)'
	matches "$output" $'^near:nosuch0\t.*no network interface .nosuch0.'
	matches "$output" $'^isolated & node:0\t.*no CPU of this machine fits'
}

# Every `isolated || ...` is 4-7, every `housekeeping || ...` is 0-3, in each section; one that names no CPUs has the launch-time
# ones, which are the housekeeping CPUs too.
@test "the shipped policies find the isolated CPUs" {
	local policy name
	for policy in "$ROOT"/policy/shipped/*.policy; do
		name=${policy##*/}
		result "shipped-${name%.policy}"
		equal "$name $status" "$name 0"
		output=$(sed -n '/^plan$/,$p' <<<"$output")
		equal "$name $(grep -c 'CPUs 4-7' <<<"$output")" "$name $(grep -c '^CPUAffinity=isolated || ' "$policy")"
		grep -q '^CPUAffinity=' "$policy" || continue
		equal "$name $(grep -c 'CPUs 0-3' <<<"$output")" "$name $(grep -c '^CPUAffinity=housekeeping || ' "$policy")"
	done
}

@test "-N binds memory: the kernel's policy, and where the pages are" {
	result numa-bind
	equal "$status" 0
	matches "$output" '^NUMAPolicy=bind$'
	matches "$output" '^NUMAMask=1$'
	result numa-maps
	equal "$status" 0
	matches "$output" '^[0-9a-f]+ bind:1 .*heap.* anon=.* N1='
	lacks "$output" ' anon=.* N0='
}

@test "--interleave all is both nodes; a node that does not exist is refused" {
	result numa-interleave
	matches "$output" '^NUMAPolicy=interleave$'
	matches "$output" '^NUMAMask=0,1$'
	result numa-missing
	equal "$status" 125
	matches "$errors" 'node 2 does not exist \(nodes: 0-1\)'
	equal "$output" ''
}

said() { # NAME PATTERN
	result "hint-$1"
	equal "$1 $status" "$1 0"
	matches "$errors" "$2"
}

silent() { # NAME...
	local name
	for name; do
		result "hint-$name"
		equal "$name $status $errors" "$name 0 "
	done
}

@test "hint: SCHED_OTHER threads that share several isolated CPUs, and only then" {
	said shared 'threads under SCHED_OTHER share the isolated CPUs 4-7'
	silent shared-fifo shared-one shared-housekeeping spread
}

@test "hint: siblings of real-time CPUs left to others, and only then" {
	said sibling 'CPUs 3 are hardware threads of the same cores'
	silent sibling-isolated sibling-both sibling-other
	result smt-off-sibling
	equal "$status $errors" '0 '
}

@test "hint: real time on every housekeeping CPU, and not under -q" {
	said starved 'real-time threads may run on every housekeeping CPU'
	silent quiet
}

@test "an offline CPU is refused by its number, a word leaves it out" {
	result offline-5
	equal "$status" 125
	matches "$errors" 'CPU 5 is offline \(online: 0-4,6-7\)'
	result offline-list
	equal "$status" 125
	matches "$errors" 'CPU 5 is offline'
	result offline-word
	equal "$status" 0
	equal "$(grep -E '^who=[1-3]' <<<"$output" | field cpus | sort | xargs)" "4 6 7"
}

# From then on the thread may run on all CPUs, the housekeeping ones too; nothing else tells.
@test "--status tells that a CPU went offline under a thread, also when it is back" {
	result status-before
	equal "$status" 0
	result status-offline
	equal "$status" 1
	matches "$output" '\[Process\] +5 +0-7 .*CPU 5 went offline'
	result status-online
	equal "$status" 1
	matches "$output" '\[Process\] +5 +0-7 .*its CPUs were changed since.* offline'
}

@test "with SMT switched off: the cores that are left; back on, the CPU can be had again" {
	result smt-off
	equal "$status" 0
	matches "$output" 'all threads +CPUs 4,6 '
	result online-again
	equal "$status" 0
	matches "$output" 'Cpus_allowed_list:.5$'
}

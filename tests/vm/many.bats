#!/usr/bin/env bats
# llrun on a machine with 128 CPUs, seven of them online: 0-3, and of those isolated at boot (64-127) 64, 70 and 127.
# shellcheck disable=SC2154 # `result` sets errors

load ../lib
load vm

setup_file() {
	# All 128 would take minutes to boot.
	boot -s 2x32x2 -m 1536 -a 'maxcpus=4 isolcpus=managed_irq,domain,64-127' <<'GUEST'
# maxcpus=4 is one hardware thread of each of four cores (6.12), or the first four CPUs.
for state in 1:1 1:2 1:3 0:4 0:6 1:64 1:70 1:127; do
	echo "${state%:*}" >"/sys/devices/system/cpu/cpu${state#*:}/online"
done
for word in online isolated housekeeping 'cores(isolated)' node:1 127 4 64-127 '!isolated & !0'; do
	cpus "$word"
done
run each "$LLRUN" -c isolated "$TESTS/threads" -n 5
run fifo "$LLRUN" -c isolated -f 20 "$TESTS/threads" -n 2
run spill "$LLRUN" -c 64,127 -s Process.CPUOverflow=spill "$TESTS/threads" -n 2
run child "$LLRUN" -c 127 bash -c 'grep Cpus_allowed_list /proc/self/status; true'
GUEST
}

@test "CPUs above 63 are words and numbers like all others" {
	result cpus
	matches "$output" $'^online\t0-3,64,70,127$'
	matches "$output" $'^isolated\t64,70,127$'
	matches "$output" $'^housekeeping\t0-3$'
	matches "$output" $'^cores\(isolated\)\t64,70,127$'
	matches "$output" $'^node:1\t64,70,127$'
	matches "$output" $'^127\t127$'
	matches "$output" $'^!isolated & !0\t1-3$'
}

@test "a CPU that is there but offline is refused by its number" {
	result cpus
	matches "$output" $'^4\t.*CPU 4 is offline \(online: 0-3,64,70,127\)'
	matches "$output" $'^64-127\t.*CPU 65 is offline'
}

@test "threads are spread over CPUs 64, 70 and 127" {
	result each
	equal "$status" 0
	equal "$(field cpus <<<"$output" | sort -n | uniq -c | awk '{ print $2 "x" $1 }' | xargs)" "64x2 70x2 127x2"
	result fifo
	equal "$(row policy=fifo prio=20 <<<"$output" | field cpus | sort -n | xargs)" "64 70 127"
}

@test "what is spilled goes to the housekeeping CPUs" {
	result spill
	equal "$(field cpus <<<"$output" | xargs)" "64 127 0-3"
}

@test "a child that is another program is back where llrun was started" {
	result child
	matches "$output" 'Cpus_allowed_list:.0-3$'
}

#!/usr/bin/env bats
# What llrun warns of at start because it makes the policy pointless.
# shellcheck disable=SC2154 # $output, $stderr

load ../lib
source "$(dirname "$BATS_TEST_FILENAME")/../topology.bash"

setup() {
	need_fifo
	export LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root
	fake_smt_adjacent "$LLRUN_SYSROOT"
	put "$LLRUN_SYSROOT/proc/sys/kernel/sched_rt_period_us" 1000000
	put "$LLRUN_SYSROOT/proc/sys/kernel/sched_rt_runtime_us" 950000
}

plan() { run --separate-stderr llrun --no-policy -w "$@" --explain true; }

@test "real-time threads that spin under real-time throttling are warned of" {
	plan -c 4 -f 5 -b 5000
	matches "$stderr" 'warning: real-time threads that busy-poll without sleeping stand still for 5 % of each second \(kernel.sched_rt_runtime_us is 950000\)'
	plan -q -c 4 -f 5 -b 5000
	lacks "$stderr" 'stand still'
}

@test "those that do not spin, are not in real time, or are not throttled, are not" {
	plan -c 4 -f 5 -b 50
	lacks "$stderr" 'stand still'
	plan -c 4 -b 5000
	lacks "$stderr" 'stand still'
	put "$LLRUN_SYSROOT/proc/sys/kernel/sched_rt_runtime_us" -1
	plan -c 4 -f 5 -b 5000
	lacks "$stderr" 'stand still'
	# unknown is no reason to warn
	rm -r "$LLRUN_SYSROOT/proc"
	plan -c 4 -f 5 -b 5000
	lacks "$stderr" 'stand still'
}

@test "interrupts of the policy's own interface on a real-time CPU are warned of, elsewhere they are not" {
	put "$LLRUN_SYSROOT/sys/devices/pci0000:00/0000:00:03.0/msi_irqs/37" msix
	put "$LLRUN_SYSROOT/sys/devices/pci0000:00/0000:00:03.0/msi_irqs/38" msix
	put "$LLRUN_SYSROOT/proc/irq/37/effective_affinity_list" 5
	put "$LLRUN_SYSROOT/proc/irq/38/effective_affinity_list" 0
	plan -c 'near:eth0 & 5' -f 5
	matches "$stderr" 'warning: interrupts 37 of eth0 come to CPUs with real-time threads \(5\)'
	plan -c 'near:eth0 & 4' -f 5
	lacks "$stderr" 'interrupts'
	plan -c 'near:eth0 & 5'
	lacks "$stderr" 'interrupts'
	plan -c 5 -f 5
	lacks "$stderr" 'interrupts'
}

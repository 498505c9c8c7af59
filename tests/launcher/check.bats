#!/usr/bin/env bats
# --check: every item in its good, bad and unreadable state, on a made-up machine that is fit; and on this one.
# shellcheck disable=SC2154 # $output, $stderr

load ../lib
source "$(dirname "$BATS_TEST_FILENAME")/../topology.bash"

# 8 CPUs, 4-7 isolated for the policy, with everything as it should be.  Numbers below are masks, ethtool answers, or plain.
fit() {
	local r=$1 cpu one

	fake_smt_adjacent "$r"
	put "$r/proc/cmdline" 'isolcpus=managed_irq,domain,4-7 nohz_full=4-7 rcu_nocbs=4-7 skew_tick=1'
	put "$r/proc/cpuinfo" 'flags : fpu sse'
	put "$r/proc/self/cgroup" 1:cpu:/app 0::/app
	put "$r/proc/self/status" $'Uid:\t1000\t1000' $'CapBnd:\t0' $'CapAmb:\t000001ffffffffff' $'Seccomp:\t0' $'Cpus_allowed_list:\t0-7'
	put "$r/proc/self/uid_map" '0 0 4294967295'
	put "$r/proc/self/limits" 'Max realtime priority     0     0' 'Max locked memory     8388608  8388608  bytes' 'Max realtime timeout   unlimited  unlimited us'
	put "$r/sys/fs/cgroup/cgroup.controllers" 'cpuset memory'
	put "$r/sys/fs/cgroup/app/cgroup.procs" 1
	put "$r/sys/fs/cgroup/app/cpuset.cpus.partition" isolated
	put "$r/sys/fs/cgroup/app/cpuset.cpus.effective" 4-7
	put "$r/sys/fs/cgroup/app/memory.high" max
	put "$r/sys/fs/cgroup/app/memory.max" max
	put "$r/sys/fs/cgroup/cpu/cpu.cfs_quota_us" -1
	put "$r/sys/fs/cgroup/cpu/app/cgroup.procs" 1
	put "$r/sys/fs/cgroup/cpu/app/cpu.cfs_quota_us" -1
	put "$r/sys/fs/cgroup/cpu/app/cpu.rt_runtime_us" 950000
	put "$r/sys/fs/cgroup/cpu/app/cpu.stat" 'nr_throttled 3'
	put "$r/sys/fs/cgroup/cpuset/cpuset.sched_load_balance" 0
	task "$r" 100 bash 0 0 0 0-3
	task "$r" 200 irqbalance 0 0 0 0-3
	put "$r/proc/200/environ" IRQBALANCE_BANNED_CPULIST=4-7
	task "$r" 300 irq/24-eth0 2097152 50 1 0
	task "$r" 400 rival 0 90 1 0-3
	put "$r/proc/interrupts" "$(interrupts 5 5 5)"
	put "$r/proc/softirqs" "$(softirqs 5)"
	put "$r/proc/stat" "$(for cpu in {0..7}; do echo "cpu$cpu 100 0 0 900 0 0 0 0 0 0"; done)"
	for one in 24 25; do
		put "$r/proc/irq/$one/effective_affinity_list" 0
		put "$r/proc/irq/$one/smp_affinity_list" 0-3
	done
	put "$r/sys/kernel/irq/24/actions" eth0-TxRx-0
	put "$r/sys/kernel/irq/25/actions" nvme0q1
	put "$r/sys/kernel/debug/irq/irqs/24" 'dstate: IRQD_AFFINITY_MANAGED'
	put "$r/proc/irq/default_smp_affinity" 0f
	put "$r/sys/devices/virtual/workqueue/cpumask" 00000000,0000000f
	put "$r/sys/bus/workqueue/devices/writeback/cpumask" 0f
	put "$r/sys/devices/system/cpu/cpufreq/boost" 1
	for cpu in {0..7}; do
		one=$r/sys/devices/system/cpu/cpu$cpu
		put "$one/cpu_capacity" 1024
		put "$one/cpufreq/scaling_driver" acpi-cpufreq
		put "$one/cpufreq/scaling_governor" performance
		put "$one/cpufreq/energy_performance_preference" performance
		put "$one/cpufreq/scaling_min_freq" 3000000
		put "$one/cpufreq/scaling_max_freq" 3000000
		put "$one/thermal_throttle/core_throttle_count" 7
		put "$one/cpuidle/state0/latency" 1
		put "$one/cpuidle/state0/name" POLL
		put "$one/cpuidle/state0/disable" 0
		put "$one/cpuidle/state1/latency" 200
		put "$one/cpuidle/state1/name" C6
		put "$one/cpuidle/state1/disable" 1
		put "$one/power/pm_qos_resume_latency_us" n/a
		put "$r/sys/kernel/debug/sched/fair_server/cpu$cpu/runtime" 0
		put "$r/sys/devices/system/machinecheck/machinecheck$cpu/ignore_ce" 1
	done
	put "$r/sys/devices/system/cpu/cpuidle/current_driver" intel_idle
	put "$r/sys/devices/system/cpu/cpuidle/current_governor" menu
	put "$r/sys/devices/system/cpu/vulnerabilities/spectre_v1" 'Mitigation: barriers'
	put "$r/sys/devices/system/clocksource/clocksource0/current_clocksource" tsc
	put "$r/sys/kernel/debug/sched/preempt" 'none voluntary (full)'
	put "$r/sys/kernel/tracing/current_tracer" nop
	put "$r/sys/kernel/tracing/events/enable" 0
	put "$r/boot/config-6.12.0" CONFIG_HZ=250 '# CONFIG_KASAN is not set'
	put "$r/proc/timer_list" '  .hres_active    : 1'
	smi "$r" 5
	put "$r/proc/sys/kernel/osrelease" 6.12.0
	put "$r/proc/sys/kernel/sched_rt_period_us" 1000000
	put "$r/proc/sys/kernel/sched_rt_runtime_us" -1
	put "$r/proc/sys/kernel/watchdog" 1
	put "$r/proc/sys/kernel/watchdog_cpumask" 0-3
	put "$r/proc/sys/vm/stat_interval" 10
	put "$r/proc/sys/vm/swappiness" 10
	put "$r/proc/sys/vm/dirty_ratio" 10
	put "$r/proc/swaps" 'Filename Type Size Used Priority'
	put "$r/proc/meminfo" 'HugePages_Total: 4' 'HugePages_Free: 4'
	put "$r/proc/pressure/memory" 'some avg10=0.00 avg60=0'
	put "$r/proc/pressure/cpu" 'some avg10=0.50 avg60=0'
	put "$r/proc/net/softnet_stat" '000000ff 00000000 00000001'
	put "$r/proc/net/snmp" 'Tcp: InSegs RetransSegs' 'Tcp: 500 7'
	put "$r/proc/sys/net/core/default_qdisc" fq
	for one in kernel/nmi_watchdog kernel/timer_migration kernel/numa_balancing vm/compaction_proactiveness vm/compact_unevictable_allowed \
		vm/zone_reclaim_mode vm/dirty_bytes net/core/busy_poll net/core/rps_sock_flow_entries net/ipv4/tcp_autocorking \
		net/ipv4/tcp_slow_start_after_idle net/ipv4/tcp_fastopen; do
		put "$r/proc/sys/$one" 0
	done
	put "$r/sys/kernel/mm/transparent_hugepage/enabled" 'always [madvise] never'
	put "$r/sys/kernel/mm/transparent_hugepage/defrag" 'always [madvise] never'
	put "$r/sys/kernel/mm/transparent_hugepage/khugepaged/defrag" 0
	put "$r/sys/kernel/mm/ksm/run" 0
	put "$r/sys/module/pcie_aspm/parameters/policy" 'default [performance] powersave'
	one=$r/sys/class/net/eth0
	put "$one/operstate" up
	put "$one/napi_defer_hard_irqs" 2
	put "$one/gro_flush_timeout" 200000
	put "$one/threaded" 0
	put "$one/queues/rx-0/rps_cpus" 0f
	put "$one/queues/tx-0/xps_cpus" f0
	one=$r/ethtool/eth0
	put "$one/coalesce" '0 1'
	put "$one/channels" '0 0 0 8 0 0 0 4'
	put "$one/flags" 0
	put "$one/rings" '4096 0 0 4096 512'
	put "$one/pause" '0 0 0'
	put "$one/eee" '0 0 0 0 0'
}

# task ROOT PID NAME FLAGS PRIORITY POLICY CPUS: runs on the first of the CPUs.
task() {
	local cpu=${7%%[-,]*} directory=$1/proc/$2/task/$2
	put "$directory/stat" "$2 (a ) b) S 1 1 1 0 0 $4 0 0 0 0 0 0 0 0 20 0 1 0 1 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 17 $cpu $5 $6 0 0"
	put "$directory/status" "Name: $3" "Cpus_allowed_list: $7"
	put "$1/proc/$2/comm" "$3"
}

# The counts that CPU 5 has of a device's interrupts, its timer's and rescheduling ones.
interrupts() {
	printf '%11s' '' CPU{0..7}
	printf '\n 24: 9 9 9 9 0 %s 0 0  PCI-MSI 1-edge   eth0-TxRx-0' "$1"
	printf '\nLOC: 9 9 9 9 0 %s 0 0  Local timer interrupts' "$2"
	printf '\nRES: 9 9 9 9 0 %s 0 0  Rescheduling interrupts\nERR: 0' "$3"
}

softirqs() { printf '%11s' '' CPU{0..7}; printf '\n TIMER: 9 9 9 9 0 5 0 0\n   RCU: 9 9 9 9 0 %s 0 0' "$1"; }

# smi ROOT COUNT: the register 0x34 of CPU 4.
smi() {
	mkdir -p "$1/dev/cpu/4"
	{ head -c 52 /dev/zero; printf "\\x$(printf %02x "$2")"; head -c 7 /dev/zero; } >"$1/dev/cpu/4/msr"
}

setup_file() { fit "$BATS_FILE_TMPDIR/fit"; }

setup() {
	cp -a "$BATS_FILE_TMPDIR/fit" "$BATS_TEST_TMPDIR/root"
	export LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root
	fit=$(policy fit <<-END
		[Process]
		CPUAffinity=4-7
		CPUSchedulingPolicy=fifo
		CPUSchedulingPriority=40
		[Socket tcp]
		BusyPollSec=50us
		PreferBusyPoll=yes
	END
	)
}

check() { run --separate-stderr llrun -p "$fit" "$@" --check; }
# The outcome of an item, "group name", in the last report.
outcome() { sed -nE "s/^([a-z]+) +$1: .*/\1/p" <<<"$output"; }

# Replaces a path by what is neither a file that can be read, for root as well, nor empty of reason.
spoil() {
	mv "$LLRUN_SYSROOT/$1" "$BATS_TEST_TMPDIR/aside"
	mkdir -p "$LLRUN_SYSROOT/$1"
}
restore() {
	rmdir "$LLRUN_SYSROOT/$1"
	mv "$BATS_TEST_TMPDIR/aside" "$LLRUN_SYSROOT/$1"
}

# Lines of `item | file | bad text | options | what to spoil`: the item is ok as the machine stands, and applies; fails or warns
# with that text in the file; is unknown without the file, or what is named instead (`-`: nothing).  `=`: there is no bad state.
try_items() {
	local item file text options spoiled saved words failed=0 state

	while IFS='|' read -r item file text options spoiled; do
		item=$(xargs <<<"$item") file=$(xargs <<<"$file") spoiled=$(xargs <<<"${spoiled:-$file}") text=${text# } text=${text% }
		eval "words=($options)"
		check "${words[@]}"
		state=$(outcome "$item")
		[[ $state == ok ]] && ! grep -q "^ok *$item: does not apply" <<<"$output" ||
			{ echo "$item: '$state' where all is well: $(grep " $item: " <<<"$output")$stderr" >&2; failed=1; }
		if [[ $text != = ]]; then
			saved=''
			[[ ! -e $LLRUN_SYSROOT/$file ]] || { saved=$BATS_TEST_TMPDIR/saved; cp "$LLRUN_SYSROOT/$file" "$saved"; }
			put "$LLRUN_SYSROOT/$file" "$(printf '%b' "$text")"
			check "${words[@]}"
			state=$(outcome "$item")
			[[ $state == warn || $state == fail ]] || { echo "$item: '$state' with '$text' in $file: $(grep " $item: " <<<"$output")" >&2; failed=1; }
			if [[ $saved ]]; then cat "$saved" >"$LLRUN_SYSROOT/$file"; else rm "$LLRUN_SYSROOT/$file"; fi
		fi
		[[ $spoiled != - ]] || continue
		spoiled=${spoiled#later/}
		spoil "$spoiled"
		check "${words[@]}"
		state=$(outcome "$item")
		[[ $state == unknown ]] || { echo "$item: '$state' without $spoiled: $(grep " $item: " <<<"$output")" >&2; failed=1; }
		matches "$(grep " $item: " <<<"$output")" 'cannot be (read|told): .{6}' || failed=1
		restore "$spoiled"
	done
	return "$failed"
}

@test "isolation: good, bad and unreadable" {
	try_items <<-'END'
		isolation housekeeping | sys/devices/system/cpu/online | 4-7 | | -
		isolation domains | sys/devices/system/cpu/isolated | 4-6\n | -s Thread\ x.CPUAffinity=4 |
		isolation isolcpus_flags | proc/cmdline | isolcpus=nohz,4-7 | |
		isolation isolcpus_flags | proc/cmdline | isolcpus=4-7 | |
		isolation partition | sys/fs/cgroup/app/cpuset.cpus.partition | isolated invalid (Cpu list in cpuset.cpus not exclusive) | | sys/fs/cgroup/cgroup.controllers
		isolation nohz_full | sys/devices/system/cpu/nohz_full |   (null) | |
		isolation nohz_full | sys/devices/system/cpu/nohz_full | 4-5 | |
		isolation tick | later/proc/interrupts | $(interrupts)24: 0\n | | -
		isolation fair_server | sys/kernel/debug/sched/fair_server/cpu5/runtime | 50000000 | |
		isolation smt | sys/devices/system/cpu/cpu7/topology/thread_siblings_list | 3,7 | |
		isolation numa | sys/devices/system/node/node0/cpulist | 0-4 | |
		isolation llc | sys/devices/system/cpu/cpu4/cache/index1/shared_cpu_list | 4-5 | |
		isolation cores | sys/devices/system/cpu/cpu5/cpu_capacity | 400 | |
		isolation cores | sys/devices/cpu_atom/cpus | 5-7 | | -
		isolation foreign | proc/100/task/100/status | Name: bash\nCpus_allowed_list: 0-7 | | proc
		isolation rivals | proc/400/task/400/status | Name: rival\nCpus_allowed_list: 0-7 | | proc
		isolation workqueues | sys/devices/virtual/workqueue/cpumask | ff | |
		isolation writeback | sys/bus/workqueue/devices/writeback/cpumask | 10 | |
		isolation watchdog | proc/sys/kernel/watchdog_cpumask | 0-7 | |
		isolation watchdog | proc/sys/kernel/nmi_watchdog | 1 | | proc/sys/kernel/watchdog
		isolation machine_checks | sys/devices/system/machinecheck/machinecheck6/ignore_ce | 0 | |
		isolation quota | sys/fs/cgroup/cpu/app/cpu.cfs_quota_us | 50000 | |
		isolation quota | sys/fs/cgroup/cpu/cpu.cfs_quota_us | 50000 | |
	END
}

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
	put "$r/sys/fs/cgroup/app/cpuset.cpus.partition" member
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
	local item file text options spoiled saved words failed=0 state well

	check
	well=$output
	while IFS='|' read -r item file text options spoiled; do
		item=$(xargs <<<"$item") file=$(xargs <<<"$file") spoiled=$(xargs <<<"${spoiled:-$file}") text=${text# } text=${text% }
		eval "words=($options)"
		[[ $text != '$('* ]] || eval "text=\"$text\""
		output=$well
		((${#words[@]} == 0)) || check "${words[@]}"
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
		isolation domains | sys/devices/system/cpu/isolated | 4-6 | |
		isolation isolcpus_flags | proc/cmdline | isolcpus=nohz,4-7 | |
		isolation isolcpus_flags | proc/cmdline | isolcpus=4-7 | |
		isolation partition | sys/fs/cgroup/app/cpuset.cpus.partition | isolated invalid (Cpu list in cpuset.cpus not exclusive) | | sys/fs/cgroup/cgroup.controllers
		isolation nohz_full | sys/devices/system/cpu/nohz_full |   (null) | |
		isolation nohz_full | sys/devices/system/cpu/nohz_full | 4-5 | |
		isolation tick | later/proc/interrupts | $(interrupts 5 500 5) | | proc/interrupts
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

@test "isolation: what the options decide" {
	check -s 'Thread x.CPUSchedulingPolicy=other' -s 'Thread x.CPUSchedulingPriority=' -s 'Thread x.CPUPlacement=share'
	equal "$(outcome 'isolation stacking')" fail
	spoil sys/devices/system/cpu/isolated
	check
	equal "$(outcome 'isolation stacking')" unknown
	restore sys/devices/system/cpu/isolated
	check
	equal "$(outcome 'isolation stacking')" ok
	equal "$(outcome 'isolation cpu0')" ok
	equal "$(outcome 'isolation cpuset_v1')" ok
	check -c 0
	equal "$(outcome 'isolation cpu0')" warn
	equal "$(outcome 'isolation rcu_nocbs')" warn
	equal "$(outcome 'interrupts devices')" fail
	put "$LLRUN_SYSROOT/sys/fs/cgroup/cpuset/cpuset.sched_load_balance" 1
	check
	equal "$(outcome 'isolation cpuset_v1')" ok
	check -c 3
	equal "$(outcome 'isolation cpuset_v1')" warn
	spoil sys/fs/cgroup/cpuset/cpuset.sched_load_balance
	check -c 3
	equal "$(outcome 'isolation cpuset_v1')" unknown
	check
	equal "$(outcome 'isolation policy')" ok
	check -c 99
	equal "$(outcome 'isolation policy')" fail
	matches "$output" '^fail +isolation policy: -c: CPUAffinity=99: CPU 99 does not exist \(CPUs: 0-7\)'
}

@test "interrupts: good, bad and unreadable" {
	try_items <<-'END'
		interrupts devices | later/proc/interrupts | $(interrupts 500 5 5) | | proc/interrupts
		interrupts devices | proc/irq/24/effective_affinity_list | 0,5 | | -
		interrupts managed | proc/irq/24/effective_affinity_list | 5 | | sys/kernel/debug/irq
		interrupts default_affinity | proc/irq/default_smp_affinity | ff | |
		interrupts irqbalance | proc/200/environ | IRQBALANCE_BANNED_CPULIST=2-4 | |
		interrupts irqbalance | proc/200/environ | IRQBALANCE_BANNED_CPUS=0f | | proc
		interrupts threads | proc/300/task/300/status | Name: irq/24-eth0\nCpus_allowed_list: 4 | -s Process.CPUSchedulingPriority=60 | proc
		interrupts ipi | later/proc/interrupts | $(interrupts 5 5 500) | | proc/interrupts
		interrupts softirqs | later/proc/softirqs | $(softirqs 500) | | proc/softirqs
	END
}

@test "power: good, bad and unreadable" {
	try_items <<-'END'
		power governor | sys/devices/system/cpu/cpu4/cpufreq/scaling_governor | powersave | |
		power epp | sys/devices/system/cpu/cpu7/cpufreq/energy_performance_preference | balance_power | |
		power min_frequency | sys/devices/system/cpu/cpu5/cpufreq/scaling_min_freq | 800000 | |
		power turbo | sys/devices/system/cpu/cpufreq/boost | = | |
		power throttling | later/sys/devices/system/cpu/cpu5/thermal_throttle/core_throttle_count | 8 | | sys/devices/system/cpu/cpu5/thermal_throttle/core_throttle_count
		power idle_states | sys/devices/system/cpu/cpu4/cpuidle/state1/disable | 0 | | sys/devices/system/cpu/cpu5/cpuidle/state0/latency
		power cpu_qos | sys/devices/system/cpu/cpu4/power/pm_qos_resume_latency_us | 0 | |
	END
}

@test "power: a CPULatencySec= that will be in force, a driver that chooses the clock itself, a guest" {
	local cpu=$LLRUN_SYSROOT/sys/devices/system/cpu
	put "$cpu/cpu4/cpuidle/state1/disable" 0
	put "$cpu/cpu4/power/pm_qos_resume_latency_us" 0
	check
	equal "$(outcome 'power idle_states')" fail
	matches "$output" 'power idle_states: CPU 4 may sleep in C6, which takes 200 us to leave'
	check -s Process.CPULatencySec=5us
	equal "$(outcome 'power idle_states') $(outcome 'power cpu_qos')" 'ok ok'
	check -s Process.CPULatencySec=50us
	equal "$(outcome 'power idle_states') $(outcome 'power cpu_qos')" 'fail warn'

	put "$cpu/cpu4/cpufreq/scaling_driver" intel_pstate
	put "$cpu/cpu4/cpufreq/scaling_governor" powersave
	check
	matches "$output" '^ok +power governor: does not apply: intel_pstate itself chooses'

	check
	matches "$output" '^ok +power guest_idle: does not apply: no virtual machine'
	put "$LLRUN_SYSROOT/proc/cpuinfo" 'flags : fpu hypervisor'
	check
	equal "$(outcome 'power guest_idle')" warn
	put "$cpu/cpuidle/current_governor" haltpoll
	check
	equal "$(outcome 'power guest_idle')" ok
	put "$LLRUN_SYSROOT/sys/module/haltpoll/parameters/guest_halt_poll_ns" 0
	check
	equal "$(outcome 'power guest_idle')" warn
	spoil sys/devices/system/cpu/cpuidle/current_driver
	check
	equal "$(outcome 'power guest_idle')" unknown

	# no cpufreq: of a guest the host has it, of hardware nobody knows
	rm -r "$cpu"/cpu*/cpufreq
	check
	matches "$output" '^ok +power governor: does not apply: the host clocks'
	put "$LLRUN_SYSROOT/proc/cpuinfo" 'flags : fpu'
	check
	equal "$(outcome 'power governor')" unknown
}

@test "the running kernel's own configuration goes before the one in /boot, and a damaged one is unknown" {
	need gzip
	echo CONFIG_KASAN=y | gzip >"$LLRUN_SYSROOT/proc/config.gz"
	check
	equal "$(outcome 'kernel debug_options')" fail
	echo CONFIG_HZ=250 | gzip >"$LLRUN_SYSROOT/proc/config.gz"
	check
	matches "$output" '^ok +kernel debug_options: no debugging option'
	rm "$LLRUN_SYSROOT"/boot/config-*
	head -c 12 /dev/urandom | cat <(gzip </dev/null | head -c 10) - >"$LLRUN_SYSROOT/proc/config.gz"
	check
	equal "$(outcome 'kernel debug_options')" unknown
}

@test "kernel: good, bad and unreadable" {
	try_items <<-'END'
		kernel rt_throttling | proc/sys/kernel/sched_rt_runtime_us | 950000 | |
		kernel rt_group | sys/fs/cgroup/cpu/app/cpu.rt_runtime_us | 0 | | proc/self/cgroup
		kernel preemption | sys/kernel/debug/sched/preempt | (none) voluntary full | |
		kernel preemption | sys/kernel/debug/sched/preempt | none (voluntary) full | | -
		kernel timer_migration | proc/sys/kernel/timer_migration | 1 | |
		kernel timers | proc/timer_list |   .hres_active    : 0 | |
		kernel clocksource | sys/devices/system/clocksource/clocksource0/current_clocksource | hpet | |
		kernel mitigations | sys/devices/system/cpu/vulnerabilities/spectre_v1 | = | |
		kernel tracing | sys/kernel/tracing/current_tracer | function | |
		kernel tracing | sys/kernel/tracing/events/enable | X | |
		kernel debug_options | boot/config-6.12.0 | CONFIG_HZ=250\nCONFIG_KASAN=y | |
		kernel boot_options | proc/cmdline | quiet | |
	END
}

@test "kernel: firmware's interrupts, preempt= of a boot without debugfs, PREEMPT_RT" {
	check
	equal "$(outcome 'kernel smi')" ok
	smi "$LLRUN_SYSROOT/later" 7
	check
	equal "$(outcome 'kernel smi')" fail
	matches "$output" '2 system management interrupts in this second'
	spoil dev/cpu/4/msr
	check
	equal "$(outcome 'kernel smi')" unknown

	rm "$LLRUN_SYSROOT/sys/kernel/debug/sched/preempt"
	put "$LLRUN_SYSROOT/proc/cmdline" preempt=voluntary
	check
	equal "$(outcome 'kernel preemption')" warn
	put "$LLRUN_SYSROOT/sys/kernel/realtime" 1
	check
	equal "$(outcome 'kernel preemption')" ok
}

@test "memory: good, bad and unreadable" {
	try_items <<-'END'
		memory swap | proc/swaps | Filename\n/dev/sda2 partition 1 0 -2 | |
		memory swappiness | proc/sys/vm/swappiness | 60 | |
		memory thp | sys/kernel/mm/transparent_hugepage/enabled | [always] madvise never | |
		memory thp_defrag | sys/kernel/mm/transparent_hugepage/defrag | [always] defer madvise never | |
		memory khugepaged | sys/kernel/mm/transparent_hugepage/khugepaged/defrag | 1 | |
		memory ksm | sys/kernel/mm/ksm/run | 1 | |
		memory compaction | proc/sys/vm/compaction_proactiveness | 20 | |
		memory unevictable | proc/sys/vm/compact_unevictable_allowed | 1 | |
		memory numa_balancing | proc/sys/kernel/numa_balancing | 1 | |
		memory vmstat | proc/sys/vm/stat_interval | 1 | |
		memory zone_reclaim | proc/sys/vm/zone_reclaim_mode | 1 | |
		memory pressure | proc/pressure/memory | some avg10=3.21 avg60=0 | |
		memory dirty | proc/sys/vm/dirty_ratio | 40 | |
		memory dirty | proc/sys/vm/dirty_bytes | 8589934592 | |
		memory group_limit | sys/fs/cgroup/app/memory.max | 1000000 | |
		memory group_limit | sys/fs/cgroup/app/memory.high | 1000000 | |
		memory hugepages | proc/meminfo | = | |
	END
}

@test "memory: what the policy itself cures is ok" {
	put "$LLRUN_SYSROOT/proc/swaps" Filename /dev/sda2
	put "$LLRUN_SYSROOT/proc/sys/vm/swappiness" 60
	put "$LLRUN_SYSROOT/proc/sys/kernel/numa_balancing" 1
	put "$LLRUN_SYSROOT/sys/kernel/mm/transparent_hugepage/enabled" '[always] madvise never'
	check
	equal "$(outcome 'memory swap') $(outcome 'memory numa_balancing') $(outcome 'memory thp')" 'fail warn warn'
	check -m -N 1 -s Process.TransparentHugePages=no
	equal "$(outcome 'memory swap') $(outcome 'memory swappiness') $(outcome 'memory numa_balancing') $(outcome 'memory thp')" 'ok ok ok ok'
}

@test "permission: good, bad and unreadable" {
	local none='Uid:\t1000\nCapAmb:\t0\nSeccomp:\t0'

	sed "s/NONE/${none//\\/\\\\}/" <<-'END' | try_items
		permission rtprio | proc/self/status | NONE | |
		permission memlock | proc/self/status | NONE | -m |
		permission rttime | proc/self/limits | Max realtime timeout   200000  unlimited us | |
		permission net_admin | proc/self/status | NONE | -s Socket\ tcp.BusyPollBudget=16 |
		permission seccomp | proc/self/status | Seccomp:\t2 | |
		permission inherited_mask | proc/self/status | = | |
		permission affinity_reset | proc/sys/kernel/osrelease | 6.1.0-28-amd64 | |
	END
}

@test "permission: a program that takes no shim" {
	need_program threads-static
	check
	matches "$output" '^ok +permission preload: does not apply: no program was named'
	run --separate-stderr llrun -p "$fit" --check "$TESTS/threads-static"
	matches "$output" '^ok +permission preload: .* no shim|^fail +permission preload: it is statically linked, so these would not be applied: '
	run --separate-stderr llrun -p "$fit" -m --check "$TESTS/threads-static"
	matches "$output" '^fail +permission preload: it is statically linked, so these would not be applied: MemoryLock=onfault'
	run --separate-stderr llrun -p "$fit" -m --check "$TESTS/threads"
	matches "$output" '^ok +permission preload: the shim can be loaded'
	run -125 --separate-stderr llrun -p "$fit" --check nosuchprogram
}

@test "machine: good, bad and unreadable" {
	try_items <<-'END'
		machine steal | later/proc/stat | $(for cpu in {0..7}; do echo "cpu$cpu 100 0 0 1000 0 0 0 $cpu 0 0"; done) | | proc/stat
		machine pressure | proc/pressure/cpu | some avg10=55.00 avg60=0 | |
		machine guest | proc/cpuinfo | = | |
		machine container | proc/self/uid_map | = | |
	END
}

@test "network: good, bad and unreadable" {
	try_items <<-'END'
		network busy_sysctls | proc/sys/kernel/osrelease | 6.1.0 | | proc/sys/net/core/busy_poll
		network irq_deferral | sys/class/net/eth0/napi_defer_hard_irqs | 0 | |
		network threaded_napi | sys/class/net/eth0/threaded | = | |
		network coalescing | ethtool/eth0/coalesce | 50 1 | |
		network coalescing | ethtool/eth0/coalesce | 0 1 0 0 0 0 0 0 0 1 | |
		network queues | ethtool/eth0/channels | 0 0 0 8 0 0 0 8 | |
		network queue_irqs | proc/irq/24/effective_affinity_list | 5 | | sys/kernel/irq/24/actions
		network nic_node | sys/devices/pci0000:00/0000:00:03.0/numa_node | 0 | | -
		network rps | sys/class/net/eth0/queues/rx-0/rps_cpus | ff | |
		network rfs | proc/sys/net/core/rps_sock_flow_entries | 32768 | |
		network xps | sys/class/net/eth0/queues/tx-0/xps_cpus | ff | |
		network autocorking | proc/sys/net/ipv4/tcp_autocorking | 1 | |
		network slow_start | proc/sys/net/ipv4/tcp_slow_start_after_idle | 1 | |
		network fast_open | proc/sys/net/ipv4/tcp_fastopen | = | |
		network lro | ethtool/eth0/flags | 32768 | |
		network rings | ethtool/eth0/rings | 4096 0 0 4096 4096 | |
		network pause | ethtool/eth0/pause | 1 1 1 | |
		network eee | ethtool/eth0/eee | 0 0 0 1 1 | |
		network aspm | sys/module/pcie_aspm/parameters/policy | [default] performance | |
		network qdisc | proc/sys/net/core/default_qdisc | tbf | |
		network drops | later/proc/net/softnet_stat | 000000ff 00000004 00000001 | | proc/net/softnet_stat
		network retransmits | later/proc/net/snmp | Tcp: InSegs RetransSegs\nTcp: 500 9 | | proc/net/snmp
	END
}

@test "network: a node the kernel does not know, no interface that can be polled, drivers without the setting, no sockets" {
	put "$LLRUN_SYSROOT/sys/devices/pci0000:00/0000:00:03.0/numa_node" -1
	rm -r "$LLRUN_SYSROOT/ethtool"
	check
	equal "$(outcome 'network nic_node') $(outcome 'network napi')" 'unknown ok'
	matches "$output" '^ok +network coalescing: does not apply: the driver of eth0 has no such setting'
	put "$LLRUN_SYSROOT/sys/class/net/eth0/operstate" down
	check
	equal "$(outcome 'network napi')" warn
	spoil sys/class/net
	check
	equal "$(outcome 'network napi')" warn
	rm -r "$LLRUN_SYSROOT/sys/class/net"
	check
	equal "$(outcome 'network napi')" unknown

	run llrun -p "$(policy bare <<<$'[Process]\nCPUAffinity=4-7')" --check
	matches "$output" '^ok +network rps: does not apply: the policy has no \[Socket\]'
}

@test "near: names the interface that is looked at" {
	put "$LLRUN_SYSROOT/sys/class/net/eth1/napi_defer_hard_irqs" 0
	run llrun -p "$(policy near <<<$'[Process]\nCPUAffinity=4-7 & near:eth1')" --check
	matches "$output" 'interfaces: eth1$'
}

@test "every item has a row in a table above" {
	local group name
	while IFS=', ' read -r group name _; do
		grep -qE "$group ${name}[ |':]" "$BATS_TEST_FILENAME" || { echo "$group $name is not tested" >&2; return 1; }
	done < <(sed -n 's/^ITEM(//p' "$ROOT/launcher/check/items.def")
}

@test "worst first, exit status 1 if anything fails, 0 if only warnings; each bad item has value, reason and two cures" {
	check
	equal "$status" 0
	lacks "$output" '^(fail|warn|unknown) '
	matches "$output" '^0 fail, 0 warn, 0 unknown, [0-9]+ ok$'
	matches "$output" 'judged for CPUs 4-7 \(in real time: 4-7; others: 0-3\); interfaces: eth0$'

	put "$LLRUN_SYSROOT/proc/sys/vm/stat_interval" 1
	check
	equal "$status" 0
	rm "$LLRUN_SYSROOT/proc/sys/kernel/timer_migration"
	put "$LLRUN_SYSROOT/sys/devices/system/clocksource/clocksource0/current_clocksource" hpet
	check
	equal "$status" 1
	equal "$(grep -oE '^(fail|warn|unknown|ok) ' <<<"$output" | uniq | xargs)" 'fail warn unknown ok'
	equal "$(grep -A4 '^warn' <<<"$output" | awk '{ print $1 }' | xargs)" 'warn read why now lasts'
	matches "$output" '^ +read   /proc/sys/vm/stat_interval: 1$'
	matches "$output" '^ +lasts  sysctl.d: vm.stat_interval=10$'
	matches "$output" '^1 fail, 1 warn, 1 unknown, '
}

@test "the cures name the CPUs of this policy" {
	put "$LLRUN_SYSROOT/proc/irq/default_smp_affinity" ff
	put "$LLRUN_SYSROOT/sys/devices/system/cpu/cpu7/topology/thread_siblings_list" 3,7
	check
	matches "$output" 'now +echo f >/proc/irq/default_smp_affinity$'
	matches "$output" 'lasts +kernel command line: irqaffinity=0-3$'
	matches "$output" 'now +echo 0 >/sys/devices/system/cpu/cpuN/online for N in 3,'
}

@test "what a policy without real-time threads and busy polling does not need only warns" {
	put "$LLRUN_SYSROOT/sys/devices/system/clocksource/clocksource0/current_clocksource" hpet
	run llrun --no-policy -c 4-7 --check
	equal "$(outcome 'kernel clocksource')" warn
	run llrun --no-policy -c 4-7 -f 10 --check
	equal "$(outcome 'kernel clocksource')" fail
}

# The mistake of a public guide.
@test "CPUs 4-7 chosen while their siblings 0-3 serve the system" {
	rm -rf "$LLRUN_SYSROOT"
	fake_smt_split "$LLRUN_SYSROOT"
	run -1 --separate-stderr llrun --no-policy -c 4-7 -f 80 --check
	matches "$output" '^fail +isolation smt: CPUs 0-3 are hardware threads of the same cores, and left to others$'
}

@test "no policy and no program: the isolated CPUs, or all; with options, those" {
	run llrun --check
	matches "$output" '^policy none; judged for CPUs 4-7 '
	put "$LLRUN_SYSROOT/sys/devices/system/cpu/isolated" ''
	run llrun --check
	matches "$output" '^policy none; judged for CPUs 0-7 '
	run llrun -c 2-3 --check
	matches "$output" '^policy none; judged for CPUs 2-3 '
}

@test "the policy of a program, as at start" {
	mkdir -p "$BATS_TEST_TMPDIR/policies"
	printf '[Process]\nCPUAffinity=6\n' >"$BATS_TEST_TMPDIR/policies/true.policy"
	LLRUN_POLICY_PATH=$BATS_TEST_TMPDIR/policies run llrun --check true
	matches "$output" "^policy $BATS_TEST_TMPDIR/policies/true.policy; judged for CPUs 6 "
}

@test "llrun's own errors are 125: no policy, a bad policy, a machine without CPUs" {
	run -125 --separate-stderr llrun -p nosuchpolicy --check
	run -125 --separate-stderr llrun --no-policy -n 99 --check
	rm "$LLRUN_SYSROOT/sys/devices/system/cpu/online"
	run -125 --separate-stderr llrun --check
	matches "$stderr" 'cannot read .*/sys/devices/system/cpu/online'
}

@test "--json: the same, for machines" {
	need python3
	put "$LLRUN_SYSROOT/proc/sys/vm/stat_interval" 1
	check --json
	equal "$status" 0
	run python3 -c '
import json, sys
d = json.load(sys.stdin)
one = [i for i in d["items"] if i["item"] == "vmstat"][0]
print(d["cpus"], d["fail"], d["warn"], len(d["items"]) == d["fail"] + d["warn"] + d["unknown"] + d["ok"])
print(one["group"], one["outcome"], one["severity"], one["value"], one["where"], one["lasting"], sep="|")' <<<"$output"
	equal "$output" '4-7 0 1 True
memory|warn|low|1|/proc/sys/vm/stat_interval|sysctl.d: vm.stat_interval=10'
}

@test "this machine: judged in a second or little more, as nobody too, and nothing is ok that cannot be read" {
	unset LLRUN_SYSROOT
	run --separate-stderr as_nobody llrun -c 0 --check
	((status <= 1))
	matches "$output" '^[0-9]+ fail, [0-9]+ warn, [0-9]+ unknown, [0-9]+ ok$'
	lacks "$(grep '^ok' <<<"$output")" 'cannot be|no such file|no permission'
	matches "$output" '^[a-z]+ +isolation foreign: '
}

@test "nothing is written and nobody else touched: strace" {
	need strace
	unset LLRUN_SYSROOT
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o "$BATS_TEST_TMPDIR/trace" "$LLRUN" -p "$fit" -w -q -c 0 --check >"$BATS_TEST_TMPDIR/out" || (($? == 1))
	run grep -vE 'write\([12],' "$BATS_TEST_TMPDIR/trace"
	lacks "$output" '^[0-9]+ +(write|pwrite64|writev|sendto|sendmsg|mkdir|mkdirat|unlink|unlinkat|rename|kill|tgkill|execve.*execve|fork|clone)\('
	lacks "$output" 'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC'
	# itself alone, by 0
	lacks "$(grep -E 'sched_set|setpriority|prlimit64' <<<"$output")" '\((PRIO_PROCESS, )?[1-9]'
	lacks "$(grep SIOCETHTOOL <<<"$output")" 'ETHTOOL_S[A-Z]'
}

#!/usr/bin/env bats
# What execve keeps is done by the launcher: seen in the program, static ones too.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

first_cpu() { taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/'; }

need_numa() {
	[[ -e /sys/devices/system/node/node0 ]] || skip_or_fail "this kernel has no NUMA" || return
	! command -v numactl >/dev/null || numactl --membind=0 true 2>/dev/null || skip_or_fail "set_mempolicy is not permitted here"
}

# limits SETTING...: what the limits program sees under these assignments to [Process].
limits() {
	local arguments=() setting
	for setting; do arguments+=(-s "Process.$setting"); done
	run --separate-stderr llrun --no-policy "${arguments[@]}" "$TESTS/limits"
	equal "$status" 0 || { echo "$stderr" >&2; return 1; }
}

@test "nothing asked for, nothing changed" {
	run "$TESTS/limits"
	local bare=$output
	run --separate-stderr llrun --no-policy "$TESTS/limits"
	equal "$output" "$bare"
	equal "$stderr" ""
}

@test "nice, CPUs and class: set before the program runs, and inherited by threads of a static one" {
	local cpu program
	cpu=$(first_cpu)
	for program in threads threads-static; do
		[[ -e $TESTS/$program ]] || continue
		run llrun -c "$cpu" -n 4 --batch "$TESTS/$program" -n 2
		equal "$status" 0
		equal "$(row "cpus=$cpu" nice=4 policy=batch <<<"$output" | wc -l)" 3
	done
}

@test "CPUSchedulingResetOnFork: a child starts under SCHED_OTHER" {
	need_program threads-static
	need_fifo
	# a static program, so that no shim has to do with it
	run llrun -f 5 -R "$TESTS/threads-static" -n 1
	equal "$(row who=0 <<<"$output" | field policy)" fifo
	equal "$(row who=0 <<<"$output" | field reset)" 1
	equal "$(row who=1 when=start <<<"$output" | field policy)" other
}

@test "NUMA: bind, interleave, preferred, local, default" {
	need_numa
	local mode
	for mode in bind interleave preferred; do
		limits "NUMAPolicy=$mode" NUMAMask=0
		equal "$(field NUMAPolicy <<<"$output") $(field NUMAMask <<<"$output")" "$mode 0"
	done
	limits NUMAPolicy=local
	equal "$(field NUMAPolicy <<<"$output")" local
	limits NUMAPolicy=default
	equal "$(field NUMAPolicy <<<"$output")" default
	limits NUMAPolicy=interleave NUMAMask=all
	equal "$(field NUMAPolicy <<<"$output")" interleave
	# what numactl would have set
	need numactl
	run numactl --interleave=0 "$LLRUN" --no-policy -s Process.NUMAPolicy=default "$TESTS/limits"
	equal "$(field NUMAPolicy <<<"$output")" default
	run numactl --interleave=0 "$LLRUN" --no-policy -n 5 "$TESTS/limits"
	equal "$(field NUMAPolicy <<<"$output")" interleave
}

@test "NUMA: a node that does not exist, more than one preferred" {
	run --separate-stderr llrun -N 1000 -- touch "$BATS_TEST_TMPDIR/started"
	equal "$status" 125
	matches "$stderr" '^llrun: -N: NUMAMask=1000: node 1000 does not exist \(nodes: '
	[[ ! -e $BATS_TEST_TMPDIR/started ]]
	source "$ROOT/tests/topology.bash"
	fake_smt_adjacent "$BATS_TEST_TMPDIR/root"
	LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root run --separate-stderr llrun --preferred 0-1 "$TESTS/limits"
	equal "$status" 125
	matches "$stderr" '^llrun: --preferred: NUMAMask=0-1: NUMAPolicy=preferred takes one node'
}

@test "NUMA: a node outside the cpuset is named with what it allows" {
	source "$ROOT/tests/topology.bash"
	fake_cpuset "$BATS_TEST_TMPDIR/root"
	LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root run --separate-stderr llrun -N 1 "$TESTS/limits"
	equal "$status" 125
	matches "$stderr" 'NUMAMask=1: node 1 has no memory or is outside the cpuset /t \(allowed: 0\)'
}

@test "timer slack, huge pages" {
	limits TimerSlackNSec=1
	equal "$(field TimerSlackNSec <<<"$output")" 1
	limits TransparentHugePages=no
	equal "$(field THPDisable <<<"$output")" 1
	# inherited from whoever started llrun, and taken back
	run llrun --no-policy -s Process.TransparentHugePages=no "$LLRUN" --no-policy -s Process.TransparentHugePages=yes "$TESTS/limits"
	equal "$(field THPDisable <<<"$output")" 0
}

@test "limits: soft and hard, and the others as they were" {
	local nofile
	nofile=$("$TESTS/limits" | field LimitNOFILE)
	limits LimitMEMLOCK=16K:64K LimitRTTIME=1s:2s LimitRTPRIO=0:0 LimitSTACK=1M:8M
	equal "$(field LimitMEMLOCK <<<"$output")" 16384:65536
	equal "$(field LimitRTTIME <<<"$output")" 1000000:2000000
	equal "$(field LimitRTPRIO <<<"$output")" 0:0
	equal "$(field LimitSTACK <<<"$output")" 1048576:8388608
	equal "$(field LimitNOFILE <<<"$output")" "$nofile"
}

@test "a limit that cannot be raised: its value, who may, and OnError= decides" {
	need prlimit
	run --separate-stderr prlimit --memlock=65536:65536 setpriv --bounding-set=-sys_resource --inh-caps=-all \
		"$LLRUN" -s Process.LimitMEMLOCK=1M "$TESTS/limits"
	if ((EUID != 0)); then run --separate-stderr prlimit --memlock=65536:65536 "$LLRUN" -s Process.LimitMEMLOCK=1M "$TESTS/limits"; fi
	[[ $status != 0 ]] || skip_or_fail "CAP_SYS_RESOURCE cannot be given up here"
	equal "$status" 125
	matches "$stderr" '^llrun: -s: LimitMEMLOCK=1M: '
	lacks "$output" LimitMEMLOCK
}

@test "ThreadStackSize: the soft limit alone, and the default of new threads" {
	local hard
	hard=$("$TESTS/limits" | field LimitSTACK)
	limits ThreadStackSize=256K
	equal "$(field ThreadStackSize <<<"$output")" 262144
	equal "$(field LimitSTACK <<<"$output")" "262144:${hard#*:}"
}

@test "HeapRelease=no: malloc keeps what it has and uses no mmap" {
	limits HeapRelease=no
	equal "$(field HeapMaps <<<"$output") $(field HeapKept <<<"$output")" '0 1'
}

# fuser would do; /proc tells it as well.  Its request ends with the program.
@test "CPULatencySec: the program holds /dev/cpu_dma_latency open, with the value asked for" {
	true 2>/dev/null >/dev/cpu_dma_latency || skip_or_fail "/dev/cpu_dma_latency cannot be written here"
	limits CPULatencySec=0
	equal "$(field CPULatency <<<"$output")" 1
	start llrun --no-policy -s Process.CPULatencySec=17us sleep 60
	wait_for grep -q sleep "/proc/$pid/comm"
	local fd=()
	for fd in /proc/"$pid"/fd/*; do
		[[ $(readlink "$fd") != /dev/cpu_dma_latency ]] || break
	done
	equal "$(readlink "$fd")" /dev/cpu_dma_latency
	# the smallest request of all is what a reader is told
	local value
	value=$(od -An -td4 -N4 /dev/cpu_dma_latency | tr -d ' ')
	((value <= 17))
}

@test "CPULatencySec without the device: said, with the cure" {
	((EUID != 0)) || need setpriv
	[[ -c /dev/cpu_dma_latency ]] || skip_or_fail "no /dev/cpu_dma_latency here"
	run --separate-stderr as_nobody "$LLRUN" -s Process.CPULatencySec=10us "$TESTS/limits"
	equal "$status" 125
	matches "$stderr" '^llrun: -s: CPULatencySec=10us: /dev/cpu_dma_latency may not be opened; start as root, or let the user write it'
	run --separate-stderr as_nobody "$LLRUN" -w -s Process.CPULatencySec=10us "$TESTS/limits"
	equal "$status" 0
	equal "$(field CPULatency <<<"$output")" 0
}

@test "a static program gets the whole process-wide part" {
	need_program threads-static
	local path
	path=$(policy p <<-EOT
		[Process]
		CPUAffinity=$(first_cpu)
		CPUSchedulingPolicy=batch
		Nice=3
		TimerSlackNSec=7us
		LimitRTTIME=3s
	EOT
	)
	start llrun -p "$path" "$TESTS/threads-static" -n 1 -s 60
	wait_ready
	equal "$(look threads "$pid" | row policy=batch nice=3 "cpus=$(first_cpu)" | wc -l)" 2
	matches "$(<"/proc/$pid/limits")" '^Max realtime timeout +3000000 +3000000'
	[[ ! -r /proc/$pid/timerslack_ns || $EUID != 0 ]] || equal "$(<"/proc/$pid/timerslack_ns")" 7000
	equal "$(<"$err")" ""
}

@test "Program= that does not name the program: it is said, and the class is left to what is named" {
	run --separate-stderr llrun -n 5 -s Process.Program=other "$TESTS/self"
	equal "$status" 0
	equal "$(field nice <<<"$output")" "$(nice)"
	matches "$stderr" '^llrun: warning: Program= does not name self: only what it starts can be covered'
}

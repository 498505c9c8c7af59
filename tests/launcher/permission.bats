#!/usr/bin/env bats
# The causes of a refusal told apart, each said once with its cure; and OnError= decides what follows.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

setup() {
	marker=$BATS_TEST_TMPDIR/started
	cgroup=
}

teardown() {
	stop_all
	[[ -z $cgroup ]] || wait_for rmdir "$cgroup"
}

need_nobody() {
	((EUID != 0)) || need setpriv
	[[ $(ulimit -r) == 0 || $EUID == 0 ]] || skip_or_fail "RLIMIT_RTPRIO is not 0 here"
}

# refused PATTERN COMMAND...: nothing starts, and the pattern is said once.
refused() {
	run --separate-stderr "${@:2}"
	equal "$status" 125
	equal "$output" ""
	equal "$(grep -cE "^llrun: $1" <<<"$stderr")" 1 || { echo "$stderr" >&2; return 1; }
	equal "$(grep -c 'nothing was started' <<<"$stderr")" 1
	equal "$(wc -l <<<"$stderr")" 2
}

@test "RLIMIT_RTPRIO: its value and the cure, as a user without CAP_SYS_NICE" {
	need_nobody
	need prlimit
	refused '-f: SCHED_FIFO with priority 10: RLIMIT_RTPRIO is 0 and CAP_SYS_NICE is missing; give LimitRTPRIO=10 \(systemd\)' \
		as_nobody prlimit --rtprio=0 "$LLRUN" -f 10 "$TESTS/self"
}

@test "RLIMIT_RTPRIO of 5: 10 is refused, 5 is had" {
	need_root # to raise the limit
	need setpriv prlimit
	prlimit --rtprio=5 true 2>/dev/null || skip_or_fail "RLIMIT_RTPRIO cannot be raised here (CAP_SYS_RESOURCE)"
	refused '-f: SCHED_FIFO with priority 10: RLIMIT_RTPRIO is 5' \
		prlimit --rtprio=5 setpriv --reuid=65534 --regid=65534 --clear-groups "$LLRUN" -f 10 "$TESTS/self"
	run --separate-stderr prlimit --rtprio=5 setpriv --reuid=65534 --regid=65534 --clear-groups "$LLRUN" -f 5 "$TESTS/self"
	equal "$(row policy=fifo prio=5 <<<"$output" | wc -l)" 1
}

@test "LimitRTPRIO= that cannot be raised is said, and SCHED_FIFO is measured by what there is" {
	need_nobody
	[[ $(ulimit -Hr) == 0 ]] || skip_or_fail "the hard limit of RLIMIT_RTPRIO is not 0 here"
	run --separate-stderr as_nobody "$LLRUN" -s Process.LimitRTPRIO=10 -f 10 "$TESTS/self"
	equal "$status" 125
	matches "$stderr" '^llrun: -s: LimitRTPRIO=10: '
	matches "$stderr" 'SCHED_FIFO with priority 10: RLIMIT_RTPRIO is 0'
}

@test "OnError=warn: the rest is done, one message; ignore: none; fail: nothing starts" {
	local p cpu
	need_nobody
	cpu=$(taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/')
	p=$(policy p <<-EOT
		[Process]
		OnError=warn
		CPUAffinity=$cpu
		CPUSchedulingPolicy=fifo
		CPUSchedulingPriority=10
	EOT
	)
	chmod 755 "$BATS_TEST_TMPDIR"
	run --separate-stderr as_nobody "$LLRUN" -p "$p" "$TESTS/threads" -n 4
	equal "$status" 0
	equal "$(row policy=other "cpus=$cpu" <<<"$output" | wc -l)" 5
	equal "$(wc -l <<<"$stderr")" 1
	matches "$stderr" "$p:4: SCHED_FIFO with priority 10: RLIMIT_RTPRIO is 0 .*: left out \(OnError=warn\)"
	run --separate-stderr as_nobody "$LLRUN" -p "$p" -s Process.OnError=ignore "$TESTS/threads" -n 4
	equal "$status $stderr" '0 '
	equal "$(row policy=other "cpus=$cpu" <<<"$output" | wc -l)" 5
	run --separate-stderr as_nobody "$LLRUN" -p "$p" -s Process.OnError=fail touch "$marker"
	equal "$status" 125
	[[ ! -e $marker ]]
}

@test "OnError= of a [Thread] section holds for that section" {
	local p
	need_nobody
	p=$(policy p <<<$'[Thread main]\nOnError=warn\nCPUSchedulingPolicy=fifo\nCPUSchedulingPriority=5\n[Thread *]\nNice=5')
	run --separate-stderr as_nobody "$LLRUN" -p "$p" "$TESTS/threads" -n 1
	equal "$status" 0
	matches "$stderr" ': left out \(OnError=warn\)'
	equal "$(row who=1 nice=5 <<<"$output" | wc -l)" 1
	p=$(policy p <<<$'[Process]\nOnError=warn\n[Thread main]\nOnError=fail\nCPUSchedulingPolicy=fifo\nCPUSchedulingPriority=5')
	run --separate-stderr as_nobody "$LLRUN" -p "$p" touch "$marker"
	equal "$status" 125
	[[ ! -e $marker ]]
}

# New groups have no real-time budget under RT_GROUP_SCHED, and that holds for root.
@test "a cgroup v1 cpu group without a real-time budget: its file is named" {
	need_root
	need_fifo
	[[ -e /sys/fs/cgroup/cpu/cpu.rt_runtime_us ]] || skip_or_fail "no cgroup v1 cpu controller with RT_GROUP_SCHED"
	mkdir "/sys/fs/cgroup/cpu/llrun-test.$$" 2>/dev/null || skip_or_fail "no cgroup can be made here"
	cgroup=/sys/fs/cgroup/cpu/llrun-test.$$
	[[ $(<"$cgroup/cpu.rt_runtime_us") == 0 ]] || skip_or_fail "a new group has a budget here"
	refused "-f: SCHED_FIFO with priority 10: the control group has no real-time budget: $cgroup/cpu.rt_runtime_us is 0, which holds for root too" \
		bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$cgroup" "$LLRUN" -f 10 "$TESTS/self"
	# with a budget it works
	echo 10000 >"$cgroup/cpu.rt_runtime_us" 2>/dev/null || return 0
	run bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$cgroup" "$LLRUN" -f 10 "$TESTS/self"
	matches "$output" 'policy=fifo	prio=10'
}

@test "a seccomp filter on scheduling calls: said as such" {
	need_fifo
	refused '-f: SCHED_FIFO with priority 10: a seccomp filter forbids it; in a unit: RestrictRealtime=no' \
		"$TESTS/seccomp" -c sched_setscheduler "$LLRUN" -f 10 "$TESTS/self"
}

@test "a seccomp filter on all of them: the program runs under -w, one message for each setting" {
	local cpu
	need_fifo
	cpu=$(taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/')
	run --separate-stderr "$TESTS/seccomp" "$LLRUN" -w -c "$cpu" -f 10 "$TESTS/threads" -n 4
	equal "$status" 0
	equal "$(row policy=other <<<"$output" | wc -l)" 5
	equal "$(grep -c 'SCHED_FIFO with priority' <<<"$stderr")" 1
	equal "$(grep -c 'sched_setaffinity' <<<"$stderr")" 1
	# nothing else is left out
	equal "$(grep -vc 'warning: ' <<<"$stderr")" 2
}

@test "memory-deny-write-execute is no obstacle" {
	"$TESTS/seccomp" -m true 2>/dev/null || skip_or_fail "PR_SET_MDWE is not known here"
	run --separate-stderr "$TESTS/seccomp" -m "$LLRUN" -n 5 -d "$TESTS/threads" -n 1
	equal "$status" 0
	equal "$(row nice=5 <<<"$output" | wc -l)" 2
}

@test "MemoryLock under a finite RLIMIT_MEMLOCK: refused at start, with the value and the cure" {
	need_nobody
	need prlimit
	local mode
	for mode in all onfault; do
		refused "-s: MemoryLock=$mode: RLIMIT_MEMLOCK is 65536 bytes and CAP_IPC_LOCK is missing.*LimitMEMLOCK=infinity" \
			as_nobody prlimit --memlock=65536:65536 "$LLRUN" -s "Process.MemoryLock=$mode" "$TESTS/self"
	done
	# under -w the program runs unlocked
	run --separate-stderr as_nobody prlimit --memlock=65536:65536 "$LLRUN" -w -m "$TESTS/self"
	equal "$status" 0
	equal "$(field locked <<<"$output")" 0
	equal "$(wc -l <<<"$stderr")" 1
}

@test "LimitMEMLOCK= is the measure of MemoryLock=" {
	need_nobody
	need prlimit
	refused '-s: MemoryLock=all: RLIMIT_MEMLOCK is 32768 bytes' \
		as_nobody "$LLRUN" -s Process.LimitMEMLOCK=32K -s Process.MemoryLock=all "$TESTS/self"
}

@test "nice below the launch-time one needs RLIMIT_NICE or CAP_SYS_NICE" {
	need_nobody
	need prlimit
	refused '-n: Nice=-5: RLIMIT_NICE is 0 and CAP_SYS_NICE is missing; give LimitNICE=-5' \
		as_nobody prlimit --nice=0:0 "$LLRUN" -n -5 "$TESTS/self"
	run --separate-stderr as_nobody "$LLRUN" -n 5 "$TESTS/self"
	equal "$status $stderr" '0 '
}

@test "PreferBusyPoll, BusyPollBudget and a high Priority need CAP_NET_ADMIN" {
	need_nobody
	need_kernel 5.11
	refused "-s: PreferBusyPoll=yes: CAP_NET_ADMIN is missing; give AmbientCapabilities=CAP_NET_ADMIN" \
		as_nobody "$LLRUN" -s 'Socket *.PreferBusyPoll=yes' "$TESTS/self"
	refused '-s: BusyPollBudget=64: CAP_NET_ADMIN is missing' as_nobody "$LLRUN" -s 'Socket tcp.BusyPollBudget=64' "$TESTS/self"
	refused '-s: Priority=7: CAP_NET_ADMIN or CAP_NET_RAW is missing' as_nobody "$LLRUN" -s 'Socket tcp.Priority=7' "$TESTS/self"
	# what needs no right is done all the same, and the refusal is said once for TCP and UDP together
	run --separate-stderr as_nobody "$LLRUN" -w -s 'Socket *.PreferBusyPoll=yes' -s 'Socket *.NoDelay=yes' -s 'Socket *.Priority=6' "$TESTS/sockets"
	equal "$status" 0
	equal "$(wc -l <<<"$stderr")" 1
	equal "$(row who=inet-0 <<<"$output" | field nodelay)" 1
	equal "$(row who=udp <<<"$output" | field priority)" 6
}

@test "an ambient capability reaches the program, a file capability of llrun's own does not" {
	need_root
	need_fifo
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=+sys_nice --ambient-caps=+sys_nice \
		"$LLRUN" -f 10 "$TESTS/threads" -n 1
	equal "$status" 0
	equal "$(row policy=fifo prio=10 <<<"$output" | wc -l)" 2
	need setcap
	local place
	place=$(mktemp -d "${TMPDIR:-/tmp}/llrun-permission.XXXXXX")
	chmod 755 "$place"
	cp "$LLRUN" "$BUILD/libllrun.so" "$place/"
	setcap cap_sys_nice+ep "$place/llrun" 2>/dev/null || { rm -r "$place"; skip_or_fail "no file capabilities here"; }
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups "$place/llrun" -f 10 "$TESTS/threads" -n 1
	rm -r "$place"
	# The launcher's own right is gone after exec: main would be FIFO, and no thread of its could be.
	equal "$status" 125
	matches "$stderr" 'RLIMIT_RTPRIO is 0 and CAP_SYS_NICE is missing'
}

@test "a user namespace: root there is not root here" {
	need unshare
	unshare -r true 2>/dev/null || skip_or_fail "no user namespace can be made here"
	((EUID != 0)) || need setpriv
	run --separate-stderr as_nobody unshare -r "$LLRUN" -f 10 "$TESTS/self"
	equal "$status" 125
	matches "$stderr" 'SCHED_FIFO with priority 10: (RLIMIT_RTPRIO is 0|this user namespace)'
}

@test "a finite RLIMIT_RTTIME under FIFO is warned of, an infinite one is not" {
	need_fifo
	run --separate-stderr llrun -f 5 -s Process.LimitRTTIME=200ms "$TESTS/self"
	equal "$status" 0
	matches "$stderr" 'warning: RLIMIT_RTTIME is 200000 us: a real-time thread that runs so long without sleeping gets SIGXCPU'
	run --separate-stderr llrun -n 5 -s Process.LimitRTTIME=200ms "$TESTS/self"
	equal "$stderr" ""
}

@test "threads of different priorities on one CPU are warned of" {
	need_fifo
	need_cpus 2
	run --separate-stderr llrun -c 1 -f 10 -s 'Thread main.CPUSchedulingPriority=20' --explain true
	matches "$stderr" 'warning: CPU 1 is given to real-time threads of priority (20 and 10|10 and 20)'
}

#!/usr/bin/env bats
# Every key of keys.def is accepted, stands in --explain with its source, and does what its row says, as far as one
# program can show; the files of launcher/ and shim/ look closer.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

# given SECTION KEY=VALUE [LINE]...: a policy of this section; --explain shows the key with its source.  Sets path.
given() {
	path=$(printf '%s\n' "[$1]" "${@:2}" | policy p)
	run --separate-stderr llrun -p "$path" --explain -- "$TESTS/limits"
	equal "$status" 0 || { echo "$stderr" >&2; return 1; }
	grep -qxF "$(printf '  %-42s %s' "$2" "$path:2")" <<<"$output" || { echo "$2 is not in: $output" >&2; return 1; }
}
path=''

# gets FIELD VALUE: the limits program sees it so, under the policy last given.
gets() {
	run --separate-stderr llrun -q -p "$path" -- "$TESTS/limits"
	equal "$(field "$1" <<<"$output")" "$2"
}

# socket WHO FIELD VALUE: so does a socket.
socket() {
	run --separate-stderr llrun -q -p "$path" -- "$TESTS/sockets"
	equal "$(row "who=$1" <<<"$output" | field "$2")" "$3"
}

# thread WHO FIELD VALUE [ARGUMENT]...: so does a thread; 0 is main.
thread() {
	run --separate-stderr llrun -q -p "$path" -- "$TESTS/threads" "${@:4}"
	equal "$(row "who=$1" when=start <<<"$output" | field "$2")" "$3"
}

first_cpu() { taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/'; }

# By its number in capability.h: 12 is CAP_NET_ADMIN.
need_capability() {
	local effective
	effective=$(sed -n 's/^CapEff:\t//p' /proc/self/status)
	((0x$effective >> $1 & 1)) || skip_or_fail "needs capability $1"
}

@test "--keys lists exactly the rows of keys.def, each in its sections, with its default" {
	run --separate-stderr llrun --keys
	equal "$status" 0
	equal "$stderr" ""
	local letter title in_sections
	for letter in P T S; do
		case $letter in
		P) title=Process ;;
		T) title=Thread ;;
		S) title=Socket ;;
		esac
		in_sections=$(awk -v letter="$letter" '
			/^KEY\(/ { sub(/^KEY\(/, ""); split($0, part, ", "); if (index(part[1], letter)) print part[2] }
			/^SOCKET_KEY\(/ && letter == "S" { sub(/^SOCKET_KEY\(/, ""); split($0, part, ", "); print part[1] }' \
			"$ROOT/policy/keys.def" | sort)
		[[ -n $in_sections ]]
		equal "$(awk -v title="[$title" '/^\[/ { on = index($0, title) == 1 } on && /^  [A-Z]/ { sub(/=.*/, ""); print $1 }' \
			<<<"$output" | sort)" "$in_sections"
	done
	matches "$output" '^  Children= +same all none +default same$'
}

@test "every key has a test here" {
	local key
	for key in $(llrun --keys | sed -nE 's/^  ([A-Za-z]+)=.*/\1/p' | sort -u); do
		grep -qE "^@test \"$key=" "$BATS_TEST_FILENAME" || { echo "no test of $key=" >&2; return 1; }
	done
}

@test "Program= names the programs that are covered" {
	given Process 'Program=threads other*' Nice=5
	thread 0 nice 5
	given Process Program=other Nice=5
	thread 0 nice "$(nice)"
}

@test "Children= says which children keep the policy" {
	given Process Children=all Nice=5
	cp "$TESTS/self" "$BATS_TEST_TMPDIR/child"
	run llrun -q -p "$path" -- sh -c "$BATS_TEST_TMPDIR/child; exit 0"
	equal "$(field nice <<<"$output")" 5
	need_root # only root may lower the nice value again
	given Process Children=same Nice=5
	run llrun -q -p "$path" -- sh -c "$BATS_TEST_TMPDIR/child; exit 0"
	equal "$(field nice <<<"$output")" "$(nice)"
}

@test "OnError= decides whether what cannot be had stops the start" {
	path=$(policy p <<<$'[Process]\nOnError=fail\nCPUAffinity=8191')
	run llrun -p "$path" -- echo started
	equal "$status" 125
	path=$(policy p <<<$'[Process]\nOnError=warn\nCPUAffinity=8191')
	run --separate-stderr llrun -p "$path" -- echo started
	equal "$status $output" '0 started'
	matches "$stderr" 'CPU 8191 does not exist .*: left out \(OnError=warn\)'
	path=$(policy p <<<$'[Process]\nOnError=ignore\nCPUAffinity=8191')
	run --separate-stderr llrun -p "$path" -- echo started
	equal "$status $output $stderr" '0 started '
}

@test "CPUAffinity= is where the threads run" {
	given Process "CPUAffinity=$(first_cpu)"
	thread 0 cpus "$(first_cpu)"
	thread 1 cpus "$(first_cpu)"
}

@test "CPUPlacement= gives each thread one CPU, or all of them the whole set" {
	need_cpus 2
	given Process CPUPlacement=spread CPUAffinity=0-1
	thread 1 cpus 1 -n 1
	given Process CPUPlacement=share CPUAffinity=0-1
	thread 1 cpus 0-1 -n 1
}

@test "CPUOverflow= sends what is too many to housekeeping CPUs" {
	need_cpus 2
	given Process CPUOverflow=wrap CPUAffinity=1
	thread 1 cpus 1 -n 1
	given Process CPUOverflow=spill CPUAffinity=1
	matches "$output" '^  all threads +CPUs 1'
}

@test "CPUSchedulingPolicy= is the class of the threads" {
	given Process CPUSchedulingPolicy=batch
	thread 0 policy batch
	thread 1 policy batch
}

@test "CPUSchedulingPriority= is the priority under fifo and rr" {
	need_fifo
	given Process CPUSchedulingPriority=7 CPUSchedulingPolicy=rr
	thread 0 prio 7
	thread 1 prio 7
}

@test "CPUSchedulingResetOnFork= gives children SCHED_OTHER" {
	given Process CPUSchedulingResetOnFork=yes CPUSchedulingPolicy=batch
	thread 0 reset 1
}

@test "Nice= is the nice value of the threads" {
	given Process Nice=6
	thread 0 nice 6
	thread 1 nice 6
}

@test "NUMAPolicy= is the memory policy" {
	[[ -e /sys/devices/system/node/node0 ]] || skip_or_fail "this kernel has no NUMA"
	given Process NUMAPolicy=interleave NUMAMask=0
	gets NUMAPolicy interleave
}

@test "NUMAMask= is its nodes" {
	[[ -e /sys/devices/system/node/node0 ]] || skip_or_fail "this kernel has no NUMA"
	given Process NUMAMask=all NUMAPolicy=bind
	gets NUMAPolicy bind
	matches "$output" '^NUMAMask=0'
}

@test "MemoryLock= locks memory" {
	given Process MemoryLock=current
	run --separate-stderr llrun -p "$path" -- "$TESTS/self"
	(($(field locked <<<"$output") > 0))
	given Process MemoryLock=no
	run --separate-stderr llrun -p "$path" -- "$TESTS/self"
	equal "$(field locked <<<"$output")" 0
}

@test "ThreadStackSize= is the default stack of new threads" {
	given Process ThreadStackSize=1M
	gets ThreadStackSize 1048576
}

@test "HeapRelease=no keeps what malloc has" {
	given Process HeapRelease=no
	gets HeapMaps 0
	gets HeapKept 1
	given Process HeapRelease=yes
	gets HeapKept 0
}

@test "TimerSlackNSec= is the timer slack" {
	given Process TimerSlackNSec=3us
	gets TimerSlackNSec 3000
}

@test "TransparentHugePages=no disables them for the program" {
	given Process TransparentHugePages=no
	gets THPDisable 1
	given Process TransparentHugePages=yes
	gets THPDisable 0
}

@test "LimitRTPRIO= is RLIMIT_RTPRIO" {
	given Process LimitRTPRIO=0
	gets LimitRTPRIO 0:0
}

@test "LimitMEMLOCK= is RLIMIT_MEMLOCK" {
	given Process LimitMEMLOCK=16K:32K
	gets LimitMEMLOCK 16384:32768
}

@test "LimitRTTIME= is RLIMIT_RTTIME" {
	given Process LimitRTTIME=100ms:200ms
	gets LimitRTTIME 100000:200000
}

@test "LimitSTACK= is RLIMIT_STACK" {
	given Process LimitSTACK=2M:4M
	gets LimitSTACK 2097152:4194304
}

@test "CPULatencySec= is a request that the program holds" {
	true 2>/dev/null >/dev/cpu_dma_latency || skip_or_fail "/dev/cpu_dma_latency cannot be written here"
	given Process CPULatencySec=10us
	gets CPULatency 1
}

@test "OwnAffinity= decides who wins when the program places itself" {
	need_cpus 2
	local overridden
	given Process OwnAffinity=override CPUAffinity=0
	cp "$path" "$BATS_TEST_TMPDIR/override.policy" # the other is written while this one is being read
	start llrun -q -p "$BATS_TEST_TMPDIR/override.policy" -- "$TESTS/ownaffinity" 1
	overridden=$out
	given Process OwnAffinity=respect CPUAffinity=0
	start llrun -q -p "$path" -- "$TESTS/ownaffinity" 1
	wait "${started[@]}"
	equal "$(row who=sched_setaffinity <"$overridden" | field cpus)" 0
	equal "$(row who=sched_setaffinity <"$out" | field cpus)" 1
}

@test "VisibleCPUs= is what a placed thread is told of its CPUs" {
	need_cpus 2
	given Process VisibleCPUs=own CPUAffinity=0-1
	run --separate-stderr llrun -q -p "$path" -- "$TESTS/visible"
	equal "$(row who=thread <<<"$output" | field told)" 1
	given Process VisibleCPUs=set CPUAffinity=0-1
	run --separate-stderr llrun -q -p "$path" -- "$TESTS/visible"
	equal "$(row who=thread <<<"$output" | field told)" 2
}

@test "IPTOS= is IP_TOS" {
	given 'Socket *' IPTOS=16
	socket inet-0 tos 16
	socket udp tos 16
}

@test "NoDelay= is TCP_NODELAY" {
	given 'Socket *' NoDelay=yes
	socket inet-0 nodelay 1
}

@test "QuickAck= is TCP_QUICKACK" {
	given 'Socket tcp' QuickAck=no
	socket inet-0 quickack 0
}

@test "UserTimeoutSec= is TCP_USER_TIMEOUT, in milliseconds" {
	given 'Socket tcp' UserTimeoutSec=3
	socket inet-0 usertimeout 3000
}

@test "NotSentLowat= is TCP_NOTSENT_LOWAT" {
	given 'Socket tcp' NotSentLowat=16K
	socket inet-0 lowat 16384
}

# The kernel doubles both, for its own bookkeeping (socket(7)).
@test "ReceiveBuffer= is SO_RCVBUF" {
	given 'Socket *' ReceiveBuffer=32K
	socket inet-0 rcvbuf 65536
	socket udp rcvbuf 65536
}

@test "SendBuffer= is SO_SNDBUF" {
	given 'Socket *' SendBuffer=32K
	socket inet-0 sndbuf 65536
	socket udp sndbuf 65536
}

@test "BusyPollSec= is SO_BUSY_POLL, in microseconds" {
	[[ -e /proc/sys/net/core/busy_read ]] || skip_or_fail "this kernel does not busy-poll"
	given 'Socket *' BusyPollSec=0
	socket inet-0 busypoll 0
	need_capability 12
	given 'Socket *' BusyPollSec=50us
	socket inet-0 busypoll 50
	socket udp busypoll 50
}

@test "PreferBusyPoll= is SO_PREFER_BUSY_POLL" {
	need_capability 12
	need_kernel 5.11
	given 'Socket *' PreferBusyPoll=yes
	socket inet-0 prefer 1
}

# No getsockopt for it: the call is seen.
@test "BusyPollBudget= is SO_BUSY_POLL_BUDGET" {
	need_capability 12
	need_kernel 5.11
	need strace
	given 'Socket tcp' BusyPollBudget=16
	run strace -f -e trace=setsockopt "$LLRUN" -q -p "$path" -- "$TESTS/sockets"
	matches "$output" 'setsockopt\([0-9]+, SOL_SOCKET, (SO_BUSY_POLL_BUDGET|70|0x46[^,]*), \[16\], 4\) = 0'
}

@test "Priority= is SO_PRIORITY, also with IPTOS=, which rewrites it" {
	given 'Socket *' Priority=5 IPTOS=16
	socket inet-0 priority 5
	socket udp priority 5
}

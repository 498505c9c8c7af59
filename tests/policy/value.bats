#!/usr/bin/env bats
# One value by the type of its key: strict, and what the kernel gets is what was meant.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

# accepted KEY VALUE...: each is one; and what the limits program then shows, if it is given as VALUE->SHOWN.
accepted() {
	local key=$1 value shown
	for value in "${@:2}"; do
		shown=${value#*->}
		[[ $value == *'->'* ]] || shown=
		value=${value%->*}
		run --separate-stderr llrun --no-policy -q -s "Process.$key=$value" -- "$TESTS/limits"
		equal "$status" 0 || { echo "$key=$value: $stderr" >&2; return 1; }
		[[ -z $shown ]] || equal "$key=$value: $(field "$key" <<<"$output")" "$key=$value: $shown"
	done
}

# refused SECTION KEY PATTERN VALUE...: each is an error that says so, in these words.
refused() {
	local section=$1 key=$2 pattern=$3 value path=$BATS_TEST_TMPDIR/p.policy
	for value in "${@:4}"; do
		printf '[%s]\n%s=%s\n' "$section" "$key" "$value" >"$path"
		run --separate-stderr llrun -p "$path" -- true
		equal "$key=$value: $status" "$key=$value: 125"
		# A CPU expression or a list may be refused for itself; what stands before the colon is as written.
		grep -qF -- "llrun: $path:2: $key=$value: " <<<"$stderr" || { echo "$key=$value: $stderr" >&2; return 1; }
		matches "$stderr" ": $pattern"
	done
}

# A hard limit can only be lowered without CAP_SYS_RESOURCE.
need_no_hard_limit() {
	[[ $(ulimit "-H$1") == unlimited ]] || skip_or_fail "the hard limit (ulimit -H$1) is finite here"
}

@test "numbers: no sign, no wrap-around, nothing behind them, no other base" {
	refused 'Socket tcp' Priority 'expected a whole number from 0 to 2147483647' \
		-1 +1 1x '1 2' 0x10 1.0 1e3 2147483648 4294967296 18446744073709551617 99999999999999999999999 '"1"' one
	refused Process Nice 'expected a whole number from -20 to 19' -21 20 +5 -- --5 '- 5' 5. -4294967295
	refused Process CPUSchedulingPriority 'expected a whole number from 1 to 99' 0 100 -1 4294967297 01x
}

@test "numbers: the ends of their range" {
	run llrun --no-policy -s 'Socket tcp.Priority=0' -s 'Socket udp.Priority=6' -s 'Socket tcp.IPTOS=255' -s Process.Nice=19 --explain true
	equal "$status" 0
	run llrun --no-policy -w -q -s Process.Nice=-20 --explain true
	equal "$status" 0
}

@test "booleans: eight words in any case, nothing else" {
	local word
	for word in yes true on 1 Yes TRUE; do
		accepted TransparentHugePages "$word"
		equal "$(field THPDisable <<<"$output")" 0
	done
	for word in no false off 0 No; do
		accepted TransparentHugePages "$word"
		equal "$(field THPDisable <<<"$output")" 1
	done
	refused Process TransparentHugePages 'expected yes or no' 2 -1 yess y 'yes no' enable
}

@test "words: one of them, with the one that was meant" {
	refused Process MemoryLock "expected one of: no current all onfault; did you mean 'onfault'\?" onfalt
	refused Process Children 'expected one of: same all none$' everything 'same all' 0
	refused Process CPUSchedulingPolicy "expected one of: other batch idle fifo rr; did you mean 'fifo'" fif0 FIFO
}

@test "SCHED_DEADLINE is refused with the reason" {
	refused Process CPUSchedulingPolicy 'SCHED_DEADLINE cannot be combined with CPU affinity and forbids new threads' deadline
}

@test "times: units, fractions and sums as in systemd.time(7)" {
	accepted TimerSlackNSec '50us->50000' '2ms->2000000' '1s->1000000000' '1->1' '100ns->100' '1us 500ns->1500' '1us500ns->1500' \
		'0.5us->500' '1.000000001s->1000000001' '1 us->1000' '1usec->1000' '1msec->1000000' '2 seconds->2000000000' '3nsec->3'
}

@test "times: a bare number counts seconds for *Sec=, and its own unit for *NSec= and limits" {
	accepted LimitRTTIME '1min 30s->90000000:90000000' '200000->200000:200000' '1h->3600000000:3600000000' '1d->86400000000:86400000000'
	run llrun --no-policy -s 'Socket tcp.UserTimeoutSec=2' -- "$TESTS/sockets"
	equal "$(row who=inet-0 <<<"$output" | field usertimeout)" 2000
	run llrun --no-policy -s 'Socket tcp.UserTimeoutSec=1500ms' -- "$TESTS/sockets"
	equal "$(row who=inet-0 <<<"$output" | field usertimeout)" 1500
}

@test "times: strict" {
	refused Process TimerSlackNSec 'expected a time such as 50us, 2ms or 1s \(a bare number counts ns\), from 1 to 4294967295 ns' \
		-1us 0 5parsec 50us3 '1 2' '1us 2' us 5s 0.1ns 1..5us .5us 4294967296 5us. 99999999999999999999s
	refused 'Socket tcp' BusyPollSec 'expected a time such as .* \(a bare number counts seconds\), from 0 to 2147483647 us' 2148s 1ns 1.5us
}

@test "times: digits beyond the ninth after the point do not wrap around" {
	local zeros
	printf -v zeros '0%.0s' {1..70}
	refused Process TimerSlackNSec 'expected a time' "1.${zeros}us" "1.${zeros}1s" 1.0000000001s
}

@test "sizes: units of 1024, fractions, sums" {
	need_no_hard_limit s
	accepted LimitSTACK '1M->1048576:1048576' '64K->65536:65536' '1048576->1048576:1048576' '1048576B->1048576:1048576' \
		'1.5M->1572864:1572864' '1M 512K->1572864:1572864' '1G->1073741824:1073741824' '1T->1099511627776:1099511627776' \
		'1P->1125899906842624:1125899906842624'
}

@test "sizes: strict" {
	refused Process ThreadStackSize 'expected a size such as 512K, 1M or a number of bytes, from 16384 to 1073741824' \
		-1M 16383 2G 1MB 1m 1k 1M3 8388608T 99999999999999999999 infinity
	refused Process LimitSTACK 'expected a size' 9223372036854775808 16E
}

@test "limits: soft:hard, infinity, one for both" {
	need_no_hard_limit s
	accepted LimitSTACK '1M:2M->1048576:2097152' '1M:infinity->1048576:infinity' 'infinity->infinity:infinity' \
		'infinity:infinity->infinity:infinity'
	accepted LimitRTPRIO '0->0:0'
}

@test "limits: strict, and the soft one not above the hard one" {
	refused Process LimitSTACK 'expected a soft limit that is not above the hard one' 2M:1M infinity:1M
	refused Process LimitSTACK 'expected a size .*, or infinity; two of them as soft:hard' 1M: :1M 1M:2M:3M : unlimited -1 INFINITY
	refused Process LimitRTPRIO 'expected a whole number from 0 to 99, or infinity; two of them as soft:hard' 100 -1 1:100 5ms
}

@test "lists of nodes" {
	refused Process NUMAMask 'expected a list of nodes such as 0-1,3, or all' -1 1-0 0, x 0-99999 ALL 0:1
	run llrun --no-policy --explain -N 0-1 true
	matches "$output" '^  NUMAMask=0-1 +-N$'
}

@test "CPU expressions are looked at when the policy is read" {
	refused Process CPUAffinity "'3-1' runs backwards" 3-1
	refused 'Thread main' CPUAffinity "'isolatd' is no CPU word, did you mean 'isolated'\?" isolatd
}

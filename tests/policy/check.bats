#!/usr/bin/env bats
# What only the whole policy can tell: combinations, and rules that can never be reached.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

explain() { llrun -p "$(policy p)" --explain -- true; }

# The policy of these lines is refused: refused PATTERN LINE...
refused() {
	run --separate-stderr explain < <(printf '%s\n' "${@:2}")
	equal "$status" 125
	matches "$stderr" "^llrun: $BATS_TEST_TMPDIR/p\.policy:[0-9]+: $1"
}

accepted() {
	run --separate-stderr explain < <(printf '%s\n' "$@")
	equal "$status" 0 || { echo "$stderr" >&2; return 1; }
}

# As accepted, by whoever may not use SCHED_FIFO too: -w leaves that out, and the policy stands.
accepted_real_time() {
	run --separate-stderr llrun -w -p "$(printf '%s\n' "$@" | policy p)" --explain -- true
	equal "$status" 0 || { echo "$stderr" >&2; return 1; }
}

# Both orders of two lines give the same error, but for the line number.
refused_in_both_orders() {
	local pattern=$1 one=$2 two=$3 first
	refused "$pattern" '[Process]' "$one" "$two"
	first=${stderr/p.policy:?/}
	refused "$pattern" '[Process]' "$two" "$one"
	equal "${stderr/p.policy:?/}" "$first"
}

@test "fifo and rr need a priority from 1 to 99, in whatever order the lines stand" {
	local class
	for class in fifo rr; do
		refused "CPUSchedulingPolicy=$class needs a priority, expected CPUSchedulingPriority= from 1 to 99" \
			'[Process]' "CPUSchedulingPolicy=$class"
		refused_in_both_orders 'CPUSchedulingPriority=0: expected a whole number from 1 to 99' \
			"CPUSchedulingPolicy=$class" CPUSchedulingPriority=0
		refused_in_both_orders 'CPUSchedulingPriority=100: expected a whole number from 1 to 99' \
			"CPUSchedulingPolicy=$class" CPUSchedulingPriority=100
	done
}

@test "other, batch, idle and no class at all refuse a priority, in whatever order the lines stand" {
	local class
	for class in other batch idle; do
		refused_in_both_orders "CPUSchedulingPriority=5: $class has no priority, expected CPUSchedulingPolicy=fifo or rr" \
			"CPUSchedulingPolicy=$class" CPUSchedulingPriority=5
	done
	refused 'CPUSchedulingPriority=5: the launch-time policy has no priority' '[Process]' CPUSchedulingPriority=5
}

# One mistake is one line: what depends on a value that could not be read is not judged.
@test "no second error follows from a value that is one" {
	refused 'CPUSchedulingPriority=0: expected' '[Process]' CPUSchedulingPolicy=fifo CPUSchedulingPriority=0
	equal "$(wc -l <<<"$stderr")" 1
	refused 'CPUSchedulingPolicy=fif0: expected' '[Process]' CPUSchedulingPolicy=fif0 CPUSchedulingPriority=5
	equal "$(wc -l <<<"$stderr")" 1
	refused 'NUMAMask=x: expected' '[Process]' NUMAPolicy=bind NUMAMask=x
	equal "$(wc -l <<<"$stderr")" 1
	refused 'NUMAPolicy=x: expected' '[Process]' NUMAPolicy=x NUMAMask=0
	equal "$(wc -l <<<"$stderr")" 1
}

@test "nice below -20 and above 19 is refused, the ends are not" {
	refused 'Nice=-21: expected a whole number from -20 to 19' '[Process]' Nice=-21
	refused 'Nice=20: expected' '[Process]' Nice=20
	accepted '[Process]' Nice=19
	accepted_real_time '[Process]' Nice=-20
}

@test "each valid class with its lines swapped: what the program has is what the policy says" {
	need_fifo
	local want pair one two
	for want in 'fifo 1' 'fifo 99' 'rr 50'; do
		one=CPUSchedulingPolicy=${want% *}
		two=CPUSchedulingPriority=${want#* }
		for pair in "$one $two" "$two $one"; do
			run --separate-stderr llrun -q -p "$(printf '%s\n' '[Process]' "${pair% *}" "${pair#* }" | policy p)" -- "$TESTS/self"
			equal "$(field policy <<<"$output") $(field prio <<<"$output")" "$want"
		done
	done
}

@test "batch and idle with a nice value, lines swapped: the program has both" {
	local class pair
	for class in batch idle; do
		for pair in "CPUSchedulingPolicy=$class Nice=7" "Nice=7 CPUSchedulingPolicy=$class"; do
			run llrun -p "$(printf '%s\n' '[Process]' "${pair% *}" "${pair#* }" | policy p)" -- "$TESTS/self"
			equal "$(field policy <<<"$output") $(field nice <<<"$output")" "$class 7"
		done
	done
}

@test "priority 99 is warned of, 98 is not" {
	accepted_real_time '[Process]' CPUSchedulingPolicy=fifo CPUSchedulingPriority=99
	matches "$stderr" "^llrun: warning: .*p\.policy:3: priority 99 is that of the kernel's own"
	accepted_real_time '[Process]' CPUSchedulingPolicy=fifo CPUSchedulingPriority=98
	lacks "$stderr" 'priority 99'
}

@test "nice under fifo is warned of" {
	accepted_real_time '[Process]' CPUSchedulingPolicy=fifo CPUSchedulingPriority=5 Nice=5
	matches "$stderr" 'warning: .*p\.policy:4: Nice= has no effect under fifo'
}

# What [Thread] does not say comes from [Process], and is judged with it.
@test "[Thread] and [Process] together: class here, priority there" {
	accepted_real_time '[Process]' CPUSchedulingPolicy=fifo CPUSchedulingPriority=5 '[Thread main]' CPUSchedulingPriority=6
	accepted_real_time '[Process]' CPUSchedulingPolicy=fifo CPUSchedulingPriority=5 '[Thread main]' CPUSchedulingPolicy=other
	refused 'CPUSchedulingPolicy=rr needs a priority' '[Process]' Nice=1 '[Thread main]' CPUSchedulingPolicy=rr
	refused 'CPUSchedulingPriority=6: batch has no priority' '[Process]' CPUSchedulingPolicy=batch '[Thread main]' CPUSchedulingPriority=6
}

@test "CPUSchedulingResetOnFork needs a class" {
	refused 'CPUSchedulingResetOnFork=yes needs CPUSchedulingPolicy= with it' '[Process]' CPUSchedulingResetOnFork=yes
	accepted '[Process]' CPUSchedulingResetOnFork=yes CPUSchedulingPolicy=batch
	accepted '[Process]' CPUSchedulingResetOnFork=no
}

@test "NUMA: a policy that takes nodes needs them, and the others refuse them, in whatever order" {
	local mode
	for mode in bind interleave preferred; do
		refused "NUMAPolicy=$mode needs nodes, expected NUMAMask= with it" '[Process]' "NUMAPolicy=$mode"
		accepted '[Process]' "NUMAPolicy=$mode" NUMAMask=0
		accepted '[Process]' NUMAMask=0 "NUMAPolicy=$mode"
	done
	for mode in default local; do
		refused_in_both_orders 'NUMAMask= without a policy that takes nodes, expected NUMAPolicy=preferred, bind or interleave' \
			"NUMAPolicy=$mode" NUMAMask=0
		accepted '[Process]' "NUMAPolicy=$mode"
	done
	refused 'NUMAMask= without a policy' '[Process]' NUMAMask=0
}

@test "ThreadStackSize and LimitSTACK set the same limit" {
	refused_in_both_orders 'ThreadStackSize= and LimitSTACK= both set RLIMIT_STACK' ThreadStackSize=1M LimitSTACK=2M
}

@test "CPUOverflow has no effect with CPUPlacement=share, and that is said" {
	accepted '[Process]' CPUPlacement=share CPUOverflow=spill
	matches "$stderr" 'warning: .*p\.policy:3: CPUOverflow= has no effect with CPUPlacement=share'
	accepted '[Process]' CPUPlacement=spread CPUOverflow=spill
	lacks "$stderr" 'no effect'
}

# unreachable EARLIER LATER: the second section can never be reached, and is named with the first.
unreachable() {
	refused "\[$(sed 's/[][*?\\]/\\&/g' <<<"$2")\] can never be reached: \[$(sed 's/[][*?\\]/\\&/g' <<<"$1")\] in line 1 takes all of it" \
		"[$1]" "[$2]"
}

# -w: a start= that names no function of true(1) is left out, which is not the question here.
reachable() { run --separate-stderr llrun -w -p "$(printf '[%s]\n' "$1" "$2" | policy p)" --explain true && equal "$status" 0; }

@test "a rule that an earlier one makes unreachable is an error" {
	unreachable 'Thread *' 'Thread main'
	unreachable 'Thread *' 'Thread rx-*'
	unreachable 'Thread *' 'Thread *'
	unreachable 'Thread main' 'Thread main'
	unreachable 'Thread rx-*' 'Thread rx-1'
	unreachable 'Thread rx-*' 'Thread rx-1*'
	unreachable 'Thread rx-*' 'Thread rx-*'
	unreachable 'Thread rx-[0-9]' 'Thread rx-7'
	unreachable 'Thread a b' 'Thread b a'
	unreachable 'Thread index=1-5' 'Thread index=2-3'
	unreachable 'Thread start=f' 'Thread start=f'
	unreachable 'Thread lib=libgomp*' 'Thread lib=libgomp.so.1'
	unreachable 'Socket *' 'Socket tcp'
	unreachable 'Socket tcp udp' 'Socket udp'
}

@test "a rule that something is left for is none" {
	reachable 'Thread main' 'Thread *'
	reachable 'Thread rx-*' 'Thread tx-1 rx-1'
	reachable 'Thread rx-1' 'Thread rx-*'
	reachable 'Thread rx-1*' 'Thread rx-*'
	reachable 'Thread rx-?' 'Thread rx-10'
	reachable 'Thread rx-[0-9]' 'Thread rx-x'
	reachable 'Thread main' 'Thread "main"'
	reachable 'Thread index=2-3' 'Thread index=1-5'
	reachable 'Thread index=1' 'Thread one'
	reachable 'Thread start=f' 'Thread f'
	reachable 'Socket tcp' 'Socket *'
	reachable 'Socket tcp' 'Socket udp'
}

@test "a name longer than 15 bytes can never match" {
	refused "the thread name 'C2 CompilerThread0' is longer than 15 bytes, it can never match" '[Thread "C2 CompilerThread0"]'
	refused "the thread name 'sixteen-bytes-xx' is longer" '[Thread sixteen-bytes-xx]'
	refused "the thread name 'sixteen-bytes\?\?\[abc\]\*' is longer" '[Thread sixteen-bytes??[abc]*]'
	accepted '[Thread fifteen-bytes-x "C2 CompilerThre*" fifteen-bytes-[xyz] **fifteen-bytes-x*]'
	accepted '[Thread fifteen\-bytes\-x]'
}

@test "options of TCP in a section without TCP" {
	refused 'NoDelay= is an option of TCP alone, expected it in \[Socket tcp\]' '[Socket udp]' NoDelay=yes
	accepted '[Socket udp tcp]' NoDelay=yes
	accepted '[Socket *]' NoDelay=yes
}

@test "a socket section that sets nothing is warned of" {
	accepted '[Socket tcp]' OnError=warn
	matches "$stderr" 'warning: .*p\.policy:1: \[Socket tcp\] sets nothing'
}

@test "more sections than the shim has room for" {
	local i lines=()
	for i in {1..63}; do lines+=("[Thread t$i]"); done
	accepted "${lines[@]}"
	refused 'too many sections of this kind, expected at most 63' "${lines[@]}" '[Thread t64]'
}

#!/usr/bin/env bats
# CPU expressions: what they mean on made-up machines, and what is said of those that mean nothing.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib
source "$(dirname "$BATS_TEST_FILENAME")/../topology.bash"

# machine NAME: the fake_NAME of topology.bash.
machine() {
	export LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root
	rm -rf "$LLRUN_SYSROOT"
	"fake_$1" "$LLRUN_SYSROOT"
}

# means EXPRESSION CPUS: CPUS is none where nothing fits.
means() {
	run --separate-stderr llrun --no-policy -c "$1" -s Process.CPUPlacement=share --explain true
	if [[ $2 == none ]]; then
		equal "$1: $status" "$1: 125"
		matches "$stderr" 'no CPU of this machine fits'
	else
		equal "$1: $(sed -nE 's/^  all threads +CPUs ([^ ]+).*/\1/p' <<<"$output")" "$1: $2" || { echo "$stderr" >&2; return 1; }
		equal "$status" 0
	fi
}

# fails EXPRESSION PATTERN
fails() {
	run --separate-stderr llrun --no-policy -c "$1" -- touch "$BATS_TEST_TMPDIR/started"
	equal "$1: $status" "$1: 125"
	grep -qF -- "llrun: -c: CPUAffinity=$1: " <<<"$stderr" || { echo "$1: $stderr" >&2; return 1; }
	matches "$stderr" "$2"
	[[ ! -e $BATS_TEST_TMPDIR/started ]]
}

@test "numbers, ranges, strides" {
	machine smt_split
	means 3 3
	means 0-3 0-3
	means 0,2-4,7 0,2-4,7
	means 0-7:2 0,2,4,6
	means 1-6:3 1,4
	means 5-5 5
	means 00003 3
}

@test "operators: union, both, all but, alternatives, parentheses" {
	machine smt_adjacent
	means '0,2' 0,2
	means '0 2' 0,2
	means ' 0 , 2 ' 0,2
	means '0-3 & 2-5' 2-3
	means '0-3&2-5' 2-3
	means '!0-3' 4-7
	means '!!0-3' 0-3
	means '! isolated' 0-3
	means '0-3 || 4' 0-3
	means '(0 & 1) || 4' 4
	means '(0 & 1) || (2 & 3) || 5' 5
	means '0 & 1' none
}

@test "precedence: ! before &, & before the comma, the comma before ||" {
	machine smt_adjacent
	means '0,1 & 1,2' 0-2
	means '!0 & 0-2' 1-2
	means '!(0 & 0-2)' 1-7
	means '0 & 1, 5 || 7' 5
	means '0 & 1 || 2, 3' 2-3
	means '(0,1) & (1,2)' 1
}

@test "what stands behind || is not asked for while the left side has CPUs" {
	machine smt_adjacent
	means '0 || node:9' 0
	fails '0 & 1 || node:9' 'node 9 does not exist \(nodes: 0-1\)'
	fails '0 || node:' "'node' needs an argument"
}

@test "words: online allowed isolated nohz_full housekeeping node package llc near cores" {
	machine smt_adjacent
	means online 0-7
	means allowed 0-7
	means isolated 4-7
	means nohz_full 4-7
	means housekeeping 0-3
	means node:0 0-3
	means node:0-1 0-7
	means package:1 4-7
	means llc:5 4-7
	means near:eth0 4-7
	means 'cores(0-3)' 0,2
	means 'cores ( 1-3 )' 1-2
	means 'cores(isolated & near:eth0)' 4,6
	means 'node:0, node:1' 0-7
	means 'node:0, 5' 0-3,5
}

@test "!A is all usable CPUs but A, also in a cpuset" {
	machine cpuset
	means '!2' 3
	means '!isolated' 2-3
}

@test "nothing fits: an error with what there is and an example of the cure, never CPU 0" {
	machine smt_split
	fails isolated 'no CPU of this machine fits \(usable: 0-7\); expected at least one, for example .isolated \|\| online.'
	fails nohz_full 'no CPU of this machine fits'
	fails '!online' 'no CPU of this machine fits'
	means 'isolated || online' 0-7
}

@test "errors of form: the token, and what was expected" {
	machine smt_adjacent
	fails 'isolatd' "'isolatd' is no CPU word, did you mean 'isolated'\?"
	fails 'iso' "'iso' is no CPU word, did you mean 'isolated'\?"
	fails 'frobnicate' "'frobnicate' is no CPU number, range or word: expected such as 5, 0-3 or one of online allowed"
	fails '0-3 &' "nothing after '&'"
	fails '& 0-3' "nothing before '&'"
	fails '0 & & 1' "nothing|'&&': write '&'"
	fails '0 && 1' "'&&': write '&'"
	fails '0 | 1' "'\|': write ',' for both, or '\|\|'"
	fails '0 ||' "nothing after '\|\|'"
	fails '(0' "'\(' without its '\)'"
	fails '0)' "'\)' without its '\('"
	fails '()' "nothing between '\(' and '\)'"
	fails '0,' "nothing after ','"
	fails '0,,1' "nothing between ',' and ','"
	fails '!' "nothing after '!'"
	fails '3-1' "'3-1' runs backwards"
	fails '0-7:0' "'0-7:0' has a stride of 0"
	fails '0-' "'0-' is no CPU number or range"
	fails '0-3:' "'0-3:' is no CPU number or range"
	fails '0x3' "'0x3' is no CPU number or range"
	fails '-1' "'-1' is no CPU number, range or word"
	fails '8192' "'8192' is too high: CPU numbers end at 8191"
	fails '99999999999999999999' "is too high"
	fails '4294967296' "is too high"
	fails '0-99999' "'0-99999' is too high"
	fails 'node' "'node' needs an argument, such as node:0 or node:0-1"
	fails 'near' "'near' needs an argument, such as near:eth0"
	fails 'online:1' "'online' takes no argument, write online"
	fails 'node:x' "'node:x': expected such as node:0"
	fails 'llc:1-2' "'llc:1-2': expected such as llc:5"
	fails 'node:0,1' "can be read in two ways: write 'node:0, node:1' or 'node:0, 1'"
	fails 'cores' "'cores' needs CPUs in parentheses: cores\(0-3\)"
	fails 'near:../../etc' "'near:../../etc': expected such as near:eth0"
	fails '0(1)' "expected ',' or another operator before it"
}

@test "a deep nest is refused, not a crash" {
	local open close
	machine smt_adjacent
	printf -v open '(%.0s' {1..60}
	printf -v close ')%.0s' {1..60}
	means "${open}3$close" 3
	printf -v open '(%.0s' {1..5000}
	printf -v close ')%.0s' {1..5000}
	run llrun --no-policy -c "${open}3$close" --explain true
	equal "$status" 125
	matches "$output" 'nested deeper than 64 levels'
	printf -v open '!%.0s' {1..5000}
	run llrun --no-policy -c "${open}3" --explain true
	equal "$status" 125
	matches "$output" 'nested deeper than 64 levels'
}

@test "CPUs, nodes, packages, interfaces that do not exist: which, and what there is" {
	machine smt_adjacent
	fails 8 'CPU 8 does not exist \(CPUs: 0-7\)'
	fails 7-9 'CPU 8 does not exist \(CPUs: 0-7\)'
	fails node:2 'node 2 does not exist \(nodes: 0-1\)'
	fails package:2 'package 2 does not exist \(packages: 0-1\)'
	fails llc:9 'CPU 9 does not exist \(CPUs: 0-7\)'
	fails near:eth7 "there is no network interface 'eth7' \(there are .*eth0"
}

@test "a control character in a token does not reach the terminal" {
	run llrun --no-policy -c $'is\eo' --explain true
	equal "$status" 125
	matches "$output" "'is\?o' is no CPU"
}

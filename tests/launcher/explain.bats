#!/usr/bin/env bats
# --explain: every value with its source, the plan in numbers, and nothing started or changed.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib
source "$(dirname "$BATS_TEST_FILENAME")/../topology.bash"

# The value in force and its source.
in_force() {
	grep -qxF "$(printf '  %-42s %s' "$1" "$2")" <<<"$output" || { echo "$1 of $2 is not in: $output" >&2; return 1; }
}

@test "every key of [Process], with its source: file and line, option, default" {
	local p key
	p=$(policy p <<<$'# first\n[Process]\nNice=5\n\nCPUPlacement=share\n')
	run --separate-stderr llrun -p "$p" -s Process.Children=all -R --batch --explain true
	equal "$status" 0
	equal "$stderr" ""
	in_force Nice=5 "$p:3"
	in_force CPUPlacement=share "$p:5"
	in_force Children=all -s
	in_force CPUSchedulingResetOnFork=yes -R
	in_force CPUSchedulingPolicy=batch --batch
	in_force MemoryLock=no default
	in_force 'TimerSlackNSec=(the launch-time slack)' default
	while read -r key; do
		equal "$(grep -cE "^  $key=" <<<"$output")" 1
	done < <(llrun --keys | sed -nE '/^\[Thread/q; s/^  ([A-Za-z]+)=.*/\1/p')
}

@test "a section shows what it takes from [Process], with that source" {
	local p
	p=$(policy p <<<$'[Process]\nNice=5\n[Thread main]\nCPUPlacement=share\n[Socket tcp]\nNoDelay=yes\n')
	run llrun -p "$p" --explain true
	equal "$status" 0
	matches "$(sed -n '/^\[Thread main\]$/,/^\[Socket/p' <<<"$output")" "^  Nice=5 +$p:2\$"
	matches "$(sed -n '/^\[Thread main\]$/,/^\[Socket/p' <<<"$output")" "^  CPUPlacement=share +$p:4\$"
	# of a socket section only what is given
	equal "$(sed -n '/^\[Socket tcp\]$/,/^plan/p' <<<"$output" | grep -c =)" 2
}

@test "the head: program, policy, shim" {
	local p
	p=$(policy p <<<$'[Process]\nNice=5')
	run llrun -p "$p" --explain true
	matches "$output" "^program  $(type -P true)\$"
	matches "$output" "^policy   $p\$"
	matches "$output" "^shim     $BUILD/libllrun.so\$"
	run llrun --no-policy --explain true
	matches "$output" '^policy   none, only options$'
	need_program threads-static
	run llrun --no-policy --explain "$TESTS/threads-static"
	matches "$output" '^shim     not loaded: the program is statically linked$'
}

@test "the plan: numbers of this machine, rule by rule" {
	export LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root
	fake_smt_adjacent "$LLRUN_SYSROOT"
	local p
	p=$(policy p <<-'EOT'
		[Process]
		CPUAffinity=housekeeping
		Nice=5
		[Thread main]
		CPUAffinity=cores(isolated)
		[Thread rx-*]
		CPUAffinity=6
		Nice=6
		[Thread io-*]
		CPUAffinity=isolated
		CPUPlacement=share
		[Thread w-*]
		CPUAffinity=node:1
		CPUOverflow=spill
	EOT
	)
	run --separate-stderr llrun -q -p "$p" --explain true
	equal "$status" 0
	equal "$(sed -n '/^plan$/,$p' <<<"$output" | tr -s ' ')" "plan
 [Thread main] CPUs 4,6 one each nice 5
 cores(isolated): isolated: 4-7, one thread of each core: 4,6
 [Thread rx-*] CPUs 6 nice 6
 [Thread io-*] CPUs 4-7 shared nice 5
 [Thread w-*] CPUs 4-7 one each, the rest spilled nice 5
 all other threads CPUs 0-3 one each nice 5"
}

@test "what no section gives is left to the program" {
	run llrun --no-policy --explain true
	matches "$output" '^  all threads +as the program does it$'
}

@test "nothing starts and nothing changes" {
	local before after marker=$BATS_TEST_TMPDIR/started
	before=$(taskset -p $$; nice; ulimit -a; grep allowed_list /proc/$$/status)
	run llrun --no-policy -c 0 -n 5 -s Process.TimerSlackNSec=1us --explain touch "$marker"
	equal "$status" 0
	[[ ! -e $marker ]]
	after=$(taskset -p $$; nice; ulimit -a; grep allowed_list /proc/$$/status)
	equal "$after" "$before"
	# seen from the inside too: one program is executed, llrun
	need strace
	! sanitized_llrun || export ASAN_OPTIONS=detect_leaks=0 # LeakSanitizer does not work under strace
	strace -o /dev/null true 2>/dev/null || skip_or_fail "strace cannot trace here"
	strace -f -qq -e trace=execve,clone,clone3,fork,vfork -o "$BATS_TEST_TMPDIR/trace" "$LLRUN" --no-policy -n 5 --explain touch "$marker" >/dev/null
	equal "$(wc -l <"$BATS_TEST_TMPDIR/trace")" 1
}

@test "the exit status is 125 when the program would not be started, and the plan is shown all the same" {
	run --separate-stderr llrun --no-policy -c 8191 --explain true
	equal "$status" 125
	matches "$output" '^  CPUAffinity=8191 +-c$'
	matches "$stderr" '^llrun: -c: CPUAffinity=8191: CPU 8191 does not exist'
	# what is an error of the policy's own is told alone
	run --separate-stderr llrun --no-policy -n 99 --explain true
	equal "$status" 125
	equal "$output" ""
	# and what OnError= lets pass is no failure
	run --separate-stderr llrun --no-policy -w -c 8191 --explain true
	equal "$status" 0
	matches "$stderr" 'CPU 8191 does not exist .*: left out \(OnError=warn\)'
}

@test "a program that is not there: 127 under --explain as well" {
	run -127 --separate-stderr env PATH=/usr/bin:/bin "$LLRUN" --no-policy --explain nosuchprogram
	equal "$output" ""
}

@test "what the kernel would refuse is refused under --explain too" {
	((EUID != 0)) || need setpriv
	[[ -c /dev/cpu_dma_latency ]] || skip_or_fail "no /dev/cpu_dma_latency here"
	run --separate-stderr as_nobody "$LLRUN" --no-policy -s Process.CPULatencySec=1us --explain true
	equal "$status" 125
	matches "$stderr" 'CPULatencySec=1us: /dev/cpu_dma_latency may not be opened'
}

@test "warnings of the plan are shown, -q silences them" {
	run --separate-stderr llrun --no-policy -s 'Socket tcp.OnError=warn' --explain true
	matches "$stderr" '^llrun: warning: -s: \[Socket tcp\] sets nothing'
	run --separate-stderr llrun --no-policy -q -s 'Socket tcp.OnError=warn' --explain true
	equal "$status $stderr" '0 '
}

@test "each thread rule says which CPUs it got and why: what was empty, so that || took the other side" {
	export LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root
	source "$(dirname "$BATS_TEST_FILENAME")/../topology.bash"
	fake_smt_split "$LLRUN_SYSROOT"
	p=$(policy trace <<<$'[Process]\nCPUAffinity=isolated || online\n[Thread a]\nCPUAffinity=3\n[Thread b]\nCPUAffinity=cores(node:0 & !isolated)\n[Thread c]\n')
	run --separate-stderr llrun -q -p "$p" --explain true
	equal "$(sed -n '/^plan/,$p' <<<"$output" | grep -A1 'all other' | tail -1)" '    isolated || online: isolated is none here, so online: 0-7'
	matches "$output" '^    cores\(node:0 & !isolated\): node:0: 0-7, isolated is none here, all but those: 0-7, one thread of each core: 0-3$'
	# a number means itself; what [Process] gives is said there too
	equal "$(grep -c '^    3' <<<"$output")" 0
	rm -rf "$LLRUN_SYSROOT"
	fake_smt_adjacent "$LLRUN_SYSROOT"
	run --separate-stderr llrun -q -p "$p" --explain true
	matches "$output" '^    isolated \|\| online: isolated: 4-7$'
}

@test "in one pipe what llrun says follows the plan, each on lines of its own, however long the plan" {
	local p i
	p=$(
		{
			printf '[Process]\nProgram=some-other-program\n'
			for i in {1..60}; do printf '[Thread worker-%d-*]\nNice=5\n' "$i"; done
		} | policy p
	)
	run llrun -p "$p" --explain true
	equal "$status" 0
	((${#output} > 4096))
	equal "$(grep -c '^llrun: ' <<<"$output")" "$(grep -o 'llrun: ' <<<"$output" | grep -c .)"
	matches "$output" '^llrun: warning: Program= does not name true'
	matches "$(tail -n 1 <<<"$output")" '^llrun: '
}

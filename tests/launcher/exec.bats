#!/usr/bin/env bats
# Success is exec: pid, descriptors, signals, arguments, terminal and exit status are the program's own, as under taskset
# and chrt.  Nothing is forked.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

first_cpu() { taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/'; }

@test "Type=notify: who says READY=1 is the process that was started" {
	run "$TESTS/fakesystemd" "$LLRUN" --no-policy -n 5 "$TESTS/notify" exit 7
	equal "$output" $'ready=same\nexit=7'
	run "$TESTS/fakesystemd" "$LLRUN" --no-policy -n 5 "$TESTS/notify" kill 15
	equal "$output" $'ready=same\nsignal=15'
	# a signal to that pid reaches the program
	run "$TESTS/fakesystemd" -k 15 "$LLRUN" --no-policy -n 5 "$TESTS/notify" wait
	equal "$output" $'ready=same\nsignal=15'
	run "$TESTS/fakesystemd" -k 9 "$LLRUN" --no-policy -n 5 "$TESTS/notify" wait
	equal "$output" $'ready=same\nsignal=9'
}

@test "nothing is forked: no process and no thread is made before the program runs" {
	need strace
	strace -o /dev/null true 2>/dev/null || skip_or_fail "strace cannot trace here"
	run strace -f -qq -e trace=clone,clone3,fork,vfork,execve,exit_group -o "$BATS_TEST_TMPDIR/trace" \
		"$LLRUN" --no-policy -c "$(first_cpu)" -n 5 -d "$TESTS/self"
	equal "$status" 0
	lacks "$(<"$BATS_TEST_TMPDIR/trace")" 'clone|fork'
	equal "$(grep -c 'execve(.* = 0' "$BATS_TEST_TMPDIR/trace")" 2
	equal "$(grep -c exit_group "$BATS_TEST_TMPDIR/trace")" 1
}

# What state shows, but for what must differ: the pid of another run and what is in the environment.
state_under() {
	("${@:1}" "$TESTS/state" 'a b' '' -x -- "it's" $'tab\there' '*' 9>&1 | grep -vE '^(pid|ppid|pgrp|environ|LD_PRELOAD)=')
}

@test "as taskset and chrt: mask, policy, priority, arguments, descriptors, signals" {
	need_fifo
	need taskset
	local cpu=0
	cpu=$(first_cpu)
	run --separate-stderr state_under taskset -c "$cpu" chrt -f 20 env
	local want=$output
	matches "$want" '^policy=fifo$'
	run --separate-stderr state_under "$LLRUN" --no-policy -q -c "$cpu" -f 20
	equal "$output" "$want"
}

@test "as env, for whoever may not use SCHED_FIFO: arguments, descriptors, signals" {
	run --separate-stderr state_under env
	local want=$output
	matches "$want" '^argv\[2\]=""$'
	run --separate-stderr state_under "$LLRUN" --no-policy -n 0
	equal "$output" "$want"
}

@test "the pid is that of the command that was started" {
	start llrun --no-policy -n 5 "$TESTS/state"
	wait "$pid"
	equal "$(sed -n 's/^pid=//p' "$out")" "$pid"
}

@test "ignored and blocked signals stay so" {
	run bash -c 'trap "" HUP INT USR1; exec "$TESTS/state"'
	local want
	want=$(grep -E '^Sig' <<<"$output")
	run bash -c 'trap "" HUP INT USR1; exec "$LLRUN" --no-policy -n 5 "$TESTS/state"'
	equal "$(grep -E '^Sig' <<<"$output")" "$want"
	need python3
	run python3 -c 'import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGTERM])
os.execv(os.environ["LLRUN"], ["llrun", "--no-policy", "-n", "5", os.environ["TESTS"] + "/state"])'
	matches "$output" '^SigBlk=0000000000004800$'
}

@test "no descriptor more, and none less; the one of CPULatencySec= is the exception" {
	run bash -c '"$TESTS/state" 9</dev/null 7>/dev/null'
	local want
	want=$(grep '^fds=' <<<"$output")
	run bash -c '"$LLRUN" --no-policy -n 5 -d "$TESTS/state" 9</dev/null 7>/dev/null'
	equal "$(grep '^fds=' <<<"$output")" "$want"
	# closed ones stay closed
	run bash -c '"$LLRUN" --no-policy -n 5 -d "$TESTS/state" <&- 2>&-'
	run bash -c 'exec 3>&- 4>&- 5>&- 6>&-; "$LLRUN" --no-policy -n 5 "$TESTS/state" <&- 2>&-'
	matches "$output" '^fds=1( |$)'
}

@test "stdin, stdout and pipes are the program's" {
	run bash -c 'echo in | "$LLRUN" --no-policy -n 5 cat | tr a-z A-Z'
	equal "$output" IN
}

@test "the exit status is the program's: 0, 7, 125, a signal" {
	local n
	for n in 0 1 7 124 255; do
		run llrun --no-policy -n 5 sh -c "exit $n"
		equal "$status" "$n"
	done
	run llrun --no-policy -n 5 sh -c 'kill -TERM $$'
	equal "$status" 143
	run llrun --no-policy -n 5 sh -c 'kill -SEGV $$'
	equal "$status" 139
}

@test "a missing program: 127, its name, nothing on stdout; as chrt and env have it" {
	run -127 --separate-stderr llrun --no-policy -n 5 /nonexistent/program
	equal "$output" ""
	equal "$stderr" 'llrun: /nonexistent/program: No such file or directory'
	run -127 --separate-stderr env PATH=/usr/bin:/bin "$LLRUN" --no-policy -n 5 nosuchprogram
	equal "$stderr" 'llrun: nosuchprogram: not found in PATH'
	run -127 --separate-stderr llrun --no-policy -n 5 ''
	equal "$stderr" "llrun: '': No such file or directory"
	run -127 env PATH=/nonexistent "$LLRUN" --no-policy -n 5 true
	# a file on the way to it is no directory: env(1) says 126
	run --separate-stderr llrun --no-policy -n 5 /etc/passwd/x
	equal "$status" 126
}

@test "a file that is not executable, a directory: 126, its name" {
	echo 'echo hi' >"$BATS_TEST_TMPDIR/plain"
	chmod 644 "$BATS_TEST_TMPDIR/plain"
	run --separate-stderr llrun --no-policy -n 5 "$BATS_TEST_TMPDIR/plain"
	equal "$status" 126
	equal "$output" ""
	equal "$stderr" "llrun: $BATS_TEST_TMPDIR/plain: Permission denied"
	run --separate-stderr llrun --no-policy -n 5 "$BATS_TEST_TMPDIR"
	equal "$status" 126
	equal "$stderr" "llrun: $BATS_TEST_TMPDIR: is a directory"
	run --separate-stderr llrun --no-policy -n 5 /dev/null
	equal "$status" 126
}

@test "a program is looked for on PATH as execvp does: past what may not be executed, relative entries, empty ones" {
	mkdir "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
	echo >"$BATS_TEST_TMPDIR/a/prog"
	cp "$TESTS/self" "$BATS_TEST_TMPDIR/b/prog"
	PATH=$BATS_TEST_TMPDIR/a:$BATS_TEST_TMPDIR/b:$PATH run llrun --no-policy -n 5 prog
	equal "$status" 0
	equal "$(field nice <<<"$output")" 5
	cd "$BATS_TEST_TMPDIR/b"
	run env PATH=:/nonexistent "$LLRUN" --no-policy -n 5 prog
	equal "$status" 0
	run env PATH="$BATS_TEST_TMPDIR/a" "$LLRUN" --no-policy -n 5 prog
	equal "$status" 126
}

@test "a text without #! is given to the shell, as execvp does, with its arguments" {
	printf 'echo "$0|$1|$2|$#"\n' >"$BATS_TEST_TMPDIR/text"
	chmod 755 "$BATS_TEST_TMPDIR/text"
	run llrun --no-policy -q -n 5 "$BATS_TEST_TMPDIR/text" 'a b' ''
	equal "$status" 0
	equal "$output" "$BATS_TEST_TMPDIR/text|a b||2"
}

@test "a script with #! runs under its policy, itself and its interpreter's argument" {
	printf '#!/bin/sh -e\nnice; false; echo not here\n' >"$BATS_TEST_TMPDIR/script"
	chmod 755 "$BATS_TEST_TMPDIR/script"
	run --separate-stderr llrun --no-policy -s Process.Children=all -n 5 "$BATS_TEST_TMPDIR/script"
	equal "$status" 1
	equal "$output" 5
}

@test "argv[0] is the name as it was given" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cp "$TESTS/state" "$BATS_TEST_TMPDIR/bin/called"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run llrun --no-policy -n 5 called x
	matches "$output" '^argv\[0\]="called"$'
	matches "$output" '^argv\[1\]="x"$'
}

@test "a long argument list reaches the program whole" {
	local many
	mapfile -t many < <(seq 1 5000)
	run llrun --no-policy -q -n 5 sh -c 'echo $#' - "${many[@]}"
	equal "$output" 5000
}

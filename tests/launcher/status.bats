#!/usr/bin/env bats
# --status: real programs as wanted, then changed from outside; threads no hook made; rights, an audit, JSON, nothing written.
# shellcheck disable=SC2154 # pid, out, err: start sets them; $output, $stderr

load ../lib
load ../real/real

teardown() { stop_all; }

# Sets $output, $stderr and $status.
status_of() { run --separate-stderr llrun --status "$@"; }
# The line of the thread TID in the last report.
line_of() { grep -E "^$1 " <<<"$output"; }
shows_threads() { [[ $(llrun --status "$1" 2>/dev/null | grep -cE '^[0-9]+ ') -ge $2 ]]; }
as_wanted() { llrun --status "$1"; }

# Redis, nginx and java under their shipped policies; what is missing here is left out by -w only where it is said.
need_shipped() { need_root && need_fifo && need_latency && need_kernel 6.9; }

@test "redis under its shipped policy: all as wanted; then taskset on one thread and chrt on another" {
	need redis-server redis-cli taskset chrt
	need_shipped
	need_cpus 2
	start_redis llrun -q --
	wait_for as_wanted "$pid"
	status_of "$pid"
	equal "$status" 0
	lacks "$output" 'DRIFT|changed|refused|no hook'
	matches "$(line_of "$pid")" "^$pid +redis-server +\[Thread main\] .* fifo 20 +fifo 20 .* ok$"
	matches "$output" '^memory +ok +MemoryLock=onfault, locked [1-9]'
	matches "$output" '^pm_qos +ok +/dev/cpu_dma_latency is held'
	matches "$output" '^sockets +ok +[1-9][0-9]* inet, [1-9][0-9]* as wanted'
	matches "$output" '^epoll +ok +[0-9]+ instances, [1-9][0-9]* busy-poll'

	other=$(look threads "$pid" | row comm=bio_lazy_free | field tid)
	[[ $other ]]
	# main's own CPU is either none of the other thread's, or one of several
	taskset -pc "$(look threads "$pid" | row "tid=$pid" | field cpus)" "$other" >/dev/null
	chrt -o -p 0 "$pid"
	status_of "$pid"
	equal "$status" 1
	matches "$(line_of "$pid")" 'fifo 20 +other .* its scheduling was changed since, by chrt or the like$'
	matches "$(line_of "$other")" 'its CPUs were changed since, by taskset or the like'
	equal "$(grep -E '^[0-9]+ ' <<<"$output" | grep -vc ' ok$')" 2
	status_of redis-server
	((status == 1 || status == 2)) # 2: somebody else's runs as well
	stop_all
}

@test "nginx under its shipped policy: master and workers as wanted, and each other's" {
	need nginx curl
	need_shipped
	start_nginx llrun -q
	wait_for has_children "$pid" 2
	wait_for as_wanted "$pid"
	status_of "$pid"
	equal "$status" 0
	matches "$output" '^children +ok +[2-9] covered, 0 reset or never covered: [0-9]+ nginx'
	read -r worker _ < <(children "$pid")
	wait_for as_wanted "$worker"
	status_of "$worker"
	equal "$status" 0
	matches "$output" "^$worker +nginx +\[Thread main\] "
	renice -n 3 -p "$worker" >/dev/null
	status_of "$worker"
	equal "$status" 1
	matches "$(line_of "$worker")" 'its nice value was changed since$'
}

@test "java under its shipped policy: all its threads as wanted" {
	need java taskset
	need_program Hello.class
	need_shipped
	start llrun -q java -Xmx64m -cp "$TESTS" Hello 60
	wait_ready
	wait_for as_wanted "$pid"
	status_of "$pid"
	equal "$status" 0
	((${#lines[@]} > 12))
	matches "$output" '^[0-9]+ +VM Thread +'
	lacks "$output" 'DRIFT|changed|refused'
}

@test "every column: wanted and actual, where it runs, switches, migrations, wait, faults" {
	two_cpus
	file=$(policy t <<<$"[Process]"$'\nCPUAffinity='"$A"$'\nNice=3\n[Thread b*]\nCPUAffinity='"$B")
	start llrun -p "$file" "$TESTS/threads" -n 2 -N b -s 60
	wait_ready
	status_of "$pid"
	equal "$status" 0
	matches "$output" "^$pid +threads +\[Process\] +$A +$A +$A +- +other +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9]+ +ok$"
	equal "$(grep -cE "^[0-9]+ +b[12] +\[Thread b\*\] +$B +$B +[0-9]+ +- +other +.* ok$" <<<"$output")" 2
}

@test "an io_uring worker is the kernel's: named as made by no hook, and no drift" {
	need_program iouring
	two_cpus
	start llrun --no-policy -c "$A" "$TESTS/iouring" 60
	# where io_uring is switched off it says so and ends
	wait_for grep -qE 'ready|io_uring' "$out" "$err"
	grep -qx ready "$out" || skip_or_fail "$(<"$err")"
	status_of "$pid"
	equal "$status" 0
	matches "$output" "^[0-9]+ +iou-wrk-$pid +- .* made by no hook: an io_uring worker of the kernel$"
}

@test "a timer thread of libc is named as made by no hook" {
	need_program sigevent
	two_cpus
	start llrun --no-policy -c "$A" "$TESTS/sigevent" 60
	wait_ready
	status_of "$pid"
	matches "$output" '^[0-9]+ +sigevent +- .* made by no hook: a helper of libc'
	equal "$status" 0
}

@test "what the program did itself is drift, and said to be its own doing" {
	need python3
	two_cpus
	start llrun --no-policy -c "$A" --batch python3 -c "
import os, time
os.sched_setaffinity(0, {$B})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
print('ready', flush=True)
time.sleep(60)"
	wait_ready
	status_of "$pid"
	equal "$status" 1
	matches "$(line_of "$pid")" " $A +$B .* batch +idle .* the program set its CPUs itself; the program set its scheduling itself$"
}

@test "as nobody: one's own process works, somebody else's is exit 2, and why" {
	two_cpus
	start as_nobody llrun --no-policy -c "$A" "$TESTS/threads" -n 1 -s 60
	wait_ready
	run --separate-stderr as_nobody llrun --status "$pid"
	equal "$status" 0
	matches "$output" "^$pid +threads +\[Process\] +$A +$A"
	need_root
	start llrun --no-policy -c "$A" "$TESTS/threads" -n 1 -s 60
	wait_ready
	run --separate-stderr as_nobody llrun --status "$pid"
	equal "$status $output" '2 '
	matches "$stderr" "^llrun: /proc/$pid/maps: Permission denied; run as root or as its user "
	run --separate-stderr as_nobody llrun --status "$pid" --no-policy -c "$A"
	equal "$status" 2
	matches "$stderr" "^llrun: /proc/$pid/exe: Permission denied; run as root or as its user$"
}

@test "no such process, no such name, several of a name, one not started by llrun: exit 2, and why" {
	status_of 99999999
	equal "$status" 2
	matches "$stderr" 'there is no process 99999999'
	status_of nosuchprogram
	equal "$status" 2
	matches "$stderr" "no process is called 'nosuchprogram'"
	start "$TESTS/threads" -n 1 -s 60
	wait_ready
	status_of "$pid"
	equal "$status" 2
	matches "$stderr" "process $pid was not started by llrun, or not covered \(-p POLICY judges it all the same\)"
	cp "$TESTS/threads" "$BATS_TEST_TMPDIR/namesake"
	start "$BATS_TEST_TMPDIR/namesake" -n 1 -s 60
	start "$BATS_TEST_TMPDIR/namesake" -n 1 -s 60
	wait_ready
	status_of namesake
	equal "$status" 2
	matches "$stderr" "several processes are called 'namesake': [0-9]+, [0-9]+; give one number"
}

@test "an audit: a program that taskset started, judged by -p" {
	need taskset
	two_cpus
	file=$(policy audit <<<$'[Process]\nCPUAffinity='"$A")
	start taskset -c "$A" "$TESTS/threads" -n 1 -s 60
	wait_ready
	status_of "$pid" -p "$file"
	equal "$status" 0
	matches "$output" '\(judged by the policy of -p\)'
	taskset -pc "$B" "$pid" >/dev/null
	status_of "$pid" -p "$file"
	equal "$status" 1
	matches "$(line_of "$pid")" 'its CPUs were changed since, by taskset'
	# quick options judge as well
	status_of "$pid" --no-policy -c "$B"
	equal "$(line_of "$pid" | grep -c ' ok$')" 1
}

@test "--json: one document with the same content" {
	need python3
	two_cpus
	start llrun --no-policy -c "$A" -d "$TESTS/sockets" 60
	wait_ready
	status_of "$pid" --json
	run python3 -c '
import json, sys
d = json.load(sys.stdin)
t = d["threads"][0]
print(d["pid"], t["tid"], t["name"], t["cpus_wanted"], t["cpus"], t["ok"], d["status"], "sockets" in d, "memory" in d)' <<<"$output"
	equal "$output" "$pid $pid sockets $A $A True $status True True" || matches "$output" "^$pid $pid sockets $A $A True [01] True True$"
}

@test "--watch: again and again, until the process ends" {
	two_cpus
	start llrun --no-policy -c "$A" "$TESTS/threads" -n 1 -s 60
	wait_ready
	one=$pid
	start llrun --status "$one" --watch 1
	watch=$pid
	wait_for has_reports 2
	kill -0 "$watch"
	kill "$one"
	wait_for dead "$watch"
	matches "$(<"$err")" "there is no process $one"
}
has_reports() { (($(grep -c '^process ' "$out") >= $1)); }
dead() { ! kill -0 "$1" 2>/dev/null || [[ $(awk '{ print $3 }' "/proc/$1/stat") == Z ]]; }

@test "nothing is written, no process is touched: strace" {
	need strace
	two_cpus
	start llrun --no-policy -c "$A" -d "$TESTS/sockets" 60
	wait_ready
	before=$(look threads "$pid" | cut -f 1-6)
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o "$BATS_TEST_TMPDIR/trace" "$LLRUN" --status "$pid" >/dev/null || true
	run grep -vE 'write\([12],' "$BATS_TEST_TMPDIR/trace"
	matches "$output" 'process_vm_readv'
	lacks "$output" '^[0-9]+ +(write|pwrite64|writev|process_vm_writev|sendto|sendmsg|kill|tgkill|ptrace|setsockopt|mkdir|unlink|rename)\('
	lacks "$output" 'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|sched_set[a-z]+\([1-9]'
	equal "$(look threads "$pid" | cut -f 1-6)" "$before"
}

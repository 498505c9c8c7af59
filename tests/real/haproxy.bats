#!/usr/bin/env bats
# HAProxy: nameless threads that all do the same; it places its threads itself where it sees several NUMA nodes.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

setup() { need haproxy curl; }

@test "haproxy: a CPU for each of its threads, and it answers" {
	two_cpus
	start_haproxy llrun --no-policy -c "$A,$B" -n 4 -d -- -db
	wait_for has_threads "$pid" 2
	equal "$(look threads "$pid" | field cpus | sort -n | uniq | xargs)" "$A $B"
	equal "$(look threads "$pid" | field nice | sort -u)" 4
	equal "$(look sockets "$pid" | row listen=1 | field nodelay | sort -u)" 1
	equal "$(http "$port")" hello
}

@test "haproxy: without nbthread it counts the CPUs of the set, not those of the thread that counts" {
	two_cpus
	run llrun --no-policy -c "$A,$B" haproxy -vv
	matches "$output" 'default=2\)'
	run llrun --no-policy -c "$A" haproxy -vv
	matches "$output" 'default=1\)'
}

@test "haproxy: as master and worker: the worker keeps the policy over a reload, in which the master executes itself" {
	two_cpus
	start_haproxy llrun --no-policy -c "$A,$B" -- -W
	wait_for has_children "$pid" 1
	equal "$(look threads "$(children "$pid")" | field cpus | sort -nu | xargs)" "$A $B"
	old=$(children "$pid")
	kill -USR2 "$pid"
	wait_for reloaded "$pid" "$old"
	wait_for http "$port"
	new=$(children "$pid")
	wait_for has_threads "$new" 2
	matches "$(look threads "$new" | field cpus | sort -nu | xargs)" "^($A|$B)( $B)?\$"
	equal "$(http "$port")" hello
}

reloaded() { has_children "$1" 1 && ! children "$1" | grep -qw "$2"; }

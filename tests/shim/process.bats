#!/usr/bin/env bats
# shim/process.c: which processes keep the policy, and what the others get back.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

setup() { launch=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status); }

# A child by each way, under CPU 1 and nice 3: "CPUS NICE" of it
child() {
	run --separate-stderr llrun -q -w --no-policy -c 1 -s Process.Nice=3 -s "Process.Children=$1" \
		-- "$TESTS/forks" "${@:2}"
	equal "$status" 0
	equal "$(row who=parent <<<"$output" | field cpus) $(row who=parent <<<"$output" | field nice)" "1 3"
	output=$(grep -v ^who=parent <<<"$output")
	equal "$(field cpus <<<"$output" | sort -u) $(field nice <<<"$output" | sort -u)" "$expected"
}

need_others() { need_cpus 2 && [[ $launch != 1 ]] || skip_or_fail "only CPU 1 may be used"; }

@test "Children=same: forked children, daemons and children of the same program keep the policy" {
	need_cpus 2
	local expected="1 3" way
	for way in fork doublefork daemon vfork-exec posix_spawn exec; do child same "$way"; done
}

@test "Children=same: a child that executes another program gets the launch-time class back" {
	need_others
	need_root # for a lower nice value
	local expected="$launch 0" way
	for way in vfork-exec posix_spawn system popen; do child same "$way" "$TESTS/self"; done
}

@test "Children=all: other programs keep it, through a shell too" {
	need_cpus 2
	local expected="1 3" way
	for way in fork doublefork daemon; do child all "$way"; done
	for way in vfork-exec posix_spawn system popen exec; do child all "$way" "$TESTS/self"; done
}

@test "Children=none: forked children as well get the launch-time class back" {
	need_others
	need_root
	local expected="$launch 0" way
	for way in fork doublefork daemon; do child none "$way"; done
	for way in vfork-exec posix_spawn system popen; do child none "$way" "$TESTS/self"; done
}

@test "Children=none: that a server has gone to the background without its policy is said" {
	need_cpus 2
	run --separate-stderr llrun -q --no-policy -c 1 -s Process.Children=none -- "$TESTS/forks" daemon
	matches "$stderr" '^llrun: Children=none: a forked child runs without the policy'
	equal "$(wc -l <<<"$stderr")" 1
}

# What execve of an empty environment leaves is what the kernel keeps: neither LD_PRELOAD nor the plan is there.
@test "an empty environment: the child has its parent's class, and no shim" {
	need_cpus 2
	local expected="1 3"
	child same execempty "$TESTS/self"
	equal "$(field preload <<<"$output") $(field plan <<<"$output")" "(none) 0"
}

@test "the program keeps its policy over an exec of its own, and of another program" {
	need_cpus 2
	run llrun -q --no-policy -c 1 -- "$TESTS/forks" exec "$TESTS/self"
	equal "$(row who=show <<<"$output" | field cpus) $(row who=show <<<"$output" | field plan)" "1 1"
}

@test "a real-time program's children are not real-time" {
	need_fifo
	need_others
	run llrun -q --no-policy -c 1 -f 9 -- "$TESTS/forks" system "$TESTS/self"
	equal "$(row who=parent <<<"$output" | field policy)" fifo
	equal "$(row who=show <<<"$output" | field policy) $(row who=show <<<"$output" | field cpus)" "other $launch"
	# by the kernel alone, even where no shim comes
	run llrun -q --no-policy -c 1 -f 9 -R -- "$TESTS/forks" execempty "$TESTS/self"
	equal "$(row who=show <<<"$output" | field policy)" fifo
	run llrun -q --no-policy -c 1 -f 9 -R -- "$TESTS/forks" fork
	equal "$(row who=parent <<<"$output" | field reset)" 1
}

@test "a reset child has the caller's LD_PRELOAD back, byte for byte, and no plan" {
	need_cpus 2
	local value libm
	libm=$(ldconfig -p 2>/dev/null | awk '/libm\.so\.6/ { print $NF; exit }')
	run llrun -q --no-policy -c 1 -- "$TESTS/forks" system "$TESTS/self"
	equal "$(field preload <<<"$output") $(field plan <<<"$output")" "(none) 0"
	for value in "" "$libm" " $libm:" "$libm  $libm" ":$libm"; do
		LD_PRELOAD=$value run llrun -q --no-policy -c 1 -- "$TESTS/forks" system "$TESTS/self"
		equal "$(field preload <<<"$output") $(field plan <<<"$output")" "$value 0"
	done
}

@test "a plan left behind by another llrun is taken for a parent's: nothing applied, the environment cleaned" {
	local plan
	plan=$(llrun -q --no-policy -c 0 -- bash -c 'printf %s "$LLRUN_PLAN"')
	LD_PRELOAD=$BUILD/libllrun.so LLRUN_PLAN=$plan run "$TESTS/self"
	equal "$(field preload <<<"$output") $(field plan <<<"$output")" "(none) 0"
	equal "$(field cpus <<<"$output")" "$launch"
}

# Case 9: the script starts other things first, then the server in four ways.
server_script() {
	local script=$BATS_TEST_TMPDIR/start.sh
	printf '#!/bin/sh\ndate >/dev/null\nsleep 0.1 &\n"%s" script\n%s\n' "$TESTS/self" "$1" >"$script"
	chmod 755 "$script"
	echo "$script"
}
ways=('exec "SERVER" -n 4' '"SERVER" -n 4; exit $?' 'setsid "SERVER" -n 4 & wait')

@test "a wrapper script, Program= names the server: it has its places from the start, however it is started" {
	need_cpus 2
	local way
	for way in "${ways[@]}"; do
		run llrun -q --no-policy -c 1,0 -s Process.Program=threads \
			-- "$(server_script "${way/SERVER/$TESTS/threads}")"
		equal "$status" 0
		equal "$(row when=start <<<"$output" | field cpus | xargs)" "0 1 0 1 0"
		equal "$(row who=script <<<"$output" | field cpus)" "$launch"
	done
}

@test "a wrapper script, no Program=: what it execs is covered, what it starts is not" {
	need_others
	local way
	run llrun -q --no-policy -c 1 -- "$(server_script "${ways[0]/SERVER/$TESTS/threads}")"
	equal "$(row when=start <<<"$output" | field cpus | sort -u)" 1
	for way in "${ways[@]:1}"; do
		run llrun -q --no-policy -c 1 -- "$(server_script "${way/SERVER/$TESTS/threads}")"
		equal "$(row when=start <<<"$output" | field cpus | sort -u)" "$launch"
		equal "$(row when=start <<<"$output" | wc -l)" 5
	done
}

# LD_PRELOAD is lost: what the shim does is not done, what the launcher did is kept.
@test "a wrapper script that clears the environment: the server has no shim" {
	need_others
	run llrun -q --no-policy -c 1 -s Process.Program=threads -- "$(server_script "env -i $TESTS/threads -n 2")"
	equal "$status" 0
	equal "$(row when=start <<<"$output" | field cpus | sort -u)" "$launch"
}

@test "a rule for a program does not match its name among arguments" {
	need_others
	run llrun -q --no-policy -c 1 -s Process.Program=threads -- sh -c "echo threads; exec $TESTS/self threads"
	equal "$(row who=threads <<<"$output" | field cpus)" "$launch"
}

@test "Program= covers a script by its own name" {
	need_others
	local script
	script=$(server_script ':')
	run llrun -q --no-policy -c 1 -s Process.Program=start.sh -s Process.Children=all -- "$script"
	equal "$(row who=script <<<"$output" | field cpus)" 1
	run llrun -q --no-policy -c 1 -s Process.Program=start.sh -- "$script"
	equal "$(row who=script <<<"$output" | field cpus)" "$launch"
	run llrun -q --no-policy -c 1 -s 'Process.Program=start.sh self' -- "$script"
	equal "$(row who=script <<<"$output" | field cpus)" 1
}

@test "forked workers have CPUs of their own" {
	need_cpus 2
	# The workers' own threads, which come and go meanwhile, take no CPU of theirs.
	start llrun -q -p "$(rules '[Process]' CPUAffinity=0-1 '[Thread index=1]' CPUAffinity=1 CPUPlacement=share)" \
		-- "$TESTS/forks" workers 4
	wait_for workers 4
	# with the parent on CPU 0: the second CPU first
	equal "$(grep -E $'^who=(parent|worker[0-9]+)\t' "$out" | field cpus | sort | xargs)" "0 0 0 1 1"
}
workers() { (($(grep -cE '^who=worker[0-9]+	' "$out") == $1)); }

@test "on many CPUs, each worker has one that nobody else has" {
	local n
	n=$(nproc)
	((n >= 4)) || skip_or_fail "needs 4 CPUs, $n to be used"
	start llrun -q -p "$(rules '[Process]' CPUAffinity=allowed '[Thread index=1]' CPUPlacement=share)" \
		-- "$TESTS/forks" workers $((n - 1))
	wait_for workers $((n - 1))
	equal "$(grep -E '^who=(parent|worker[0-9]+)	' "$out" | field cpus | sort -u | wc -l)" "$n"
}

@test "the place of a worker that was killed is given to the next, waited for or not" {
	need_cpus 2
	local zombies
	for zombies in '' zombies; do
		# shellcheck disable=SC2086 # a word or none
		run llrun -q --no-policy -c 0-1 -- "$TESTS/respawn" 6 $zombies
		equal "$(row who=master <<<"$output" | field cpus)" 0
		equal "$(row who=worker <<<"$output" | field cpus | xargs)" "1 1 1 1 1 1"
		equal "$(row who=thread <<<"$output" | field cpus | xargs)" "0 0 0 0 0 0"
	done
}

@test "a child that the program itself placed, outside the rule's CPUs, is left alone" {
	need_cpus 2
	local way
	for way in fork vfork; do
		run llrun -q --no-policy -c 0 -- "$TESTS/childpins" $way pin 1 "$TESTS/self"
		equal "$(row who=child <<<"$output" | field cpus)" 1
	done
}

# A vfork child runs in its parent's memory: what it does to itself must not be done to the parent.
@test "a child that places or names itself before it executes does not change its parent" {
	need_cpus 2
	local way
	for way in fork vfork; do
		run llrun -q -p "$(rules '[Process]' CPUAffinity=0-1 '[Thread victim]' CPUAffinity=1 Nice=4)" -- \
			"$TESTS/childpins" $way name victim "$TESTS/self"
		equal "$(row who=after <<<"$output" | field cpus) $(row who=after <<<"$output" | field nice)" "0 0"
		equal "$(row who=thread <<<"$output" | field cpus)" 1
		run llrun -q --no-policy -c 0-1 -- "$TESTS/childpins" $way pin 0 "$TESTS/self"
		matches "$output" '^told=2$'
		equal "$(row who=after <<<"$output" | field cpus)" 0
	done
}

@test "llrun inside llrun: the inner policy is in force, one shim is loaded" {
	need_cpus 2
	! sanitized_llrun || skip_or_fail "llrun is built with a sanitizer, whose library counts as the caller's preload"
	run llrun -q --no-policy -c 0 -- "$LLRUN" -q --no-policy -c 1 -- "$TESTS/self"
	equal "$(field cpus <<<"$output") $(field preload <<<"$output")" "1 $BUILD/libllrun.so"
}

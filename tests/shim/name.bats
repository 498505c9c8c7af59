#!/usr/bin/env bats
# shim/name.c: rules by name.  A name comes after creation; the thread is placed again when it gets one.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

by_name=(-q --no-policy -s 'Thread rx*.CPUAffinity=1' -s Process.CPUAffinity=0)

# "CPUS ...": of the threads when they have their name
named() { row when=named <<<"$output" | field "$1" | xargs; }

@test "a thread that names itself is moved; before, it had the class of [Process]" {
	need_cpus 2
	run llrun "${by_name[@]}" -- "$TESTS/threads" -n 3 -N rx
	equal "$(row when=start <<<"$output" | field cpus | xargs)" "0 0 0 0"
	equal "$(named cpus)" "1 1 1"
	run llrun "${by_name[@]}" -- "$TESTS/threads" -n 3 -N tx
	equal "$(named cpus)" "0 0 0"
}

@test "a thread that is named by prctl is moved" {
	need_cpus 2
	run llrun "${by_name[@]}" -- "$TESTS/threads" -n 3 -N rx -p
	equal "$(named cpus)" "1 1 1"
}

@test "a thread that its creator names is moved" {
	need_cpus 2
	run llrun "${by_name[@]}" -- "$TESTS/threads" -n 3 -N rx -P
	equal "$(named cpus)" "1 1 1"
}

@test "scheduling and nice come with the name as well" {
	need_fifo
	run llrun "${by_name[@]}" -s 'Thread rx*.CPUSchedulingPolicy=fifo' -s 'Thread rx*.CPUSchedulingPriority=9' \
		-s 'Thread rx*.Nice=3' -- "$TESTS/threads" -n 2 -N rx
	equal "$(named policy) $(named prio) $(named nice)" "fifo fifo 9 9 3 3"
}

# The creator may name the thread before it runs, or while it does its first steps: it must never be missed.
@test "a thread that is named before it runs is placed: 200 times 2" {
	need_cpus 2
	run llrun "${by_name[@]}" -- "$TESTS/threadnames" 200
	equal "$(grep -c $'comm=rx.*\tcpus=1\t' <<<"$output")" 400
	equal "$(grep -c ^who= <<<"$output")" 400
}

# Two movers at once must not count a CPU twice: then the next threads would find it loaded.
@test "after 600 names given by creators the CPUs are as free as before" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 '[Thread rx*]' CPUAffinity=0-1 \
		'[Thread *]' CPUAffinity=0-1)" \
		-- "$TESTS/threads" -n 2 -r 300 -N rx -P
	equal "$(tail -n 2 <<<"$(row when=named <<<"$output" | field cpus)" | sort | xargs)" "0 1"
}

@test "a name that a thread has only inherited matches nothing" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread threads]' CPUAffinity=1 '[Thread main]' CPUAffinity=0 \
		'[Process]' CPUAffinity=0)" \
		-- "$TESTS/threads" -n 3
	equal "$(row comm=threads <<<"$output" | field cpus | xargs)" "0 0 0 0"
}

@test "the first match in file order, by what is known at creation or by name" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread index=1]' CPUAffinity=0 '[Thread rx*]' CPUAffinity=1 \
		'[Thread *]' CPUAffinity=0)" \
		-- "$TESTS/threads" -n 3 -N rx
	equal "$(named cpus)" "0 1 1"
}

@test "a thread that gets another name goes back to what it was" {
	need_cpus 2
	run llrun "${by_name[@]}" -- "$TESTS/threadnames" again
	equal "$(field cpus <<<"$output" | xargs)" "0 1 0"
}

# Case 4
@test "names are matched as the kernel has them: 15 bytes" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread abcdefghijklmn1.CPUAffinity=1' -s Process.CPUAffinity=0 \
		-- "$TESTS/threads" -n 2 -N abcdefghijklmn
	equal "$(named cpus)" "1 0"
	# prctl cuts what is longer; pthread_setname_np refuses it, and the thread keeps its old one
	run llrun -q --no-policy -s 'Thread abcdefghijklmno.CPUAffinity=1' -s Process.CPUAffinity=0 \
		-- "$TESTS/threads" -n 2 -N abcdefghijklmno -p
	equal "$(named cpus)" "1 1"
	run llrun -q --no-policy -s 'Thread abcdefghijklmno*.CPUAffinity=1' -s Process.CPUAffinity=0 \
		-- "$TESTS/threads" -n 2 -N abcdefghijklmno
	equal "$(named cpus)" "0 0"
	equal "$(named comm)" "threads threads"
}

# Case 4, policy A
@test "a rule whose name is longer can never match: refused with its line" {
	local path
	path=$(policy long <<<$'[Process]\n[Thread "C2 CompilerThread0"]\nCPUAffinity=0')
	run llrun -p "$path" -- true
	equal "$status" 125
	matches "$output" "$path:2: .*15"
}

@test "names with a space and '#'" {
	need_cpus 2
	local path
	path=$(policy gc <<-'EOF'
		[Process]
		CPUAffinity=0
		# a comment
		[Thread "GC Thread#*"]
		CPUAffinity=1
	EOF
	)
	run llrun -q -p "$path" -- "$TESTS/threads" -n 2 -N 'GC Thread#'
	equal "$(named cpus)" "1 1"
	run llrun -q -p "$path" -- "$TESTS/threads" -n 2 -N 'GC '
	equal "$(named cpus)" "0 0"
}

# Case 4, policies B and C
@test "Java: compiler and collector threads by their names" {
	need java
	need_program Hello.class
	need_cpus 2
	local path
	path=$(policy java <<-'EOF'
		[Process]
		CPUAffinity=0
		[Thread "C2 CompilerThre*" "GC Thread#*"]
		CPUAffinity=1
	EOF
	)
	start llrun -q -p "$path" -- java -XX:+UseParallelGC -XX:-UseDynamicNumberOfGCThreads \
		-XX:ParallelGCThreads=2 -cp "$TESTS" Hello 20
	wait_for java_names_its_threads
	equal "$(look threads "$pid" | grep -E 'comm=(C2 CompilerThre|GC Thread#)' | field cpus | sort -u)" 1
	equal "$(look threads "$pid" | grep -E 'comm=(VM Thread|Signal Dispatch)' | field cpus | sort -u)" 0
}
java_names_its_threads() {
	look threads "$pid" | grep -q 'comm=C2 CompilerThre' && look threads "$pid" | grep -q 'comm=GC Thread#1'
}

@test "a thread made behind our back has its creator's class, and its own once it names itself" {
	need_cpus 2
	run llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 Nice=2 '[Thread rx*]' CPUAffinity=1 Nice=4)" \
		-- "$TESTS/behind" rx
	equal "$(row who=born <<<"$output" | field cpus)" 0
	equal "$(row who=named <<<"$output" | field cpus) $(row who=named <<<"$output" | field nice)" "1 4"
	# a name that no rule has: the class of [Process]
	run llrun -q --no-policy -s 'Process.CPUAffinity=1' -s 'Thread main.CPUAffinity=0' -- "$TESTS/behind" other
	equal "$(row who=born <<<"$output" | field cpus) $(row who=named <<<"$output" | field cpus)" "0 1"
}

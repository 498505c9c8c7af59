#!/usr/bin/env bats
# The JVM: threads that it names while they start.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

setup() { need java && need_program Hello.class; }

@test "java: its named collector threads on one CPU, everything else on the other" {
	two_cpus
	file=$(policy java <<-END
		[Process]
		CPUAffinity=$B
		[Thread "GC Thread#*"]
		CPUAffinity=$A
	END
	)
	start llrun -p "$file" java -XX:+UseParallelGC -XX:ParallelGCThreads=2 -Xmx64m -cp "$TESTS" Hello 60
	wait_ready
	threads=$(look threads "$pid")
	matches "$threads" 'comm=GC Thread#0'
	equal "$(grep 'comm=GC Thread#' <<<"$threads" | field cpus | sort -u)" "$A"
	equal "$(grep -v 'comm=GC Thread#' <<<"$threads" | field cpus | sort -u)" "$B"
	matches "$(grep -v 'comm=GC Thread#' <<<"$threads" | field comm)" 'C2 CompilerThre|C1 CompilerThre'
}

@test "java: collector threads in real time, the others not" {
	two_cpus
	need_fifo
	file=$(policy fifo <<-END
		[Thread "GC Thread#*"]
		CPUAffinity=$A
		CPUSchedulingPolicy=fifo
		CPUSchedulingPriority=3
	END
	)
	start llrun -q -p "$file" java -XX:+UseParallelGC -XX:ParallelGCThreads=2 -Xmx64m -cp "$TESTS" Hello 60
	wait_ready
	threads=$(look threads "$pid")
	equal "$(grep 'comm=GC Thread#' <<<"$threads" | field policy | sort -u)" fifo
	equal "$(grep -v 'comm=GC Thread#' <<<"$threads" | field policy | sort -u)" other
}

# With one visible CPU it would take SerialGC, and pools of one thread.
@test "java: sees all CPUs of its rule although each of its threads is pinned to one" {
	two_cpus
	start llrun --no-policy -c "$A,$B" java -Xmx64m -cp "$TESTS" Hello 60
	wait_ready
	matches "$(<"$out")" '^processors=2$'
	equal "$(look threads "$pid" | field cpus | sort -nu | xargs)" "$A $B"
	run llrun --no-policy -c "$A,$B" -s Process.VisibleCPUs=own java -Xmx64m -cp "$TESTS" Hello 0
	matches "$output" '^processors=1$'
}

@test "java: memory locked on fault as root, and it still collects garbage" {
	need_root
	run llrun --no-policy -q -m java -Xmx64m -XX:+UseParallelGC -XX:+ExitOnOutOfMemoryError -version
	equal "$status" 0
	start llrun --no-policy -q -m java -Xmx64m -cp "$TESTS" Hello 60
	wait_ready
	(($(look memory "$pid" | field VmLck) > 10000))
}

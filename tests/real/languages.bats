#!/usr/bin/env bats
# Threads as the languages make them, and programs that no shim can enter.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

# A field of the line that a program wrote about its thread WHO.
shown() { row "who=$1" <<<"$output" | field "$2"; }

python=/usr/bin/python3

@test "python: threading: each thread by its index, and its own sockets" {
	need $python
	two_cpus
	file=$(policy python <<-END
		[Process]
		CPUAffinity=$A
		[Thread index=2-3]
		CPUAffinity=$B
		[Socket tcp]
		NoDelay=yes
	END
	)
	cat >"$BATS_TEST_TMPDIR/threads.py" <<-'END'
		import socket, threading, time
		threads = [threading.Thread(target=time.sleep, args=(60,), daemon=True) for _ in range(4)]
		for thread in threads:
		    thread.start()
		listener = socket.create_server(("127.0.0.1", 0))
		print(*(thread.native_id for thread in threads))
		print("ready", flush=True)
		time.sleep(60)
	END
	start llrun -p "$file" $python "$BATS_TEST_TMPDIR/threads.py"
	wait_ready
	cpus=()
	for tid in $(head -1 "$out"); do
		cpus+=("$(look threads "$pid" | row "tid=$tid" | field cpus)")
	done
	equal "${cpus[*]}" "$A $B $B $A"
	equal "$(look sockets "$pid" | row listen=1 | field nodelay)" 1
}

@test "python: a pool of processes by fork: each has a CPU of its own; an external program has the launch-time ones" {
	need $python
	two_cpus
	cat >"$BATS_TEST_TMPDIR/pool.py" <<-'END'
		import multiprocessing, os, subprocess, sys
		def cpus(barrier, queue):
		    queue.put([l.split()[1] for l in open("/proc/self/status") if l.startswith("Cpus_allowed_list")][0])
		    barrier.wait()
		context = multiprocessing.get_context("fork")
		barrier, queue = context.Barrier(2), context.Queue()
		workers = [context.Process(target=cpus, args=(barrier, queue)) for _ in range(2)]
		for w in workers: w.start()
		print(*sorted(queue.get() for _ in workers))
		for w in workers: w.join()
		print(len(os.sched_getaffinity(0)))
		subprocess.run(["grep", "-oP", r"Cpus_allowed_list:\s*\K.*", "/proc/self/status"])
	END
	run llrun -c "$A,$B" $python -u "$BATS_TEST_TMPDIR/pool.py"
	equal "$output" "$A $B"$'\n2\n'"$LAUNCH"
}

@test "python: asyncio's epoll instance busy-polls under its policy" {
	need $python
	need_kernel 6.9
	start llrun -b 40 $python -uc 'import asyncio; loop = asyncio.new_event_loop(); print("ready"); loop.run_until_complete(asyncio.sleep(60))'
	wait_ready
	equal "$(look epoll "$pid" | field usecs)" 40
}

@test "C++: std::thread and std::async have CPUs of their own, an exception still passes" {
	need_program cxx
	two_cpus
	run llrun -c "$A,$B" "$TESTS/cxx"
	all_ok
	equal "$(shown main cpus)" "$A"
	# one at a time: each new one gets the CPU that main does not have
	equal "$(shown 1 cpus) $(shown 2 cpus) $(shown 3 cpus) $(shown async cpus)" "$B $B $B $B"
}

@test "C++: under FIFO" {
	need_program cxx
	need_fifo
	run llrun -q -f 7 "$TESTS/cxx"
	all_ok
	equal "$(field policy <<<"$output" | sort -u) $(field prio <<<"$output" | sort -u)" "fifo 7"
}

# libgomp counts CPUs in its constructor, which may run before the shim's: pinned to one, it would make a team of one.
@test "OpenMP: as many threads as the rule has CPUs, one on each, although each is pinned" {
	need_program omp
	two_cpus
	run llrun -c "$A,$B" "$TESTS/omp"
	equal "$status" 0
	matches "$output" '^max=2$'
	matches "$output" '^threads=2$'
	equal "$(field cpus <<<"$output" | sort -n | xargs)" "$A $B"
	run llrun -c "$A" "$TESTS/omp"
	matches "$output" '^threads=1$'
}

@test "OpenMP: its workers by the library that starts them" {
	need_program omp
	two_cpus
	file=$(policy omp <<-END
		[Process]
		CPUAffinity=$A
		[Thread lib=libgomp.so*]
		CPUAffinity=$B
	END
	)
	OMP_NUM_THREADS=3 run llrun -p "$file" "$TESTS/omp"
	equal "$(shown 0 cpus) $(shown 1 cpus) $(shown 2 cpus)" "$A $B $B"
}

@test "C11: thrd_create is placed, results and detaching as ever" {
	need_program c11
	two_cpus
	file=$(policy c11 <<-END
		[Process]
		CPUAffinity=$A
		[Thread index=2]
		CPUAffinity=$B
	END
	)
	run llrun -p "$file" "$TESTS/c11"
	all_ok
	equal "$(shown main cpus) $(shown 1 cpus) $(shown 2 cpus) $(shown 3 cpus)" "$A $A $B $A"
}

@test "Go with cgo: its threads are placed, its sockets refused by name" {
	need_program golang-cgo
	two_cpus
	port=$(free_port)
	start llrun -c "$A,$B" -s Process.CPUPlacement=share "$TESTS/golang-cgo" "$port" 60
	wait_ready
	equal "$(look threads "$pid" | field cpus | sort -u)" "$A-$B"
	start llrun -c "$A,$B" "$TESTS/golang-cgo" "$(free_port)" 60
	wait_ready
	equal "$(look threads "$pid" | field cpus | sort -nu | xargs)" "$A $B"
	run llrun -c "$A,$B" -d "$TESTS/golang-cgo" "$port" 0
	equal "$status" 125
	matches "$output" 'golang-cgo is a Go program, whose sockets.*\[Socket tcp\] \(-d\)'
	start llrun -w -c "$A,$B" -d "$TESTS/golang-cgo" "$(free_port)" 60
	wait_ready
	matches "$(<"$err")" 'is a Go program.*left out \(OnError=warn\)'
	equal "$(look threads "$pid" | field cpus | sort -nu | xargs)" "$A $B"
}

@test "Go, static: what execve keeps is applied to all its threads, the rest is refused by name" {
	need_program golang
	two_cpus
	file=$(policy go <<-END
		[Process]
		CPUAffinity=$B
		Nice=6
		TimerSlackNSec=1234
		MemoryLock=onfault
		[Thread main]
		Nice=3
		[Socket tcp]
		NoDelay=yes
	END
	)
	run llrun -p "$file" "$TESTS/golang" "$(free_port)" 0
	equal "$status" 125
	matches "$output" "golang .*statically linked.*MemoryLock=onfault \($file:5\).*\[Thread main\] \($file:6\).*\[Socket tcp\] \($file:8\)"
	lacks "$output" 'cpus='
	start llrun -w -p "$file" "$TESTS/golang" "$(free_port)" 60
	wait_ready
	equal "$(look threads "$pid" | field cpus | sort -u) $(look threads "$pid" | field nice | sort -u)" "$B 6"
	equal "$(look memory "$pid" | field VmLck)" 0
	matches "$(<"$err")" 'MemoryLock=onfault .*\[Thread main\].*left out \(OnError=warn\)'
	((EUID != 0)) || equal "$(<"/proc/$pid/timerslack_ns")" 1234
}

@test "busybox, static: the class is applied, what needs the shim is refused by name" {
	need busybox
	two_cpus
	busybox=$(command -v busybox)
	! ldd "$busybox" 2>/dev/null | grep -q 'libc\.so' || skip_or_fail "$busybox is not static"
	start llrun -c "$B" -n 4 "$busybox" sleep 60
	is_busybox() { [[ $(readlink "/proc/$pid/exe") == *busybox* ]]; } # and llrun no more
	wait_for is_busybox
	equal "$(look threads "$pid" | field cpus) $(look threads "$pid" | field nice)" "$B 4"
	equal "$(look threads "$pid" | field comm)" busybox
	lacks "$(<"$err")" .
	run llrun -c "$B" -m -d "$busybox" true
	equal "$status" 125
	matches "$output" "$busybox is statically linked, so these would not be applied: MemoryLock=onfault \(-m\), \[Socket tcp\] \(-d\)"
}

# --- #!/bin/sh ---

wrapper() {
	printf '#!/bin/sh\n%s\n' "$1" >"$BATS_TEST_TMPDIR/wrapper"
	chmod +x "$BATS_TEST_TMPDIR/wrapper"
}

@test "a shell wrapper that execs: the program in the same process has the policy" {
	two_cpus
	wrapper "exec $TESTS/threads -n 2"
	run llrun -c "$A,$B" "$BATS_TEST_TMPDIR/wrapper"
	equal "$status" 0
	equal "$(shown 0 cpus) $(shown 1 cpus) $(shown 2 cpus)" "$A $B $A"
}

@test "a shell wrapper that stays: its child is another program and is back on the launch-time CPUs" {
	two_cpus
	wrapper "$TESTS/threads -n 2; exit 7"
	run llrun -c "$A" "$BATS_TEST_TMPDIR/wrapper"
	equal "$status" 7
	equal "$(field cpus <<<"$output" | sort -u)" "$LAUNCH"
	run llrun -c "$A" -s Process.Children=all "$BATS_TEST_TMPDIR/wrapper"
	equal "$status" 7
	equal "$(field cpus <<<"$output" | sort -u)" "$A"
}

@test "a shell wrapper that stays, with Program= naming its child: that one has the policy, the wrapper has not" {
	two_cpus
	# shellcheck disable=SC2016 # the wrapper's own
	wrapper 'grep Cpus_allowed_list: /proc/$$/status; '"$TESTS/threads -n 1; $TESTS/threads -n 1"
	run llrun -c "$A" -s Process.Program=threads "$BATS_TEST_TMPDIR/wrapper"
	equal "$status" 0
	matches "$output" "^llrun: warning: Program= does not name wrapper"
	matches "$output" "Cpus_allowed_list:	$LAUNCH\$"
	equal "$(field cpus <<<"$output" | sort -u)" "$A"
}

@test "a script by /usr/bin/env: the interpreter behind it is what counts, for children and for what takes no shim" {
	need_program threads-static
	need $python
	two_cpus
	printf '#!/usr/bin/env threads-static\n' >"$BATS_TEST_TMPDIR/script"
	chmod +x "$BATS_TEST_TMPDIR/script"
	PATH=$TESTS:$PATH run llrun -m "$BATS_TEST_TMPDIR/script"
	equal "$status" 125
	matches "$output" 'threads-static is statically linked.*MemoryLock=onfault'
	# a child of the interpreter that is the interpreter again keeps the policy
	cat >"$BATS_TEST_TMPDIR/spawns" <<-'END'
		#!/usr/bin/env -S python3 -u
		import subprocess, sys
		show = 'print([l.split()[1] for l in open("/proc/self/status") if l.startswith("Cpus_allowed_list")][0])'
		exec(show)
		subprocess.run([sys.executable, "-c", show])
	END
	chmod +x "$BATS_TEST_TMPDIR/spawns"
	PATH=/usr/bin:/bin run llrun -c "$B" "$BATS_TEST_TMPDIR/spawns"
	equal "$output" "$B"$'\n'"$B"
}

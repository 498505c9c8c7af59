#!/usr/bin/env bats
# shim/init.c and shim/notice.c: initialised once, whoever comes first; without a plan nothing;
# errno, descriptors and stderr as before.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

shim=$BUILD/libllrun.so

@test "errno is 0 at main, kept by each hook that succeeds, the kernel's after one that fails" {
	need_cpus 2
	run --separate-stderr llrun -q -p "$(rules '[Process]' CPUAffinity=0-1 '[Thread renamed]' CPUAffinity=1 \
		'[Socket tcp]' NoDelay=yes \
		Priority=5 '[Socket udp]' BusyPollSec=1us)" -- "$TESTS/errno"
	all_ok
	equal "$stderr" ""
	# Refused in part: the program must not see that either.
	need_root
	run llrun -q -w --no-policy -d -s 'Socket tcp.Priority=7' \
		-- setpriv --reuid=65534 --clear-groups --inh-caps=-all "$TESTS/errno"
	all_ok
}

@test "a thread and a socket that a library's constructor makes before ours has run" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -d -- "$TESTS/ctormain"
	equal "$(row who=constructor-socket <<<"$output" | field nodelay)" 1
	equal "$(row cpus=1 <<<"$output" | field who | xargs)" "constructor main worker1 worker2"
}

@test "a program that overwrites and clears its environment is still served" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -d -- "$TESTS/wipeenv"
	equal "$(row who=thread <<<"$output" | field cpus)" 1
	equal "$(row who=socket <<<"$output" | field nodelay)" 1
}

@test "a program that closes all descriptors: nothing of ours is lost" {
	need_cpus 2
	run llrun -q --no-policy -s 'Thread closefds-*.CPUAffinity=1' -s Process.CPUAffinity=0 -d \
		-- "$TESTS/closefds" "$BATS_TEST_TMPDIR/data"
	all_ok
	equal "$(row who=thread <<<"$output" | field cpus)" 1
	equal "$(row who=socket <<<"$output" | field nodelay)" 1
}

# Its data file is descriptor 2 when a socket option is refused.
@test "no notice is written into a file that has become descriptor 2" {
	need_root
	local file=$BATS_TEST_TMPDIR/data
	: >"$file"
	chmod 666 "$file"
	as_nobody true # opens the directories
	run --separate-stderr llrun -q -w --no-policy -d -s 'Socket tcp.Priority=7' -- \
		setpriv --reuid=65534 --clear-groups --inh-caps=-all "$TESTS/closefds" "$file"
	all_ok
	equal "$(row who=socket <<<"$output" | field nodelay)" 1
	equal "$(row who=socket <<<"$output" | field priority)" 0
	equal "$(wc -c <"$file")" 0
}

@test "started with stderr closed, or with a pipe that nobody reads: runs, and the descriptors are as without us" {
	local bare
	bare=$("$TESTS/state" 2>&- | grep ^fds=)
	equal "$("$LLRUN" -q --no-policy -c 0 -d -- "$TESTS/state" 2>&- | grep ^fds=)" "$bare"
	need_root
	run bash -c '"$@" 2> >(exec 0<&-; :)' _ "$LLRUN" -q -w --no-policy -d -s 'Socket tcp.Priority=7' -- \
		setpriv --reuid=65534 --clear-groups --inh-caps=-all "$TESTS/sockets"
	equal "$status" 0
	matches "$output" '^who=socketpair'
}

# Case 2
@test "each way to pthread_create is caught: new and old symbol version, dlsym; lazily bound or not" {
	need_cpus 2
	local now
	for now in '' 1; do
		LD_BIND_NOW=$now run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -- "$TESTS/bindings"
		equal "$(row cpus=1 <<<"$output" | field who | xargs)" "new old dlsym"
	done
	LD_DEBUG=bindings run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' -- "$TESTS/bindings"
	matches "$output" "binding file .*/bindings.*to $shim.*symbol .pthread_create'"
}

# Case 2 (c)
@test "a program without threads that loads a library which makes one" {
	need_cpus 2
	need python3
	run llrun -q --no-policy -s 'Thread *.CPUAffinity=1' \
		-- python3 -c "import ctypes; ctypes.CDLL('$TESTS/ctorlib.so').ctorlib_report()"
	equal "$(row who=constructor <<<"$output" | field cpus)" 1
}

@test "the hooks are exported without a version, and nothing else is" {
	need nm
	run nm -D --defined-only "$shim"
	lacks "$output" '@'
	equal "$(awk '{ print $3 }' <<<"$output" | sort | xargs)" \
		"$(sed -n 's/^\t\t\([a-z_0-9]*\);$/\1/p' "$ROOT/shim/shim.map" | sort | xargs)"
}

@test "no thread-local storage, no executable stack, no text relocations, libc alone" {
	need readelf
	run readelf -lWd "$shim"
	lacks "$output" '^ +TLS '
	lacks "$output" 'GNU_STACK.*RWE'
	lacks "$output" TEXTREL
	equal "$(grep -o 'Shared library: .*' <<<"$output")" "Shared library: [libc.so.6]"
}

@test "without a plan: as if the shim were not there" {
	run --separate-stderr "$TESTS/threads" -n 3
	local bare=$output
	LD_PRELOAD=$shim run --separate-stderr "$TESTS/threads" -n 3
	equal "$output" "$bare"
	equal "$stderr" ""
	run "$TESTS/sockets"
	bare=$output
	LD_PRELOAD=$shim LLRUN_PLAN='' run "$TESTS/sockets"
	equal "$output" "$bare"
	LD_PRELOAD=$shim run "$TESTS/attrs"
	all_ok
	LD_PRELOAD=$shim run "$TESTS/errno"
	all_ok
	LD_PRELOAD=$shim run "$TESTS/c11"
	all_ok
}

# The plan as the launcher writes it, seen by a program that the shim does not enter.
a_plan() { llrun -q --no-policy -c 0 -s Process.Program=other -d -- bash -c 'printf %s "$LLRUN_PLAN"'; }

@test "a damaged plan, one of another version, or nonsense: said once, nothing applied, the program runs" {
	local plan bad bare
	plan=$(a_plan)
	matches "$plan" '^w1;'
	bare=$("$TESTS/threads" -n 2)
	for bad in "${plan/w1;/w2;}" "${plan:0:40}" "${plan/E/e}" "${plan}x" w "w$(head -c 3000 /dev/zero \
		| tr '\0' 9)" nonsense; do
		LD_PRELOAD=$shim LLRUN_PLAN=$bad run --separate-stderr "$TESTS/threads" -n 2
		equal "$status" 0
		equal "$output" "$bare"
		equal "$stderr" "llrun: LLRUN_PLAN is not of this version of llrun or damaged: nothing is applied"
	done
}

@test "OnError=fail: a placement that only the program's start shows to be refused ends it with 125, before main" {
	need_cpus 2
	run llrun -q --no-policy -s 'Process.Program=threads' -c 0-1 \
		-- "$TESTS/seccomp" -c sched_setaffinity "$TESTS/threads"
	equal "$status" 125
	matches "$output" '^llrun: the main thread could not be placed: EPERM'
	lacks "$output" '^who='
	run llrun -q -w --no-policy -s 'Process.Program=threads' -c 0-1 \
		-- "$TESTS/seccomp" -c sched_setaffinity "$TESTS/threads"
	equal "$status" 0
	matches "$output" '^who=4'
}

@test "no thread-specific key is left: refused, or started and said; with one left it works" {
	need_cpus 2
	run --separate-stderr llrun -q --no-policy -c 1 -- "$TESTS/keys" 0
	equal "$status" 125
	matches "$stderr" '^llrun: .*thread-specific key'
	run --separate-stderr llrun -q -w --no-policy -c 1 -- "$TESTS/keys" 0
	equal "$status" 0
	matches "$stderr" '^llrun: .*thread-specific key'
	run --separate-stderr llrun -q --no-policy -c 1 -- "$TESTS/keys" 1
	equal "$(row cpus=1 <<<"$output" | field who | xargs)" "main thread"
}

@test "a silent run: not a byte on stderr, whatever is hooked" {
	need_cpus 2
	run --separate-stderr llrun --no-policy -c 0 -d -s 'Thread x*.CPUAffinity=0' -- "$TESTS/threads" -n 2 -N x
	equal "$stderr" ""
}

@test "under valgrind: nothing to report" {
	need valgrind
	need_cpus 2
	run --separate-stderr llrun -q --no-policy -c 0-1 -d -- valgrind -q --error-exitcode=9 "$TESTS/threads" -n 4 -N x
	equal "$status" 0
	equal "$stderr" ""
}

#!/usr/bin/env bats
# The program, looked at before it starts: what the shim cannot enter is said before, and gets what execve keeps.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

# A directory that every user can reach, with programs that we may change.
setup() {
	place=$(mktemp -d "${TMPDIR:-/tmp}/llrun-target.XXXXXX")
	chmod 755 "$place"
}

teardown() {
	stop_all
	rm -rf "$place"
}

first_cpu() { taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/'; }

# refuses PATTERN LLRUN-ARGUMENT...: what needs the shim is asked for, so it does not start, and the message says why.
refuses() {
	run --separate-stderr "${@:2}"
	equal "$status" 125
	equal "$output" ""
	matches "$stderr" "^llrun: $1.*, so these would not be applied: "
	matches "$stderr" '^llrun: nothing was started; OnError=warn \(-w\) starts with what can be had$'
}

# What execve keeps reaches the threads of PROGRAM though no shim does: main's CPU and nice are every thread's.
gets_the_rest() {
	local cpu
	cpu=$(first_cpu)
	run --separate-stderr llrun -w -c "$cpu" -n 5 -m -d "$1" -n 2
	equal "$status" 0
	equal "$(row "cpus=$cpu" nice=5 <<<"$output" | wc -l)" 3
	equal "$(wc -l <<<"$stderr")" 1
	matches "$stderr" "$2, so these would not be applied: MemoryLock=onfault \(-m\), \[Socket tcp\] \(-d\)"
	# and without a word, if nothing needs the shim
	run --separate-stderr llrun -c "$cpu" -n 5 "$1" -n 2
	equal "$status" 0
	equal "$stderr" ""
	equal "$(row "cpus=$cpu" nice=5 <<<"$output" | wc -l)" 3
}

@test "static" {
	need_program threads-static
	refuses '.*/threads-static is statically linked' llrun -d "$TESTS/threads-static"
	gets_the_rest "$TESTS/threads-static" 'threads-static is statically linked'
}

@test "static-pie" {
	need_program threads-static-pie
	refuses '.*/threads-static-pie is statically linked' llrun -d "$TESTS/threads-static-pie"
	gets_the_rest "$TESTS/threads-static-pie" 'threads-static-pie is statically linked'
}

@test "musl" {
	need_program threads-musl
	refuses '.*/threads-musl is linked with musl, not glibc' llrun -d "$TESTS/threads-musl"
	gets_the_rest "$TESTS/threads-musl" 'threads-musl is linked with musl, not glibc'
}

@test "32-bit, without ld.so's own noise" {
	need_program threads-m32
	"$TESTS/threads-m32" -n 0 >/dev/null 2>&1 || skip_or_fail "32-bit programs do not run here"
	refuses '.*/threads-m32 is a 32-bit program' llrun -d "$TESTS/threads-m32"
	gets_the_rest "$TESTS/threads-m32" 'threads-m32 is a 32-bit program'
	lacks "$stderr" 'ld.so'
}

@test "OnError= decides: fail, warn, ignore; also that of the section alone" {
	need_program threads-static
	local p
	p=$(policy p <<<$'[Thread main]\nOnError=ignore\n[Socket tcp]\nNoDelay=yes\nOnError=ignore')
	run --separate-stderr llrun -p "$p" "$TESTS/threads-static" -n 1
	equal "$status" 0
	equal "$stderr" ""
	p=$(policy p <<<$'[Thread main]\nNice=5\nOnError=ignore\n[Socket tcp]\nNoDelay=yes\nOnError=warn')
	run --separate-stderr llrun -p "$p" "$TESTS/threads-static" -n 1
	equal "$status" 0
	matches "$stderr" "\[Thread main\] \($p:1\), \[Socket tcp\] \($p:4\).*: left out \(OnError=warn\)"
	p=$(policy p <<<$'[Thread main]\nNice=5\n[Socket tcp]\nNoDelay=yes\nOnError=warn')
	run --separate-stderr llrun -p "$p" "$TESTS/threads-static" -n 1
	equal "$status" 125
}

@test "the exit status of a program without the shim is its own" {
	need busybox
	file -L "$(type -P busybox)" 2>/dev/null | grep -q static || need_program threads-static
	run --separate-stderr llrun -n 5 "$(type -P busybox)" sh -c 'exit 7'
	equal "$status" 7
}

@test "Go, static and with cgo: sockets are system calls that no shim sees" {
	need_program golang
	refuses '.*/golang is statically linked' llrun -d "$TESTS/golang" 0 0
	run --separate-stderr llrun -w -d -c "$(first_cpu)" "$TESTS/golang" 0 0
	equal "$status" 0
	matches "$output" '^cpus=1	'
	need_program golang-cgo
	refuses '.*/golang-cgo is a Go program, whose sockets are raw system calls' llrun -d "$TESTS/golang-cgo" 0 0
	# what is not about sockets is no matter
	run --separate-stderr llrun -n 5 -s 'Thread *.Nice=5' "$TESTS/golang-cgo" 0 0
	equal "$status" 0
	equal "$stderr" ""
}

@test "set-user-ID and set-group-ID: secure mode drops the preload without a word, so llrun has one" {
	need_root # to make them
	findmnt -no OPTIONS -T "$place" 2>/dev/null | grep -qw nosuid && skip_or_fail "$place is mounted nosuid"
	cp "$TESTS/threads" "$place/suid"
	cp "$TESTS/threads" "$place/sgid"
	chmod 4755 "$place/suid"
	chmod 2755 "$place/sgid"
	refuses '.*/suid is set-user-ID' as_nobody "$LLRUN" -d "$place/suid"
	matches "$stderr" '; start llrun as user 0, or chmod u-s$'
	refuses '.*/sgid is set-group-ID' as_nobody "$LLRUN" -d "$place/sgid"
	matches "$stderr" '; start llrun as group 0, or chmod g-s$'
	run --separate-stderr as_nobody "$LLRUN" -w -n 5 -d "$place/suid" -n 1
	equal "$status" 0
	equal "$(row nice=5 <<<"$output" | wc -l)" 2
	matches "$stderr" 'suid is set-user-ID'
	# as root, set-user-ID to root changes nothing
	run --separate-stderr llrun -d "$place/suid" -n 1
	equal "$status" 0
	equal "$stderr" ""
	# and with no_new_privs the bits are ignored
	run --separate-stderr as_nobody setpriv --no-new-privs "$LLRUN" -d "$place/suid" -n 1
	equal "$status" 0
}

@test "file capabilities, as nobody" {
	need_root # to give them
	need setcap
	cp "$TESTS/threads" "$place/capable"
	setcap cap_sys_nice+ep "$place/capable" 2>/dev/null || skip_or_fail "no file capabilities on $place"
	refuses '.*/capable has file capabilities' as_nobody "$LLRUN" -d "$place/capable"
	matches "$stderr" 'take them away \(setcap -r\)'
	# with none set in them, none are gained
	setcap -r "$place/capable"
	run --separate-stderr as_nobody "$LLRUN" -d "$place/capable" -n 1
	equal "$status" 0
	# root has them anyway
	setcap cap_sys_nice+ep "$place/capable"
	run --separate-stderr llrun -d "$place/capable" -n 1
	equal "$status" 0
	equal "$stderr" ""
}

@test "ASan: its library comes first, and the program runs clean" {
	need_program threads-asan
	run --separate-stderr llrun -n 6 -s 'Thread *.Nice=6' "$TESTS/threads-asan" -n 100
	equal "$status" 0
	equal "$stderr" ""
	equal "$(row nice=6 <<<"$output" | wc -l)" 101
	run llrun -d -- sh -c 'echo "$LD_PRELOAD"'
	equal "$output" "$BUILD/libllrun.so"
}

@test "TSan and UBSan builds run clean" {
	local kind
	for kind in tsan ubsan; do
		need_program "threads-$kind"
		"$TESTS/threads-$kind" -n 1 >/dev/null 2>&1 || skip_or_fail "threads-$kind does not run here"
		run --separate-stderr llrun -n 6 -s 'Thread *.Nice=6' "$TESTS/threads-$kind" -n 20
		equal "$kind: $status $stderr" "$kind: 0 "
		equal "$(row nice=6 <<<"$output" | wc -l)" 21
	done
}

@test "scripts: #! is followed, four deep and more, and the interpreter is what is looked at" {
	local i
	need_program threads-static
	cp "$TESTS/threads-static" "$place/static"
	printf '#!%s -n\n' "$place/static" >"$place/script"
	chmod 755 "$place/script"
	# "static -n SCRIPT": the interpreter gets the script's path as its argument, which atoi takes for 0
	refuses '.*/static is statically linked' llrun -d "$place/script"
	run --separate-stderr llrun --no-policy --explain "$place/script"
	matches "$output" "^program  $place/script \(runs $place/static\)\$"
	printf '#! /bin/sh\necho "$0" "$1"\n' >"$place/s0"
	for i in 1 2 3 4; do printf '#!%s\n' "$place/s$((i - 1))" >"$place/s$i"; done
	chmod 755 "$place"/s[0-4]
	run --separate-stderr llrun -d "$place/s4" x
	equal "$status" 0
	equal "$stderr" ""
	run --separate-stderr llrun --explain -d "$place/s4" x
	matches "$output" "^program  $place/s4 \(runs /bin/sh\)\$"
}

@test "an interpreter that is not there" {
	printf '#!/nowhere/sh\n' >"$place/script"
	chmod 755 "$place/script"
	run -127 --separate-stderr llrun -n 5 "$place/script"
	equal "$output" ""
	matches "$stderr" "^llrun: $place/script: its interpreter /nowhere/sh is not there"
}

@test "files that are no programs at all do not confuse it" {
	local file
	printf '\x7fELF' >"$place/short"
	head -c 4096 /dev/urandom >"$place/random"
	printf '\x7fELF\x02\x01\x01' >"$place/garbage"
	head -c 60000 /dev/zero | tr '\0' '\377' >>"$place/garbage"
	head -c 2000 "$TESTS/threads" >"$place/cut"
	for file in short random garbage cut; do
		chmod 755 "$place/$file"
		status=0
		llrun -d "$place/$file" >/dev/null 2>&1 || status=$?
		# the kernel kills what is cut off once it has begun to load it (SIGSEGV)
		((status == 125 || status == 126 || status == 127 || status == 2 || status == 139)) || { echo "$file: $status" >&2; return 1; }
	done
}

# A path that ld.so would split: the build's own files in a directory with a space.
@test "a shim path with a space, a colon or a dollar sign" {
	local name
	for name in 'a space' 'a:colon' 'a$dollar'; do
		mkdir "$place/$name"
		cp "$LLRUN" "$BUILD/libllrun.so" "$place/$name/"
		run --separate-stderr "$place/$name/llrun" -d "$TESTS/self"
		equal "$status" 125
		matches "$stderr" 'cannot load the shim .*: ld.so (splits LD_PRELOAD at spaces and colons|expands \$ in LD_PRELOAD), so these would not be applied: \[Socket tcp\] \(-d\); install llrun under a path without them'
		run --separate-stderr "$place/$name/llrun" -n 5 "$TESTS/self"
		equal "$status" 0
		equal "$(field nice <<<"$output") $(field preload <<<"$output") $(field plan <<<"$output")" '5 (none) 0'
		equal "$stderr" ""
	done
}

@test "a shim that the user cannot read" {
	mkdir "$place/closed"
	cp "$LLRUN" "$BUILD/libllrun.so" "$place/closed/"
	chmod 755 "$place/closed/llrun"
	chmod 0 "$place/closed/libllrun.so"
	run --separate-stderr as_nobody "$place/closed/llrun" -d "$TESTS/self"
	equal "$status" 125
	matches "$stderr" 'cannot load the shim .*/closed/libllrun.so: Permission denied, so these would not be applied: \[Socket tcp\] \(-d\); install llrun where this user can read it'
	run --separate-stderr as_nobody "$place/closed/llrun" -n 5 "$TESTS/self"
	equal "$status $stderr" '0 '
	equal "$(field preload <<<"$output")" '(none)'
}

@test "a shim that is not there" {
	mkdir "$place/alone"
	cp "$LLRUN" "$place/alone/"
	run --separate-stderr "$place/alone/llrun" -d "$TESTS/self"
	equal "$status" 125
	matches "$stderr" 'needs libllrun.so, which is neither beside llrun nor in ../lib/llrun, so these would not be applied: \[Socket tcp\] \(-d\)'
	run --separate-stderr "$place/alone/llrun" -n 5 "$TESTS/self"
	equal "$status $stderr" '0 '
	equal "$(field nice <<<"$output")" 5
}

@test "a shim on a file system that is mounted noexec" {
	need_root
	need unshare
	mkdir "$place/noexec"
	cat >"$place/inside" <<-'EOT'
		mount -t tmpfs -o noexec none "$1/noexec" && cp "$2/libllrun.so" "$1/noexec/" || exit 77
		mkdir "$1/bin" "$1/lib" && cp "$2/llrun" "$1/bin/" && ln -s ../noexec "$1/lib/llrun" && "$1/bin/llrun" -d "$2/tests/self"
	EOT
	run --separate-stderr unshare -m --propagation private sh "$place/inside" "$place" "$BUILD"
	[[ $status != 77 && $stderr != *unshare:* ]] || skip_or_fail "nothing can be mounted here"
	equal "$status" 125
	matches "$stderr" 'its file system is mounted noexec'
}

@test "start=: a function of the program, static ones too; one that it does not have is an error" {
	run --separate-stderr llrun -s 'Thread start=thread.Nice=6' "$TESTS/threads" -n 2
	equal "$status" 0
	equal "$(row nice=6 <<<"$output" | wc -l)" 2
	run --separate-stderr llrun -s 'Thread start=nosuch.Nice=6' "$TESTS/threads" -n 2
	equal "$status" 125
	matches "$stderr" '^llrun: -s: start=nosuch: .*/threads has no function of that name; for the threads of a library use lib='
	need strip
	strip -o "$place/stripped" "$TESTS/threads"
	run --separate-stderr llrun -s 'Thread start=thread.Nice=6' "$place/stripped" -n 2
	equal "$status" 125
	matches "$stderr" 'has no function of that name \(no symbol table that can be read: is it stripped\?\)'
}

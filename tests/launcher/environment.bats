#!/usr/bin/env bats
# The environment: LD_PRELOAD kept byte for byte, one copy of the shim, GLIBC_TUNABLES merged, nothing else touched.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

setup() { shim=$BUILD/libllrun.so; }

# The value of NAME in the program's environment as it starts, before any shim of it can have changed it; "(none)" if unset.
# env(1) is as good as any program; what it has been given is read from /proc by the first that it starts.
in_program() { env -- "${@:2}" sh -c 'tr "\0" "\n" </proc/$$/environ' | sed -n "s/^$1=//p"; }

@test "LD_PRELOAD: the shim alone where there was none" {
	run in_program LD_PRELOAD "$LLRUN" --no-policy
	equal "$output" "$shim"
}

@test "LD_PRELOAD: the caller's value behind ours, byte for byte, in every style of separators" {
	local other value
	other=$(ldd "$TESTS/self" | grep -oE '/[^ ]*/libc\.so\.6')
	[[ -n $other ]] || skip_or_fail "no libc.so.6 to preload"
	for value in "$other" "$other:$other" "$other $other" ":$other" "$other:" " $other" "$other " "::$other::" "$other : $other" \
		"$other  $other" libm.so.6 'libm.so.6:libm.so.6'; do
		run in_program LD_PRELOAD "LD_PRELOAD=$value" "$LLRUN" --no-policy
		equal "$output" "$shim:$value"
	done
}

@test "LD_PRELOAD: empty stays next to nothing" {
	run in_program LD_PRELOAD LD_PRELOAD= "$LLRUN" --no-policy
	equal "$output" "$shim"
}

@test "LD_PRELOAD: a sanitizer's library comes before ours, whatever was there" {
	need_program threads-asan
	local soname
	soname=$(readelf -d "$TESTS/threads-asan" 2>/dev/null | sed -n 's/.*NEEDED.*\[\(lib.*asan[^]]*\)\].*/\1/p')
	[[ -n $soname ]] || skip_or_fail "threads-asan has no library of its own"
	start llrun --no-policy "$TESTS/threads-asan" -n 1 -s 60
	wait_ready
	equal "$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^LD_PRELOAD=//p')" "$soname:$shim"
	start env LD_PRELOAD=libm.so.6 "$LLRUN" --no-policy "$TESTS/threads-asan" -n 1 -s 60
	wait_ready
	equal "$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^LD_PRELOAD=//p')" "$soname:$shim:libm.so.6"
}

# The outer one starts a shell, which starts the inner one.
@test "llrun under llrun: one copy of the shim, the inner policy" {
	run llrun --no-policy -n 3 -- sh -c '"$LLRUN" --no-policy -n 5 sh -c "tr \"\\0\" \"\\n\" </proc/\$\$/environ; nice"'
	equal "$status" 0
	equal "$(grep -c '^LLRUN_PLAN=' <<<"$output")" 1
	equal "$(sed -n 's/^LD_PRELOAD=//p' <<<"$output")" "$shim"
	run llrun --no-policy -s Process.Children=all -n 3 -- sh -c '"$LLRUN" --no-policy -n 5 "$TESTS/self"'
	equal "$(field preload <<<"$output") $(field nice <<<"$output")" "$shim 5"
}

@test "our shim in the caller's LD_PRELOAD, wherever it stands: still one copy, and the rest as it was" {
	local value kept
	while read -r value kept; do
		value=${value//_/ } kept=${kept//_/ }
		run in_program LD_PRELOAD "LD_PRELOAD=${value//SHIM/$shim}" "$LLRUN" --no-policy
		equal "$output" "$shim${kept:+:$kept}"
	done <<-'EOT'
		SHIM
		SHIM:libm.so.6 libm.so.6
		SHIM_libm.so.6 libm.so.6
		libm.so.6:SHIM libm.so.6:
		libm.so.6:SHIM:libm.so.6 libm.so.6:libm.so.6
		libm.so.6_SHIM_libm.so.6 libm.so.6_libm.so.6
	EOT
}

@test "a path that only begins as ours does is another library" {
	run --separate-stderr in_program LD_PRELOAD "LD_PRELOAD=$shim.old:$shim" "$LLRUN" --no-policy
	matches "$output" "^$shim:$shim\.old:\$"
}

@test "several LD_PRELOAD entries: the last counts, as for ld.so, and one is left" {
	need_program state
	need python3
	! sanitized_llrun || skip_or_fail "llrun is built with a sanitizer, which wants its options in the environment"
	run python3 - "$LLRUN" <<-'EOT'
		import ctypes, os, sys
		libc = ctypes.CDLL(None)
		argv = [sys.argv[1].encode(), b"--no-policy", b"sh", b"-c", b"tr '\\0' '\\n' </proc/$$/environ"]
		envp = [b"PATH=/usr/bin:/bin", b"LD_PRELOAD=libm.so.6", b"A=1", b"LD_PRELOAD=libm.so.6:libm.so.6", b"LLRUN_PLAN=a", b"LLRUN_PLAN=b"]
		pack = lambda l: (ctypes.c_char_p * (len(l) + 1))(*l, None)
		libc.execve(argv[0], pack(argv), pack(envp))
	EOT
	equal "$(grep '^LD_PRELOAD=' <<<"$output")" "LD_PRELOAD=$shim:libm.so.6:libm.so.6"
	equal "$(grep -c '^LLRUN_PLAN=' <<<"$output")" 1
}

@test "GLIBC_TUNABLES: ours behind the caller's, and the caller's choice of the same ones stands" {
	local ours='glibc.malloc.trim_threshold=18446744073709551615:glibc.malloc.mmap_max=0'
	local keep=(-s Process.HeapRelease=no)
	# Asked of the program: glibc before 2.39 cuts up the text that /proc shows.
	in_program() { env -- "${@:2}" sh -c "echo \"\$$1\""; }
	run in_program GLIBC_TUNABLES "$LLRUN" --no-policy "${keep[@]}"
	equal "$output" "$ours"
	run in_program GLIBC_TUNABLES GLIBC_TUNABLES=glibc.malloc.check=0 "$LLRUN" --no-policy "${keep[@]}"
	equal "$output" "glibc.malloc.check=0:$ours"
	run in_program GLIBC_TUNABLES GLIBC_TUNABLES=glibc.malloc.mmap_max=3 "$LLRUN" --no-policy "${keep[@]}"
	equal "$output" 'glibc.malloc.mmap_max=3:glibc.malloc.trim_threshold=18446744073709551615'
	# and without HeapRelease=no it is left alone
	run in_program GLIBC_TUNABLES GLIBC_TUNABLES=glibc.malloc.check=0 "$LLRUN" --no-policy -q -n 5
	equal "$output" 'glibc.malloc.check=0'
}

@test "nothing else changes in the environment, odd entries too" {
	local names='LD_PRELOAD|LLRUN_PLAN|_|SHLVL|PWD|OLDPWD'
	run env -i PATH="$PATH" A= 'B=a b' C=$'x\ty' LLRUN_POLICY_PATH=/nowhere LANG=C sh -c 'env' -
	local bare=$output
	run env -i PATH="$PATH" A= 'B=a b' C=$'x\ty' LLRUN_POLICY_PATH=/nowhere LANG=C "$LLRUN" --no-policy -d sh -c 'env' -
	equal "$(grep -vE "^($names)=" <<<"$output" | sort)" "$(grep -vE "^($names)=" <<<"$bare" | sort)"
}

@test "an empty environment" {
	run env -i "$LLRUN" --no-policy -n 5 "$TESTS/self"
	equal "$status" 0
	equal "$(field nice <<<"$output")" 5
	# no PATH: that of execvp
	run env -i "$LLRUN" --no-policy -n 5 true
	equal "$status" 0
}

@test "a program that the shim cannot enter gets neither variable of ours, and keeps the caller's LD_PRELOAD" {
	need_program threads-static
	start env LD_PRELOAD=libm.so.6 LLRUN_PLAN=stale "$LLRUN" --no-policy -n 5 "$TESTS/threads-static" -n 1 -s 60
	wait_ready
	local inside
	inside=$(tr '\0' '\n' <"/proc/$pid/environ")
	matches "$inside" '^LD_PRELOAD=libm.so.6$'
	lacks "$inside" '^LLRUN_PLAN='
}

@test "a child that the policy does not cover has the caller's LD_PRELOAD back, byte for byte" {
	local value
	for value in libm.so.6 ':libm.so.6 ' 'libm.so.6  libm.so.6'; do
		run env LD_PRELOAD="$value" "$LLRUN" --no-policy -n 5 sh -c '"$TESTS/self"; exit 0'
		equal "$(field preload <<<"$output") $(field plan <<<"$output")" "$value 0"
	done
	run llrun --no-policy -n 5 sh -c '"$TESTS/self"; exit 0'
	equal "$(field preload <<<"$output") $(field plan <<<"$output")" '(none) 0'
	run env LD_PRELOAD= "$LLRUN" --no-policy -n 5 sh -c '"$TESTS/self"; exit 0'
	equal "$(field preload <<<"$output")" ''
}

#!/usr/bin/env bash
# The house rules, as far as a machine can see them.  Prints each breach as file: what; exits 1 if there is any.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
CC=${CC:-gcc}
breaches=0

breach() {
	echo "lint: $*"
	breaches=$((breaches + 1))
}

# owner PATTERN FILE... : the pattern (an extended regular expression) stands in those files alone.
owner() {
	local pattern=$1 file
	shift
	while IFS=: read -r file line _; do
		[[ " $* " == *" $file "* ]] || breach "$file:$line: '$pattern' belongs to $*"
	done < <(grep -nE "$pattern" policy/*.[ch] launcher/*.[ch] launcher/*/*.[ch] shim/*.[ch] | grep -vE '^[^:]*:[0-9]*:[[:space:]]*(/\*|\*|//)')
}

# One owner for each dangerous header and call.
owner '#include <(libelf|gelf)\.h>' launcher/target.c
owner '#include <zlib\.h>' launcher/check/read.c
owner '#include <dlfcn\.h>' shim/init.c shim/thread.c
owner '#include <numa(if)?\.h>' nobody
owner '\b(setenv|unsetenv|putenv|clearenv)\(' launcher/environment.c
owner '(^|[^_[:alnum:]])exit\(' launcher/main.c
owner '(^|[^[:alnum:]])_exit\(' policy/memory.c shim/init.c launcher/ab/process.c
owner '\bfork\(' launcher/ab/process.c # an experiment starts programs; the launcher becomes one
owner '\b(vfork|posix_spawn|system|popen)\(' nobody
owner '\bstdout\b|\bputs\(|\bprintf\("' launcher/explain.c launcher/options.c launcher/main.c launcher/status.c launcher/check/check.c launcher/ab/ab.c launcher/ab/plot.c
grep -nE '#include <(stdio|stdlib)\.h>' shim/*.c policy/plan.c policy/glob.c policy/cpuset.c | grep -v 'shim/init.c.*stdlib\|shim/place.c.*stdlib' &&
	breach "shim: no stdio, and getenv is all of stdlib"

# The shim: exactly the hooks out, only the allowed in, libc alone, and nothing that musl or a small stack could not take.
so=$BUILD/libllrun.so
hooks() { sed -n 's/^\t*REAL([a-z]*, \([a-z0-9_]*\), .*/\1/p' shim/shim.h | sort; }
diff <(hooks) <(nm -D --defined-only "$so" | awk '{print $3}' | sort) >&2 || breach "$so: exports differ from REAL_FUNCTIONS"
diff <(hooks) <(sed -n 's/^\t\t\([a-z0-9_]*\);/\1/p' shim/shim.map | sort) >&2 || breach "shim.map differs from REAL_FUNCTIONS"
while read -r symbol; do
	[[ $symbol == _ITM_* || $symbol == __gmon_start__ ]] && continue # weak, of crtbegin
	grep -qx "${symbol%%@*}" shim/imports || breach "$so: imports $symbol, which shim/imports does not list"
	[[ $symbol == *@GLIBC_2.3[5-9] || $symbol == *@GLIBC_2.[4-9]* && $symbol != *@GLIBC_2.?.* && $symbol != *@GLIBC_2.? ]] &&
		breach "$so: $symbol is newer than glibc 2.34"
done < <(nm -D --undefined-only "$so" | awk '{print $2}')
dynamic=$(readelf -dW "$so")
[[ $(grep -c NEEDED <<<"$dynamic") == 1 && $dynamic == *'[libc.so.6]'* ]] || breach "$so: needs more than libc.so.6"
[[ $dynamic == *NOW* ]] || breach "$so: not linked with -z now"
[[ $dynamic == *NODELETE* ]] || breach "$so: not linked with -z nodelete"
[[ $dynamic == *TEXTREL* ]] && breach "$so: has text relocations"
segments=$(readelf -lW "$so")
[[ $segments == *' TLS '* ]] && breach "$so: has a TLS segment, which shrinks every small stack"
grep -q 'GNU_STACK.* RW ' <<<"$segments" || breach "$so: its stack is executable"

# Every key is in the man page and in a test, every option in the man page.
for key in $(sed -n 's/^\(SOCKET_\)*KEY(.*/&/; s/^KEY([^,]*, \([A-Za-z]*\),.*/\1/p; s/^SOCKET_KEY(\([A-Za-z]*\),.*/\1/p' policy/keys.def |
	sed 's/T | S, //; s/T, //'); do
	grep -q "$key" policy/llrun.policy.5 || breach "llrun.policy.5: nothing about $key="
	grep -rqE "\b$key\b" tests --include='*.bats' || breach "tests: nothing about $key="
done
for option in $(sed -n "s/^OPTION([^,]*, \"\([a-z-]*\)\".*/\1/p" launcher/options.def); do
	grep -q -- "Fl -${option//-/\\?-}\|Fl -$option" launcher/llrun.1 || breach "llrun.1: nothing about --$option"
done

# Others' eyes.  Each is used where it is installed; CI has them all.
have() { command -v "$1" >/dev/null || { echo "lint: no $1 here, left out"; false; }; }
have shellcheck && { shellcheck -x -S warning tests/*.sh tests/*.bash tests/*.bats tests/*/*.bats tests/*/*/*.bats tests/*/*/*.bash .ci/run launcher/completion.bash || breach "shellcheck"; }
# Its versions differ in what they find beautiful: the one of Debian 12 decides.
if have clang-format && [[ $(clang-format --version) == *"version 14."* ]]; then
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format --dry-run -Werror 2>/dev/null || breach "clang-format: run make format"
fi
have mandoc && { mandoc -T lint -W warning launcher/llrun.1 policy/llrun.policy.5 || breach "mandoc"; }
have cppcheck && { cppcheck --enable=warning,performance,portability --std=c11 -D_GNU_SOURCE -D__linux__ --inline-suppr \
	--error-exitcode=1 -q policy launcher shim || breach "cppcheck"; }
if have "$CC"; then
	analyzer=()
	[[ $CC == *clang* ]] || analyzer=(-fanalyzer)
	for file in policy/*.c launcher/*.c launcher/*/*.c shim/*.c; do
		"$CC" -std=gnu11 -D_GNU_SOURCE -DVERSION='""' -O2 -Wall -Wextra "${analyzer[@]}" -Werror -c "$file" -o /dev/null ||
			breach "$file: warnings of $CC -fanalyzer"
	done
fi

((breaches == 0)) && echo "lint: clean"
exit $((breaches > 0))

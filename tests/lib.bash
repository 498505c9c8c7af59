#!/usr/bin/env bash
# What every test file uses: `load lib`, or `load ../lib` from a subdirectory.
#
#   finding     $BUILD $LLRUN $TESTS $ROOT; llrun and look are functions
#   conditions  need COMMAND...  need_program NAME...  need_root  need_cpus N  need_fifo  need_kernel X.Y
#   running     policy NAME <<EOF  start CMD...  as_nobody CMD...  wait_for CMD...  free_port  stop_all
#   looking     field KEY  row KEY=VALUE...  thread_field PID COMM KEY  socket_field PID FD KEY
#   asserting   equal ACTUAL EXPECTED  matches TEXT PATTERN  lacks TEXT PATTERN  all_ok
#
# A condition that does not hold skips the test and says why; with LLRUN_MUST_RUN=1 it fails it.

bats_require_minimum_version 1.5.0

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${BUILD:-build}
[[ $BUILD == /* ]] || BUILD=$ROOT/$BUILD
LLRUN=$BUILD/llrun
TESTS=$BUILD/tests
export ROOT BUILD LLRUN TESTS

# Nothing of the person who runs the tests may decide their result.
unset LLRUN_POLICY_PATH LLRUN_PLAN LLRUN_SYSROOT LD_PRELOAD GLIBC_TUNABLES OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES GOMAXPROCS
export LC_ALL=C
[[ -z ${BATS_RUN_TMPDIR:-} ]] || { export HOME=$BATS_RUN_TMPDIR XDG_CONFIG_HOME=$BATS_RUN_TMPDIR/.config; }

# llrun itself built with SAN=address: its run-time insists on being loaded first, before any other preload.
sanitized_llrun() { ldd "$LLRUN" 2>/dev/null | grep -q libasan; }
! sanitized_llrun || export ASAN_OPTIONS=verify_asan_link_order=0

llrun() { "$LLRUN" "$@"; }
look() { "$TESTS/look" "$@"; }

# --- conditions ---

skip_or_fail() {
	if [[ ${LLRUN_MUST_RUN:-} == 1 ]]; then
		echo "cannot run here, and LLRUN_MUST_RUN=1: $*" >&2
		return 1
	fi
	skip "$*"
}

need() {
	local command
	for command; do
		command -v "$command" >/dev/null || skip_or_fail "no $command here" || return
	done
}

# A test program that is only built where its compiler is.
need_program() {
	local name
	for name; do
		[[ -e $TESTS/$name ]] || skip_or_fail "$TESTS/$name is not built" || return
	done
}

need_root() { ((EUID == 0)) || skip_or_fail "needs root"; }

need_cpus() {
	local online
	online=$(getconf _NPROCESSORS_ONLN)
	((online >= $1)) || skip_or_fail "needs $1 CPUs, $online online"
}

need_fifo() {
	need chrt || return
	chrt -f 1 true 2>/dev/null || skip_or_fail "SCHED_FIFO is not permitted here"
}

need_kernel() {
	local version
	version=$(uname -r)
	printf '%s\n%s\n' "$1" "${version%%[!0-9.]*}" | sort -CV || skip_or_fail "needs Linux $1, this is $version"
}

# --- running ---

# The policy on stdin, as $BATS_TEST_TMPDIR/NAME.policy; prints that path.
policy() {
	local path=$BATS_TEST_TMPDIR/$1.policy
	cat >"$path"
	chmod 644 "$path"
	echo "$path"
}

# Sets `words` to a command that needs no function of ours, so that it can be executed as one process.
# Only as the first words: llrun, look, as_nobody, or the name of a test program.
expand() {
	words=()
	if [[ $1 == as_nobody ]]; then
		shift
		if ((EUID == 0)); then
			# Bats makes its directories for root alone.
			chmod go+rx "$BATS_RUN_TMPDIR" "${BATS_SUITE_TMPDIR:-$BATS_RUN_TMPDIR}" "${BATS_FILE_TMPDIR:-$BATS_RUN_TMPDIR}" \
				"$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
			words=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
		fi
	fi
	case $1 in
	llrun) words+=("$LLRUN") ;;
	look) words+=("$TESTS/look") ;;
	*) words+=("$1") ;;
	esac
	words+=("${@:2}")
}

# Runs a command as uid 65534 without capabilities; as we are, if we are not root.
as_nobody() {
	local words
	expand as_nobody "$@"
	"${words[@]}"
}

# Starts a command in the background.  Sets pid, out and err: its process id, the files of its output.  It is killed at the
# end of the test.  The pid is the command's own: llrun and setpriv exec.
start() {
	local words number=${#started[@]}
	expand "$@"
	out=$BATS_TEST_TMPDIR/out.$number
	err=$BATS_TEST_TMPDIR/err.$number
	: >"$out"
	: >"$err"
	"${words[@]}" >"$out" 2>"$err" </dev/null 3>&- &
	pid=$!
	started+=("$pid")
}
started=()
pid='' out='' err=''

stop_all() {
	local one
	for one in "${started[@]}"; do
		kill "$one" 2>/dev/null || continue
		for _ in {1..40}; do
			kill -0 "$one" 2>/dev/null || break
			sleep 0.05
		done
		kill -KILL "$one" 2>/dev/null || true
		wait "$one" 2>/dev/null || true
	done
	started=()
}

# A file with a teardown of its own calls stop_all in it.
teardown() { stop_all; }

# Until the command succeeds: 20 s at most, so that a slow machine is no failure.
wait_for() {
	for _ in {1..400}; do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	echo "never became true: $*" >&2
	[[ -z $err || ! -s $err ]] || sed 's/^/stderr of the last start: /' "$err" >&2
	return 1
}

# Until the program of the last start printed a line `ready`.
wait_ready() { wait_for grep -qx ready "$out"; }

# A TCP port below the range from which the kernel gives them out, that nobody has.
free_port() {
	local port hex
	for _ in {1..100}; do
		port=$((20000 + RANDOM % 10000))
		printf -v hex ':%04X ' "$port"
		if ! cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qF "$hex"; then
			echo "$port"
			return
		fi
	done
	return 1
}

# --- looking: lines of KEY=VALUE fields, separated by tabs ---

# The value of KEY in each line of stdin that has it.
field() {
	awk -F '\t' -v key="$1=" '{ for (i = 1; i <= NF; i++) if (index($i, key) == 1) print substr($i, length(key) + 1) }'
}

# The lines of stdin that have all these fields: row who=main policy=fifo
row() {
	local wanted
	wanted=$(printf '%s\t' "$@")
	WANTED=$wanted awk 'BEGIN { n = split(ENVIRON["WANTED"], want, "\t") - 1 }
		{ line = "\t" $0 "\t"; for (i = 1; i <= n; i++) if (!index(line, "\t" want[i] "\t")) next; print }'
}

thread_field() { look threads "$1" | row "comm=$2" | field "$3"; }
socket_field() { look sockets "$1" | row "fd=$2" | field "$3"; }

# --- asserting ---

equal() {
	[[ $1 == "$2" ]] && return
	printf 'expected: %s\n     got: %s\n' "$2" "$1" >&2
	return 1
}

# An extended regular expression, in any line.
matches() {
	grep -qE -- "$2" <<<"$1" && return
	printf 'no line matches: %s\nin:\n%s\n' "$2" "$1" >&2
	return 1
}

lacks() {
	grep -qE -- "$2" <<<"$1" || return 0
	printf 'a line matches: %s\nin:\n%s\n' "$2" "$1" >&2
	return 1
}

# $status is 0, $output has an "ok" and no "FAIL".
# shellcheck disable=SC2154 # bats sets status and output
all_ok() {
	matches "$output" '^ok ' && lacks "$output" '^FAIL ' && equal "$status" 0
}

# What the tests of this directory share: one boot a file, in setup_file, runs all experiments and keeps what they said; the
# tests look at that.  `load ../lib` first.
# shellcheck shell=bash
#
#   on the host    boot [VMRUN OPTION...] <script     result NAME: sets output, errors, status    kept: the file's directory
#   in the guest   run NAME COMMAND...    keep NAME <text    cpus EXPRESSION: a line of the result "cpus"    table WHERE
#
# A guest that cannot be had skips the tests with the reason.

VM_DIR=${VM_DIR:-$BUILD/vm/linux-image-6.12-amd64}
[[ $VM_DIR == /* ]] || VM_DIR=$ROOT/$VM_DIR

# --- in the guest: boot puts these functions before the script ---

run() { # NAME COMMAND...
	local status=0
	"${@:2}" >"$kept/$1.out" 2>"$kept/$1.err" </dev/null || status=$?
	echo "$status" >"$kept/$1.status"
}

keep() { # NAME <text
	cat >"$kept/$1.out"
	echo 0 >"$kept/$1.status"
}

# Which CPUs an expression means, or what llrun says to it.
cpus() {
	local said
	said=$("$LLRUN" --explain -c "$1" /bin/true 2>&1 | sed -n 's/^  all threads  *CPUs \([-0-9,]*\).*/\1/p; s/^llrun: //p')
	printf '%s\t%s\n' "$1" "${said//$'\n'/ / }" >>"$kept/cpus.out"
	echo 0 >"$kept/cpus.status"
}

# The claim that llrun was built on: four threads that spin, started in six ways.
table() { # WHERE
	local spin=$TESTS/spin
	run "$1-taskset-other" taskset -c 4-7 "$spin"
	run "$1-taskset-fifo" taskset -c 4-7 chrt -f 50 "$spin"
	run "$1-taskset-later" taskset -c 4-7 "$spin" -f 50
	run "$1-llrun-other" "$LLRUN" -c isolated "$spin"
	run "$1-llrun-fifo" "$LLRUN" -c isolated -f 50 "$spin"
	run "$1-llrun-later" "$LLRUN" -c isolated "$spin" -f 50
}

# --- on the host ---

# A reason instead of a guest: setup_file cannot skip (bats 1.8), so it is kept for the tests.
no_guest() {
	local command
	for command in qemu-system-x86_64 cpio taskset chrt; do
		command -v "$command" >/dev/null || { echo "no $command here"; return 0; }
	done
	if [[ ! -e $VM_DIR/vmlinux ]]; then
		[[ -s $VM_DIR/why ]] && cat "$VM_DIR/why" || echo "no guest kernel here; make check-vm fetches one"
		return 0
	fi
	[[ -e $TESTS/spin ]] || { echo "$TESTS/spin is not built; make check-vm builds it"; return 0; }
	return 1
}

boot() { # [VMRUN OPTION...] <script
	local status=0
	kept=$BATS_FILE_TMPDIR
	no_guest >"$kept/skip" && return
	rm "$kept/skip"
	{
		declare -f run keep cpus table
		printf '%s=%q\n' kept "$kept" LLRUN "$LLRUN" TESTS "$TESTS" ROOT "$ROOT"
		# Shipped policies are found beside llrun, or in the source tree only if it is built there.
		printf 'export LC_ALL=C LLRUN_POLICY_PATH=%q\n' "$ROOT/policy/shipped"
		cat
	} >"$kept/script"
	"$ROOT/tests/vm/vmrun" -k "$VM_DIR" -w "$kept" "$@" -- bash "$kept/script" >"$kept/boot" 2>&1 || status=$?
	((status == 0)) || { echo "the guest's script ended with $status:"; tail -n 40 "$kept/boot"; return 1; } >&2
}

setup() {
	kept=$BATS_FILE_TMPDIR
	[[ ! -e $kept/skip ]] || skip_or_fail "$(<"$kept/skip")"
}

# shellcheck disable=SC2034 # for the tests
result() {
	output=$(<"$kept/$1.out") errors=$(cat "$kept/$1.err" 2>/dev/null) status=$(<"$kept/$1.status")
}

# One line of the claim's table, on the terminal.
show_row() { # NAME
	local who ms seen
	result "$1"
	printf '# %-30s %s CPU: ' "$1" "$(row who=all <<<"$output" | field used)" >&3
	for who in 1 2 3 4; do
		ms=$(row "who=$who" <<<"$output" | field ms)
		seen=$(row "who=$who" <<<"$output" | field seen)
		printf ' %4d ms/%6d on %-7s' "$ms" "$(row "who=$who" <<<"$output" | field progress)" "$seen" >&3
	done
	echo >&3
}

# Each of the four threads had one of the CPUs 4-7 for itself: pinned there, seen nowhere else, and got most of the time.
one_each() { # NAME POLICY
	local who
	result "$1"
	equal "$status" 0
	equal "$(row who=all <<<"$output" | field seen)" 4,5,6,7
	for who in 1 2 3 4; do
		equal "$(row "who=$who" <<<"$output" | field cpus)" "$(row "who=$who" <<<"$output" | field seen)"
		equal "$(row "who=$who" <<<"$output" | field policy)" "$2"
		(($(row "who=$who" <<<"$output" | field ms) > 750)) || { echo "thread $who got less than half of its CPU" >&2; return 1; }
		(($(row "who=$who" <<<"$output" | field progress) > 0))
	done
}

#!/usr/bin/env bash
# Runs test suites that others wrote, bare and under llrun with a policy that uses every hook, and prints what differs.
#
#   compat.sh [SUITE...]    python:socket, glib:thread, own:attrs; without any: all of them
#
# A test whose result differs is run twice more both ways: only what differs each time counts, the rest is told as unsteady.
# At the end the same comparison is made with deliberately wrong shims, which it must notice.  Exits 1 on any difference, or
# if a wrong shim went unseen.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
PYTHON=/usr/bin/python3
GLIB=/usr/libexec/installed-tests/glib
LIMIT=${LIMIT:-600} # seconds a suite may take
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset LD_PRELOAD LLRUN_PLAN

python_suites=(thread threading socket asyncio subprocess multiprocessing_fork multiprocessing_spawn multiprocessing_forkserver posix os
	concurrent_futures selectors)
glib_suites=(thread thread-pool thread-pool-slow thread-deprecated threadtests mutex rec-mutex rwlock cond once private asyncqueue
	mainloop timeout spawn-multithreaded spawn-singlethread spawn-path-search spawn-test unix-fd socket socket-client socket-listener socket-service socket-address
	gsocketclient-slow gsubprocess gdbus-peer gdbus-addresses gdbus-auth gdbus-connection gdbus-threading gdbus-non-socket gdbus-server-auth
	gdbus-exit-on-close gdbus-method-invocation gdbus-overflow pollable task unix-streams)

bare() { "$@"; }
under() { "$BUILD/llrun" -q -p tests/compat/compat.policy -- "$@"; }
wrong() { env LD_PRELOAD="$BUILD/tests/wrong.so" "$@"; }

# Differences that the policy asks for, each with its reason; told, not counted.
asked_for() {
	case $1 in
	*test_base_events.TestSelectorUtils.test_set_nodelay*) echo "it wants TCP_NODELAY to be off at first; NoDelay=yes" ;;
	*) false ;;
	esac
}

# "NAME RESULT" of each test in a report of JUnit's form: what -v prints a child may write into.
from_junit() {
	"$PYTHON" - "$1" <<-'END'
		import sys, xml.etree.ElementTree as ElementTree
		for test in ElementTree.parse(sys.argv[1]).iter("testcase"):
		    wrong = [child.tag for child in test if child.tag in ("failure", "error", "skipped")]
		    print(test.get("name"), "+".join(wrong) or test.get("result"))
	END
}

# run HOW SUITE: one line a test, "NAME RESULT", sorted.
run() {
	local how=$1 kind=${2%%:*} name=${2#*:}
	case $kind in
	python) # VSOCK: their outcome is the hypervisor's, who may also never answer
		rm -f "$work/junit"
		"$how" timeout "$LIMIT" "$PYTHON" -m test -v -i '*VSOCK*' --junit-xml "$work/junit" "test_$name" >"$work/printed" 2>&1 </dev/null
		if [[ -s $work/junit ]]; then
			from_junit "$work/junit"
		else # it was ended before it could write its report
			sed -nE 's/^(test[[:alnum:]_]*) \(([[:alnum:]_.]*)\).* \.\.\. ([0-9.]+ ?s(ec)? )?(ok|FAIL|ERROR|skipped|expected failure|unexpected success).*/\2 \5/p' "$work/printed"
		fi
		;;
	glib)
		"$how" timeout "$LIMIT" dbus-run-session -- "$GLIB/$name" --tap 2>/dev/null </dev/null |
			sed -nE 's/^(ok|not ok) [0-9]+ ([^ ]*)( # (SKIP|TODO))?.*/\2 \1\3/p'
		;;
	own)
		"$how" timeout "$LIMIT" "$BUILD/tests/$name" 2>&1 </dev/null | sed -nE 's/^(ok|FAIL) ([^ ]*).*/\2 \1/p'
		;;
	esac | sort -u
}

# compare HOW SUITE: prints and counts what differs steadily; how many tests were seen goes to `seen`.
compare() {
	local how=$1 suite=$2 round name reason
	run bare "$suite" >"$work/bare"
	run "$how" "$suite" >"$work/other"
	seen=$(wc -l <"$work/bare")
	diff "$work/bare" "$work/other" | grep '^[<>]' | sed 's/^[<>] //; s/ [^ ]*$//' | sort -u >"$work/differs"
	for round in 2 3; do
		[[ -s $work/differs ]] || break
		run bare "$suite" >"$work/bare"
		run "$how" "$suite" >"$work/other"
		diff "$work/bare" "$work/other" | grep '^[<>]' | sed 's/^[<>] //; s/ [^ ]*$//' | sort -u >"$work/again"
		comm -12 "$work/differs" "$work/again" >"$work/steady"
		comm -23 "$work/differs" "$work/again" | sed "s/^/    unsteady (round $round): /"
		mv "$work/steady" "$work/differs"
	done
	differences=0
	while read -r name; do
		if reason=$(asked_for "$name"); then
			echo "    asked for: $name: $reason"
		else
			echo "    differs: $name"
			((differences++))
		fi
	done <"$work/differs"
}

suites=("$@")
if ((!$#)); then
	suites=(own:attrs own:errno "${python_suites[@]/#/python:}")
	for name in "${glib_suites[@]}"; do
		[[ -x $GLIB/$name ]] && suites+=("glib:$name")
	done
fi

total=0 tests=0 seen=0 differences=0
printf '%-36s %8s %12s\n' suite tests differences
for suite in "${suites[@]}"; do
	compare under "$suite" >"$work/report"
	printf '%-36s %8d %12d\n' "$suite" "$seen" "$differences"
	cat "$work/report"
	((total += differences, tests += seen))
done
printf '%-36s %8d %12d\n' all "$tests" "$total"

blind=0
for control in errno:python:socket attr:own:attrs; do
	export WRONG=${control%%:*}
	LIMIT=120 compare wrong "${control#*:}" >/dev/null # a wrong shim may well hang it
	unset WRONG
	printf '%-36s %8d %12d %s\n' "wrong shim: ${control%%:*}" "$seen" "$differences" "$( ((differences)) && echo seen || echo NOT SEEN)"
	((differences)) || blind=1
done
exit $((total > 0 || blind))

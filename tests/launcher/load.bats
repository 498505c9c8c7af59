#!/usr/bin/env bats
# Where a policy comes from, in which order, and which file is none.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

# A directory with llrun beside it, whose shipped policies are ours to write.
setup() {
	mkdir -p "$BATS_TEST_TMPDIR/tree/build" "$BATS_TEST_TMPDIR/tree/build/shipped" "$BATS_TEST_TMPDIR/home/.config/llrun" \
		"$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
	cp "$LLRUN" "$BUILD/libllrun.so" "$BATS_TEST_TMPDIR/tree/build/"
	export HOME=$BATS_TEST_TMPDIR/home
}

tree_llrun() { "$BATS_TEST_TMPDIR/tree/build/llrun" "$@"; }

# A policy NAME in DIRECTORY, told apart by its Nice=N.
put_policy() {
	printf '[Process]\nNice=%d\n' "$3" >"$BATS_TEST_TMPDIR/$1/$2.policy"
	chmod 644 "$BATS_TEST_TMPDIR/$1/$2.policy"
}

# The policy that is taken has this Nice=.
takes() {
	run --separate-stderr tree_llrun "${@:2}" --explain true
	equal "$status" 0 || { echo "$stderr" >&2; return 1; }
	matches "$output" "^  Nice=$1 "
}

refuses() {
	run --separate-stderr tree_llrun "${@:2}" -- touch "$BATS_TEST_TMPDIR/started"
	equal "$status" 125
	equal "$output" ""
	matches "$stderr" "^llrun: $1"
	[[ ! -e $BATS_TEST_TMPDIR/started ]]
}

@test "the order: LLRUN_POLICY_PATH from left to right, ~/.config/llrun, /etc/llrun, the shipped ones" {
	put_policy tree/build/shipped p 1
	takes 1 -p p
	put_policy home/.config/llrun p 2
	takes 2 -p p
	put_policy two p 3
	LLRUN_POLICY_PATH=$BATS_TEST_TMPDIR/one:$BATS_TEST_TMPDIR/two takes 3 -p p
	put_policy one p 4
	LLRUN_POLICY_PATH=$BATS_TEST_TMPDIR/one:$BATS_TEST_TMPDIR/two takes 4 -p p
	# empty entries are none
	LLRUN_POLICY_PATH=::$BATS_TEST_TMPDIR/two: takes 3 -p p
	LLRUN_POLICY_PATH='' takes 2 -p p
}

# In a mount namespace of its own: this machine's /etc stays as it is.
@test "/etc/llrun stands between ~/.config/llrun and the shipped ones" {
	need_root
	need unshare
	unshare -m true 2>/dev/null || skip_or_fail "no mount namespace can be made here"
	put_policy tree/build/shipped p 1
	put_policy one p 5
	cat >"$BATS_TEST_TMPDIR/inside" <<-'EOT'
		mount -t tmpfs none /etc && mkdir /etc/llrun && cp "$1/one/p.policy" /etc/llrun/ || exit 77
		"$1/tree/build/llrun" -p p --explain /bin/true
		cp "$1/two/p.policy" "$1/home/.config/llrun/"
		"$1/tree/build/llrun" -p p --explain /bin/true
	EOT
	put_policy two p 6
	run unshare -m --propagation private sh "$BATS_TEST_TMPDIR/inside" "$BATS_TEST_TMPDIR"
	[[ $status != 77 ]] || skip_or_fail "nothing can be mounted here"
	equal "$status" 0
	equal "$(sed -nE 's/^policy +//p; s/^  Nice=([0-9]).*/\1/p' <<<"$output" | tr '\n' ' ')" \
		"/etc/llrun/p.policy 5 $HOME/.config/llrun/p.policy 6 "
}

@test "without -p: the program's base name" {
	put_policy home/.config/llrun true 7
	takes 7
	run --separate-stderr tree_llrun --explain "$(command -v true)"
	matches "$output" '^  Nice=7 '
	# and not with --no-policy
	run --separate-stderr tree_llrun --no-policy --explain true
	lacks "$output" 'Nice=7'
	# a script by its own name, not by its interpreter's
	printf '#!/bin/sh\nexit 0\n' >"$BATS_TEST_TMPDIR/script"
	chmod 755 "$BATS_TEST_TMPDIR/script"
	put_policy home/.config/llrun script 8
	run --separate-stderr tree_llrun --explain "$BATS_TEST_TMPDIR/script"
	matches "$output" '^  Nice=8 '
}

@test "the program's policy counts with quick options too, and they come after it" {
	put_policy home/.config/llrun true 7
	takes 7 -s Process.Children=all
	takes 9 -n 9
}

@test "a name with a slash is a path, taken as it is" {
	put_policy one p 5
	takes 5 -p "$BATS_TEST_TMPDIR/one/p.policy"
	cd "$BATS_TEST_TMPDIR/one"
	takes 5 -p ./p.policy
	refuses './p: No such file or directory' -p ./p
	# and one without is no file of this directory
	refuses "no policy 'p.policy': looked for p.policy.policy in " -p p.policy
}

@test "none found: the error lists where it looked" {
	LLRUN_POLICY_PATH=$BATS_TEST_TMPDIR/one:/nowhere refuses \
		"no policy 'nosuch': looked for nosuch.policy in $BATS_TEST_TMPDIR/one, /nowhere, $HOME/.config/llrun, /etc/llrun, $BATS_TEST_TMPDIR/tree/build/shipped\$" \
		-p nosuch
	refuses "no policy for 'touch': looked for touch.policy in $HOME/.config/llrun, /etc/llrun, .*/build/shipped; give one with -p, or options such as -c CPUS"
}

@test "none found, but quick options: they are enough" {
	run tree_llrun -n 5 -- "$TESTS/self"
	equal "$status" 0
	equal "$(field nice <<<"$output")" 5
	# what -p names must be there all the same
	refuses "no policy 'nosuch'" -n 5 -p nosuch
}

@test "the shipped policies of this tree are found from the build tree, and every one is a policy" {
	local file
	run ls "$ROOT/policy/shipped"
	[[ $status == 0 && -n $output ]] || skip_or_fail "no shipped policies"
	for file in "$ROOT"/policy/shipped/*.policy; do
		cp "$file" "$BATS_TEST_TMPDIR/one/p.policy"
		chmod 644 "$BATS_TEST_TMPDIR/one/p.policy"
		run --separate-stderr tree_llrun -w -q -p "$BATS_TEST_TMPDIR/one/p.policy" --explain true
		equal "$file: $status $stderr" "$file: 0 "
	done
}

@test "a directory, a FIFO, a device, a file that is too large or not there" {
	mkdir "$BATS_TEST_TMPDIR/d.policy"
	refuses '.*/d\.policy: expected a policy, a text file of at most 1M' -p "$BATS_TEST_TMPDIR/d.policy"
	# and nobody waits for a writer
	mkfifo "$BATS_TEST_TMPDIR/f.policy"
	refuses '.*/f\.policy: expected a policy' -p "$BATS_TEST_TMPDIR/f.policy"
	refuses '/dev/zero: expected a policy' -p /dev/zero
	truncate -s 1048577 "$BATS_TEST_TMPDIR/l.policy"
	refuses '.*/l\.policy: expected a policy' -p "$BATS_TEST_TMPDIR/l.policy"
	refuses '.*/n\.policy: No such file or directory' -p "$BATS_TEST_TMPDIR/n.policy"
	mkdir "$BATS_TEST_TMPDIR/one/p.policy"
	LLRUN_POLICY_PATH=$BATS_TEST_TMPDIR/one refuses '.*/one/p\.policy: expected a policy' -p p
}

@test "a large policy of 1M is read whole" {
	{
		echo '[Process]'
		head -c 1000000 /dev/zero | tr '\0' '#'
		printf '\nNice=5\n'
	} >"$BATS_TEST_TMPDIR/one/p.policy"
	chmod 644 "$BATS_TEST_TMPDIR/one/p.policy"
	takes 5 -p "$BATS_TEST_TMPDIR/one/p.policy"
}

@test "a policy that this user cannot read: an error, not the next place" {
	if ((EUID == 0)); then need setpriv; fi
	put_policy home/.config/llrun p 5
	put_policy one p 6
	chmod 0 "$BATS_TEST_TMPDIR/one/p.policy"
	run --separate-stderr as_nobody env LLRUN_POLICY_PATH="$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/tree/build/llrun" -p p --explain true
	equal "$status" 125
	matches "$stderr" '^llrun: .*/one/p\.policy: Permission denied'
}

@test "as root: a policy that others can write, or that belongs to another user, is refused" {
	need_root
	put_policy one p 5
	chmod 666 "$BATS_TEST_TMPDIR/one/p.policy"
	refuses '.*/p\.policy can be written by others, who could have root run anything: chmod go-w it' -p "$BATS_TEST_TMPDIR/one/p.policy"
	chmod 664 "$BATS_TEST_TMPDIR/one/p.policy"
	chgrp 65534 "$BATS_TEST_TMPDIR/one/p.policy"
	refuses '.*/p\.policy can be written by others' -p "$BATS_TEST_TMPDIR/one/p.policy"
	chmod 644 "$BATS_TEST_TMPDIR/one/p.policy"
	takes 5 -p "$BATS_TEST_TMPDIR/one/p.policy"
	chown 65534 "$BATS_TEST_TMPDIR/one/p.policy"
	refuses '.*/p\.policy belongs to user 65534, .*: chown root it' -p "$BATS_TEST_TMPDIR/one/p.policy"
	# nor is it passed over for the next place
	put_policy home/.config/llrun p 6
	LLRUN_POLICY_PATH=$BATS_TEST_TMPDIR/one refuses '.*/p\.policy belongs to user 65534' -p p
}

@test "as another user: one's own policy may be written by others" {
	put_policy one p 5
	chmod 666 "$BATS_TEST_TMPDIR/one/p.policy"
	run --separate-stderr as_nobody "$BATS_TEST_TMPDIR/tree/build/llrun" -p "$BATS_TEST_TMPDIR/one/p.policy" --explain true
	equal "$status" 0
	matches "$output" '^  Nice=5 '
}

@test "installed: bin/llrun finds ../lib/llrun/libllrun.so and ../share/llrun" {
	local prefix=$BATS_TEST_TMPDIR/prefix
	mkdir -p "$prefix/bin" "$prefix/lib/llrun" "$prefix/share/llrun"
	cp "$LLRUN" "$prefix/bin/"
	cp "$BUILD/libllrun.so" "$prefix/lib/llrun/"
	printf '[Process]\nNice=5\n' >"$prefix/share/llrun/p.policy"
	chmod 644 "$prefix/share/llrun/p.policy"
	run --separate-stderr "$prefix/bin/llrun" -p p --explain true
	equal "$status" 0
	matches "$output" '^  Nice=5 '
	matches "$output" "^shim     $prefix/lib/llrun/libllrun.so\$"
	run --separate-stderr "$prefix/bin/llrun" -p p -- "$TESTS/self"
	equal "$(field preload <<<"$output")" "$prefix/lib/llrun/libllrun.so"
}

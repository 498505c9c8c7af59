#!/usr/bin/env bats
# launcher/llrun.1, "Units of systemd": what it shows is good as it stands.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status
load ../lib

# The text between .Bd and .Ed number $1 of that section, as mdoc(7) shows it, with programs that are here.
shown() {
	awk -v wanted="$1" '/^\.Ss Units of systemd/ { inside = 1 } /^\.Sh/ { inside = 0 }
		/^\.Ed/ { on = 0 } inside && on && n == wanted { gsub(/\\e/, "\\"); print } /^\.Bd/ { if (inside) n++; on = 1 }' \
		"$BATS_TEST_DIRNAME/../../launcher/llrun.1" | sed 's,/usr/local/bin/[a-z]*,/bin/true,g'
}

# verify says what it does not understand, and exits with 0 all the same (systemd 252).
verify() {
	run env SYSTEMD_UNIT_PATH="$BATS_TEST_TMPDIR:" systemd-analyze verify --man=no "$BATS_TEST_TMPDIR/$1"
	equal "$status $output" '0 '
}

@test "the service" {
	need systemd-analyze
	shown 1 >"$BATS_TEST_TMPDIR/feed.service"
	grep -q '^ExecStart=/bin/true -p feedhandler' "$BATS_TEST_TMPDIR/feed.service"
	verify feed.service
}

@test "the drop-in for Debian's redis-server.service" {
	need systemd-analyze
	local unit=/lib/systemd/system/redis-server.service
	[[ -e $unit ]] || skip_or_fail "no $unit here"
	cp "$unit" "$BATS_TEST_TMPDIR"
	mkdir "$BATS_TEST_TMPDIR/redis-server.service.d"
	shown 2 >"$BATS_TEST_TMPDIR/redis-server.service.d/llrun.conf"
	grep -q '^SystemCallFilter=@resources' "$BATS_TEST_TMPDIR/redis-server.service.d/llrun.conf"
	verify redis-server.service
	# it is read at all
	echo NoSuchKey=1 >>"$BATS_TEST_TMPDIR/redis-server.service.d/llrun.conf"
	run ! verify redis-server.service
	matches "$output" "NoSuchKey"
}

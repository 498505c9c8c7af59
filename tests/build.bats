#!/usr/bin/env bats
# GNUmakefile: what install, uninstall and deb leave.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, BUILD
load lib

# Into a tree of the test's own, from what is built already.
make_it() {
	sanitized_llrun && skip "a sanitized llrun is not to be installed"
	make -s -C "$BATS_TEST_DIRNAME/.." BUILD="$BUILD" MAKEFLAGS= "$@"
}

@test "install puts each file in its place, and uninstall takes all of them away" {
	local root=$BATS_TEST_TMPDIR/root
	make_it install DESTDIR="$root" PREFIX=/opt/x >/dev/null
	run --separate-stderr "$root/opt/x/bin/llrun" -p safe --explain true
	equal "$status" 0
	matches "$output" "^policy   $root/opt/x/share/llrun/safe.policy\$"
	matches "$output" "^shim     $root/opt/x/lib/llrun/libllrun.so\$"
	[[ -s $root/opt/x/share/man/man1/llrun.1 && -s $root/opt/x/share/man/man5/llrun.policy.5 ]]
	[[ -s $root/opt/x/share/bash-completion/completions/llrun ]]
	equal "$(find "$root" -type f -perm /022 | wc -l)" 0
	make_it uninstall DESTDIR="$root" PREFIX=/opt/x >/dev/null
	equal "$(find "$root" -type f | wc -l)" 0
}

@test "deb: a package of the same files, which runs where it is unpacked" {
	need dpkg-deb dpkg-shlibdeps strip
	[[ -w $BUILD ]] || skip "the build tree is not ours to write"
	local root=$BATS_TEST_TMPDIR/root version package
	make_it deb >/dev/null
	version=$(llrun --version | sed 's/.* //')
	package=$BUILD/llrun_${version}_$(dpkg --print-architecture).deb
	matches "$(dpkg-deb -f "$package" Depends)" '(^|, )libc6 \(>= 2\.[0-9]+\)'
	dpkg-deb -x "$package" "$root"
	run "$root/usr/bin/llrun" -p safe "$TESTS/self"
	equal "$status" 0
	equal "$(field preload <<<"$output")" "$root/usr/lib/llrun/libllrun.so"
}

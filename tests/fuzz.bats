#!/usr/bin/env bats
# The fuzz targets, each for three seconds from its seeds; `make fuzz` runs them for ten minutes each.

load lib

# fuzz TARGET: the seeds by the compiler of the build, then libFuzzer where clang has it.
fuzz() {
	local found=$BATS_TEST_TMPDIR/found seeds=$ROOT/tests/fuzz/corpus/$1
	[[ -x $BUILD/fuzz/$1-replay ]] || skip_or_fail "$BUILD/fuzz/$1-replay is not built"
	run "$BUILD/fuzz/$1-replay" "$seeds"/*
	equal "$status" 0
	[[ -x $BUILD/fuzz/$1 ]] ||
		skip_or_fail "no libFuzzer here (Debian: clang and libclang-rt-14-dev): only the seeds were replayed"
	mkdir "$found"
	# The plan's text may get fields: one of today's beside the committed seeds.
	if [[ $1 == plan ]]; then
		"$LLRUN" -q --no-policy -w -c online -m -d -b 50 -s 'Thread main rx-*.Nice=0' \
			-s 'Thread index=2-5 lib=libc.so*.CPUAffinity=online' env | sed -n 's/^LLRUN_PLAN=.//p' >"$found/now"
		matches "$(<"$found/now")" 'rx-'
	fi
	run "$BUILD/fuzz/$1" -max_total_time=3 -timeout=10 -max_len=4096 -rss_limit_mb=1024 \
		-artifact_prefix="$BATS_TEST_TMPDIR/" "$found" "$seeds"
	# libFuzzer prints the input that broke something, as hex and base64.
	((status == 0)) || tail -n 40 <<<"$output" >&2
	equal "$status" 0
}

@test "policy: any text and any assignments are read or refused, and values stay within their keys' rows" {
	fuzz policy
}

@test "expr: any CPU expression is evaluated or refused with a reason, and sets survive being written and read" {
	fuzz expr
}

@test "plan: any LLRUN_PLAN is decoded or refused, and what was decoded is safe to index by" {
	fuzz plan
}

@test "elf: any executable is inspected, whatever its headers claim" {
	fuzz elf
}

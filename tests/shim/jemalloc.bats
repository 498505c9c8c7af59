#!/usr/bin/env bats
# jemalloc beside the shim: it makes threads of its own, and its init runs inside whoever allocates first.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

setup() {
	jemalloc=$(ldconfig -p 2>/dev/null | awk '/libjemalloc\.so\.2/ { print $NF; exit }')
	[[ -n $jemalloc ]] || skip_or_fail "no libjemalloc2 here"
	! sanitized_llrun || skip_or_fail "llrun is built with a sanitizer, which does not live with another allocator preloaded"
	need_cpus 2
	export MALLOC_CONF=background_thread:true,abort_conf:true
}

placed() {
	equal "$status" 0
	equal "$stderr" ""
	equal "$(row when=start who=0 <<<"$output" | field cpus)" 0
	equal "$(row when=start cpus=1 nice=2 <<<"$output" | wc -l)" 6
}

@test "the shim first" {
	LD_PRELOAD=$jemalloc run --separate-stderr llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 \
		'[Thread index=1-99]' CPUAffinity=1 Nice=2)" \
		-- "$TESTS/threads" -n 6
	placed
}

@test "jemalloc first" {
	run --separate-stderr llrun -q -p "$(rules '[Thread main]' CPUAffinity=0 \
		'[Thread index=1-99]' CPUAffinity=1 Nice=2)" \
		-- env "LD_PRELOAD=$jemalloc:$BUILD/libllrun.so" "$TESTS/threads" -n 6
	placed
}

# It asks dlsym(RTLD_NEXT) for pthread_create and so passes the hook by; its thread calls itself jemalloc_bg_thd.
@test "its background thread is placed by its name" {
	LD_PRELOAD=$jemalloc start llrun -q -p "$(rules '[Process]' CPUAffinity=1 '[Thread main]' CPUAffinity=0 \
		'[Thread jemalloc*]' CPUAffinity=1 Nice=3)" \
		-- "$TESTS/threads" -n 1 -s 30
	wait_ready
	wait_for background
	equal "$(thread_field "$pid" jemalloc_bg_thd cpus) $(thread_field "$pid" jemalloc_bg_thd nice)" "1 3"
}
background() { look threads "$pid" | grep -q comm=jemalloc_bg_thd; }

@test "attributes, C11 threads and errno are as without us" {
	local program
	for program in attrs c11 errno; do
		LD_PRELOAD=$jemalloc run llrun -q --no-policy -c 0-1 -d -- "$TESTS/$program"
		all_ok
	done
}

#!/usr/bin/env bats
# The shipped policies: each starts its program and serves, names what is missing, and explains every line.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

shipped=$ROOT/policy/shipped

# As root with all that the shipped policies ask for.
need_all() { need_root && need_fifo && need_latency && need_kernel 6.9; }

# No rights, whatever those of the session: limits can always be lowered.
unprivileged() {
	(
		ulimit -r 0 -e 0
		ulimit -l 64
		as_nobody llrun "$@"
	)
}

need_unprivileged() {
	((EUID == 0)) && return
	[[ $(awk '/^CapPrm/ { print $2 }' /proc/self/status) == 0000000000000000 ]] || skip_or_fail "runs with capabilities"
}

holds_latency() { find "/proc/$1/fd" -lname /dev/cpu_dma_latency | grep -q .; }

timer_slack() { cat "/proc/$1/timerslack_ns"; }

# --- their text ---

@test "shipped: every policy parses, and there is one for each that the manual names" {
	for name in redis-server nginx memcached haproxy java node safe latency latency-max; do
		[[ -f $shipped/$name.policy ]]
	done
	for file in "$shipped"/*.policy; do
		run llrun -q -w -p "$file" --explain true
		equal "$status" 0
		matches "$output" "^policy +$file"
	done
}

@test "shipped: every key line stands below a comment, and every comment names its risk" {
	for file in "$shipped"/*.policy; do
		run awk '
			/^#/ { comment = comment $0; next }
			/^;? ?[A-Za-z]+=/ {
				if (/^;/) next
				if (comment == "") print FILENAME ":" FNR ": no comment: " $0
				else if (comment !~ /Risk|As for TCP/) print FILENAME ":" FNR ": no risk named: " $0
			}
			{ comment = "" }' "$file"
		equal "$output" ""
	done
}

@test "shipped: none but latency-max overrides the program or is in real time for all; latency spills" {
	for file in "$shipped"/*.policy; do
		[[ $file == */latency-max.policy ]] || lacks "$(grep -v '^[#;]' "$file")" 'OwnAffinity=override'
	done
	matches "$(<"$shipped/latency.policy")" '^CPUOverflow=spill'
	# V8 aborts, and what gives up root is cut off
	for name in node nginx memcached haproxy safe; do
		matches "$(<"$shipped/$name.policy")" '^MemoryLock=no$'
	done
}

# --- as root, found by the program's name ---

@test "shipped: redis-server as root: main alone in real time, memory locked, huge pages off, busy polling" {
	need redis-server redis-cli
	need_all
	start_redis llrun -q --
	wait_for has_thread "$pid" jemalloc_bg_thd
	wait_for thread_has "$pid" jemalloc_bg_thd policy other
	equal "$(look threads "$pid" | row policy=fifo prio=20 | field tid)" "$pid"
	(($(look memory "$pid" | field VmLck) > 4096))
	matches "$(<"/proc/$pid/status")" '^THP_enabled:	0$'
	equal "$(look epoll "$pid" | field usecs)" 50
	holds_latency "$pid"
	equal "$(redis set key value)" OK
	equal "$(redis bgsave)" 'Background saving started'
	wait_for saved_ok
	lacks "$(<"$err")" '^llrun:'
}

saved_ok() { redis info persistence | grep -q 'rdb_bgsave_in_progress:0' && redis info persistence | grep -q 'last_bgsave_status:ok'; }

@test "shipped: redis-server as root with the io-threads that it warns of: they are not in real time, and it answers" {
	need redis-server redis-cli redis-benchmark
	need_all
	two_cpus
	start_redis llrun -q -- --io-threads 2
	equal "$(thread_field "$pid" io_thd_1 policy)" other
	matches "$(redis-benchmark -p "$port" -q -n 5000 -c 20 -t set)" 'SET: .*requests per second'
}

@test "shipped: nginx as root: the workers before ordinary programs, a CPU each, as another user" {
	need nginx curl
	need_all
	two_cpus
	start_nginx llrun
	wait_for has_children "$pid" 2
	equal "$(for one in $(children "$pid"); do look threads "$one"; done | field nice | sort -u)" -10
	lacks "$(for one in $(children "$pid"); do look threads "$one"; done | field cpus)" '[-,]'
	for one in $(children "$pid"); do
		equal "$(stat -c %U "/proc/$one")" nobody
		equal "$(timer_slack "$one")" 1
	done
	equal "$(curl -sS --max-time 20 "http://127.0.0.1:$port/[1-100]" | sort | uniq -c | xargs)" '100 hello'
	holds_latency "$pid"
	lacks "$(<"$err")" 'llrun:'
}

@test "shipped: memcached as root: the workers a CPU each and before others, the other threads not" {
	need memcached
	need_all
	start_memcached llrun
	wait_for has_threads "$pid" 2 mc-worker
	equal "$(thread_field "$pid" mc-worker nice | sort -u)" -10
	lacks "$(thread_field "$pid" mc-worker cpus)" '[-,]'
	equal "$(look threads "$pid" | grep -v comm=mc-worker | grep comm=mc- | field nice | sort -u)" 0
	memcached_says 'set key 0 0 5\r\nvalue' STORED
	lacks "$(<"$err")" 'llrun:'
}

@test "shipped: haproxy as root, as master and worker: each thread a CPU, before others" {
	need haproxy curl
	need_all
	start_haproxy llrun -- -W
	wait_for has_children "$pid" 1
	worker=$(children "$pid")
	equal "$(look threads "$worker" | field nice | sort -u)" -10
	lacks "$(look threads "$worker" | field cpus)" '[-,]'
	equal "$(http "$port")" hello
	lacks "$(<"$err")" 'llrun:'
}

@test "shipped: java as root: memory locked, nothing in real time, it collects" {
	need java
	need_program Hello.class
	need_all
	start llrun -q java -XX:+UseParallelGC -XX:ParallelGCThreads=2 -Xmx64m -cp "$TESTS" Hello 60
	wait_ready
	equal "$(look threads "$pid" | field policy | sort -u)" other
	(($(look memory "$pid" | field VmLck) > 10000))
	lacks "$(<"$err")" 'llrun:'
}

@test "shipped: node as root: main before others on one CPU, its helpers not, memory free, and it serves" {
	need node curl
	need_all
	start_node llrun
	main=$(look threads "$pid" | row "tid=$pid")
	lacks "$(field cpus <<<"$main")" '[-,]'
	equal "$(field nice <<<"$main")" -10
	equal "$(look threads "$pid" | grep -v "^tid=$pid	" | field nice | sort -u)" 0
	equal "$(look memory "$pid" | field VmLck)" 0
	equal "$(curl -sS --max-time 60 "http://127.0.0.1:$port/[1-100]" | sort | uniq -c | xargs)" "100 $pid"
	lacks "$(<"$err")" 'llrun:'
}

# --- without rights ---

@test "shipped: as nobody each refuses to start, names every missing right once with its line and cure, and does not start" {
	need_unprivileged
	declare -A wanted=(
		[redis-server]='CPUSched|FIFO with priority 20.*RLIMIT_RTPRIO.*CAP_SYS_NICE;MemoryLock=onfault.*CAP_IPC_LOCK;cpu_dma_latency'
		[nginx]='Nice=-10: RLIMIT_NICE.*CAP_SYS_NICE;cpu_dma_latency'
		[memcached]='Nice=-10: RLIMIT_NICE.*CAP_SYS_NICE;cpu_dma_latency'
		[haproxy]='Nice=-10: RLIMIT_NICE.*CAP_SYS_NICE;cpu_dma_latency'
		[java]='MemoryLock=onfault: RLIMIT_MEMLOCK.*CAP_IPC_LOCK;cpu_dma_latency'
		[node]='Nice=-10: RLIMIT_NICE.*CAP_SYS_NICE;cpu_dma_latency'
		[latency]='FIFO with priority 20.*RLIMIT_RTPRIO;MemoryLock=onfault.*CAP_IPC_LOCK;cpu_dma_latency'
		[latency-max]='FIFO with priority 49.*RLIMIT_RTPRIO;MemoryLock=all.*CAP_IPC_LOCK;cpu_dma_latency;PreferBusyPoll=yes: CAP_NET_ADMIN;BusyPollBudget=64: CAP_NET_ADMIN'
	)
	for name in "${!wanted[@]}"; do
		run unprivileged -p "$name" echo started
		equal "$status" 125
		lacks "$output" '^started'
		IFS=';' read -ra patterns <<<"${wanted[$name]}"
		for pattern in "${patterns[@]}"; do
			# it may be open to all, or absent, here
			[[ $pattern != cpu_dma_latency || ! -w /dev/cpu_dma_latency || $EUID == 0 ]] || continue
			matches "$output" "^llrun: .*/$name\\.policy:[0-9]+: .*($pattern)"
		done
		equal "$(grep -c . <<<"$output")" "$(sort -u <<<"$output" | grep -c .)"
		run unprivileged -w -p "$name" echo started
		equal "$status" 0
		matches "$output" '^started$'
		matches "$output" 'left out \(OnError=warn\)$'
		run unprivileged -q -w -p "$name" echo started
		equal "$output" started
	done
}

@test "shipped: as nobody --explain names the same missing rights as a start" {
	need_unprivileged
	for name in redis-server nginx java latency-max; do
		run unprivileged -p "$name" true
		started=$(grep '^llrun:' <<<"$output")
		run unprivileged -p "$name" --explain true
		equal "$status" 125
		equal "$(grep '^llrun:' <<<"$output")" "$started"
	done
}

@test "shipped: with -w as nobody the servers serve" {
	need nginx memcached redis-server redis-cli haproxy node curl
	need_unprivileged
	ulimit -r 0 -e 0
	ulimit -l 64
	start_redis as_nobody llrun -w --
	matches "$(<"$err")" '^llrun: .*left out \(OnError=warn\)$'
	equal "$(redis set key value)" OK
	start_nginx as_nobody llrun -w -q
	equal "$(http "$port")" hello
	start_memcached as_nobody llrun -w -q
	memcached_says 'set key 0 0 5\r\nvalue' STORED
	start_haproxy as_nobody llrun -w -q -- -db
	equal "$(http "$port")" hello
	start_node as_nobody llrun -w -q
	equal "$(http "$port")" "$pid"
}

@test "shipped: safe runs anything, as anyone, without a word" {
	for program in true "$TESTS/threads" "$(command -v bash) -c :" "env true"; do
		# shellcheck disable=SC2086 # words
		run unprivileged -p safe $program
		equal "$status" 0
		lacks "$output" '^llrun:'
	done
	run unprivileged -p safe "$TESTS/threads" -n 2
	equal "$(field cpus <<<"$output" | sort -u)" "$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)"
	equal "$(field policy <<<"$output" | sort -u)" "$(look threads $$ | row "tid=$$" | field policy)"
}

@test "shipped: safe starts what takes no shim, and says what is missing" {
	need_program threads-static
	run unprivileged -p safe "$TESTS/threads-static"
	equal "$status" 0
	matches "$output" '^llrun: .*statically linked.*\[Socket tcp\].*left out \(OnError=warn\)'
}

@test "shipped: latency as root: one real-time thread for each CPU, the rest spilled as ordinary ones" {
	need_all
	two_cpus
	cpus=$(($(nproc)))
	run llrun -q -p latency "$TESTS/threads" -n $((cpus + 1))
	equal "$status" 0
	equal "$(row policy=fifo prio=20 <<<"$output" | wc -l)" "$cpus"
	equal "$(row policy=fifo <<<"$output" | field cpus | sort -u | wc -l)" "$cpus"
	equal "$(row policy=other <<<"$output" | wc -l)" 2
	lacks "$(field locked <<<"$output")" '^0$'
}

@test "shipped: latency-max as root: all in real time, all memory there, what the program says of its CPUs overruled" {
	need_all
	run llrun -q -p latency-max "$TESTS/threads" -n 3
	equal "$status" 0
	equal "$(field policy <<<"$output" | sort -u) $(field prio <<<"$output" | sort -u)" 'fifo 49'
	lacks "$(field cpus <<<"$output")" '[-,]'
	start llrun -q -p latency-max "$TESTS/threads" -n 1 -s 60
	wait_ready
	locked=$(look memory "$pid" | field VmRSS)
	holds_latency "$pid"
	# the thread's stack of 2 MiB, untouched, makes the difference
	start llrun -q -p latency-max -s Process.MemoryLock=no "$TESTS/threads" -n 1 -s 60
	wait_ready
	((locked > $(look memory "$pid" | field VmRSS) + 2000))
}

@test "shipped: latency and latency-max as root: ordinary programs run" {
	need_all
	for name in latency latency-max; do
		equal "$(llrun -q -p $name /bin/sh -c 'echo one; exec /bin/echo two')" $'one\ntwo'
		equal "$(llrun -q -p $name seq 3 | xargs)" '1 2 3'
		! command -v /usr/bin/python3 >/dev/null || equal "$(llrun -q -p $name /usr/bin/python3 -c 'print(6 * 7)')" 42
	done
}

#!/usr/bin/env bats
# Redis: one hot thread in real time, the others out of its way.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

setup() { need redis-server redis-cli; }

teardown() {
	# one that went into the background is nobody's child
	[[ -z $port ]] || redis-cli -p "$port" shutdown nosave >/dev/null 2>&1 || true
	stop_all
}

# Sets $file: main on B under FIFO 30, all other threads on A.
redis_policy() {
	file=$(policy redis <<-END
		[Process]
		CPUAffinity=$A
		Children=${1:-same}
		MemoryLock=onfault
		[Thread main]
		CPUAffinity=$B
		CPUSchedulingPolicy=fifo
		CPUSchedulingPriority=30
		[Socket tcp]
		NoDelay=yes
		BusyPollSec=50us
	END
	)
}

need_all() { two_cpus && need_fifo && need_memlock && need_kernel 6.9; }

@test "redis: main on its CPU under FIFO, every other thread on the other CPU under SCHED_OTHER, memory locked" {
	need_all
	redis_policy
	start_redis llrun -p "$file" -- --jemalloc-bg-thread yes
	wait_for has_thread "$pid" jemalloc_bg_thd
	main=$(look threads "$pid" | row "tid=$pid")
	equal "$(field cpus <<<"$main") $(field policy <<<"$main") $(field prio <<<"$main")" "$B fifo 30"
	others=$(look threads "$pid" | grep -v "^tid=$pid	")
	matches "$others" 'comm=bio_lazy_free'
	matches "$others" 'comm=jemalloc_bg_thd'
	# jemalloc's thread inherits main's class until it has its name
	wait_for only_on "$pid" "$A other 0"
	(($(look memory "$pid" | field VmLck) > 4096))
	equal "$(redis set key value)" OK
	equal "$(redis get key)" value
	matches "$(redis-benchmark -p "$port" -q -n 2000 -c 10 -t ping_inline,set)" 'SET: .*requests per second'
	redis_up
}

# Every thread but main has this class.
only_on() {
	[[ $(look threads "$1" | grep -v "^tid=$1	" | awk -F '\t' '{ print $3, $4, $5 }' | sort -u) == \
		"cpus=${2%% *} policy=$(cut -d' ' -f2 <<<"$2") prio=${2##* }" ]]
}

@test "redis: its listener, an accepted connection and its epoll instance have their options; without llrun they have not" {
	need_all
	redis_policy
	start_redis -- --tcp-keepalive 0
	equal "$(look sockets "$pid" | row listen=1 | field nodelay | sort -u)" 0
	equal "$(look sockets "$pid" | row listen=1 | field busypoll | sort -u)" 0
	lacks "$(look epoll "$pid")" 'usecs=50'
	start_redis llrun -p "$file" --
	exec 7<>"/dev/tcp/127.0.0.1/$port"
	printf 'PING\r\n' >&7
	read -r answer <&7
	equal "$answer" $'+PONG\r'
	for listen in 1 0; do
		rows=$(look sockets "$pid" | row "listen=$listen" type=stream)
		matches "$rows" .
		equal "$(field nodelay <<<"$rows" | sort -u) $(field busypoll <<<"$rows" | sort -u)" "1 50"
	done
	exec 7>&-
	equal "$(look epoll "$pid" | field usecs)" 50
}

# BGSAVE forks while main is in real time; the child computes, so it must not stay so.
@test "redis: the child of BGSAVE is back in the launch-time class under Children=none, and its snapshot is good" {
	need_all
	redis_policy none
	start_redis llrun -p "$file" -- --rdb-key-save-delay 20000000
	equal "$(redis mset a 1 b 2 c 3 d 4 e 5)" OK
	redis bgsave
	wait_for has_children "$pid" 1
	child=$(children "$pid")
	row=$(look threads "$child" | row "tid=$child")
	equal "$(field cpus <<<"$row") $(field policy <<<"$row") $(field locked <<<"$row")" "$LAUNCH other 0"
	kill -USR1 "$child"
	redis config set rdb-key-save-delay 0
	wait_for saved
	redis shutdown save || true
	wait "$pid" || true
	start_redis --
	equal "$(redis dbsize)" 5
	lacks "$(cat "$BATS_TEST_TMPDIR/err.0")" '^llrun: Children'
}

saved() {
	redis info persistence | grep -q 'rdb_bgsave_in_progress:0' || return
	redis bgsave >/dev/null
	redis info persistence | grep -q 'rdb_last_bgsave_status:ok'
}

@test "redis: with \`daemonize yes' under Children=none the notice says that the server has no policy" {
	need_all
	redis_policy none
	port=$(free_port)
	run llrun -q -p "$file" redis-server --port "$port" --bind 127.0.0.1 --daemonize yes --dir "$BATS_TEST_TMPDIR" \
		--pidfile "$BATS_TEST_TMPDIR/pid" --save ''
	equal "$status" 0
	matches "$output" 'llrun: Children=none: a forked child runs without the policy.*foreground'
	wait_for redis_up
	equal "$(look threads "$(<"$BATS_TEST_TMPDIR/pid")" | field policy | sort -u)" other
	equal "$(look memory "$(<"$BATS_TEST_TMPDIR/pid")" | field VmLck)" 0
}

@test "redis: with \`daemonize yes' under Children=same the server in the background has the policy, and nothing is said" {
	need_all
	redis_policy same
	port=$(free_port)
	run llrun -q -p "$file" redis-server --port "$port" --bind 127.0.0.1 --daemonize yes --dir "$BATS_TEST_TMPDIR" \
		--pidfile "$BATS_TEST_TMPDIR/pid" --save ''
	equal "$status" 0
	lacks "$output" '^llrun:'
	wait_for redis_up
	daemon=$(<"$BATS_TEST_TMPDIR/pid")
	main=$(look threads "$daemon" | row "tid=$daemon")
	equal "$(field cpus <<<"$main") $(field policy <<<"$main") $(field prio <<<"$main")" "$B fifo 30"
	(($(look memory "$daemon" | field VmLck) > 4096))
	wait_for only_on "$daemon" "$A other 0"
}

# io-threads spin for each other: they must be placed by name and never in real time on one CPU.
@test "redis: io-threads are named by Redis after their start and still get their rule" {
	two_cpus
	file=$(policy io <<-END
		[Process]
		CPUAffinity=$A
		[Thread io_thd_*]
		CPUAffinity=$B
	END
	)
	start_redis llrun -p "$file" -- --io-threads 2
	wait_for has_thread "$pid" io_thd_1
	wait_for thread_has "$pid" io_thd_1 cpus "$B"
	equal "$(look threads "$pid" | row "tid=$pid" | field cpus)" "$A"
	redis_up
}

#!/usr/bin/env bash
# What llrun costs and what it brings.  Every figure is a ratio of commands that took turns, its median over the rounds
# and the quartiles: other work on the machine falls on all alike.  The table goes to stdout and $BUILD/bench/table.txt.
#
#   BENCH='start threads ...'  which parts: start threads sockets data memory redis
#   BENCH_ROUNDS=N             rounds of the short measurements, 200
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
[[ $BUILD == /* ]] || BUILD=$PWD/$BUILD
B=$BUILD/bench
# As installed: what a linker has just written lies in the page cache in small pieces, and starts 4 % slower.
LLRUN=$B/installed/usr/bin/llrun
make -s BUILD="$BUILD" DESTDIR="$B/installed" PREFIX=/usr install >/dev/null || exit 1
sync "$LLRUN" "$B/installed/usr/lib/llrun/libllrun.so" # what is not written back yet counts as private memory
ROUNDS=${BENCH_ROUNDS:-200}
PARTS=${BENCH:-start threads sockets data memory redis}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
# The peers read the locale's files; they are measured with the caller's locale, everything else speaks C.
locale=${LC_ALL:-${LANG:-C.UTF-8}}
export LC_ALL=C HOME=$work
unset LLRUN_POLICY_PATH LLRUN_PLAN LD_PRELOAD GLIBC_TUNABLES

have() { command -v "$1" >/dev/null; }

# The first CPU that this shell may use, and the last.
allowed=$(taskset -cp $$ | sed 's/.*: //')
first=${allowed%%[-,]*}
last=${allowed##*[-,]}
fifo=0
have chrt && chrt -f 2 true 2>/dev/null && fifo=1

part() { [[ " $PARTS " == *" $1 "* ]]; }
title() { printf '\n%s\n' "$1"; }
row() { printf '  %-58s %11s %8s  %-15s %s\n' "$@"; }
missing() { row "$1" '' '' '' "${2:-not installed}"; }

# at_most VALUE TARGET: the last column.  What could not be measured is never met.
at_most() {
	awk -v v="$1" -v t="$2" 'BEGIN {
		printf "target <= %s: %s\n", t, v !~ /^[0-9]/ ? "NOT MEASURED" : v + 0 <= t + 0 ? "met" : "MISSED"
	}'
}

# rows UNIT [NAME=TARGET]...: compare's lines on stdin as rows; a target is for the ratio.
rows() {
	local unit=$1 name value ratio low high pair target
	shift
	while IFS=$'\t' read -r name value ratio low high; do
		target=''
		for pair; do [[ ${pair%=*} == "$name" ]] && target=$(at_most "$ratio" "${pair##*=}"); done
		row "$name" "$value $unit" "$ratio" "[$low $high]" "$target"
	done
}

# The machine's other work would come between: the commands are held above it, if that is allowed.
held=()
((fifo)) && held=(chrt -f 2)
rt_lines() { ((fifo)) && printf 'CPUSchedulingPolicy=fifo\nCPUSchedulingPriority=%s\n' "$1"; }

# --- start to exit ---

everything_policy() {
	{
		printf '[Process]\nCPUAffinity=%s\nMemoryLock=onfault\nNUMAPolicy=local\nTimerSlackNSec=1\nChildren=same\nOnError=warn\n' "$last"
		[[ -w /dev/cpu_dma_latency ]] && echo CPULatencySec=0
		rt_lines 10
		printf '[Thread main]\nCPUAffinity=%s\n' "$last"
		printf '[Thread rx-* "GC Thread#*"]\nCPUAffinity=%s\n' "$first"
		printf '[Thread index=2-5]\nCPUAffinity=%s\n' "$last"
		printf '[Thread lib=libgomp.so*]\nCPUSchedulingPolicy=other\n'
		printf '[Socket tcp]\nNoDelay=yes\nBusyPollSec=50us\n[Socket udp]\nBusyPollSec=50us\n'
	} >"$work/everything.policy"
	sed '/MemoryLock/d' "$work/everything.policy" >"$work/unlocked.policy"
}

start_part() {
	local e=$B/empty commands taskset_ratio locked_ratio line
	title "From start to exit of an empty dynamic program; the ratio is to bare"
	everything_policy
	# mlockall goes through every page that is there, whoever calls it: it is compared with a program that calls it itself.
	commands=(bare "$e" -- "taskset -c" taskset -c "$last" "$e")
	commands+=(-- "llrun -c" "$LLRUN" -q --no-policy -c "$last" "$e")
	commands+=(-- "llrun, everything but MemoryLock in one policy" "$LLRUN" -q -p "$work/unlocked.policy" "$e")
	commands+=(-- "taskset -c, the program calls mlockall itself" taskset -c "$last" "$e" lock)
	commands+=(-- "llrun, everything in one policy" "$LLRUN" -q -p "$work/everything.policy" "$e")
	((fifo)) && commands+=(-- "taskset, chrt" taskset -c "$last" chrt -f 10 "$e")
	((fifo)) && have numactl &&
		commands+=(-- "taskset, chrt, numactl" taskset -c "$last" chrt -f 10 numactl --localalloc "$e")
	LC_ALL=$locale "${held[@]}" "$B/compare" "$ROUNDS" "${commands[@]}" >"$work/start" || {
		missing "start to exit" "NOT MEASURED"
		return
	}
	taskset_ratio=$(awk -F '\t' '$1 == "taskset -c" { print $3 }' "$work/start")
	locked_ratio=$(awk -F '\t' '$1 ~ /mlockall/ { print $3 }' "$work/start")
	rows us "llrun -c=$taskset_ratio" "llrun, everything but MemoryLock in one policy=$taskset_ratio" \
		"llrun, everything in one policy=$locked_ratio" <"$work/start"
	((fifo)) || missing "chrt -f" "SCHED_FIFO is not permitted here"
	have numactl || missing "taskset, chrt, numactl"
	if ! have likwid-pin; then
		missing likwid-pin
	elif line=$("${held[@]}" "$B/compare" 10 bare "$e" -- likwid-pin likwid-pin -q -c "$last" "$e" 2>/dev/null); then
		tail -n 1 <<<"$line" | rows us
	else
		missing likwid-pin "does not run here"
	fi
}

# --- threads ---

# thread_policy FILE SELECTOR CPU
thread_policy() {
	{
		printf '[Process]\nCPUAffinity=%s\n' "$first"
		rt_lines 4
		printf '[Thread main]\nCPUAffinity=%s\n[Thread %s]\nCPUAffinity=%s\n' "$first" "$2" "$3"
		rt_lines 5
	} >"$work/$1.policy"
}

threads_part() {
	local t=$B/threads live cpu ruled named priority=$((fifo * 5)) base=(taskset -c "$first") r=$((ROUNDS / 2 + 5))
	((fifo)) && base=(chrt -f 4 taskset -c "$first")
	# The program that asks for nothing, under a rule for all threads, and under a rule by their name.
	ruled=("$LLRUN" -q -p "$work/rule$first.policy" "$t" plain)
	named=("$LLRUN" -q -p "$work/name$first.policy" "$t" plain)
	for cpu in "$first" "$last"; do
		thread_policy "rule$cpu" '*' "$cpu"
		thread_policy "name$cpu" hot "$cpu"
	done
	for live in 1 100 1000; do
		title "pthread_create and join on the creator's CPU, $live other threads; the ratio is to the program's own attr"
		"$B/compare" -p "$r" "own attr, built for each thread" "${base[@]}" "$t" own 400 "$live" "$first" "$priority" \
			-- "own attr, built once" "${base[@]}" "$t" once 400 "$live" "$first" "$priority" \
			-- "llrun, rule" "${ruled[@]}" 400 "$live" "$first" "$priority" \
			-- bare "${base[@]}" "$t" plain 400 "$live" "$first" "$priority" | rows ns "llrun, rule=1.10"
		title "The same, each thread names itself"
		"$B/compare" -p "$r" "own attr" "${base[@]}" "$t" own 400 "$live" "$first" "$priority" name \
			-- "llrun, rule by that name" "${named[@]}" 400 "$live" "$first" "$priority" name \
			-- "the thread moves itself" "${base[@]}" "$t" self 400 "$live" "$first" "$priority" name \
			-- bare "${base[@]}" "$t" plain 400 "$live" "$first" "$priority" name | rows ns "llrun, rule by that name=1.10"
	done
	[[ $first != "$last" ]] || { missing "threads on another CPU" "one CPU"; return; }
	ruled=("$LLRUN" -q -p "$work/rule$last.policy" "$t" plain)
	title "The same on another CPU, 0 other threads"
	"$B/compare" -p "$r" "own attr, built for each thread" "${base[@]}" "$t" own 400 0 "$last" "$priority" \
		-- "own attr, built once" "${base[@]}" "$t" once 400 0 "$last" "$priority" \
		-- "llrun, rule" "${ruled[@]}" 400 0 "$last" "$priority" | rows ns "llrun, rule=1.10"
	((fifo)) || { missing "until user code runs on a busy CPU" "SCHED_FIFO is not permitted here"; return; }
	title "Until the new thread's own code runs, its CPU busy with an ordinary process"
	"$B/compare" -p "$r" "own attr" "${base[@]}" "$t" own 40 0 "$last" 5 user \
		-- "the thread moves itself" "${base[@]}" "$t" self 40 0 "$last" 5 user \
		-- "llrun, rule" "${ruled[@]}" 40 0 "$last" 5 user | rows ns "llrun, rule=1.10"
}

# --- sockets ---

socket_policy() {
	printf '[Process]\nOnError=warn\nChildren=all\n[Socket tcp]\nNoDelay=yes\nBusyPollSec=50us\n' >"$work/socket.policy"
}

sockets_part() {
	title "socket() and close; the ratio is to a program that calls the same setsockopt itself"
	socket_policy
	"${held[@]}" "$B/compare" -p $((ROUNDS / 2 + 5)) "own setsockopt" "$B/sockets" own 300 \
		-- "llrun, [Socket tcp]" "$LLRUN" -q -p "$work/socket.policy" "$B/sockets" plain 300 \
		-- "without any option" "$B/sockets" plain 300 | rows ns "llrun, [Socket tcp]=1.10"
}

# Instructions of the client: callgrind's own total.
instructions() {
	local out=$work/callgrind
	rm -f "$out"
	"$@" 2>/dev/null >&2
	sed -n 's/^\(totals\|summary\): //p' "$out" | tail -n 1
}

data_part() {
	local valgrind=(valgrind --tool=callgrind --callgrind-out-file="$work/callgrind") n=2000 a b bare under
	title "send and recv over TCP: instructions in user space for one of each"
	have valgrind || { missing "instructions" "valgrind is not installed"; return; }
	socket_policy
	a=$(instructions "${valgrind[@]}" "$B/sockets" data $n)
	b=$(instructions "${valgrind[@]}" "$B/sockets" data $((2 * n)))
	bare=$(((b - a) / n))
	a=$(instructions "$LLRUN" -q -p "$work/socket.policy" "${valgrind[@]}" "$B/sockets" data $n)
	b=$(instructions "$LLRUN" -q -p "$work/socket.policy" "${valgrind[@]}" "$B/sockets" data $((2 * n)))
	under=$(((b - a) / n))
	row bare "$bare" 1.000 '' ''
	row llrun "$under" "$(awk -v a="$under" -v b="$bare" 'BEGIN { printf "%.3f", a / b }')" '' "$(at_most "$under" "$bare")"
}

# --- memory ---

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
kib() { for _ in {1..7}; do "$@" 2>/dev/null; done | median; }

memory_part() {
	local bare ours shim locked own
	title "Resident memory"
	everything_policy
	bare=$(kib "$B/memory" 0)
	ours=$(kib "$LLRUN" -q -p "$work/unlocked.policy" "$B/memory" 0)
	shim=$(kib "$LLRUN" -q -p "$work/unlocked.policy" "$B/memory" 0 shim)
	row "a small program, bare" "$bare KiB" '' '' ''
	own=$(kib "$LLRUN" -q -p "$work/unlocked.policy" "$B/memory" 0 private)
	row "the same under everything but MemoryLock" "$ours KiB" '' '' "$((ours - bare)) KiB more, most of it shared pages of libc"
	bare=$(kib "$B/memory" 0 dirty)
	ours=$(kib "$LLRUN" -q -p "$work/unlocked.policy" "$B/memory" 0 dirty)
	row "private memory, bare" "$bare KiB" '' '' ''
	row "private memory under everything but MemoryLock" "$ours KiB" '' '' "$((ours - bare)) KiB more; $(at_most $((ours - bare)) 64)"
	row "the shim: resident of libllrun.so and the ledger" "$shim KiB" '' '' "$(at_most "$shim" 64)"
	row "of that private: not shared by all programs under llrun" "$own KiB" '' '' ''
	bare=$(kib "$LLRUN" -q -p "$work/unlocked.policy" "$B/memory" 64)
	locked=$(kib "$LLRUN" -q -p "$work/everything.policy" "$B/memory" 64)
	row "64 idle threads, not locked" "$bare KiB" 1.000 '' ''
	shim=$(awk -v a="$locked" -v b="$bare" 'BEGIN { printf "%.3f", a / b }')
	row "64 idle threads, MemoryLock=onfault" "$locked KiB" "$shim" '' "$(at_most "$shim" 1.1)"
}

# --- a real program ---

# Sets `server`; the words before are what starts it.
redis_start() {
	"$@" redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --daemonize no --dir "$work" \
		>"$work/redis.log" 2>&1 &
	server=$!
	for _ in {1..200}; do
		redis-cli -p "$port" ping >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	cat "$work/redis.log" >&2
	return 1
}

# p50, p99 and max in ms, of a client that the busy loops do not reach.
redis_measure() {
	chrt -f 30 taskset -c "$first" redis-benchmark -p "$port" -c 1 -n 3000 -t get --csv 2>/dev/null | tr -d '"' |
		awk -F , '/^GET/ { print $5, $7, $8 }'
}

redis_part() {
	local arms=(bare taskset "taskset, chrt" llrun) rounds=6 port=$((20000 + RANDOM % 10000))
	local r k arm server busy start base p50 p99 max
	title "redis-server while every CPU runs an ordinary busy loop: GET from one client, medians of $rounds rounds"
	have redis-server && have redis-benchmark || { missing redis-server; return; }
	((fifo)) || { missing redis-server "SCHED_FIFO is not permitted here"; return; }
	[[ $first != "$last" ]] || { missing redis-server "needs two CPUs"; return; }
	{
		printf '[Process]\nCPUAffinity=%s\nCPUPlacement=share\nMemoryLock=onfault\nOnError=warn\n' "$allowed"
		printf '[Thread main redis-server]\nCPUAffinity=%s\nCPUSchedulingPolicy=fifo\nCPUSchedulingPriority=20\n' "$last"
		printf '[Socket tcp]\nNoDelay=yes\n'
	} >"$work/redis.policy"
	# shellcheck disable=SC2046
	"$B/busy" $(cpus_of "$allowed") &
	busy=$!
	for ((r = 0; r < rounds; r++)); do
		for ((k = 0; k < 4; k++)); do
			arm=${arms[(r + k) % 4]}
			case $arm in
			bare) start=() ;;
			taskset) start=(taskset -c "$last") ;;
			"taskset, chrt") start=(taskset -c "$last" chrt -f 20) ;;
			llrun) start=("$LLRUN" -q -p "$work/redis.policy") ;;
			esac
			redis_start "${start[@]}" || { kill "$busy"; missing redis-server "did not start"; return; }
			redis_measure >>"$work/redis.$arm"
			kill "$server"
			wait "$server" 2>/dev/null
		done
	done
	kill "$busy"
	wait "$busy" 2>/dev/null
	for arm in "${arms[@]}"; do
		p50=$(cut -d ' ' -f 1 "$work/redis.$arm" | median)
		p99=$(cut -d ' ' -f 2 "$work/redis.$arm" | median)
		max=$(cut -d ' ' -f 3 "$work/redis.$arm" | median)
		[[ $arm == bare ]] && base=$p99
		row "$arm" "p99 $p99 ms" "$(awk -v a="$p99" -v b="$base" 'BEGIN { printf "%.3f", a / b }')" \
			"[$(cut -d ' ' -f 2 "$work/redis.$arm" | sort -n | sed -n '2p;5p' | paste -s -d ' ')]" "p50 $p50 ms, max $max ms"
	done
}

# 0-2,5 as 0 1 2 5
cpus_of() {
	local piece
	for piece in ${1//,/ }; do
		seq "${piece%-*}" "${piece#*-}"
	done
}

mkdir -p "$B"
{
	printf 'llrun against bare and its peers; %s CPUs, Linux %s, %s\n' "$(nproc)" "$(uname -r)" "$(date -u +%F)"
	row '' 'median' 'ratio' '[quartiles]' ''
	for one in start threads sockets data memory redis; do
		part $one && "${one}_part"
	done
} | tee "$B/table.txt"

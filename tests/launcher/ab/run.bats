#!/usr/bin/env bats
# An experiment's runs: what is started, what is taken, how it is told when something fails, and that nothing is left.

# shellcheck disable=SC2154 # bats and lib.bash set status, output, stderr, pid, err

load ../../lib
load ab

# Everything an experiment of ours starts is called by a name of its own, so that what is left can be found.
setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin
	cp "$(command -v sleep)" "bin/sl$$" # what waits
	waits=$PWD/bin/sl$$
}

teardown() {
	stop_all
	pkill -KILL -x "sl$$" || true
}

none_left() { ! pgrep -x "sl$$"; }

# A server: listens on a port, until it is told to end.
server=(python3 -c 'import socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("serving", flush=True)
time.sleep(1000)')

fails() {
	local pattern=$1
	shift
	run --separate-stderr llrun "$@"
	equal "$status" 125
	equal "$output" ""
	matches "$stderr" "$pattern"
	equal "$(grep -c '^llrun: ' <<<"$stderr")" "$(grep -c . <<<"$stderr")"
	none_left
}

@test "arms: what each run is started under; the first runs are thrown away; blocks are mirrored" {
	need python3
	llrun --ab 'bare,+Nice=3,+Nice=4+TimerSlackNSec=77' --runs 4 --seed 5 --metric 'nice=^([0-9]+)$' --json=a.json -- \
		python3 -c 'import os; print(os.getpriority(os.PRIO_PROCESS, 0))' >/dev/null
	python3 - <<'PY'
import json
e = json.load(open("a.json"))
runs = e["runs_made"]
assert [r["warm_up"] for r in runs] == [True] * 3 + [False] * 16, runs
own = runs[0]["values"]["nice"]
for r in runs:
    assert r["values"]["nice"] == [own, 3, 4, own][r["arm"]], r
order = [r["arm"] for r in runs[3:]]
for block in (order[:8], order[8:]):
    assert sorted(block[:4]) == [0, 1, 2, 3] and block[4:] == block[3::-1], order
assert [r["pair"] for r in runs[3:]] == [i // 4 for i in range(16)]
assert "TimerSlackNSec=77" in e["arms"][2]["explained"] and e["arms"][0]["explained"] == ""
assert e["seed"] == 5 and e["program"][0] == "python3" and e["kernel"] and e["boot_id"]
PY
	# The same seed, the same order.
	llrun --ab bare,bare,bare --runs 4 --seed 5 --json=b.json -- true >/dev/null
	equal "$(python3 -c 'import json; print([r["arm"] for r in json.load(open("b.json"))["runs_made"]])')" \
		"$(python3 -c 'import json; print([r["arm"] for r in json.load(open("a.json"))["runs_made"]])')"
}

@test "settings of the command line are for all arms but bare; --json FILE" {
	need python3
	llrun --ab bare,+TimerSlackNSec=1 -n 3 --runs 1 --metric 'nice=^([0-9]+)$' --json a.json -- \
		python3 -c 'import os; print(os.getpriority(os.PRIO_PROCESS, 0))' >/dev/null
	matches "$(values a.json nice)" '^0 3 '
}

@test "--ab-each: bare, each part of the policy, the whole" {
	need python3
	cat >p.policy <<-'END'
		[Process]
		Nice=5
		CPUSchedulingPolicy=batch
		CPUSchedulingResetOnFork=yes
		[Socket tcp]
		NoDelay=yes
	END
	llrun --ab-each ./p.policy --runs 1 --json=a.json -- true >/dev/null
	equal "$(python3 -c 'import json; print(*[a["name"] for a in json.load(open("a.json"))["arms"]], sep="|")')" \
		'bare|+CPUSchedulingPolicy|+Nice|+[Socket tcp]|./p.policy|A/A'
}

@test "metrics: of the kernel, and of the output by pattern, CSV and JSON; units are kept" {
	need python3
	cat >out <<-'END'
		took 1.5 ms and then took 800us
		"test","rps","p50_latency_ms","p99_latency_ms"
		"SET","10.5","0.1","0.7"
		"GET","20.5","0.2","0.9"
		{"a": {"b~/c": [3, 1, 2]}, "text": "12.5", "hist": {"10": 5, "20": 15}}
	END
	llrun --ab bare,bare --runs 2 --metric 'took=took ([0-9.]+)' --metric p99=csv:GET:p99 --metric second=csv:2:rps \
		--metric 'list=json:/a/b~0~1c' --metric text=json:/text --metric hist=json:/hist --higher-is-better second --json=a.json -- cat out >table
	equal "$(values a.json took | cut -d' ' -f1-5)" '[[0.8, 1], [1.5, 1]] [[0.8,'
	equal "$(values a.json p99 | cut -d' ' -f1) $(values a.json second | cut -d' ' -f1) $(values a.json text | cut -d' ' -f1)" '0.9 20.5 12.5'
	equal "$(values a.json list | cut -d']' -f1-3)" '[[1, 1], [2, 1], [3, 1'
	equal "$(values a.json hist | cut -d']' -f1-2)" '[[10, 5], [20, 15'
	matches "$(cat table)" '^  p99, ms '
	matches "$(cat table)" '^  took p50, ms '
	# Numbers below zero, and one for all, are drawn like others.
	printf 'at -3.5\nat 2\nat 2\n' >below
	if command -v gnuplot; then
		llrun --ab bare,bare --runs 2 --metric 'at=at (.*)' --plot=a.svg -- cat below >/dev/null
		llrun --ab bare,bare --runs 2 --metric 'at=at (.*)' --plot=a.svg -- grep 2 below >/dev/null
	fi
	# What the kernel counts is there without asking; a program that sleeps 30 ms takes 30 ms and less CPU time.
	llrun --ab bare,bare --runs 2 --json=b.json -- sleep 0.03 >/dev/null
	python3 - <<'PY'
import json
for r in json.load(open("b.json"))["runs_made"]:
    v = r["values"]
    assert v["wall time"] >= 30 and 0 < v["CPU time"] and v["page faults"] > 10 and v["peak memory"] > .1, v
PY
}

@test "histograms: cyclictest's in its two forms, HdrHistogram's" {
	need python3
	printf '%s\n' '# Histogram' '000000 000000	000000' '000001 000003	000001' '000002 000000	000002' '# Total: 000000003 000000003' \
		'# Min Latencies: 00001 00001' '# Avg Latencies: 00001 00001' '# Max Latencies: 00001 00057' '# Histogram Overflows: 00000 00002' >h
	sed -E 's/^(00000[0-9] )(0*)([0-9]+)\t0*([0-9]+)$/\1\3\t\4\t9/; s/^(# (Min|Max|Avg|Histogram).*: .*)/\1 00009/' h >H
	for form in h H; do
		llrun --ab bare,bare --runs 1 --samples cyclictest --json=a.json -- cat $form >/dev/null
		[[ $form == H ]] || equal "$(values a.json latency | cut -d']' -f1-4)" '[[1, 4], [2, 2], [57, 1], [null, 1'
	done
	cat >hdr <<-'END'
		       Value     Percentile TotalCount 1/(1-Percentile)

		       1.000 0.000000000000         10           1.00
		       2.500 0.500000000000        600           2.00
		       9.000 1.000000000000       1000            inf
		#[Mean    =        1.5, StdDeviation   =        1.0]
	END
	llrun --ab bare,bare --runs 1 --samples histogram:ms --json=a.json -- cat hdr >/dev/null
	equal "$(values a.json latency | cut -d']' -f1-3)" '[[1, 10], [2.5, 590], [9, 400'
	fails 'latency: it holds no histogram of cyclictest' --ab bare,bare --samples cyclictest -- echo x
}

@test "a server: started, waited for, loaded, ended; noise beside it; the load under its own policy" {
	need python3
	local port
	port=$(free_port)
	llrun --ab bare,+Nice=2 --runs 1 --load 'echo nice $(nice)' --load-policy +Nice=7 --noise "$waits 1000 & $waits 1000" \
		--metric 'nice=nice ([0-9]+)' --json=a.json -- "${server[@]}" "$port" >table
	equal "$(values a.json nice)" '7 7 7 7 7'
	none_left
	for ready in "tcp:$port" 50ms "grep -q serving /dev/null || true"; do
		llrun --ab bare,bare --runs 1 --ready "$ready" --load 'echo 1' --metric 'one=(1)' -- "${server[@]}" "$port" >/dev/null
	done
	# A child that went away on its own is ended all the same.
	llrun --ab bare,bare --runs 1 -- sh -c "setsid $waits 1000 & setsid sh -c '$waits 1000 & $waits 1000' & sleep 0.05" >/dev/null
	none_left
}

@test "what fails is told, and makes no experiment" {
	need python3
	local port
	port=$(free_port)
	fails 'm: .x=.* finds no number; the output begins: something' --ab bare,bare --metric 'm=x=([0-9]+)' -- echo something
	fails 'm: what .* captures is no number' --ab bare,bare --metric 'm=(some)' -- echo something
	fails 'm: there is no column .p99' --ab bare,bare --metric m=csv:GET:p99 -- echo a,b
	fails 'm: it is not JSON' --ab bare,bare --metric m=json:/a -- echo a,b
	fails 'the program ended with status 3; it said: oh no' --ab bare,bare -- sh -c 'echo oh no; exit 3'
	fails 'the program was killed by signal 9' --ab bare,bare -- sh -c 'kill -9 $$'
	fails 'it did not end within 1 s \(a server needs --load\)' --ab bare,bare --timeout 1 -- "$waits" 1000
	fails 'not ready within 1 s .*listens on no TCP port' --ab bare,bare --timeout 1 --load true -- "$waits" 1000
	fails "not ready within 1 s \(tcp:$port\)" --ab bare,bare --timeout 1 --load true --ready "tcp:$port" -- "$waits" 1000
	fails 'not ready within 1 s \(false\)' --ab bare,bare --timeout 1 --load true --ready false -- "$waits" 1000
	fails 'the server, before it was ready, ended with status 4' --ab bare,bare --load true -- sh -c 'exit 4'
	fails 'the load ended with status 5; it said: no luck' --ab bare,bare --load 'echo no luck; exit 5' -- "${server[@]}" "$port"
	fails 'the server, under its load, ended with status' --ab bare,bare --ready 10ms --load "$waits 1000" -- sh -c 'sleep 0.3; exit 1'
	fails 'the noise ended with status 6' --ab bare,bare --noise 'exit 6' -- "$waits" 1000
	"${server[@]}" "$port" 3>&- &
	started+=($!)
	wait_for bash -c "exec 4<>/dev/tcp/127.0.0.1/$port"
	fails "port $port answers before the server was started" --ab bare,bare --ready "tcp:$port" --load true -- "$waits" 1000
}

@test "a run that fails later is told and does not count; three of an arm end it" {
	need python3
	# The fourth run fails: the first of the first block after the warm-up of two, and one.
	run --separate-stderr llrun --ab bare,bare --runs 3 --json=a.json -- sh -c 'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; [ $n -ne 3 ]'
	equal "$status" 0
	matches "$stderr" '^llrun: .*: the program ended with status 1.* \(this run does not count\)'
	matches "$output" '^failed  1 runs; they do not count'
	rm n
	fails 'three runs of this arm failed' --ab bare,bare --runs 20 -- sh -c 'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; [ $n -le 3 ]'
}

@test "mistakes are told before anything is started" {
	fails 'needs two arms' --ab bare -- touch started
	fails 'bare is without llrun' --ab bare,bare+Nice=3 -- touch started
	fails 'there is no key Nic' --ab bare,+Nic=3 -- touch started
	fails 'no KEY=VALUE' --ab bare,+Nice -- touch started
	fails "arm './none.policy' cannot be started here" --ab bare,./none.policy -- touch started
	fails 'NAME=REGEX' --ab bare,bare --metric x -- touch started
	fails 'not an extended regular expression' --ab bare,bare --metric 'x=(' -- touch started
	fails 'csv:ROW:COLUMN' --ab bare,bare --metric x=csv:a -- touch started
	fails 'there is a metric of that name' --ab bare,bare --metric 'wall time=x' -- touch started
	fails 'no metric of that name' --ab bare,bare --higher-is-better x -- touch started
	fails 'expected cyclictest' --ab bare,bare --samples x -- touch started
	fails 'belong to a server' --ab bare,bare --ready tcp:1 -- touch started
	fails 'expected tcp:PORT' --ab bare,bare --load x --ready tcp:x -- touch started
	fails 'keep or drop' --ab bare,bare --disturbed x -- touch started
	fails 'ends in .svg or .png' --ab bare,bare --plot x -- touch started
	fails '--json=./no/file: No such file' --ab bare,bare --json=./no/file -- touch started
	fails '--plot=./no/file.svg: No such file' --ab bare,bare --plot=./no/file.svg -- touch started
	fails 'arms say the policies' --ab bare,bare -p x -- touch started
	fails 'an option of --ab' --runs 3 -- touch started
	fails 'expected a number from 1' --ab bare,bare --runs 0 -- touch started
	[[ ! -e started ]]
	run -127 llrun --ab bare,bare -- ./nothing
	equal "$status" 127
}

@test "a full disk: told, 125, nothing half-written; the table is there all the same" {
	run --separate-stderr llrun --ab bare,bare --runs 1 --json=/dev/full -- true
	equal "$status" 125
	matches "$stderr" '^llrun: /dev/full: cannot be written: No space left'
	matches "$output" 'wall time'
	run --separate-stderr bash -c "'$LLRUN' --ab bare,bare --runs 1 -- true >/dev/full"
	equal "$status" 125
	matches "$stderr" 'the table cannot be written'
	need_root
	mkdir full
	mount -t tmpfs -o size=8k tmpfs full || skip_or_fail "may not mount here"
	echo before >full/a.json
	run --separate-stderr llrun --ab bare,bare --runs 40 --json=full/a.json -- true
	ls -A full >left
	old=$(cat full/a.json)
	umount full
	equal "$status" 125
	equal "$(cat left) $old" 'a.json before'
	matches "$stderr" 'full/a.json: cannot be written: No space left'
}

@test "Ctrl-C and SIGTERM in each phase leave no process and no file" {
	need python3 env gnuplot
	local port phase
	port=$(free_port)
	mkdir fake work
	printf '#!/bin/sh\nexec %s 1000\n' "$waits" >fake/gnuplot
	chmod +x fake/gnuplot
	cd work
	for phase in program ready load stop plot; do
		case $phase in
		program) set -- -- "$waits" 1000 ;;
		ready) set -- --load true --ready "$waits 1000" -- "${server[@]}" "$port" ;;
		load) set -- --load "$waits 1000 & setsid $waits 1000" --noise "$waits 1000" -- "${server[@]}" "$port" ;;
		stop) set -- --load true --ready 'pgrep -x '"sl$$" -- sh -c "trap '' TERM; while :; do $waits 1000; done" ;;
		plot) set -- --runs 1 -- true ;;
		esac
		for signal in INT TERM; do
			# bash gives SIGINT ignored to what it starts in the background
			start env --default-signal=INT "PATH=$([[ $phase == plot ]] && echo "$OLDPWD/fake:")$PATH" \
				"$LLRUN" --ab bare,+Nice=1 --json=a.json --plot=a.svg "$@"
			wait_for pgrep -x "sl$$"
			kill "-$signal" "$pid"
			status=0
			wait "$pid" || status=$?
			equal "$phase $status" "$phase $([[ $signal == INT ]] && echo 130 || echo 143)"
			none_left
			[[ $phase == plot ]] || matches "$(cat "$err")" '^llrun: interrupted after'
			equal "$(ls -A)" ""
		done
	done
}

@test "killed itself, it takes its own along" {
	start "$LLRUN" --ab bare,bare -- "$waits" 1000
	wait_for pgrep -x "sl$$"
	kill -KILL "$pid"
	wait_for none_left
}

# What the program says it slept, with a noise of its own, so that the verdict does not hang on how busy the machine is.
@test "1 ms more of 20 is found, 10 us more are not" {
	need python3
	local more
	for more in 1000:worse '10:no difference shown'; do
		echo 0 >counter
		llrun --ab +Nice=0,+Nice=1 --runs 12 --seed 1 --metric 'slept=slept ([0-9]+)' --json=a.json \
			-- "$TESTS/delays" 20000 "${more%%:*}" "$PWD/counter" >/dev/null
		equal "$(result a.json slept verdict)" "${more#*:}"
	done
}

@test "cyclictest itself: its histogram, the picture, and the terminal's own where there is no gnuplot" {
	need cyclictest python3 gnuplot
	need_root
	llrun --ab bare,latency -w -q --samples cyclictest --runs 1 --json=a.json --plot=a.svg -- cyclictest -q -D 1 -i 1000 -h 20000 >out
	matches "$(cat out)" '^picture: a.svg$'
	python3 -c 'import json
for r in json.load(open("a.json"))["runs_made"]: assert sum(c for v, c in r["values"]["latency"]) > 300'
	python3 -c 'import xml.dom.minidom as x, sys; t = open("a.svg").read(); x.parseString(t); assert "bare: max" in t and "latency: max" in t'
	llrun --ab-report --plot=a.png a.json >/dev/null
	equal "$(head -c 4 a.png | tail -c 3)" PNG
	mkdir without
	run --separate-stderr env PATH="$PWD/without" "$LLRUN" --ab-report --plot=b.svg a.json
	equal "$status" 0
	matches "$stderr" 'there is no gnuplot here'
	matches "$output" '^latency, us, all runs; the bars are logarithmic'
	[[ ! -e b.svg ]]
}

#!/usr/bin/env bash
# A real redis-server, first as it is, then under its policy: its threads, memory and sockets, asked of the kernel.  Then the
# two against each other, under load on a machine that is busy otherwise: did it help?
# `make demo` runs it.  It takes a free port and a directory of its own; a redis service of the machine is not touched.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
look=$BUILD/tests/look
policy=policy/shipped/redis-server.policy
server=''

command -v redis-server >/dev/null || { echo "demo: needs redis-server (apt-get install redis-server)" >&2; exit 1; }
directory=$(mktemp -d)
finish() {
	[[ -z $server ]] || kill "$server" 2>/dev/null || true
	wait
	rm -rf "$directory"
}
trap finish EXIT
trap 'exit 130' INT TERM

# start COMMAND...: the server in the background, by COMMAND, on a port that nobody has; and one client connected (fd 3).
start() {
	local port
	for _ in {1..20}; do
		port=$((20000 + RANDOM % 10000))
		"$@" redis-server --port "$port" --bind 127.0.0.1 --daemonize no --save '' --dir "$directory" --io-threads 2 \
			--logfile "$directory/log" 2>"$directory/err" &
		server=$!
		for _ in {1..100}; do
			kill -0 "$server" 2>/dev/null || break # the port was taken: another one
			if redis-cli -p "$port" info server 2>/dev/null | grep -q "^process_id:$server"; then
				exec 3<>"/dev/tcp/127.0.0.1/$port"
				printf 'PING\r\n' >&3
				read -r -t 5 <&3 # an answer: it has accepted
				return
			fi
			sleep 0.1
		done
		kill "$server" 2>/dev/null || true
		wait "$server" || true
	done
	echo "demo: redis-server does not start:" >&2
	cat "$directory/err" "$directory/log" >&2 || true
	exit 1
}

stop() {
	exec 3>&-
	kill "$server"
	wait "$server" || true
	server=''
}

# The values of these keys in each line of `look`, in columns.
columns() {
	awk -F '\t' -v keys="$*" 'BEGIN { n = split(keys, key, " ") }
		{ for (i = 1; i <= NF; i++) { at = index($i, "="); value[substr($i, 1, at - 1)] = substr($i, at + 1) }
		  printf " "; for (i = 1; i <= n; i++) printf " %-17s", value[key[i]]; print "" }' | sed 's/ *$//'
}

title() { printf "  %-17s %-17s %-17s %-17s\n" "$@" | sed 's/ *$//'; }

show() {
	title THREAD CPUS SCHEDULING PRIORITY
	"$look" threads "$server" | columns comm cpus policy prio
	title 'LOCKED kB' 'RESIDENT kB' '' ''
	"$look" memory "$server" | columns VmLck VmRSS
	if "$look" sockets "$server" >"$directory/sockets" 2>"$directory/why"; then
		title SOCKET TCP_NODELAY 'SO_BUSY_POLL us' ''
		sed 's/listen=1/socket=listener/; s/listen=0/socket=accepted/' "$directory/sockets" | columns socket nodelay busypoll
		"$look" epoll "$server" | sed 's/^/socket=epoll instance\tnodelay=-\t/' | columns socket nodelay usecs
	else
		echo "  the sockets may not be looked at here: $(cat "$directory/why")"
	fi
}

echo "redis-server, bare"
start env
show
stop

echo
echo "llrun -w -p $policy redis-server"
start "$BUILD/llrun" -w -p "$policy"
show
if [[ -s $directory/err ]]; then
	echo "  and it said:"
	fold -s -w 110 "$directory/err" | sed 's/^/    /'
fi
stop

# A busy loop for each CPU, as other work that wants them; the clients come before it, so that the server is what is measured.
noise="for i in $(seq -s ' ' "$(nproc)"); do while :; do :; done & done; wait"
port=$((20000 + RANDOM % 10000))
echo
echo "Did it help?  20 clients against either, in turn, while each CPU has other work:"
"$BUILD/llrun" -q -w --ab "bare,$policy" --runs 12 \
	--load "redis-benchmark -p $port -c 20 -n 30000 -t get --csv" --load-policy +OnError=ignore+Nice=-19 --noise "$noise" \
	--metric p50=csv:GET:p50 --metric p99=csv:GET:p99 --metric worst=csv:GET:max --plot "$BUILD/demo.svg" --json="$BUILD/demo.json" -- \
	redis-server --port "$port" --bind 127.0.0.1 --daemonize no --save ''

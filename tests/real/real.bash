#!/usr/bin/env bash
# What the tests with real programs share: `load ../lib`, then `load real`.

[[ -d $BUILD/../policy/shipped ]] || export LLRUN_POLICY_PATH=$ROOT/policy/shipped

# Sets A and B to two CPUs that this process may use, LAUNCH to all of them as /proc writes them.
two_cpus() {
	local range ranges list=()
	LAUNCH=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
	IFS=, read -ra ranges <<<"$LAUNCH"
	for range in "${ranges[@]}"; do
		mapfile -t -O "${#list[@]}" list < <(seq "${range%-*}" "${range#*-}")
	done
	((${#list[@]} >= 2)) || skip_or_fail "needs 2 CPUs, may use ${#list[@]}" || return
	A=${list[0]} B=${list[1]}
}
export A='' B='' LAUNCH=''

# What is locked must fit: without the right to it, a finite RLIMIT_MEMLOCK is refused by llrun.
need_memlock() {
	((EUID == 0)) || [[ $(ulimit -l) == unlimited ]] || skip_or_fail "needs root or an unlimited RLIMIT_MEMLOCK"
}

need_latency() { [[ -w /dev/cpu_dma_latency ]] || skip_or_fail "/dev/cpu_dma_latency cannot be written here"; }

# On one line.
children() { cat "/proc/$1/task/"*/children | xargs; }
has_children() { (($(children "$1" | wc -w) >= $2)); }
# has_threads PID NUMBER [COMM]: at least so many, of this name.
has_threads() { (($(look threads "$1" | grep -c "	comm=${3:-}") >= $2)); }
# thread_has PID COMM KEY VALUE: all threads of this name.
thread_has() { [[ $(thread_field "$1" "$2" "$3" | sort -u) == "$4" ]]; }
has_thread() { look threads "$1" | cut -f2 | grep -qx "comm=$2"; }
http() { curl -sS --max-time 10 "http://127.0.0.1:$1/"; }

# --- servers in the foreground, in a directory of their own; each sets port ---
# Debian's own configurations are never read.  Words before the server's: llrun and its options, or nothing.

port=''

redis_up() { [[ $(redis-cli -p "$port" ping 2>&1) == PONG ]]; }
redis() { redis-cli -p "$port" "$@"; }

# start_redis WORDS... -- OPTIONS...
start_redis() {
	local words=()
	while [[ $1 != -- ]]; do words+=("$1") && shift; done
	shift
	port=$(free_port)
	start "${words[@]}" redis-server --port "$port" --bind 127.0.0.1 --daemonize no --dir "$BATS_TEST_TMPDIR" --save '' "$@"
	wait_for redis_up
}

start_nginx() {
	local d=$BATS_TEST_TMPDIR/nginx user=''
	((EUID != 0)) || user='user nobody nogroup;'
	port=$(free_port)
	mkdir -p "$d"
	chmod 777 "$d" # as_nobody has no other place
	cat >"$d/nginx.conf" <<-END
		daemon off; $user worker_processes 2; pid $d/pid; error_log stderr;
		events { worker_connections 64; }
		http {
			access_log off; client_body_temp_path $d/body; proxy_temp_path $d/proxy; fastcgi_temp_path $d/fastcgi;
			uwsgi_temp_path $d/uwsgi; scgi_temp_path $d/scgi;
			server { listen 127.0.0.1:$port; location / { return 200 "hello\n"; } }
		}
	END
	start "$@" nginx -p "$d" -e stderr -c "$d/nginx.conf"
	wait_for http "$port"
}

start_memcached() {
	local user=()
	((EUID != 0)) || user=(-u nobody)
	port=$(free_port)
	start "$@" memcached -l 127.0.0.1 -p "$port" -U 0 "${user[@]}" -t 2
	wait_for memcached_says version VERSION
}

# One request, and the first line of the answer.
memcached_says() {
	local line
	exec 8<>"/dev/tcp/127.0.0.1/$port" || return
	printf '%b\r\n' "$1" >&8
	read -r -t 10 line <&8
	exec 8>&-
	[[ $line == "$2"* ]]
}

# start_haproxy WORDS... -- OPTIONS...
start_haproxy() {
	local words=() identity=''
	while [[ $1 != -- ]]; do words+=("$1") && shift; done
	shift
	((EUID != 0)) || identity=$'user nobody\n\tgroup nogroup'
	port=$(free_port)
	cat >"$BATS_TEST_TMPDIR/haproxy.cfg" <<-END
		global
		  nbthread 2
		  $identity
		defaults
		  mode http
		  timeout client 10s
		  timeout server 10s
		  timeout connect 10s
		frontend f
		  bind 127.0.0.1:$port
		  http-request return status 200 content-type text/plain string "hello\\n"
	END
	start "${words[@]}" haproxy "$@" -f "$BATS_TEST_TMPDIR/haproxy.cfg"
	wait_for http "$port"
}

# Answers with its pid; every request makes and drops some MB, and has the thread pool and the collector work.
start_node() {
	port=$(free_port)
	cat >"$BATS_TEST_TMPDIR/server.js" <<-'END'
		const http = require('http'), crypto = require('crypto');
		http.createServer((request, response) => {
			let waste = [];
			for (let i = 0; i < 200; i++) waste.push(new Array(2000).fill(request.url + i));
			if (global.gc) global.gc();
			crypto.pbkdf2(request.url, 'salt', 10, 16, 'sha256', () => response.end(process.pid + '\n'));
		}).listen(+process.argv[2], '127.0.0.1');
	END
	start "$@" node --expose-gc "$BATS_TEST_TMPDIR/server.js" "$port"
	wait_for http "$port"
}

#!/usr/bin/env bats
# shim/socket.c: options are set when a socket is made, on inet sockets alone; the program's own later call wins.
# shellcheck disable=SC2154 # bats and lib.bash set output, stderr, status, pid, out
load ../lib
load rules

# Case 13
@test "TCP is what gets TCP options: v4, v6, MPTCP, each protocol number and type flag; nothing else is touched" {
	run "$TESTS/sockets"
	local bare=$output tcp='^who=(inet|own)'
	run llrun -q --no-policy -d -- "$TESTS/sockets"
	# all of them, but MPTCP on a kernel that has the option not for it (before 5.17), or has no MPTCP
	equal "$(grep -E "$tcp" <<<"$output" | grep -v -e own-nodelay-off -e -262 -e fd=-1 | field nodelay | sort -u)" 1
	if grep -q $'proto=262' <<<"$output"; then need_kernel 5.17 && equal "$(row proto=262 <<<"$output" \
		| field nodelay | sort -u)" 1; fi
	# but for that option, all lines are as without us: descriptors, flags, errno, families, errors
	equal "$(sed -E "/$tcp/s/nodelay=1/nodelay=0/" <<<"$output")" "$(sed -E "/$tcp/s/nodelay=1/nodelay=0/" <<<"$bare")"
	equal "$(row who=own-nodelay-off <<<"$output" | field nodelay)" 0
	equal "$(row who=bad-family <<<"$output" | field errno)" EAFNOSUPPORT
	equal "$(row errno=7777 who=inet-0-flags nonblock=1 cloexec=1 <<<"$output" | wc -l)" 1
}

# The same from outside: which system calls there were.
@test "one setsockopt for each TCP socket, none for AF_UNIX, netlink, UDP or raw" {
	need strace
	strace -o /dev/null true 2>/dev/null || skip_or_fail "strace is not permitted here"
	local log=$BATS_TEST_TMPDIR/strace calls sockets
	llrun -q --no-policy -d -s Process.Program=sockets \
		-- strace -f -e trace=socket,setsockopt -o "$log" "$TESTS/sockets" >/dev/null
	sockets=$(grep -cE 'socket\(AF_INET6?, SOCK_STREAM.* = [0-9]' "$log")
	calls=$(grep -c 'TCP_NODELAY, \[1\]' "$log")
	equal "$calls" "$sockets"
	# the one more is the program's own
	equal "$(grep -c 'setsockopt(' "$log")" "$((calls + 1))"
}

@test "udp and * are rules of their own; raw sockets belong to *" {
	run llrun -q -p "$(rules '[Socket udp]' ReceiveBuffer=64K '[Socket *]' ReceiveBuffer=32K)" -- "$TESTS/sockets"
	equal "$(row who=udp <<<"$output" | field rcvbuf) $(row who=udp6 <<<"$output" | field rcvbuf)" "131072 131072"
	equal "$(row who=inet-0 <<<"$output" | field rcvbuf)" 65536
	((EUID == 0)) && equal "$(row who=raw <<<"$output" | field rcvbuf)" 65536
	lacks "$(grep -E '^who=(unix|netlink|socketpair)' <<<"$output")" 'rcvbuf=(65536|131072)'
}

@test "busy polling is the business of inet sockets alone" {
	run llrun -q --no-policy -b 50 -- "$TESTS/sockets"
	equal "$(row busypoll=50 <<<"$output" | field domain | sort -u | xargs)" "inet inet6"
	equal "$(grep -E '^who=(unix|netlink|socketpair)' <<<"$output" | field busypoll | sort -u)" 0
}

# IP_TOS rewrites SO_PRIORITY: the order of the lines must not matter.
@test "IPTOS and Priority together, in either order; IPv6 gets its traffic class too" {
	local order
	for order in "IPTOS=16 Priority=3" "Priority=3 IPTOS=16"; do
		# shellcheck disable=SC2086 # two words
		run llrun -q -p "$(rules '[Socket tcp]' $order)" -- "$TESTS/sockets"
		equal "$(row who=inet-0 <<<"$output" | field tos) $(row who=inet-0 <<<"$output" | field priority)" "16 3"
		equal "$(row who=inet6-0 <<<"$output" | field tclass) $(row who=inet6-0 <<<"$output" | field priority)" "16 3"
	done
}

@test "every other option arrives" {
	run llrun -q -p "$(rules '[Socket tcp]' UserTimeoutSec=3s NotSentLowat=16K ReceiveBuffer=64K SendBuffer=32K \
		BusyPollSec=7us QuickAck=no)" \
		-- "$TESTS/sockets"
	equal "$(row who=inet-0 <<<"$output" | field usertimeout)" 3000
	equal "$(row who=inet-0 <<<"$output" | field lowat)" 16384
	equal "$(row who=inet-0 <<<"$output" | field rcvbuf) $(row who=inet-0 <<<"$output" | field sndbuf)" "131072 65536"
	equal "$(row who=inet-0 <<<"$output" | field busypoll)" 7
	equal "$(row who=inet-0 <<<"$output" | field quickack)" 0
}

@test "accepted sockets have what is not inherited from their listener: accept and accept4" {
	run llrun -q --no-policy -d -s 'Socket tcp.Priority=5' -- "$TESTS/accepts" self
	equal "$(field priority <<<"$output" | xargs)" "5 5 5"
	equal "$(field nodelay <<<"$output" | xargs)" "1 1 1"
}

@test "a listener from elsewhere (socket activation): its connections get the whole rule, it itself stays as it is" {
	run "$TESTS/accepts" pass "$LLRUN" -q --no-policy -d -s 'Socket tcp.Priority=5' -- "$TESTS/accepts" fd 3
	equal "$(row who=listener <<<"$output" | field nodelay) $(row who=listener <<<"$output" | field priority)" "0 0"
	equal "$(row who=accept <<<"$output" | field nodelay) $(row who=accept <<<"$output" | field priority)" "1 5"
	equal "$(row who=accept4 <<<"$output" | field nodelay) $(row who=accept4 <<<"$output" | field priority)" "1 5"
}

@test "epoll instances busy-poll, by either call; without a BusyPollSec= they do not" {
	need_kernel 6.9
	start llrun -q --no-policy -b 70 -- "$TESTS/epolls" 30
	wait_ready
	run look epoll "$pid"
	[[ -n $output ]] || skip_or_fail "epoll parameters cannot be looked at"
	equal "$(field usecs <<<"$output" | xargs)" "70 70"
	start llrun -q --no-policy -d -- "$TESTS/epolls" 30
	wait_ready
	equal "$(look epoll "$pid" | field usecs | xargs)" "0 0"
}

@test "a refused option is told once, and the others are set" {
	need_root
	run --separate-stderr llrun -q -w --no-policy -d -s 'Socket tcp.Priority=7' -- \
		setpriv --reuid=65534 --clear-groups --inh-caps=-all "$TESTS/sockets"
	equal "$status" 0
	equal "$(row who=inet-0 <<<"$output" | field nodelay) $(row who=inet-0 <<<"$output" | field priority)" "1 0"
	matches "$stderr" '^llrun: a socket option was refused: EPERM'
	equal "$(wc -l <<<"$stderr")" 1
}

@test "OnError=ignore: a refused option is not told" {
	need_root
	run --separate-stderr llrun -q --no-policy -s 'Socket tcp.Priority=7' -s 'Socket tcp.OnError=ignore' -- \
		setpriv --reuid=65534 --clear-groups --inh-caps=-all "$TESTS/sockets"
	equal "$stderr" ""
}

@test "sockets of Python and Node" {
	need python3
	run llrun -q --no-policy -d -- python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); a, _ = s.accept()
print(*[x.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for x in (s, c, a)])'
	equal "$output" "1 1 1"
	need node
	start llrun -q --no-policy -s 'Socket tcp.UserTimeoutSec=5s' \
		-- node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => {
		const c = require("net").connect(s.address().port, "127.0.0.1", () => console.log("ready")); })'
	wait_ready
	equal "$(look sockets "$pid" | field usertimeout | sort -u)" 5000
}

#!/usr/bin/env bats
# nginx: a server of processes, not threads.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

setup() { need nginx curl; }

nginx_policy() {
	policy nginx <<-END
		[Process]
		CPUAffinity=$A,$B
		Nice=5
		[Socket tcp]
		NoDelay=yes
	END
}

@test "nginx: master and workers are forks that share one ledger: two workers, two CPUs" {
	two_cpus
	start_nginx llrun -p "$(nginx_policy)"
	wait_for has_children "$pid" 2
	equal "$(http "$port")" hello
	equal "$(look threads "$pid" | field cpus)" "$A"
	read -r first second < <(children "$pid")
	# which of them was first is the kernel's affair
	equal "$(for one in "$first" "$second"; do look threads "$one"; done | field cpus | sort -n | xargs)" "$A $B"
	equal "$(for one in "$first" "$second"; do look threads "$one"; done | field nice | sort -u)" 5
	((EUID != 0)) || equal "$(stat -c %U "/proc/$first")" nobody
}

@test "nginx: a worker that died is replaced on the CPU that it had" {
	two_cpus
	start_nginx llrun -p "$(nginx_policy)"
	wait_for has_children "$pid" 2
	read -r first _ < <(children "$pid")
	cpu=$(look threads "$first" | field cpus)
	kill -KILL "$first"
	wait_for replaced "$pid" "$first"
	new=$(children "$pid" | tr ' ' '\n' | sort -n | tail -1)
	wait_for thread_has "$new" nginx cpus "$cpu"
	equal "$(http "$port")" hello
}

replaced() { has_children "$1" 2 && ! children "$1" | grep -qw "$2"; }

@test "nginx: a reload gives the new workers their CPUs" {
	two_cpus
	start_nginx llrun -p "$(nginx_policy)"
	wait_for has_children "$pid" 2
	read -r first second < <(children "$pid")
	kill -HUP "$pid"
	wait_for reloaded "$pid" "$first" "$second"
	equal "$(http "$port")" hello
	# all four lived for a moment, so both new ones may have the same CPU; never more than one
	for new in $(children "$pid"); do
		matches "$(look threads "$new" | field cpus)" "^($A|$B)\$"
	done
}

reloaded() { has_children "$1" 2 && ! children "$1" | grep -qwE "$2|$3"; }

@test "nginx: the listener has TCP_NODELAY; without llrun it has not" {
	two_cpus
	start_nginx
	equal "$(look sockets "$pid" | row listen=1 | field nodelay)" 0
	start_nginx llrun -p "$(nginx_policy)"
	equal "$(look sockets "$pid" | row listen=1 | field nodelay)" 1
}

@test "nginx: answers wget, and a request of many, all from two workers under FIFO" {
	need wget
	two_cpus
	need_fifo
	start_nginx llrun --no-policy -q -c "$A,$B" -f 5
	equal "$(wget -qO- "http://127.0.0.1:$port/")" hello
	equal "$(curl -sS --max-time 20 "http://127.0.0.1:$port/[1-300]" | sort | uniq -c | xargs)" "300 hello"
	equal "$(for one in $(children "$pid"); do look threads "$one"; done | field policy | sort -u)" fifo
}

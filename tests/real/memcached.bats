#!/usr/bin/env bats
# memcached: its main thread names the workers, after they have started.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

setup() { need memcached; }

@test "memcached: the workers that main named have their rule, the other threads theirs" {
	two_cpus
	file=$(policy memcached <<-END
		[Process]
		CPUAffinity=$A
		[Thread mc-worker]
		CPUAffinity=$B
		Nice=3
		[Socket tcp]
		NoDelay=yes
	END
	)
	start_memcached llrun -p "$file"
	wait_for has_threads "$pid" 2 mc-worker
	equal "$(thread_field "$pid" mc-worker cpus | sort | uniq -c | xargs)" "2 $B"
	equal "$(thread_field "$pid" mc-worker nice | sort -u)" 3
	equal "$(look threads "$pid" | grep -v comm=mc-worker | field cpus | sort -u)" "$A"
	equal "$(look threads "$pid" | grep -v comm=mc-worker | field nice | sort -u)" 0
	equal "$(look sockets "$pid" | row listen=1 | field nodelay | sort -u)" 1
	memcached_says 'set key 0 0 5\r\nvalue' STORED
	memcached_says 'get key' 'VALUE key 0 5'
}

@test "memcached: each worker in real time on its own CPU, the rest on the launch-time CPUs" {
	two_cpus
	need_fifo
	file=$(policy fifo <<-END
		[Thread mc-worker]
		CPUAffinity=$A,$B
		CPUSchedulingPolicy=fifo
		CPUSchedulingPriority=5
	END
	)
	# giving up root would take the right that the rule by name needs, so this one stays who we are
	port=$(free_port)
	start llrun -q -p "$file" memcached -l 127.0.0.1 -p "$port" -U 0 -t 2 -u "$(id -un)"
	wait_for memcached_says version VERSION
	equal "$(thread_field "$pid" mc-worker cpus | sort -n | xargs)" "$A $B"
	equal "$(thread_field "$pid" mc-worker policy | sort -u)" fifo
	equal "$(look threads "$pid" | grep -v comm=mc-worker | field policy | sort -u)" other
	equal "$(look threads "$pid" | grep -v comm=mc-worker | field cpus | sort -u)" "$LAUNCH"
}

# -u comes before the workers: a real-time rule by name can no longer be granted then.
@test "memcached: a rule that needs a right it has given up is told on stderr, and it serves" {
	need_root
	two_cpus
	need_fifo
	file=$(policy gone <<-END
		[Thread mc-worker]
		CPUSchedulingPolicy=fifo
		CPUSchedulingPriority=5
	END
	)
	start_memcached llrun -q -p "$file"
	equal "$(thread_field "$pid" mc-worker policy | sort -u)" other
	matches "$(<"$err")" '^llrun: .*EPERM'
	equal "$(grep -c '^llrun:' "$err")" 1
	memcached_says 'set key 0 0 5\r\nvalue' STORED
}

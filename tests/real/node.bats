#!/usr/bin/env bats
# Node.js: V8's threads, and why its memory is not locked.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

setup() { need node curl; }

@test "node: main and V8's helpers each have their rule, and it answers" {
	two_cpus
	file=$(policy node <<-END
		[Process]
		CPUAffinity=$A
		[Thread main]
		CPUAffinity=$B
		Nice=2
	END
	)
	start_node llrun -p "$file"
	main=$(look threads "$pid" | row "tid=$pid")
	equal "$(field cpus <<<"$main") $(field nice <<<"$main")" "$B 2"
	others=$(look threads "$pid" | grep -v "^tid=$pid	")
	(($(wc -l <<<"$others") >= 8)) # V8's four, libuv's four
	equal "$(field cpus <<<"$others" | sort -u)" "$A"
	# they are born as main is, and only root may lower a nice value again; who may not is told
	if ((EUID == 0)); then
		equal "$(field nice <<<"$others" | sort -u)" 0
	else
		matches "$(<"$err")" "^llrun: a thread's Nice= was refused"
	fi
	equal "$(http "$port")" "$pid"
}

# With V8 20 and its MADV_DONTNEED, locked memory ends in "Check failed: 0 == ret" as soon as the heap shrinks.
@test "node: the shipped policy leaves memory alone, and it serves under load with its collector at work" {
	need_root
	need_latency
	start_node llrun
	pid_in_one_go=$(curl -sS --max-time 60 "http://127.0.0.1:$port/[1-300]" | sort | uniq -c | xargs)
	equal "$pid_in_one_go" "300 $pid"
	equal "$(look memory "$pid" | field VmLck)" 0
	lacks "$(<"$err")" .
}

@test "node: a child that runs node keeps the policy, one that runs something else has the launch-time CPUs" {
	two_cpus
	cat >"$BATS_TEST_TMPDIR/spawn.js" <<-'END'
		const { spawnSync } = require('child_process');
		const show = "console.log(require('fs').readFileSync('/proc/self/status', 'utf8').match(/Cpus_allowed_list:\t(.*)/)[1])";
		console.log(spawnSync(process.execPath, ['-e', show]).stdout.toString().trim());
		console.log(spawnSync('grep', ['-oP', 'Cpus_allowed_list:\\t\\K.*', '/proc/self/status']).stdout.toString().trim());
	END
	run llrun --no-policy -c "$B" node "$BATS_TEST_TMPDIR/spawn.js"
	equal "$output" "$B"$'\n'"$LAUNCH"
}

@test "node: os.availableParallelism counts the rule's set although main is on one CPU" {
	two_cpus
	run llrun --no-policy -c "$A,$B" node -p 'require("os").availableParallelism?.() ?? 2'
	equal "$output" 2
	run llrun --no-policy -c "$A" node -p 'require("os").availableParallelism?.() ?? 1'
	equal "$output" 1
}

# npm is a script for `/usr/bin/env node'.  It starts its script by a shell, another program: there Children=same ends.
@test "node: npm itself has node's policy, what it starts by its shell only under Children=all" {
	need npm
	two_cpus
	mkdir "$BATS_TEST_TMPDIR/package"
	cd "$BATS_TEST_TMPDIR/package"
	echo '{ "name": "x", "version": "1.0.0", "scripts": { "start": "node show.js" } }' >package.json
	echo 'console.log(/Cpus_allowed_list:.*/.exec(require("fs").readFileSync("/proc/self/status", "utf8"))[0])' >show.js
	run llrun --no-policy -c "$B" -s Process.Program=node npm start --silent
	equal "$output" "Cpus_allowed_list:	$LAUNCH"
	run llrun --no-policy -c "$B" -s Process.Children=all npm start --silent
	equal "$output" "Cpus_allowed_list:	$B"
}

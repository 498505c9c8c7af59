#!/usr/bin/env bats
# As a person at a terminal uses it: llrun is gone once the program runs, so keys, jobs and exit status are the program's.
# shellcheck disable=SC2154 # pid, out, err: start sets them
load ../lib
load real

setup() {
	need tmux
	export TMUX_TMPDIR=$BATS_TEST_TMPDIR
	unset TMUX
	tmux -L t -f /dev/null new-session -d -x 200 -y 50 'PS1="$ " exec bash --norc --noprofile'
	wait_for shows '^\$ *$'
}

teardown() { tmux -L t kill-server 2>/dev/null || true; }

type_line() { tmux -L t send-keys -l "$1" && tmux -L t send-keys Enter; }
key() { tmux -L t send-keys "$1"; }
screen() { tmux -L t capture-pane -p; }
shows() { screen | grep -qE -- "$1"; }
runs() { pgrep -f "^sleep $1\$"; }

@test "terminal: Ctrl-C ends the program, the shell sees 130" {
	type_line "$LLRUN -s Process.Nice=1 sleep 4711"
	wait_for runs 4711
	key C-c
	type_line 'echo "status=$?"'
	wait_for shows '^status=130$'
	! runs 4711
}

@test "terminal: Ctrl-Z stops it and fg goes on, under the same pid" {
	type_line "$LLRUN -s Process.Nice=1 sleep 4712"
	wait_for runs 4712
	pid=$(runs 4712)
	key C-z
	wait_for shows 'Stopped'
	equal "$(awk '/^State/ { print $2 }' "/proc/$pid/status")" T
	type_line fg
	wait_for grep -q '^State:.*S' "/proc/$pid/status"
	equal "$(runs 4712)" "$pid"
	key C-c
	wait_for shows '\$ *$'
}

@test "terminal: an interactive shell has job control, its own class, and passes on neither class nor preload" {
	two_cpus
	type_line "$LLRUN --no-policy -c $B -- bash --norc --noprofile -i"
	type_line 'PS1="inner "; echo "me=$(cut -f2 <(grep Cpus_allowed_list /proc/$$/status)) child=$(sh -c "grep Cpus_allowed_list /proc/self/status" | cut -f2) env=$(env | grep -cE "^(LD_PRELOAD|LLRUN_PLAN)=")"'
	wait_for shows "^me=$B child=$LAUNCH env=0\$"
	type_line 'sleep 4713 & jobs; kill %1; wait; echo "jobs=$(jobs | wc -l)"'
	wait_for shows '^\[1\].*Running.*sleep 4713'
	wait_for shows '^jobs=0$'
	lacks "$(screen)" 'no job control'
	type_line 'exit 5'
	type_line 'echo "status=$?"'
	wait_for shows '^status=5$'
}

@test "terminal: the program has the terminal: tty, size and prompts are its own" {
	type_line "$LLRUN -s Process.Nice=1 sh -c 'tty; stty size; printf \"name? \"; read -r name; echo \"hello \$name\"'"
	wait_for shows '^name\?'
	type_line world
	wait_for shows '^hello world *$'
	wait_for shows '^/dev/pts/[0-9]+$'
	wait_for shows '^50 200$'
}

#!/usr/bin/env bats
# The command line: every row of options.def, what it stands for, and what is said of mistakes.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

first_cpu() { taskset -pc $$ | sed -E 's/.*: ([0-9]+).*/\1/'; }

# The rows of options.def that stand for assignments: LETTER LONG ARGUMENT ASSIGNMENTS, separated by tabs; - for none.
rows() {
	sed -nE "s/^OPTION\(('(.)'|0), \"([a-z-]+)\", (\"([A-Z.=]+)\"|NULL), \"([^\"]+)\", .*/\2\t\3\t\5\t\6/p" "$ROOT/launcher/options.def" |
		sed -E 's/^\t/-\t/; s/\t\t/\t-\t/'
}

# in_force KEY=VALUE SOURCE: --explain in $output says so.
in_force() {
	grep -qxF "$(printf '  %-42s %s' "$1" "$2")" <<<"$output" || { echo "$1 of $2 is not in: $output $stderr" >&2; return 1; }
}

fails() {
	run --separate-stderr llrun "${@:2}"
	equal "$status" 125
	equal "$output" ""
	matches "$stderr" "$1"
	# Whoever speaks, getopt too: every line begins with our name.
	equal "$(grep -vc '^llrun: ' <<<"$stderr" || true)" 0
}

@test "every option that stands for assignments makes them, in its short and its long form" {
	local letter long argument assignments value form source one n=0
	while IFS=$'\t' read -r letter long argument assignments; do
		case $argument in
		-) value= ;;
		PRIORITY | N) value=5 ;;
		USEC) value=50 ;;
		*) value=0 ;;
		esac
		source=--$long
		[[ $letter == - ]] || source=-$letter
		for form in "--$long" "$source"; do
			# -R wants a class beside it
			run --separate-stderr llrun --no-policy -w -q --batch "$form" ${value:+"$value"} --explain true
			equal "$form: $status" "$form: 0"
			while read -r one; do
				one=${one/\%s/$value}
				[[ $one == *= ]] || in_force "${one##*.}" "$source"
			done < <(tr '|' '\n' <<<"$assignments")
		done
		n=$((n + 1))
	done < <(rows)
	equal "$n" "$(grep -cE '^OPTION\([^,]*, "[^"]*", ("[^"]*"|NULL), "' "$ROOT/launcher/options.def")"
}

@test "options take their argument joined, apart and with =" {
	run llrun --no-policy -n5 --explain true
	in_force Nice=5 -n
	run llrun --no-policy --nice=5 --explain true
	in_force Nice=5 -n
	run llrun --no-policy -dn 5 --explain true
	in_force Nice=5 -n
	in_force NoDelay=yes -d
}

@test "-c -o -n --batch --idle -R: the program has them" {
	run llrun -c "$(first_cpu)" -n 5 --batch -R "$TESTS/self"
	equal "$(row "cpus=$(first_cpu)" policy=batch nice=5 reset=1 <<<"$output" | wc -l)" 1
	run llrun --idle "$TESTS/self"
	equal "$(field policy <<<"$output")" idle
	# The last one wins.
	run llrun --idle --batch -o "$TESTS/self"
	equal "$(field policy <<<"$output")" other
}

@test "-f -r: the program has them" {
	need_fifo
	run --separate-stderr llrun -f 7 "$TESTS/self"
	equal "$(row policy=fifo prio=7 <<<"$output" | wc -l)" 1
	run --separate-stderr llrun -r 8 "$TESTS/self"
	equal "$(row policy=rr prio=8 <<<"$output" | wc -l)" 1
	# -o takes back the priority as well
	run --separate-stderr llrun -f 7 -o "$TESTS/self"
	equal "$status" 0
	equal "$(row policy=other prio=0 <<<"$output" | wc -l)" 1
}

@test "-N --preferred --interleave: the program has them" {
	[[ -e /sys/devices/system/node/node0 ]] || skip_or_fail "this kernel has no NUMA"
	local pair
	for pair in '-N bind' '--membind bind' '--preferred preferred' '--interleave interleave'; do
		run llrun "${pair% *}" 0 "$TESTS/limits"
		equal "$status" 0
		equal "$(field NUMAPolicy <<<"$output") $(field NUMAMask <<<"$output")" "${pair#* } 0"
	done
}

@test "-m -d: the program has them" {
	need_root # a finite RLIMIT_MEMLOCK
	run --separate-stderr llrun -m -d "$TESTS/sockets"
	equal "$(row who=inet-0 <<<"$output" | field nodelay)" 1
	run --separate-stderr llrun -m "$TESTS/self"
	(($(field locked <<<"$output") > 0))
}

@test "-b: TCP, UDP and epoll busy-poll" {
	need_root
	[[ -e /proc/sys/net/core/busy_read ]] || skip_or_fail "this kernel does not busy-poll"
	run --separate-stderr llrun -b 50 "$TESTS/sockets"
	equal "$(row who=inet-0 <<<"$output" | field busypoll)" 50
	equal "$(row who=udp <<<"$output" | field busypoll)" 50
}

@test "-w starts with what can be had; -q says nothing of it" {
	run --separate-stderr llrun -w -c 8191 echo started
	equal "$status $output" '0 started'
	matches "$stderr" '^llrun: -c: CPUAffinity=8191: CPU 8191 does not exist'
	equal "$(wc -l <<<"$stderr")" 1
	run --separate-stderr llrun -wq -c 8191 echo started
	equal "$status $output $stderr" '0 started '
	# -q does not silence why nothing was started
	fails 'CPU 8191 does not exist' -q -c 8191 echo started
}

@test "options come last: they replace what the policy says, lists too" {
	local p
	p=$(policy p <<-'EOT'
		[Process]
		Nice=5
		Program=a
		Program=b
		[Thread main]
		Nice=6
		[Socket tcp]
		NoDelay=no
		Priority=3
	EOT
	)
	run --separate-stderr llrun -p "$p" -n 7 -s Process.Program=true -s 'Thread main.Nice=8' -s 'Socket tcp.NoDelay=yes' --explain true
	equal "$status" 0
	in_force Nice=7 -n
	in_force Program=true -s
	in_force Nice=8 -s
	in_force NoDelay=yes -s
	in_force Priority=3 "$p:9"
	equal "$(grep -c '^\[Thread main\]$' <<<"$output")" 1
}

@test "-s: an empty value resets, the last of several wins" {
	run llrun --no-policy -s Process.Nice=5 -s Process.Nice=6 -s Process.Children=all -s Process.Children= --explain true
	in_force Nice=6 -s
	in_force Children=same default
}

@test "-s: a section of its own goes before those of the file" {
	local p
	p=$(policy p <<<$'[Thread *]\nNice=5')
	run llrun -p "$p" -s 'Thread main.Nice=6' --explain true
	equal "$status" 0
	equal "$(grep '^\[Thread' <<<"$output" | tr '\n' ' ')" '[Thread main] [Thread *] '
}

@test "-s: dots, '=', blanks and quotes in the selector and in the value" {
	run llrun --no-policy -s 'Thread lib=libgomp.so.1.Nice=5' --explain true
	equal "$status" 0
	matches "$output" '^\[Thread lib=libgomp\.so\.1\]$'
	in_force Nice=5 -s
	run llrun --no-policy -s 'Thread "GC Thread#*" main.Nice=5' --explain true
	equal "$status" 0
	matches "$output" '^\[Thread "GC Thread#\*" main\]$'
	run llrun --no-policy -s 'Process.Program=a.b=c *.so' --explain true
	equal "$status" 0
	in_force 'Program=a.b=c *.so' -s
	run llrun --no-policy -s ' Process.Nice= 5 ' --explain true
	equal "$status" 0
	in_force Nice=5 -s
}

@test "-s: mistakes name the option, and all are told" {
	fails "^llrun: -s: 'Nice=5': expected Section\.Key=Value, for example Process\.Nice=5" -s Nice=5 true
	fails "^llrun: -s: '': expected Section" -s '' true
	fails "^llrun: -s: 'Process\.Nice': expected Section" -s Process.Nice true
	fails "^llrun: -s: unknown key 'Nicee', did you mean 'Nice'\?" -s Process.Nicee=5 true
	fails "^llrun: -s: there is no section \[Proces\], did you mean \[Process\]" -s Proces.Nice=5 true
	fails '^llrun: -s: NoDelay= does not belong in \[Process\]' -s Process.NoDelay=yes true
	fails '^llrun: -n: Nice=99: expected a whole number from -20 to 19' -n 99 -f 0 true
	fails '^llrun: -f: CPUSchedulingPriority=0: expected a whole number from 1 to 99' -n 99 -f 0 true
	fails '^llrun: -n: Nice=x: expected' --no-policy --nice=x true
}

@test "options that there are not, without their argument, with one too many" {
	fails "unrecognized option '--bogus'" --bogus true
	fails "invalid option -- 'Z'" -Z true
	fails "option requires an argument -- 'c'" -c
	fails "option '--cpus' requires an argument" --cpus
	fails "option '--nodelay' doesn't allow an argument" --nodelay=yes true
	fails "try 'llrun --help'" --bogus
	fails '^llrun: --cpus needs a value' -c '' true
	fails '^llrun: --policy and --no-policy exclude each other' -p x --no-policy true
}

@test "no program: an error, also behind --" {
	fails "^llrun: no program given; try 'llrun --help'"
	fails '^llrun: no program given' -c 0
	fails '^llrun: no program given' -c 0 --
	fails "^llrun: no program given" --explain
}

@test "options end at the program's name or at --: what follows is the program's" {
	run --separate-stderr llrun --no-policy echo -c 0 --explain -- -p x
	equal "$status $output" '0 -c 0 --explain -- -p x'
	run --separate-stderr llrun --no-policy -- echo -- -n 5
	equal "$status $output" '0 -- -n 5'
	# a program whose name begins with a dash
	cp "$(type -P echo)" "$BATS_TEST_TMPDIR/-dash"
	PATH=$BATS_TEST_TMPDIR:$PATH run --separate-stderr llrun --no-policy -- -dash it
	equal "$status $output" '0 it'
}

@test "--help, --version, --keys: on stdout, status 0, whatever else is given" {
	local option
	for option in --help -h --version -V --keys; do
		run --separate-stderr llrun "$option"
		equal "$option: $status" "$option: 0"
		[[ -n $output ]]
		equal "$stderr" ""
	done
	run --separate-stderr llrun -c 0 --version nosuchprogram
	equal "$status" 0
	matches "$output" '^llrun [0-9]+\.[0-9]+'
}

@test "--help has every option of options.def" {
	local long
	run llrun --help
	while read -r long; do
		matches "$output" "^  (-.,|   ) --$long( |\$)"
	done < <(sed -nE 's/^OPTION\([^,]*, "([^"]+)".*/\1/p' "$ROOT/launcher/options.def")
	matches "$output" '^usage: llrun '
	matches "$output" '125 .*126 .*127'
}

@test "--version says the version of the makefile" {
	run llrun --version
	equal "$output" "llrun $(sed -n 's/^VERSION := //p' "$ROOT/GNUmakefile")"
}

@test "what cannot be printed is an error" {
	[[ -c /dev/full ]] || skip_or_fail "no /dev/full here"
	local option
	for option in --help --keys --version; do
		run bash -c '"$LLRUN" "$1" >/dev/full' - "$option"
		equal "$option: $status" "$option: 125"
	done
	run bash -c '"$LLRUN" --no-policy --explain true >/dev/full'
	equal "$status" 125
}

@test "--dry-run is --explain" {
	run llrun --no-policy --dry-run touch "$BATS_TEST_TMPDIR/started"
	equal "$status" 0
	[[ ! -e $BATS_TEST_TMPDIR/started ]]
	equal "$output" "$(llrun --no-policy --explain touch "$BATS_TEST_TMPDIR/started")"
}

@test "-p twice: the last counts" {
	local one two
	one=$(policy one <<<$'[Process]\nNice=5')
	two=$(policy two <<<$'[Process]\nNice=6')
	run llrun -p "$one" -p "$two" --explain true
	in_force Nice=6 "$two:2"
}

#!/usr/bin/env bats
# The form of a policy: sections, comments, continuation, lists, selectors; every mistake with its line.
# shellcheck disable=SC2154 # stderr, pid, out, err: run and start set them

load ../lib

# What --explain says of the policy on stdin.
explain() { llrun -p "$(policy p)" --explain "$@" -- true; }

# KEY=VALUE and the line that it came from.
in_force() {
	matches "$output" "^  $1 +.*/p\.policy:$2\$"
}

# The policy on stdin is refused, in exactly these lines and words: refused LINE PATTERN [LINE PATTERN]...
refused() {
	local n=$(($# / 2))
	run --separate-stderr explain
	equal "$status" 125
	equal "$output" ""
	while (($#)); do
		matches "$stderr" "^llrun: $BATS_TEST_TMPDIR/p\.policy:$1: $2"
		shift 2
	done
	equal "$(wc -l <<<"$stderr")" "$n"
}

@test "sections, keys and values, blanks around all of them" {
	run explain <<-'EOT'
		  [Process]
		   Nice = 5
		CPUPlacement	=	share
		[ Thread  main   rx-* ]
		Nice=6
		[Socket tcp udp]
		Priority=3
	EOT
	equal "$status" 0
	in_force Nice=5 2
	in_force CPUPlacement=share 3
	in_force Nice=6 5
	in_force Priority=3 7
	matches "$output" '^\[Thread  main   rx-\*\]$'
}

@test "an empty policy and one of comments alone are policies" {
	run explain </dev/null
	equal "$status" 0
	run explain <<<$'# nothing\n\n; at all\n   # here\n\t\n'
	equal "$status" 0
}

@test "# and ; are comments at the start of a line only" {
	run explain <<-'EOT'
		# Nice=1
		; Nice=2
		[Process]
		  # Nice=3
		Program=a#b;c # d
		Nice=4
	EOT
	equal "$status" 0
	in_force 'Program=a#b;c # d' 5
	in_force Nice=4 6
	# and no comment after a value
	refused 2 'Nice=4 # four: expected a whole number' <<<$'[Process]\nNice=4 # four\n'
}

@test "a backslash continues a line, over comments, and the line numbers stay right" {
	run explain <<-'EOT'
		[Process]
		Program=one \
		  two \
		# not three
		; nor four
		  five
		Nice=\
		7
		[Thread a \
		b]
		Nice=8
	EOT
	equal "$status" 0
	matches "$output" '^  Program=one +two +five .*p\.policy:2$'
	in_force Nice=7 7
	in_force Nice=8 11
	refused 4 "unknown key 'Bad'" <<<$'[Process]\nProgram=a \\\nb\nBad=1\n'
}

@test "a comment line does not continue" {
	run explain <<<$'[Process]\n# Nice=1 \\\nNice=2\n'
	equal "$status" 0
	in_force Nice=2 3
}

@test "a backslash at the end of the file ends with it" {
	printf '[Process]\nProgram=a \\' >"$BATS_TEST_TMPDIR/p.policy"
	run llrun -p "$BATS_TEST_TMPDIR/p.policy" --explain true
	equal "$status" 0
	in_force 'Program=a' 2
}

@test "a last line without a newline counts" {
	printf '[Process]\nNice=5' >"$BATS_TEST_TMPDIR/p.policy"
	run llrun -p "$BATS_TEST_TMPDIR/p.policy" --explain true
	equal "$status" 0
	in_force Nice=5 2
}

@test "CRLF and a byte order mark, as editors elsewhere leave them" {
	run explain <<<$'\xef\xbb\xbf[Process]\r\n# c\r\nProgram=a \\\r\n  b\r\nNice=5\r\n\r\n[Thread main]\r\nNice=6\r\n'
	equal "$status" 0
	matches "$output" '^  Program=a +b +.*p\.policy:3$'
	in_force Nice=5 5
	in_force Nice=6 8
	lacks "$output" $'\r'
}

@test "a NUL byte is no policy" {
	printf '[Process]\nNice=5\n\0\n' >"$BATS_TEST_TMPDIR/p.policy"
	run llrun -p "$BATS_TEST_TMPDIR/p.policy" --explain true
	equal "$status" 125
	matches "$output" '^llrun: .*p\.policy:1: a NUL byte in the text'
}

@test "a list key appends, an empty value resets; the newest of any other key stands" {
	run explain <<-'EOT'
		[Process]
		Program=gone
		Program=
		Program=a
		Program=b c
		Nice=5
		Nice=6
		CPUPlacement=share
		CPUPlacement=
		HeapRelease=no
		HeapRelease=
	EOT
	equal "$status" 0
	matches "$output" '^  Program=a b c +.*/p\.policy:4, .*/p\.policy:5$'
	in_force Nice=6 7
	matches "$output" '^  CPUPlacement=spread +default$'
	matches "$output" '^  HeapRelease=yes +default$'
	lacks "$output" gone
}

@test "CPUAffinity appends: the union of its lines" {
	source "$ROOT/tests/topology.bash"
	fake_smt_split "$BATS_TEST_TMPDIR/root"
	LLRUN_SYSROOT=$BATS_TEST_TMPDIR/root run explain <<<$'[Process]\nCPUAffinity=0\nCPUAffinity=\nCPUAffinity=1,2\nCPUAffinity=6'
	equal "$status" 0
	matches "$output" '^  all threads +CPUs 1-2,6 one each$'
}

@test "an empty value in [Thread] gives back what [Process] says" {
	run explain <<<$'[Process]\nNice=5\n[Thread main]\nNice=6\nNice=\n'
	equal "$status" 0
	matches "$output" '^  \[Thread main\] +.*nice 5$'
}

@test "several [Process] sections are one" {
	run explain <<<$'[Process]\nNice=5\n[Thread main]\nNice=6\n[Process]\nNice=7\nChildren=all\n'
	equal "$status" 0
	in_force Nice=7 6
	in_force Children=all 7
	equal "$(grep -c '^\[Process\]' <<<"$output")" 1
}

@test "keys stand in the order of any section and of each other" {
	run explain <<<$'[Thread main]\nNice=6\n[Process]\nNice=7\n'
	equal "$status" 0
	matches "$output" '^  \[Thread main\] +.*nice 6$'
	matches "$output" '^  all other threads +.*nice 7$'
}

@test "a quoted selector: spaces, '#', '=', '*' and words that mean something else without quotes" {
	run explain <<-'EOT'
		[Thread "GC Thread#*" "a=b" "main"]
		Nice=5
		[Thread main]
		Nice=6
	EOT
	equal "$status" 0
	matches "$output" '^  \[Thread "GC Thread#\*" "a=b" "main"\] +.*nice 5$'
	matches "$output" '^  \[Thread main\] +.*nice 6$'
}

@test "the kernel's own name of a thread meets a quoted selector with a space and '#'" {
	need_program threads
	run llrun -p "$(policy p <<<$'[Thread "GC Thread#*"]\nNice=5\n')" -- "$TESTS/threads" -n 1 -N 'GC Thread#'
	equal "$status" 0
	equal "$(row who=1 when=named <<<"$output" | field nice)" 5
	equal "$(row who=0 <<<"$output" | field nice)" "$(nice)"
}

@test "a quote that is not closed, and text behind one" {
	refused 1 '\[Thread "a b\]: a quote that is not closed' <<<$'[Thread "a b]\nNice=5'
	refused 1 '\[Thread "a"b\]: a quote that is not closed' <<<$'[Thread "a"b]\nNice=5'
}

@test "every kind of selector" {
	run explain <<-'EOT'
		[Thread index=1]
		[Thread index=2-5 name[0-9] lib=libgomp.so*]
		[Thread *]
	EOT
	equal "$status" 0
	refused 1 'index=0: expected a creation index from 1' 2 'index=5-2: expected' 3 'index=-1: expected' \
		4 'index=x: expected' 5 'index=: expected' 6 'index=1-: expected' 7 'index=4294967296: expected' \
		8 'start=: expected a function' 9 'lib=: expected a library' \
		10 "'indx=2' is no selector, did you mean 'index='\?" 11 "'zzz=1' is no selector; expected index=, start=, lib=" <<-'EOT'
		[Thread index=0]
		[Thread index=5-2]
		[Thread index=-1]
		[Thread index=x]
		[Thread index=]
		[Thread index=1-]
		[Thread index=4294967296]
		[Thread start=]
		[Thread lib=]
		[Thread indx=2]
		[Thread zzz=1]
	EOT
}

@test "[Thread] and [Socket] without a selector, [Process] with one, another kind of socket" {
	refused 1 '\[Thread\] names nothing, expected \[Thread NAME' 2 '\[Socket\] names nothing, expected \[Socket tcp\]' \
		3 '\[Process x\]: \[Process\] takes no selector' 4 "'unix' is no kind of socket, expected tcp, udp or \*" <<-'EOT'
		[Thread]
		[Socket]
		[Process x]
		[Socket unix]
	EOT
}

@test "a key before any section" {
	refused 2 "'Nice=5' stands before any section, expected \[Process\]" <<<$'# first\nNice=5\n[Process]\nNice=6'
}

@test "an unknown section, with the one that was meant; its keys are not judged" {
	refused 1 'there is no section \[Proces\], did you mean \[Process\]\?, expected' \
		3 'there is no section \[thread\], did you mean \[Thread\]\?' \
		4 'there is no section \[Elsewhere\], expected \[Process\], \[Thread \.\.\.\] or \[Socket' <<-'EOT'
		[Proces]
		Whatever=1
		[thread main]
		[Elsewhere]
		Nice=x
	EOT
}

@test "an unknown key, with the one that was meant" {
	refused 2 "unknown key 'Nicee', did you mean 'Nice'\?" 3 "unknown key 'cpuaffinity', did you mean 'CPUAffinity'\?" \
		4 "unknown key 'CPUSchedulingPriorty', did you mean 'CPUSchedulingPriority'\?" \
		5 "unknown key 'Frobnicate', expected one of those that .llrun --keys. lists for \[Process\]" \
		7 "unknown key 'NoDelai', did you mean 'NoDelay'\?" <<-'EOT'
		[Process]
		Nicee=5
		cpuaffinity=0
		CPUSchedulingPriorty=5
		Frobnicate=1
		[Socket tcp]
		NoDelai=yes
	EOT
}

@test "a key in the wrong section, with the right one" {
	refused 2 'NoDelay= does not belong in \[Process\], expected it in \[Socket\]' \
		4 'MemoryLock= does not belong in \[Thread\], expected it in \[Process\]' \
		6 'Nice= does not belong in \[Socket\], expected it in \[Process\]' <<-'EOT'
		[Process]
		NoDelay=yes
		[Thread main]
		MemoryLock=all
		[Socket tcp]
		Nice=5
	EOT
}

@test "lines that are neither section, nor assignment, nor comment" {
	refused 2 "'Nice': expected Key=Value, \[Section\] or a comment" 3 "'=5': expected Key=Value" \
		4 "'\[Thread main': expected '\]' at the end of the line" <<-'EOT'
		[Process]
		Nice
		=5
		[Thread main
	EOT
}

# All mistakes are told at once, and none of the program runs.
@test "ten mistakes are ten lines with their numbers, and nothing starts" {
	local path marker=$BATS_TEST_TMPDIR/started n
	path=$(policy p <<-'EOT'
		Nice=1
		[Process]
		Nice=21
		Nicee=5
		CPUAffinity=0-3,isolatd
		MemoryLock=maybe
		NoDelay=yes
		CPULatencySec=-1
		[Thread a-name-of-more-than-15-bytes]
		Nice=5
		[Proces]
		[Socket icmp]
	EOT
	)
	run --separate-stderr llrun -p "$path" -- touch "$marker"
	equal "$status" 125
	equal "$output" ""
	[[ ! -e $marker ]]
	equal "$(grep -c "^llrun: $path:" <<<"$stderr")" 10
	equal "$(wc -l <<<"$stderr")" 10
	n=$(sed -E 's/^llrun: [^:]*:([0-9]+): .*/\1/' <<<"$stderr" | tr '\n' ' ')
	equal "$n" '1 3 4 5 6 7 8 9 11 12 '
}

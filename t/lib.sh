# TAP for the shell tests; sourced first thing by every t/*.t:
#
#	#!/bin/sh
#	. "${0%/*}/lib.sh"
#	need perf
#	plan 3
#	run "$BIN/pfold" "$ROOT/t/data/empty"
#	is "$status" 1 'no sample is an error'
#	like "$ERR" 'no sample' 'and it is reported'
#	run_pipe '"$BIN/pdecode" x.data' '"$BIN/pfold"'
#	is "$statuses" '2 1' 'each stage has its own status'
#
# The test runs in a private directory, $TMP, which is removed at the end. Set: ROOT (the source
# tree), BIN (the filters), UNIT and FUZZ (the compiled unit tests and fuzz replays), all absolute.
# A test that dies before its plan is complete exits with an error, so that prove sees it.

set -u

t_abs() {
	case $1 in
	/*) printf '%s\n' "$1" ;;
	*) printf '%s/%s\n' "$PWD" "$1" ;;
	esac
}

ROOT=$(CDPATH='' cd -- "${0%/*}/.." && pwd) || exit 1
BIN=$(t_abs "${BIN:-$ROOT/bin}")
UNIT=$(t_abs "${UNIT:-$ROOT/build/t/unit}")
FUZZ=$(t_abs "${FUZZ:-$ROOT/build/t/fuzz}")
MEASURE=$(t_abs "${MEASURE:-$ROOT/build/t/bench/measure}")
export ROOT BIN UNIT FUZZ MEASURE

TMP=$(mktemp -d "${TMPDIR:-/tmp}/perfpipe-t.XXXXXX") || exit 1
OUT=$TMP/.out # stdout of the last run or run_pipe
ERR=$TMP/.err # its stderr (run_pipe: of all stages, one after the other; $ERR.N of one)
cd "$TMP" || exit 1

# What the results may not depend on.
export HOME="$TMP" LC_ALL=C TZ=UTC
unset NO_COLOR COLUMNS POSIXLY_CORRECT
# A sanitizer's report is not to look like exit status 1, which means damaged input.
export ASAN_OPTIONS="exitcode=99${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="exitcode=99:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"

t_plan=
t_n=0
t_failed=0
status=
statuses=

t_end() {
	t_rc=$?
	cd /
	rm -rf -- "$TMP"
	[ "$t_rc" = 0 ] || exit "$t_rc"
	[ "$t_failed" = 0 ] || exit 1
	[ -n "$t_plan" ] || {
		echo '# the test ended without a plan'
		exit 1
	}
	[ "$t_plan" = "$t_n" ] || exit 1
}
trap t_end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# plan N: how many tests there will be. Without it, done_testing comes last.
plan() {
	t_plan=$1
	echo "1..$1"
}

done_testing() {
	plan "$t_n"
}

# t_skipped NUMBER REASON: for the account that t/run prints at the end.
t_skipped() {
	t_self=${0##*/}
	t_why=$(printf '%s' "$2" | tr '\t\n' '  ')
	[ -z "${SKIPPED:-}" ] || printf '%s\t%s\t%s\n' "${t_self%.t}" "$1" "$t_why" >>"$SKIPPED"
}

# skip_all REASON: ends the whole test; before the plan.
skip_all() {
	t_skipped '' "$*"
	echo "1..0 # SKIP $*"
	t_plan=$t_n
	exit 0
}

# sanitized: true if the programs are built with sanitizers, which makes them five to twenty times as slow.
# What such a build cannot find is skipped then, and loops of many equal runs take larger steps.
sanitized() {
	nm "$BIN/pdecode" 2>/dev/null | grep -q __asan_init
}

# all_of_asan: everything that the address sanitizer finds, leaks and overflows of globals as well, whatever
# .ci/run leaves out so that programs start faster.
all_of_asan() {
	export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=1:report_globals=1:malloc_context_size=30"
}

# have PROGRAM...: true if all are installed.
have() {
	for t_prog; do
		command -v "$t_prog" >/dev/null 2>&1 || return 1
	done
}

# find_browser: whether there is a Chromium, which t/psvg-browser.js then drives.
find_browser() {
	for t_prog in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
		have "$t_prog" || continue
		export CHROMIUM="$t_prog"
		return
	done
	return 1
}

# need PROGRAM...: skips the whole test if one is not installed. For what comes from elsewhere, not
# for our own filters.
need() {
	for t_prog; do
		have "$t_prog" || skip_all "$t_prog is not installed"
	done
}

# diag TEXT...: lines for the reader of a failure.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# diag_file FILE: the first lines of a file, as diag.
diag_file() {
	head -n 40 "$1" | cut -c 1-400 | tr -c "[:print:]\n\t" "?" | sed 's/^/#   /'
}

pass() {
	t_n=$((t_n + 1))
	printf 'ok %d - %s\n' "$t_n" "$*"
}

fail() {
	t_n=$((t_n + 1))
	t_failed=$((t_failed + 1))
	printf 'not ok %d - %s\n' "$t_n" "$*"
	return 1
}

# bail WHY: ends the whole test as failed, for what has to work wherever the test runs at all.
bail() {
	fail "$*"
	exit 1
}

# skip N REASON [WHICH]: N tests that cannot be made here. Skips with the same reason are one line of the
# account; WHICH of them this is does not stand there.
skip() {
	t_i=$1
	t_skipped "$t_i" "$2"
	while [ "$t_i" -gt 0 ]; do
		t_n=$((t_n + 1))
		t_i=$((t_i - 1))
		printf 'ok %d # SKIP %s\n' "$t_n" "${3:+$3: }$2"
	done
}

# ok NAME COMMAND...: passes if the command succeeds.
ok() {
	t_name=$1
	shift
	if "$@"; then
		pass "$t_name"
	else
		fail "$t_name"
		diag "failed: $*"
	fi
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3"
		diag "got:    $1"
		diag "wanted: $2"
	fi
}

isnt() {
	if [ "$1" != "$2" ]; then
		pass "$3"
	else
		fail "$3"
		diag "got what it must not be: $1"
	fi
}

# like FILE ERE NAME: a line of the file matches. unlike: none does, and the file is there.
like() {
	if grep -Eq -e "$2" -- "$1"; then
		pass "$3"
	else
		fail "$3"
		diag "no line matches $2 in:"
		diag_file "$1"
	fi
}

unlike() {
	grep -En -e "$2" -- "$1" >"$TMP/.grep"
	if [ $? = 1 ]; then
		pass "$3"
	else
		fail "$3"
		diag "should not match $2:"
		diag_file "$TMP/.grep"
	fi
}

# same GOT WANT NAME: two files are equal.
same() {
	if cmp -s -- "$1" "$2"; then
		pass "$3"
	else
		fail "$3"
		diff -u -- "$2" "$1" >"$TMP/.diff" 2>&1
		diag_file "$TMP/.diff"
	fi
}

# golden FILE NAME...: FILE equals t/golden/NAME; GOLDEN=1 in the environment writes it instead.
golden() {
	if [ -n "${GOLDEN:-}" ]; then
		mkdir -p "$ROOT/t/golden" && cp -- "$1" "$ROOT/t/golden/$2"
	fi
	same "$1" "$ROOT/t/golden/$2" "$3"
}

# empty FILE NAME
empty() {
	if [ -f "$1" ] && [ ! -s "$1" ]; then
		pass "$2"
	else
		fail "$2"
		diag_file "$1"
	fi
}

# await COMMAND...: until it succeeds, for a minute at most; then it fails.
await() {
	t_i=0
	until "$@"; do
		t_i=$((t_i + 1))
		[ "$t_i" -le 600 ] || {
			diag "waited a minute: $*"
			return 1
		}
		sleep 0.1
	done
}

# answer FIFO: a line from it, without NULs, that comes within a minute. The test has the FIFO open for
# reading and writing, so that opening it does not wait.
answer() {
	timeout 60 sh -c 'IFS= read -r line && printf "%s\n" "$line"' <"$1" | tr -d '\0'
}

# ticks PID: the CPU time that a process has used, in hundredths of a second.
ticks() {
	sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'
}

# used PID N: it has used as much.
used() {
	[ "$(ticks "$1")" -ge "$2" ]
}

# burn PID N: until it has used N hundredths more. So that there are samples of it, however busy the machine is.
burn() {
	await used "$1" "$(($(ticks "$1") + $2))"
}

# sampled FILE [ERE]: what has been written so far of a recording has an event, or one whose line matches.
sampled() {
	"$BIN/pdecode" -t "$1" 2>/dev/null | grep -Eq -e "${2:-.}"
}

# counting PID: it has opened events and waits for what they bring, so they are enabled.
counting() {
	find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | grep -q . && grep -Eqs 'epoll|ep_poll' "/proc/$1/wchan"
}

# recorder_of PID: the recorder of a recipe that runs as PID.
recorder_of() {
	grep -lazE -- '^--while$' /proc/[0-9]*/cmdline 2>/dev/null | while read -r words; do
		! tr '\0' ' ' <"$words" 2>/dev/null | grep -q -- "pcap-perf .*--while $1 " || echo "$words" | tr -dc 0-9
	done
}

# records PID: a recipe's recorder has begun; it is $recorder.
records() {
	recorder=$(recorder_of "$1")
	[ -n "$recorder" ] && counting "$recorder"
}

# gone PID: a process ended. Its parent need not have asked for its status.
gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

# run COMMAND...: sets $status, fills $OUT and $ERR. Never fails itself.
run() {
	status=0
	"$@" >"$OUT" 2>"$ERR" || status=$?
}

# run_pipe COMMAND...: a pipeline of shell commands, one argument each, evaluated in subshells.
# Sets $statuses ("0 0 141") and $status (of the last), fills $OUT, $ERR, and $ERR.1, $ERR.2 ...
run_pipe() {
	t_pipe=
	t_i=0
	# shellcheck disable=SC2034
	for t_cmd; do
		t_i=$((t_i + 1))
		eval "t_cmd_$t_i=\$t_cmd"
		rm -f "$TMP/.status.$t_i" "$ERR.$t_i"
		t_pipe="$t_pipe${t_pipe:+ | }{ (eval \"\$t_cmd_$t_i\") 2>\"\$ERR.$t_i\""
		t_pipe="$t_pipe; echo \$? >\"\$TMP/.status.$t_i\"; }"
	done
	eval "$t_pipe" >"$OUT"
	t_last=$t_i
	statuses=
	t_i=1
	: >"$ERR"
	while [ "$t_i" -le "$t_last" ]; do
		status=$(cat "$TMP/.status.$t_i")
		statuses="$statuses${statuses:+ }$status"
		cat "$ERR.$t_i" >>"$ERR"
		t_i=$((t_i + 1))
	done
}

# trace_cmd_as: the --trace-cmd of pdecode with which it prints as the installed trace-cmd does. From
# 3.3 on the column of the flags is there without -l, too.
trace_cmd_as() {
	trace-cmd 2>&1 | awk '/^trace-cmd version [0-9]/ {
		split($3, v, ".")
		new = v[1] > 3 || v[1] == 3 && v[2] >= 3
	}
	END { print new ? "3.4" : "3.1" }'
}

# old_states FILE: text that trace-cmd printed with a libtraceevent before 1.8, whose sched_switch
# called the states "SDTtZXxW", as the installed one prints it: "SDTtXZPI" since then.
old_states() {
	if ls /usr/lib/*/libtraceevent.so.1.[0-7].* >/dev/null 2>&1; then
		cat -- "$1"
	else
		awk 'match($0, /\] [A-Za-z|+]+ ==> /) {
			states = substr($0, RSTART + 2, RLENGTH - 7)
			new = ""
			for (i = 1; i <= length(states); i++) {
				c = substr(states, i, 1)
				at = index("ZXxW", c)
				new = new (at ? substr("XZPI", at, 1) : c)
			}
			$0 = substr($0, 1, RSTART + 1) new substr($0, RSTART + RLENGTH - 5)
		}
		{ print }' "$1"
	fi
}

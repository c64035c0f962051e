#!/bin/sh
# t/run on made-up tests: what it chooses, in which order, what it tries again, and its account of what was
# skipped; and t/tests lists every test.
. "${0%/*}/lib.sh"
need prove
unset ROOM KIND

# Tests that say that they ran, in a folder with the scripts that t/run needs.
mkdir -p p/t p/lib/fold p/lib/draw
cp "$ROOT/t/run" "$ROOT/t/limit" "$ROOT/t/lib.sh" p/t
cat >p/t/tests <<'END'
# name	kind	rooms
first	data	fold draw
hurry	alone	fold
second	tree	-
third	live	draw
all	data	*
END
make_test() { # NAME COMMAND
	printf '#!/bin/sh\n. "${0%%/*}/lib.sh"\necho %s >>"$RAN"\n%s\ndone_testing\n' "$1" "$2" >"p/t/$1.t"
	chmod +x "p/t/$1.t"
}
make_test first 'skip 2 "dwz is not installed (Debian: dwz)"; skip 1 "perf: no"'
make_test second 'skip 3 "perf: no" "a command: of one test"'
make_test third 'skip_all "perf: no"'
make_test all 'pass all'
make_test hurry 'pass hurry'
export RAN="$TMP/ran"

# What ran with these settings, in order.
ran() { # [NAME=VALUE]... [TEST]...
	: >"$RAN"
	settings=
	while [ $# -gt 0 ] && [ "${1#*=}" != "$1" ]; do
		settings="$settings $1"
		shift
	done
	# shellcheck disable=SC2086
	run env JOBS=1 $settings p/t/run "$@"
	tr '\n' ' ' <"$RAN"
}
is "$(ran)" 'first second third all hurry ' 'all in the order of the table, what is alone last'
is "$(ran p/t/third.t p/t/first.t)" 'first third ' 'only those that are named'
is "$(ran ROOM=draw)" 'first third all ' 'those of a room'
is "$(ran ROOM=fold KIND=data)" 'first all ' 'of a room and a kind'
is "$(ran 'KIND=alone')" 'hurry ' 'of a kind'
is "$(ran ROOM=fold p/t/first.t p/t/second.t)" 'first ' 'named, and of a room'
run env ROOM=nosuch p/t/run
is "$status" 64 'a room that there is not'
like "$ERR" "no room 'nosuch'; there are: draw fold" 'those that there are'
run env ROOM=fold p/t/run p/t/third.t
is "$status" 64 'nothing is chosen'
cp p/t/first.t p/t/new.t
run p/t/run p/t/new.t
is "$status" 64 'a test that the table does not list'
like "$ERR" 'new.t is not in t/tests' 'is named'

run p/t/run
is "$status" 0 'all passed'
sed -n '/^Skipped here:/,$p' "$OUT" >got
cat >want <<'END'
Skipped here:
  dwz is not installed (Debian: dwz): first (2)
  perf: no: first, second, third
END
same got want 'what was skipped: whole reasons, one line each'

# Failures.
make_test second 'is 1 2 second'
run p/t/run
isnt "$status" 0 'a failure is one'
sed -n '/^What failed:/,$p' "$OUT" >got
cat >want <<'END'
What failed:
  p/t/second.t: not ok 1 - second
      # got:    1
      # wanted: 2
  p/t/second.t: exit 1
END
same got want 'what failed, at the end, with what the test says of it'
is "$(ran p/t/second.t)" 'second ' 'and is not tried again'
make_test second 'pass second'
make_test hurry '[ -e "$RAN.again" ] && pass hurry || fail hurry; : >"$RAN.again"'
run p/t/run
is "$status" 0 'a test about time that passes when it is tried again'
like "$OUT" '^  p/t/hurry\.t: not ok 1 - hurry$' 'with what failed first'
like "$OUT" '^Failed once, and passed when tried again: .*/hurry\.t$' 'is reported'
make_test hurry 'fail hurry'
isnt "$(ran p/t/hurry.t)" 'hurry ' 'one that fails'
is "$(ran p/t/hurry.t)" 'hurry hurry ' 'is tried once more'
run p/t/run p/t/hurry.t
isnt "$status" 0 'and then is a failure'

# The table itself.
awk -F '\t' '!/^#/ { print $1 }' "$ROOT/t/tests" | sort >listed
for test in "$ROOT"/t/*.t; do
	basename "$test" .t
done | sort >there
same listed there 't/tests lists each test once'
is "$(awk -F '\t' '!/^#/ && (NF != 3 || $2 !~ /^(data|live|peer|tree|alone)$/)' "$ROOT/t/tests")" '' 'with its kind'
bad=
for room in $(awk -F '\t' '!/^#/ && $3 != "*" && $3 != "-" { print $3 }' "$ROOT/t/tests" | tr ' ' '\n' | sort -u); do
	[ -d "$ROOT/lib/$room" ] || bad="$bad $room"
done
is "$bad" '' 'and rooms of lib/'
done_testing

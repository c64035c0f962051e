#!/bin/sh
# Runs the C unit tests ($UNIT/NAME, one for each t/unit/NAME.c). Each counts as one test here; it
# passes if the program exits with 0, kept to its plan and had no "not ok". With ROOM, those of a room.
. "${0%/*}/lib.sh"
all_of_asan

set --
for source in "$ROOT"/t/unit/*.c; do
	case ${ROOM:-}:${source##*/} in
	:* | "${ROOM:-}:${ROOM:-}.c" | "${ROOM:-}:${ROOM:-}_"*) set -- "$@" "$source" ;;
	esac
done
plan $(($# + 1))

# Prints what is wrong with the TAP in a file, or nothing.
tap_errors() {
	awk '
	/^1\.\.[0-9]+$/ { planned = substr($0, 4); plans++ }
	/^(not )?ok [0-9]+/ { if (($1 == "not" ? $3 : $2) != ++n) wrong = 1 }
	/^not ok/ { failed++ }
	END {
		if (plans != 1) print "no plan"
		else if (planned + 0 != n) print "planned " planned ", ran " n + 0
		if (!n) print "no tests"
		if (wrong) print "numbers out of order"
		if (failed) print failed " failed"
	}' "$1"
}

printf '1..2\nok 1 - a\n' >short
is "$(tap_errors short)" 'planned 2, ran 1' 'a missing test is noticed'

for source; do
	name=${source##*/}
	name=${name%.c}
	if [ ! -x "$UNIT/$name" ]; then
		fail "$name: $UNIT/$name is not built"
		continue
	fi
	run "$UNIT/$name"
	errors=$(tap_errors "$OUT")
	if [ "$status" = 0 ] && [ -z "$errors" ]; then
		pass "$name: $(grep -c '^ok' "$OUT") tests"
	else
		fail "$name: exit status $status${errors:+, $errors}"
		grep -A 6 '^not ok' "$OUT" >failures
		[ -s failures ] || tail -n 5 "$OUT" >failures
		diag_file failures
		diag_file "$ERR"
	fi
done

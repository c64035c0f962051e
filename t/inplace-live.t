#!/bin/sh
# Recipes that probe a program while it works: every call is there. They record for some seconds from when their
# probe is there, so that a machine that is too busy can make these fail.
. "${0%/*}/lib.sh"
tracefs=/sys/kernel/tracing
[ -r "$tracefs/uprobe_events" ] || tracefs=/sys/kernel/debug/tracing
[ -w "$tracefs/uprobe_events" ] || skip_all 'no uprobes here, or not root'
BINDIR=$BIN
export BINDIR
recipes=$ROOT/share/recipes

gcc -g -O1 -o fib "$ROOT/t/fib.c" || bail 'cannot compile'
read -r _ calls <<END
$(./fib 8)
END
# live RECIPE [OPTION]...: records for some seconds, in which $work is done.
work=:
live() {
	recipe=$1
	shift
	(
		await grep -q '[:/]pcap_' "$tracefs/uprobe_events"
		sleep 1.5
		eval "$work"
	) >"$TMP/work" 2>&1 &
	run "$recipes/$recipe" "$@"
	wait $!
}
work='./fib 8'
live funclatency -b ./fib -e fib 4 --tsv
is "$(awk -F'\t' '$2 == "probe_fib:fib" { print $3; exit }' "$OUT")" "$calls" 'funclatency, live'
live trace -b ./fib -e 'fib n' 4
is "$(grep -c ' fib n=' "$OUT")" "$calls" 'trace, live'
live argdist -b ./fib -e 'fib n' -f n 4 --tsv
is "$(awk '$1 == "n" { print $2 }' "$OUT")" "$calls" 'argdist of an argument, live'
if have getent && grep -q localhost /etc/hosts; then
	work='getent ahosts localhost; sleep 1; getent ahosts localhost'
	live gethostlatency 4
	like "$OUT" ' getent .* [0-9.]+ ms  localhost$' 'gethostlatency'
else
	skip 1 'getent is not installed'
fi
is "$(grep -c " $TMP/" "$tracefs/uprobe_events")" 0 'and nothing is left'
done_testing

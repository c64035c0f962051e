#!/bin/sh
# plat and streams whose chains and stacks begin their ids anew while intervals are open: what t/chains-make
# finds in the text of the events, beside what plat makes of them.
. "${0%/*}/lib.sh"
need perl

pair='-s t:begin:key -e t:end:key'
chains() {
	perl "$ROOT/t/chains-make" "$@"
}
# ones TYPE FILE: how often id 1 of a dictionary is defined in a stream.
ones() {
	perl -e 'local $/; binmode STDIN; $_ = <STDIN>; my ($at, $n) = (24, 0);
		while ($at < length) {
			my ($size, $type, $source, $id) = unpack "LSSL", substr $_, $at, 12;
			$n++ if $type == $ARGV[0] && $id == 1;
			$at += $size;
		}
		print "$n\n"' "$1" <"$2"
}

# More chains than pdecode and psym have ids of.
chains 80000 >chains.ps || exit 1
run "$BIN/psym" --plain chains.ps
is "$status" 0 'psym'
cp "$OUT" stacks.ps
is "$(ones 32 chains.ps) $(ones 32 stacks.ps) $(ones 35 stacks.ps)" '2 2 2' 'chains and stacks begin anew'
run "$BIN/psym" chains.ps
cp "$OUT" packed.ps
ok 'in parts, too' test "$(ones 37 packed.ps)" -gt 1 -a "$(ones 38 packed.ps)" -gt 1

for what in chains stacks packed; do
	"$BIN/pdecode" -j $what.ps 2>/dev/null | chains pairs | sort >$what.all
	grep -v '^open' $what.all >want
	# shellcheck disable=SC2086
	run "$BIN/plat" --emit offcpu,blocked,pair $pair $what.ps
	is "$status" 0 "--emit, $what"
	unlike "$ERR" 'missing' 'none is missing'
	cp "$OUT" $what.emitted
	"$BIN/pdecode" -j $what.emitted 2>/dev/null | chains list | sort >got
	same got want 'what the text of the events says'
	is "$(cut -f 1 got | sort -u | paste -sd ' ' -)" 'blocked offcpu pair' 'of all three kinds'
	# shellcheck disable=SC2086
	"$BIN/plat" --emit pair -u $pair $what.ps 2>/dev/null | "$BIN/pdecode" -j 2>/dev/null |
		chains list | sed 's/^pair/open/' | sort >got
	grep '^open' $what.all >want
	same got want '--unmatched'
	isnt "$(wc -l <got)" 0 'and there are some'
done
isnt "$(ones 37 stacks.emitted)" 1 'the ids of what is written begin anew, too'

# psym after plat gives what it gives before it.
"$BIN/psym" chains.emitted 2>/dev/null | "$BIN/pdecode" -j 2>/dev/null | chains list | sort >got
grep -v '^open' stacks.all >want
same got want 'psym after plat'

# The tables and lists, whose stacks are texts, of the roots first.
texts() {
	awk -F'\t' -v OFS='\t' 'function text(s,   f, n, t) {
			n = split(s, f, /"sym":"/)
			for (t = ""; n > 1; n--) t = t (t == "" ? "" : ";") substr(f[n], 1, index(f[n], "\"") - 1)
			return t
		}
		$1 == "pair" { print $2, $3 - $2, text($5), text($7) }'
}
texts <want | sort >want.list
# shellcheck disable=SC2086
"$BIN/plat" -k pair $pair --slower 0 --stacks --tsv stacks.ps 2>/dev/null |
	awk -F'\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["time"], $at["duration"], $at["stack"], $at["end_stack"] }' | sort >got
same got want.list '--slower --stacks'
# shellcheck disable=SC2086
"$BIN/plat" -k pair $pair --by stack --tsv stacks.ps 2>/dev/null |
	awk -F'\t' -v OFS='\t' '$1 == "pair" && $2 ~ /;/ { print $2, $4 }' | sort >got
awk -F'\t' -v OFS='\t' '{ n[$3] += $2 } END { for (s in n) print s, n[s] }' want.list | sort >want
same got want '--by stack'
isnt "$(wc -l <got)" 0 'and there are some'

# Each stream of several has dictionaries of its own.
cat stacks.ps chains.ps >two.ps
# shellcheck disable=SC2086
run "$BIN/plat" --emit offcpu,blocked,pair $pair --json two.ps
is "$status" 0 'two streams, as JSON'
cp "$OUT" got.json
cat stacks.all chains.all | grep -v '^open' | sort >want
chains list <got.json | sort >got
same got want 'two streams'

done_testing

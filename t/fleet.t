#!/bin/sh
# The recipe fleet: what it makes of many recordings is what one run over all of them makes, to the byte; what
# fails is named, and the rest merged.
. "${0%/*}/lib.sh"
BINDIR=$BIN
PATH=$BIN:$PATH
export BINDIR PATH
data=$ROOT/t/data
fleet=$ROOT/share/recipes/fleet

cp "$data/demo.data" one.data
cp "$data/small.data" "two 2's.data"
cp "$data/deep.data" three.data
pdecode one.data "two 2's.data" three.data 2>/dev/null | psym 2>/dev/null | pfold >want 2>/dev/null
run "$fleet" -j 2 fold one.data "two 2's.data" three.data
is "$status" 0 'fold'
sed 1d want | sort >want.sorted
sed 1d "$OUT" | sort >got.sorted
ok 'there are stacks' test -s want.sorted
same got.sorted want.sorted 'the stacks of one run over all'

gunzip -c "$data/sched.data.gz" >s1.data
gunzip -c "$data/sched-stacks.data.gz" >s2.data
for file in s1.data s2.data; do pdecode "$file" 2>/dev/null | plat --tsv --kind runq; done >parts.tsv 2>/dev/null
for n in 1 2; do pdecode "s$n.data" 2>/dev/null | plat --tsv --kind runq >"p$n.tsv" 2>/dev/null; done
phist --merge p1.tsv p2.tsv >want
run "$fleet" measure s1.data s2.data -- --kind runq
is "$status" 0 'measure'
same "$OUT" want 'is the merged table'
pdecode s1.data s2.data 2>/dev/null | phist --by comm,event --tsv >all.tsv 2>/dev/null
phist --merge all.tsv >want
run "$fleet" -o dir count s1.data s2.data -- --by comm,event
is "$status" 0 'count'
same "$OUT" want 'what one run over both counts'
like dir/list 's1\.data$' 'the parts stay in a folder that is named'
run "$fleet" --merge dir
same "$OUT" want 'and can be merged again'
run "$fleet" -o dir count s1.data
is "$status" 2 'a folder with an earlier run'
like "$ERR" 'has a run already' 'is refused'

# What fails, by what fails: no recording; damage; a job that was killed; a machine that is gone.
head -c 8000 "$data/small.data" >cut.data
echo garbage >garbage.data
cat >ssh <<'END'
#!/bin/sh
[ "$1" = near ] || { echo "ssh: cannot reach $1" >&2; exit 255; }
exec sh -c "$2"
END
chmod +x ssh
export FLEET_SSH="$TMP/ssh"
pfold_of() {
	pdecode "$@" 2>/dev/null | psym 2>/dev/null | pfold 2>/dev/null | sed 1d | sort
}
run "$fleet" -o mixed fold one.data garbage.data cut.data "near:$TMP/three.data" "far:$TMP/three.data"
is "$status" 1 'some that fail'
sed 1d "$OUT" | sort >got
pfold_of one.data cut.data three.data >want
same got want 'the rest is merged'
like "$ERR" '^fleet: .*garbage.data: exit status 2: ' 'what cannot be read is named'
like "$ERR" '^fleet: .*cut.data: partial' 'what is damaged'
like "$ERR" '^fleet: far:.*three.data: exit status 255: ssh: cannot reach far' 'a machine that is gone'
like "$ERR" '^fleet: 3 of 5 recordings are in the result$' 'and how many are in it'
rm mixed/1.state
run "$fleet" --merge mixed
is "$status" 1 'a job that did not end'
like "$ERR" 'one.data: its job did not end' 'is named'
run "$fleet" fold garbage.data
is "$status" 2 'nothing is left'
run "$fleet" --prefix fold "near:$TMP/three.data" one.data
is "$(sed 1d "$OUT" | sed 's/;.*//' | sort -u | tr '\n' ' ')" 'near vm ' '--prefix: the machines are the outermost frames'

# Rows of each recording, by its name, in any form; the sum over them is the merged table.
run "$fleet" --tsv=plain --by source -o plain measure s1.data "near:$TMP/s2.data" -- --kind runq
is "$status" 0 '--tsv=plain --by source'
cp "$OUT" plain.tsv
is "$(sed 1d plain.tsv | cut -f 1 | sort -u)" "$(printf '%s\n' "$TMP/s1.data" "near:$TMP/s2.data" | sort)" 'the names of the recordings'
added() {
	awk -F '\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ k = $at["table"] OFS $at["kind"] OFS $at["comm"]; n[k] += $at["count"]; sum[k] += $at["sum"]; if ($at["max"] > max[k]) max[k] = $at["max"] + 0 }
		END { for (k in n) print k, n[k], sum[k], max[k] }' "$1" | sort
}
added plain.tsv >got
run "$fleet" --tsv=plain measure s1.data s2.data -- --kind runq
added "$OUT" >want
ok 'there are some' test -s want
same got want 'added up, the merged table'
run "$fleet" --by source count s1.data s2.data -- --by event
like "$OUT" " $TMP/s2.data " 'as text, too'

# An engine of one's own.
run "$fleet" -o own --prepare count s1.data s2.data -- --by comm,event
is "$status" 0 '--prepare'
ok 'runs nothing' test ! -e own/1.state
# As the man page tells Spark to.
printf '2\n1\n' | sh -c 'while read i; do sh own/job $i; done; true' >said 2>&1
empty said 'jobs print nothing'
run "$fleet" --merge own
phist --merge all.tsv >want
same "$OUT" want 'what they did is merged'

# GNU parallel or not: the same.
if have parallel; then
	mkdir without
	for program in sh cat cut sed tr wc seq xargs nproc mv rm mkdir mktemp dirname readlink grep tail head printf; do
		[ ! -x "$(command -v "$program")" ] || ln -s "$(command -v "$program")" without/
	done
	run env PATH="$TMP/without" "$fleet" count s1.data s2.data -- --by comm,event
	phist --merge all.tsv >want
	is "$status" 0 'without GNU parallel'
	same "$OUT" want 'the same'
	run "$fleet" -o nodes -S : count s1.data s2.data -- --by comm,event
	same "$OUT" want 'with its nodes'
else
	skip 3 'parallel is not installed'
fi

# Slurm by a stand-in: it runs the array, then what depends on it.
mkdir slurm
cat >slurm/sbatch <<'END'
#!/bin/sh
echo "$*" >>"$LOG"
for word; do case $word in --array=*) last=${word#--array=1-} last=${last%\%*} ;; -o) take=yes ;; *) [ "${take:-}" != yes ] || { out=$word take=; } ;; esac; done
for word; do :; done
[ -n "${last:-}" ] || { sh -c "$word" >"$out" 2>&1; echo 8; exit; }
i=0
while [ $i -lt $last ]; do i=$((i + 1)); SLURM_ARRAY_TASK_ID=$i sh -c "$word" >/dev/null 2>&1; done
echo 7
END
chmod +x slurm/sbatch
LOG=$TMP/sbatch.log PATH=$TMP/slurm:$PATH run "$fleet" -o cluster -j 2 --slurm=--qos=x count s1.data s2.data -- --by comm,event
is "$status" 0 'slurm'
is "$(cat "$OUT")" '7 8' 'its two jobs'
phist --merge all.tsv >want
same cluster/merged want 'the second merges'
like sbatch.log '^--parsable --qos=x .*--array=1-2%2 ' 'an array'
like sbatch.log '--dependency=afterany:7 ' 'and what waits for it'

while IFS='|' read -r words why; do
	# shellcheck disable=SC2086
	run "$fleet" $words
	is "$status" 64 "fleet $words: refused"
	like "$ERR" "$why" "fleet $words: why"
done <<'EOF'
fold|which recordings
melt x|fold, count or measure
--prefix count x|--prefix is for fold
--tsv fold x|--tsv: for count
--slurm fold x|--slurm needs -o DIR
--prepare fold x|--prepare needs -o DIR
-S a fold x|--sshlogin needs -o DIR
-j x fold x|is not a number
--by source fold x|--by, for count
--by comm count x|only source, not
EOF
done_testing

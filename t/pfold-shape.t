#!/bin/sh
# Options of pfold that change stacks: --by, --prefix, --rename, --root, --hide, --only,
# --strip-templates, --merge-recursion, --chart.
. "${0%/*}/lib.sh"

# shaped WHAT WANTED STACKS OPTION...: folded text in and out, without the counts of 1.
shaped() {
	what=$1 wanted=$2 stacks=$3
	shift 3
	printf '%s\n' "$stacks" | sed 's/$/ 1/' >in
	run "$BIN/pfold" "$@" in
	is "$(sed 's/ 1$//' "$OUT")" "$wanted" "$what"
}

shaped 'recursion' 'main;fact;mul' 'main;fact;fact;fact;mul' --merge-recursion
shaped 'not over another function' 'a;b;a;b' 'a;b;a;b' --merge-recursion
shaped 'over what is hidden' 'a;c' 'a;b;a;c' --merge-recursion --hide '^b$'
is "$(printf 'a;a 1\na 2\na;a;a;b 4\n' | "$BIN/pfold" --merge-recursion)" "$(printf 'a 3\na;b 4\n')" 'equal ones add up'
shaped 'templates' 'x;std::map<...>::find' 'x;std::map<int, std::vector<int> >::find' --strip-templates
shaped 'of a depth' 'x;std::map<int, std::vector<...> >::find' 'x;std::map<int, std::vector<int> >::find' --strip-templates=1
shaped 'arguments in arguments' 'f<...>' 'f<A<B<C>>, D>' --strip-templates
shaped 'operators' 'operator<;A::operator<<;B<...>::operator->;operator<=><...>;operator()' \
	'operator<;A::operator<<;B<int>::operator->;operator<=><int>;operator()' --strip-templates
shaped 'an operator that is a template' 'std::operator<< <...>;x::operator<<<...>' 'std::operator<< <char>;x::operator<<<A<B>>' --strip-templates
shaped 'Rust' '<T as A>::f;a::b::<...>;<alloc::Vec<...> as Drop>::drop' '<T as A>::f;a::b::<u8>;<alloc::Vec<u8> as Drop>::drop' --strip-templates
shaped 'names that only look like it' '<unknown>;a->b;{lambda(int)#1};x<y;f<(a->b)' '<unknown>;a->b;{lambda(int)#1};x<y;f<(a->b)' --strip-templates
shaped 'a rename' 'x;vfs-read' 'x;vfs_read' --rename 's/^(vfs)_(.*)/\1-\2/'
shaped 'the first match' 'x;b_aa' 'x;a_aa' --rename 's/a/b/'
shaped 'all of them' 'x;b_bb' 'x;a_aa' --rename 's/a/b/g'
shaped 'whatever the case' 'x;b' 'x;A' --rename 's/a/b/i'
shaped '& and \& and another separator' 'x;<ab>&/' 'x;ab' --rename 's,a.,<&>\&/,'
shaped 'several in their order' 'x;c' 'x;a' --rename 's/a/b/' --rename 's/b/c/'
shaped 'matches of nothing' 'x;-a-b-' 'x;ab' --rename 's/x*/-/g' --rename 's/^-x-$|^--$/x/'
shaped 'a name of which nothing is left is hidden' 'x;z' 'x;y;z' --rename 's/^y$//'
shaped 'names that become one' "$(printf 'x;f')" 'x;f.part.0' --rename 's/\.part\.[0-9]+$//'
shaped 'a ; in a new name' 'x;a:b' 'x;y' --rename 's/y/a;b/'
shaped 'only' 'a;lock;b' "$(printf 'a;lock;b\na;c')" --only lock
shaped 'one of several' "$(printf 'a;c\na;lock;b')" "$(printf 'a;lock;b\na;c\nd')" --only lock --only '^c$'
shaped 'the case matters' 'a;Lock' "$(printf 'a;lock\na;Lock')" --only Lock
shaped 'root' 'main;f' "$(printf 'x;start;main;f\nx;y')" --root '^main$'
shaped 'the outermost one' 'main;f;main' 'x;main;f;main' --root '^main$'
shaped 'the command can be it' 'x;f' 'x;f' --root '^x$'
shaped 'hide' 'a;d' 'a;std::b;std::c;d' --hide '^std::'
shaped 'renames come first' 'a;c' "$(printf 'a;b\nq;z')" --rename 's/b/c/' --only c
shaped 'a prefix' 'host;web 1;a' 'a' --prefix 'host;web 1'
shaped 'above the root' 'host;main' 'x;main' --prefix host --root main
printf 'a;b 5\n' >in
run "$BIN/pfold" --only nothing in
is "$status" 1 'no stack is left'
like "$ERR" 'none of 1 stacks is left' 'is reported'
empty "$OUT" 'and nothing is written'
printf '# event: cycles, unit: cycles, samples: 7, from: x\na 1\nb 2\n' | "$BIN/pfold" --only b >out
is "$(head -n 1 out)" '# event: cycles, unit: cycles, from: x' 'the number of samples that are left is not known'
for wrong in '--only (' '--rename x' '--rename s/a' '--rename s/a/b/x' '--rename s/a/\1/' '--strip-templates=x' '--prefix ;' \
	'--by ,' '--by cpu --by tid' '--by a,b,c,d,e,f,g,h,i'; do
	# shellcheck disable=SC2086
	run "$BIN/pfold" $wrong in
	is "$status" 64 "pfold $wrong"
done

# A command that begins with '#' is no comment.
is "$(printf '#cmd;a 3\n# event: x, unit: ns, from: -\n# no count\nb 1\n' | "$BIN/pfold" --no-header 2>err)" "$(printf '#cmd;a 3\nb 1')" \
	'a command that begins with #'

# --by: of event streams every field.
"$BIN/pdecode" "$ROOT/t/data/demo.pstream.zst" >demo.ps
"$BIN/pfold" demo.ps >demo.folded
sum() { awk '!/^# / { n += $NF } END { printf "%.0f\n", n }' "$1"; }
for key in cpu tid thread event comm,cpu dso; do
	run "$BIN/pfold" --by "$key" demo.ps
	is "$status" 0 "--by $key"
	cp "$OUT" by.folded
	is "$(sum by.folded)" "$(sum demo.folded)" 'keeps the sum'
	is "$(cut -d ';' -f "$(printf '%s' "$key," | tr -dc , | wc -c)" by.folded | grep -vc '^# ' | tr -d ' ')" \
		"$(grep -vc '^# ' by.folded)" 'each stack has its frames'
	sed "s/^\([^;#]*;\)\{$(printf '%s' "$key," | tr -dc , | wc -c)\}//" by.folded | "$BIN/pfold" >same.folded
	same same.folded demo.folded 'without them it is what it was'
done
"$BIN/phist" --by cpu --tsv demo.ps >cpus
is "$("$BIN/pfold" -c --by cpu demo.ps | sed -n 's/^cpu \([0-9]*\);.* \([0-9]*\)$/\1 \2/p' | awk '{ n[$1] += $2 } END { for (c in n) print c, n[c] }' | sort)" \
	"$(awk -F'\t' 'NR > 1 { print $2, $3 }' cpus | sort)" 'CPUs as phist counts them'
run "$BIN/pfold" --by nonsense demo.ps
is "$status" 1 'a field that no sample has'
like "$ERR" 'no sample has a field nonsense' 'is reported'
is "$("$BIN/pfold" --by cpu --root '^main$' demo.ps | grep -v '^# ' | cut -d ';' -f 2 | sort -u)" main '--by and --root'

# Of perf script text what its headers have.
cat >script.txt <<'EOF'
cc1 12/34 [001] 5.1: 10 cycles:
	ffff f+0x1 (/bin/x)

as 7/7 [010] 5.2: 20 cycles:
	ffff f+0x1 (/bin/x)

cc1 12/34 [001] 5.3: 40 cycles:
	ffff g+0x1 (/bin/x)

cc1 12/34 [001] 5.4: 80 cycles:
	ffff g+0x1 (/bin/x)

EOF
is "$("$BIN/pfold" --no-header --by cpu,thread,pid,event script.txt)" "$(printf '%s\n' \
	'cpu 10;as/7;pid 7;cycles;as;f 20' 'cpu 1;cc1/34;pid 12;cycles;cc1;f 10' 'cpu 1;cc1/34;pid 12;cycles;cc1;g 120')" \
	'--by of perf script text'
run "$BIN/pfold" --by cgroup script.txt
is "$status" 2 'what it does not tell'
like "$ERR" 'perf script text does not have it' 'is refused'
run "$BIN/pfold" --by cpu in
is "$status" 2 'folded text'
like "$ERR" 'folded text does not have it' 'tells nothing'

# --chart: the order of time, and only neighbours are added up.
is "$("$BIN/pfold" --no-header --chart script.txt)" "$(printf 'cc1;f 10\nas;f 20\ncc1;g 120\n')" '--chart'
is "$("$BIN/pfold" --no-header --chart --rename 's/^[fg]$/h/' --prefix p script.txt)" "$(printf 'p;cc1;h 10\np;as;h 20\np;cc1;h 120\n')" \
	'with other names'
"$BIN/pfold" --chart demo.ps >chart.folded
"$BIN/pfold" <chart.folded >same.folded
is "$(grep -v '^# ' same.folded)" "$(grep -v '^# ' demo.folded)" 'added up it is what it is without --chart'
"$BIN/pdecode" -t demo.ps | grep -v '^[[:space:]]' | grep . | awk '{ print $1 }' | uniq >comms
is "$(grep -v '^# ' chart.folded | cut -d ';' -f 1 | uniq)" "$(cat comms)" 'commands in the order of the samples'
run "$BIN/pfold" --chart in
is "$status" 2 'folded text has no times'
like "$ERR" '--chart needs samples in time order' 'is refused'

# What numbers are called, as the events' own text has it; other values; what is none.
gunzip -c "$ROOT/t/data/sched-stacks.data.gz" >sched.data
"$BIN/pdecode" sched.data >sched.ps
run "$BIN/pfold" --by prev_state sched.ps
cut -d ';' -f 1 "$OUT" | grep -v -e '^#' -e '\[no prev_state\]' | sort -u >got
"$BIN/pdecode" -t sched.ps | sed -n 's/.* prev_state=\([^ ]*\) .*/\1/p' | sort -u >want
same got want '--by prev_state: states as in the text of the events'
run "$BIN/pfold" --by prev_prio+1 sched.ps
like "$OUT" '^prev_prio\+1 121;' '--by a value that is no field'
run "$BIN/pfold" --by 'prev_prio+' sched.ps
is "$status" 64 '--by with half of a value'
like "$ERR" '^pfold: --by prev_prio\+: column [0-9]+: expected ' 'is refused'

# Several events: a root each, if asked for; never one sum.
printf '# event: a, unit: ns, from: x\nm;f 3\n' >a.folded
printf '# event: b, unit: faults, from: y\nm;f 5\n' >b.folded
run "$BIN/pfold" a.folded b.folded
is "$status" 2 'events are not added up'
run "$BIN/pfold" --by event a.folded b.folded
is "$status" 0 '--by event'
is "$(cat "$OUT")" "$(printf '# event: a+b, from: x,y\na;m;f 3\nb;m;f 5\n')" 'each has a root'
empty "$ERR" 'and nothing is to be warned of'
printf '# event: a, unit: us, from: z\nm;f 4\n' >c.folded
for name in pfold psvg preport pdiff; do
	run "$BIN/$name" a.folded c.folded
	is "$status" 2 "$name: one event in two units"
	like "$ERR" ' in us' 'is told'
done
run "$BIN/pdiff" a.folded b.folded
is "$status" 2 'pdiff: two events in two units'
like "$ERR" 'b.folded: counts b in faults, but the input before counts a in ns: they cannot be compared' 'is refused'
sed 's/faults/ns/' b.folded >d.folded
run "$BIN/pdiff" a.folded d.folded
is "$status" 0 'two events in one unit'
like "$ERR" 'd.folded: counts b in ns, but the input before counts a in ns$' 'are reported'
run "$BIN/preport" a.folded b.folded
is "$status" 0 'preport'
is "$(grep -c -e '^a: 1 stack, 3 ns' -e '^b: 1 stack, 5 faults' "$OUT")" 2 'has a table for each event'

# The terms that say how an event was recorded are no part of its name, except where two differ by them alone.
sample() { printf 'a 1/1 [000] 1.000000: %s %s: \n\t1 f (/x)\n\n' "$1" "$2"; }
{ sample 300 cpu-clock/freq=499/ && sample 2 faults; } >one.txt
{ sample 300 cpu-clock/freq=499/ && sample 5 cpu-clock/freq=99/; } >two.txt
roots() { run "$BIN/pfold" --by event "$@" && sed 's/, unit:.*//; s/, samples:.*//' "$OUT"; }
is "$(roots one.txt)" '# event: cpu-clock+faults
cpu-clock;a;f 300
faults;a;f 2' '--by event: names without terms'
is "$(roots two.txt)" '# event: cpu-clock/freq=499/+cpu-clock/freq=99/
cpu-clock/freq=499/;a;f 300
cpu-clock/freq=99/;a;f 5' 'with them where they differ'
is "$("$BIN/pfold" --by comm,event one.txt | sed 1d)" 'a;cpu-clock;a;f 300
a;faults;a;f 2' 'below another root, too'
run "$BIN/pfold" one.txt
is "$(sed 's/, samples:.*//' "$OUT")" '# event: cpu-clock, unit: ns
a;f 300' 'the event with the most weight: without terms'
like "$ERR" 'only samples of cpu-clock are folded' 'in the message, too'
run "$BIN/pfold" two.txt
like "$OUT" '^# event: cpu-clock/freq=499/, ' 'with them where one like it is left out'
# Folded text as older versions wrote it, and as it is now: the event by either name.
"$BIN/pfold" --by event one.txt >now.folded
sed 's,cpu-clock,cpu-clock/freq=499/,' now.folded >old.folded
for file in now old; do
	for name in cpu-clock cpu-clock/freq=499/ 'cpu-*'; do
		is "$("$BIN/pfold" -e "$name" $file.folded | sed 1d)" 'a;f 300' "$file: pfold -e $name"
		run "$BIN/psvg" -e "$name" $file.folded
		is "$status $(grep -c '<title>f (300' "$OUT")" '0 1' "$file: psvg -e $name"
	done
done
"$BIN/pfold" --by event two.txt >two.folded
is "$("$BIN/pfold" -e cpu-clock/freq=99/ two.folded | sed 1d)" 'a;f 5' 'of two, the one that was asked for'
run "$BIN/pfold" -e cpu-clock/freq=97/ two.folded
is "$(grep -vc '^#' "$OUT")" 0 'but no other'
# What has no room is less than all, also of stacks that are changed afterwards.
awk 'BEGIN { for (i = 0; i < 66000; i++) printf "f;"; print "g 5" }' >deep.folded
for shape in --no-header --hide=none; do
	run "$BIN/pfold" "$shape" deep.folded
	is "$status" 1 "stacks that are too deep: $shape"
	like "$ERR" 'more than 65536 frames: 465 frames are left out' 'and it is reported'
	like "$OUT" '^# partial: ' 'to whom reads the text, too'
done
done_testing

#!/bin/sh
# Control-C goes to every process of a pipeline: what was recorded until then is finished.
. "${0%/*}/lib.sh"
plan 4

# A recorder that writes half of a recording, waits for the interrupt, and then writes the rest.
# tail -c +N counts from 1.
half=$(($(wc -c <"$ROOT/t/data/demo.data") / 2))
cat >recorder <<EOS
trap 'exec tail -c +$((half + 1)) "$ROOT/t/data/demo.data"' INT
head -c $half "$ROOT/t/data/demo.data"
: >ready
while :; do sleep 0.05; done
EOS
# The shells around the filters catch the interrupt, and so do not hand on that it is ignored.
cat >pipeline <<EOS
{ trap : INT; sh recorder; } | { trap : INT; "$BIN/pdecode"; echo \$? >1; } |
	{ trap : INT; "$BIN/psym" 2>psym.err; echo \$? >2; } | { trap : INT; "$BIN/pfold" >got; echo \$? >3; }
EOS

# In a process group of its own, by perl: the background jobs of a shell ignore SIGINT.
perl -e '
	my $pid = fork // die;
	if (!$pid) { setpgrp; $SIG{INT} = "DEFAULT"; exec "sh", "pipeline" }
	for (1 .. 200) { last if -e "ready"; select undef, undef, undef, 0.05; }
	select undef, undef, undef, 0.3;
	kill "INT", -$pid;
	waitpid $pid, 0;
'
"$BIN/pdecode" "$ROOT/t/data/demo.data" | "$BIN/psym" 2>/dev/null | "$BIN/pfold" >whole
ok 'the recording folds' [ -s whole ]
is "$(cat 1)" 0 'pdecode outlives the interrupt'
is "$(cat 3)" 0 'so does pfold'
# The first line has the name of the file that was read.
is "$(grep -v '^# event: ' got | md5sum)" "$(grep -v '^# event: ' whole | md5sum)" 'and nothing is missing'

#!/bin/sh
# A trace.dat of version 7 that was cut off anywhere: the events before the cut, each as in the whole
# recording, a message and exit status 1.
. "${0%/*}/lib.sh"
need perl

# Where the last options are, which tell where the events of the last buffer are.
last_options() { # FILE
	perl -0777 -ne '
		my $p = index($_, "\0", 10) + 7;
		$p = index($_, "\0", $p) + 1;
		$p = index($_, "\0", $p) + 1;
		my $next = unpack("Q<", substr($_, $p, 8));
		while ($next) {
			$at = $next;
			$next = unpack("Q<", substr($_, $at + 16 + unpack("Q<", substr($_, $at + 8, 8)) - 8, 8));
		}
		print $at' "$1"
}

# events FILE: what is printed, without the lines that are no events, and without the names of buffers, which
# are not there if only the first one is left.
events() {
	"$BIN/pdecode" -t "$1" 2>errors | sed -e '/^cpus=/d' -e 's/^[a-z0-9_]*:  *//' -e 's/^ *//'
}

# A line of a cut recording has to be one of the whole one; further on, there are never fewer.
cut_all() { # FILE STEP
	last=$(last_options "$1")
	events "$1" | sort >whole
	bad=
	had=0
	n=$2
	while [ "$n" -le "$last" ]; do
		head -c "$n" "$1" >cut.dat
		"$BIN/pdecode" cut.dat >/dev/null 2>&1
		[ $? = 1 ] || bad="$bad $n: status;"
		events cut.dat | sort >some
		has=$(wc -l <some)
		[ -z "$(comm -23 some whole)" ] || bad="$bad $n: another line;"
		[ "$has" -ge "$had" ] || bad="$bad $n: fewer;"
		[ -s errors ] || bad="$bad $n: no message;"
		had=$has
		n=$((n + $2))
	done
	head -c "$last" "$1" >cut.dat
	events cut.dat | sort >some
	cmp -s some whole || bad="$bad without the last options"
	is "$bad" '' "${1##*/}: cut off, it gives what is there"
	ok 'which is more than nothing' [ "$had" -gt 0 ]
}

step=997
sanitized && step=4999
cut_all "$ROOT/t/data/trace-zlib.dat" "$step"
cut_all "$ROOT/t/data/osnoise.dat" "$step"
cut_all "$ROOT/t/data/sched.dat" $((step * 5))
gzip -dc "$ROOT/t/data/trace-instances.dat.gz" >instances.dat
head -c "$(last_options instances.dat)" instances.dat >cut.dat
events instances.dat >whole
events cut.dat >some
same some whole 'buffers have the names that the counts have'
like errors 'the events of 1 buffer were found by their pages$' 'and a message says how they were found'

# Pages that are not packed, without counts: the events are those of the whole recording.
perl "$ROOT/t/trace-make" version=stream page=512 >x.st
"$BIN/pconv" --to trace.dat -o x.dat x.st 2>"$ERR" || bail "$(cat "$ERR")"
last=$(last_options x.dat)
head -c "$last" x.dat >cut.dat
events x.dat | grep thing: | cut -c 1-60 >whole
events cut.dat | grep thing: | cut -c 1-60 >some
is "$(wc -l <some)" "$(wc -l <whole)" 'pages that are not packed'
like errors 'CPUs have numbers in their order' 'whose CPU is not known, and a message says so'
bad=
n=$last
while [ "$n" -gt 0 ]; do
	head -c "$n" x.dat >cut.dat
	"$BIN/pdecode" cut.dat >/dev/null 2>&1
	case $? in
	1) ;;
	2) [ "$n" -lt 40 ] || bad="$bad $n" ;;
	*) bad="$bad $n" ;;
	esac
	n=$((n - 211))
done
is "$bad" '' 'wherever that is cut, the status tells'
done_testing

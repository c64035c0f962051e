#!/bin/sh
# What psym makes of paths in a recording that lead upwards: nothing outside of --symfs is read, and
# no member of a bundle has such a name.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" perl tar

mkdir deeper root
cat >prog.c <<'EOF'
#include <stdlib.h>

volatile unsigned long sum;
__attribute__((noinline, noclone)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		sum ^= (unsigned long)i;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 60; i++)
		inner(atoi(argv[argc - 1]));
	return 0;
}
EOF
"$CC" -O0 -fno-omit-frame-pointer -Wl,--build-id=none -o deeper/prog prog.c ||
	skip_all "$CC cannot build the program"
"$BIN/pcap-perf" -e cpu-clock:u -F 999 -g -o p.data -- deeper/prog 500000 >record.log 2>&1 ||
	skip_all 'recording is not allowed here'
"$BIN/pdecode" p.data >p.ps 2>decode.log || skip_all 'nothing was recorded'

# named PATH: the stream with another path for the program, of the same length: "/." fills it up.
named() {
	NEW=$1 OLD=$TMP/deeper/prog perl -0777 -pe '
		my ($head, $tail) = $ENV{NEW} =~ m{^((?:/\.\.)*)(.*)$}s;
		my $fill = length($ENV{OLD}) - length($ENV{NEW});
		my $dots = ("/" x ($fill % 2)) . ("/." x int($fill / 2));
		s/\Q$ENV{OLD}\E/$head$dots$tail/g' p.ps
}

# fold STREAM OPTION...: folded text in $OUT.
fold() {
	stream=$1
	shift
	psym_args=$*
	run_pipe "\"\$BIN/psym\" $psym_args $stream" '"$BIN/pfold"'
}

fold p.ps
like "$OUT" ';main;inner' 'the program by its own path'
mv deeper/prog prog
named /../prog >outside.ps
fold outside.ps --symfs root
unlike "$OUT" ';inner' '--symfs: a path that leads out of it finds nothing there'
is "$statuses" '0 0' 'which is no failure'
ln -s "$TMP/prog" root/prog
fold outside.ps --symfs root
unlike "$OUT" ';inner' 'nor does a link that leads out of it'
rm root/prog
cp prog root/prog
fold outside.ps --symfs root
like "$OUT" ';main;inner' 'it leads to the root, as in a root directory'

named "/..$TMP/prog" >upwards.ps
run "$BIN/psym" --bundle names.tar upwards.ps
is "$status" 0 'a bundle of it'
tar tf names.tar >members 2>tar.log
unlike members '(^|/)\.\.(/|$)' 'has no name that leads upwards'
like members 'prog$' 'but the program'
mv prog away
fold upwards.ps --symfs names.tar
like "$OUT" ';main;inner' 'which is found there'

# A file of which nearly all is holes costs its owner nothing, but who reads it gigabytes.
mkdir -p "huge$TMP/deeper"
cp away "huge$TMP/deeper/prog"
truncate -s 1G "huge$TMP/deeper/prog"
if [ "$(du -k "huge$TMP/deeper/prog" | cut -f1)" -gt 10000 ]; then
	skip 3 'this file system has no holes'
else
	run "$BIN/psym" --symfs huge --missing p.ps
	like "$OUT" 'too large' 'such a file is not read'
	run "$BIN/psym" --symfs huge --bundle holes.tar p.ps
	is "$status" 0 'a bundle'
	is "$(find holes.tar -size +10000k)" '' 'does not get it'
fi
done_testing

#!/bin/sh
# The examples of CONTRIBUTING.md: the programs can be compiled and do what is said of them; the recipe is the one that
# is there.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" pkg-config
lib=${UNIT:-$ROOT/build/t/unit}
lib=${lib%/t/unit}/libperfpipe.a
[ -s "$lib" ] || skip_all 'the library is not built'

# block N LANGUAGE: the Nth one.
block() {
	awk -v n="$1" -v begin="\`\`\`$2" '$0 == begin && !--n { on = 1; next } /^```/ { on = 0 } on' "$ROOT/CONTRIBUTING.md"
}
# As the Makefile compiles; with sanitizers where the library has them.
flags="-std=c11 -D_GNU_SOURCE -I$ROOT/lib -I$ROOT/bin -Wall -Wextra -Wno-missing-field-initializers -Werror"
sanitized && flags="$flags -fsanitize=address,undefined -no-pie"
libs="$(pkg-config --libs libelf zlib libzstd liblzma libdw libtraceevent libxxhash capstone) -liberty -lm -pthread"
nm "$lib" 2>/dev/null | grep -q 'U newterm' && libs="$libs $(pkg-config --libs ncursesw)"
compile() { # OUTPUT FILE...
	output=$1
	shift
	# shellcheck disable=SC2086
	"$CC" $flags -o "$output" "$@" "$lib" $libs
}

block 1 c >phead.c
run compile phead phead.c "$ROOT/bin/cli.c"
is "$status" 0 'the filter can be compiled' || cat "$ERR"
"$BIN/pdecode" "$ROOT/t/data/sched.dat" >s.ps 2>/dev/null
"$BIN/pdecode" -t s.ps 2>/dev/null | grep -v ^cpus= | head -n 1000 >want
./phead s.ps 2>/dev/null | "$BIN/pdecode" -t - 2>/dev/null | grep -v ^cpus= >got
is "$(wc -l <want)" 1000 'of a thousand samples and more'
same got want 'it hands on the first thousand'

block 2 c >ticks.c
cat >main.c <<'END'
#include "cli.h"

#include "base/out.h"
#include "base/src.h"
#include "stream/stream.h"

int ticks_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d);

int main(int argc, char **argv)
{
	const struct opt_group groups[] = {{0}};
	const struct opt_spec spec = {"ticks", "FILE", "ticks as a stream", groups};
	struct ps_end end = {0};
	struct cli cli;
	struct swriter w;
	struct out out;
	struct src *s;

	if (cli_start(&cli, &spec, argc, argv) || src_open(&s, argv[1], cli.diag) || out_init(&out, 1))
		return 2;
	swriter_init(&w, &out);
	swriter_header(&w);
	end.status = ticks_decode(s, 1, &w, cli.diag) ? 1 : 0;
	swriter_end(&w, &end);
	src_free(s);
	return cli_finish(&cli, out_close(&out) ? 2 : (int)end.status);
}
END
run compile ticks ticks.c main.c "$ROOT/bin/cli.c"
is "$status" 0 'the decoder can be compiled' || cat "$ERR"
# Two ticks, at 1000 and 2000 ns: of the processes 7 and 8.
printf 'TICKS01\0\350\3\0\0\0\0\0\0\7\0\0\0\320\7\0\0\0\0\0\0\10\0\0\0' >x.ticks
./ticks x.ticks | "$BIN/phist" --by event,time,pid --tsv 2>/dev/null | sed 1d | cut -f 2-4 | sort >got
printf 'tick\t1000\t7\ntick\t2000\t8\n' >want
same got want 'and reads what the format says'
head -c 25 x.ticks >cut.ticks
run ./ticks cut.ticks
is "$status" 1 'one that is cut off'
like "$ERR" 'ticks: cut.ticks: offset 25: the last tick is cut off' 'is reported'

block 1 sh >want
grep -v -e '^#' "$ROOT/share/recipes/pidpersec" | sed '/./,$!d' >got
same got want 'the recipe is that of share/recipes'
done_testing

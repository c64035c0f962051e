#!/bin/sh
# psym on copies of user stacks: programs are built and recorded here, and their chains compared with what
# the programs say and with perf. t/oracle/unwind compares with gdb on larger recordings.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" perf

cat >prog.c <<'EOF_C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile unsigned long sum;
static struct timespec start;
static int rounds = 200000;

static int over(double seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) > seconds;
}

NOINLINE unsigned long spin(unsigned long n)
{
	for (int i = 0; i < rounds; i++)
		sum += n ^ (unsigned long)i;
	return sum;
}

/* Each call of spin gets two samples or more, however fast the machine is. */
static void slow_down(void)
{
	clock_t before;

	do {
		rounds *= 2;
		before = clock();
		spin(1);
	} while (clock() - before < CLOCKS_PER_SEC / 500);
}

/* A frame of a size that is known at run time only: its rules go by the frame pointer. */
NOINLINE unsigned long array(unsigned long n)
{
	char a[n % 7 * 16 + 16];

	memset(a, 1, sizeof(a));
	return spin(n) + (unsigned long)a[n % 16];
}

NOINLINE unsigned long deep(unsigned long depth)
{
	char room[400];

	memset(room, (int)depth, sizeof(room));
	return depth ? deep(depth - 1) + (unsigned long)room[depth % 400] : array(depth) + 1;
}

/* Busy at each depth, so that samples follow each other by a level or less. */
NOINLINE unsigned long ladder(unsigned long depth)
{
	char room[400];

	memset(room, (int)spin(depth), sizeof(room));
	return depth ? ladder(depth - 1) + (unsigned long)room[depth % 400] : sum;
}

static void handler(int sig)
{
	sum += spin((unsigned long)sig) + 1;
}

static int order(const void *a, const void *b)
{
	return (int)(spin(1) & 1) + *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int v[] = {3, 1, 2, 4};
	unsigned long depth = (unsigned long)atoi(argv[1]);

	signal(SIGUSR1, handler);
	if (argc > 2)
		slow_down();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	while (argc > 2 && !over(0.6))
		sum += ladder(depth);
	while (argc < 3 && !over(0.4)) {
		sum += deep(depth);
		qsort(v, 4, sizeof(*v), order);
		raise(SIGUSR1);
	}
	return 0;
}
EOF_C
# build NAME FLAG...: the program without frame pointers.
build() {
	out=$1
	shift
	"$CC" -O2 -fomit-frame-pointer -w "$@" -Wl,--build-id -o "$out" prog.c
}
# recorded OUT SIZE COMMAND...: a recording with samples. perf itself dies now and then.
recorded() {
	out=$1
	size=$2
	shift 2
	for _ in 1 2 3; do
		perf record -q -N -F 999 -e cpu-clock:u --call-graph "dwarf,$size" -o "$out" -- "$@" >perf.log 2>&1 &&
			"$BIN/pdecode" -b "$out" >"$out.ps" 2>decode.log && return 0
	done
	return 1
}
build plain || skip_all "$CC cannot build the program"
recorded plain.data 16384 ./plain 5 || skip_all 'recording with perf is not allowed here'
run "$BIN/pcap-perf" -F 999 -e cpu-clock:u --call-graph dwarf,16384 -o own.data -- ./plain 5
own=$status

# chains FILE OPTION...: a line for each sample: names of the program's functions, outermost first, and how
# it ended.
chains() {
	from=$1
	shift
	"$BIN/psym" -j "$@" "$from" 2>psym.err | sed -n '/"type":"sample"/{
		s/.*"stack":\[\(.*\)\],*/\1/
		s/"stack_end":\("[^"]*"\).*/ \1/
		p
	}' | awk '{
		end = $0
		line = ""
		sub(/.*"stack_end":|.*\] *,* *"/, "", end)
		n = split($0, part, /"sym":"/)
		for (i = 2; i <= n; i++) {
			name = part[i]
			sub(/".*/, "", name)
			line = name ";" line
		}
		print line
	}'
}
# ends FILE OPTION...: how the walks ended, with counts.
ends() {
	from=$1
	shift
	"$BIN/psym" -s -b "$@" "$from" 2>&1 >out.ps | sed -n 's/^psym: \([0-9]*\) ([0-9.]* %): /\1 /p'
}
# whole FILE [HOW]: whether all of at least 20 stacks are whole. A machine that is short of memory may have taken a
# page of the stack, which the kernel does not bring back for a copy: a fiftieth may lack one, or end as HOW says.
whole() {
	ends "$1" >ends.txt
	awk -v also="${2:-memory that was not there}" '{ n += $1 } /outermost/ { w += $1 }
		/memory that was not there/ || $0 ~ also { gone += $1 }
		END { exit !(n >= 20 && n == w + gone && gone * 50 <= n) }' ends.txt
}

chains plain.data.ps >plain.txt
ok 'every stack reaches the outermost function' whole plain.data.ps
diag_file ends.txt
like plain.txt '^_start;.*main;(deep;){6}array;spin;$' 'a frame of variable size below recursion: every call is there'
like plain.txt ';main;.*qsort.*;order;spin;$' 'through the C library and back'
like plain.txt ';main;.*raise.*;.*(restore_rt|_restore).*;handler;spin;$' 'through a signal handler'
is "$(grep -c 'spin;$' plain.txt)" "$(grep -Ec '(array|order|handler);spin;$' plain.txt)" \
	'spin has only the callers that it has in the program'

# What perf makes of it, with the names of this machine. It is right in code of the program, where all of the stack
# was in memory; in startup code and in the C library it is not always.
names() {
	awk '
	/^[^ \t]/ { if (line != "") print line; line = "." }
	/^\t/ { sub(/\+0x[0-9a-f]*$/, "", $2); line = $2 ";" line }
	END { print line }' "$1" | sort
}
perf script --no-inline -F comm,ip,sym -i plain.data >perf.txt 2>perf.err
"$BIN/psym" -t -F comm,ip,sym plain.data.ps >psym.txt 2>psym.err
names perf.txt | grep '^_start;.*;spin;[.]$' | grep -v '\[unknown\]' >perf.names
ok 'perf has whole stacks' test "$(wc -l <perf.names)" -ge 20
names psym.txt >psym.names
is "$(comm -23 perf.names psym.names | head -n 3)" '' "stacks are those of perf script"

is "$(od -c out.ps | wc -l | awk '{ print ($1 < 20000) }')" 1 'copies of stacks are not in the output'
"$BIN/psym" -b --keep-stacks plain.data.ps >kept.ps 2>psym.err
"$BIN/psym" -t kept.ps >again.txt 2>psym.err
"$BIN/psym" -t plain.data.ps >once.txt 2>psym.err
same again.txt once.txt '--keep-stacks: another psym unwinds them again'
"$BIN/psym" -b out.ps 2>psym.err | "$BIN/psym" -t >again.txt 2>psym.err
same again.txt once.txt 'and keeps what was unwound where they are gone'
"$BIN/psym" -s -b plain.data.ps 2>/dev/null | "$BIN/psym" -j 2>/dev/null >again.json
like again.json '"stack_end":"the outermost function was reached"' 'with how the walk ended'

# What pcap-perf records is no different.
if [ "$own" = 0 ]; then
	"$BIN/pdecode" -b own.data >own.ps 2>decode.log
	ok 'pcap-perf --call-graph dwarf: every stack is whole' whole own.ps
	diag_file ends.txt
	chains own.ps >own.txt
	like own.txt '^_start;.*main;(deep;){6}array;spin;$' 'every call is there'
	perf script --no-inline -F comm,ip,sym -i own.data >own.perf 2>perf.err
	like own.perf 'deep' 'perf reads it, too'
else
	skip 3 'pcap-perf cannot record here'
fi

# What -g records is read by perf: of each copy only what was used is there, and nothing is there twice.
twice() {
	awk -F ';' '{ n = 0; for (i = 1; i <= NF; i++) n += $i ~ /(^|[ ;])main$/ } n > 1' "$1"
}
# by_perf FILE OPTION...: a recording with the options, as perf and psym see it; whether there is one.
by_perf() {
	out=$1
	shift
	"$BIN/pcap-perf" -F 999 -e cpu-clock:u "$@" -o "$out" -- ./plain 5 2>record.err || return 1
	perf script --no-inline -F comm,ip,sym -i "$out" >"$out.txt" 2>"$out.err"
	echo "script $?" >"$out.exits"
	perf report --no-children --stdio -g folded,0,caller -i "$out" >"$out.report" 2>>"$out.err"
	echo "report $?" >>"$out.exits"
	"$BIN/pdecode" -b "$out" >"$out.ps" 2>decode.log
	"$BIN/psym" --keep-stacks -t -F comm,ip,sym "$out.ps" >"$out.psym" 2>psym.err
	names "$out.txt" | grep -v "\[unknown\]\|@plt;" >"$out.perf"
	names "$out.psym" >"$out.names"
}
for options in -g '-g -W -I --all-cgroups'; do
	# shellcheck disable=SC2086
	by_perf auto.data $options || {
		skip 7 'pcap-perf cannot record here' "$options"
		continue
	}
	printf 'script 0\nreport 0\n' >exits
	same auto.data.exits exits "$options: perf script and perf report read it"
	unlike auto.data.err 'failure|fail to|corrupt|[Ii]nvalid|out of order' 'and find nothing wrong'
	isnt "$(grep -c 'main;' auto.data.perf)" 0 'there are stacks'
	is "$(comm -23 auto.data.perf auto.data.names | head -n 3)" '' "they are psym's"
	is "$(twice auto.data.perf)" '' 'no frame is there twice'
	is "$(sed -n 's/^[0-9.]*% //p' auto.data.report | twice -)" '' 'nor in the report'
	ok 'every stack is whole' whole auto.data.ps
done

# A large array that is never used: its pages are not in memory, and the kernel copies none beyond.
cat >hole.c <<'EOF_C'
volatile unsigned long sum;
__attribute__((noinline, noclone)) void inner(char *room)
{
	for (unsigned long i = 0; i < 200000000; i++)
		sum += i;
	__asm__ volatile("" : : "r"(room) : "memory");
}
__attribute__((noinline, noclone)) void outer(void)
{
	char room[200000];

	inner(room);
	sum++;
}
int main(void)
{
	outer();
	return 0;
}
EOF_C
if "$CC" -O1 -fomit-frame-pointer -o hole hole.c 2>cc.err &&
	"$BIN/pcap-perf" -F 499 -e cpu-clock:u --call-graph=dwarf,16384 -o hole.data -- ./hole 2>record.err; then
	"$BIN/pdecode" hole.data 2>/dev/null | "$BIN/psym" --stats 2>hole.err | "$BIN/pfold" --no-header >hole.folded 2>/dev/null
	like hole.folded '^hole;\[stack not in memory\];outer;inner [0-9]+$' 'a copy that ends where nothing is in memory'
	like hole.err 'a larger copy does not help' 'and that none helps'
else
	skip 2 'pcap-perf cannot record here'
fi

if recorded cut.data 1024 ./plain 30; then
	ends cut.data.ps >ends.txt
	like ends.txt '[0-9] the copy of the stack ended' 'a copy that is too small ends the stack'
	"$BIN/pfold" out.ps >cut.folded 2>/dev/null
	like cut.folded '^[^;]*;\[truncated: 1 kB\];deep;' 'pfold puts that below the root'
	"$BIN/pfold" --no-marks out.ps >cut.folded 2>/dev/null
	unlike cut.folded '\[truncated' '--no-marks leaves it out'
	chains cut.data.ps >cut.txt
	unlike cut.txt '(array|deep);order|spin;[a-z]' 'and no word of it becomes a frame'
else
	skip 4 'perf failed'
fi

# Half of the ladder is within the copies, so that those stacks are whole which the others are continued by.
if recorded ladder.data 8192 ./plain 30 ladder; then
	ends ladder.data.ps --no-stitch >ends.txt
	like ends.txt '[0-9] the copy of the stack ended' 'the deeper half of a recursion is cut'
	"$BIN/psym" --no-stitch -s -b ladder.data.ps 2>stats.txt >/dev/null
	like stats.txt 'record larger copies .*: 16384 bytes are enough for (9[0-9]|100) %' 'psym --stats says which size would do'
	"$BIN/psym" -j -s ladder.data.ps 2>ladder.err >ladder.json
	ok 'whole stacks continue most of them' \
		test "$(grep -c '"stack_stitched":1' ladder.json)" -gt "$(awk '/copy/ { print int($1 / 2) }' ends.txt)"
	like ladder.err "$(grep -c '"stack_stitched":1' ladder.json) of these copies ended, and were continued" 'which the account tells'
	chains ladder.data.ps | grep 'ladder;spin;$' | grep '^_start' | sort -u >ladder.txt
	is "$(grep -Evc '^_start;[^;]*;[^;]*;main;(ladder;){1,31}spin;$' ladder.txt)" 0 'every call is there, and none too many'
	# The stack pointer tells the depth: frames of one size.
	"$BIN/psym" -j --keep-stacks ladder.data.ps 2>/dev/null | awk -F '"user_regs":' '
		/"sym":"spin"/ && /"sym":"_start"/ && NF > 1 {
			sp = $2
			gsub(/.*"mask"[^[]*\[/, "", sp)
			split(sp, reg, ",")
			n = gsub(/"sym":"ladder"/, "&")
			print n, reg[8]
		}' | sort -u >depth.txt
	is "$(awk '{ print $1 }' depth.txt | sort | uniq -d)" '' 'each depth has one stack pointer'
	is "$(awk '{ print $2 }' depth.txt | sort | uniq -d)" '' 'and each stack pointer one depth'
	"$BIN/psym" -b ladder.data.ps 2>/dev/null | "$BIN/pfold" >stitched.folded 2>/dev/null
	like stitched.folded '_start;.*;main;(ladder;){29,31}spin ' 'pfold folds them with whole ones'
else
	skip 8 'perf failed'
fi

# A function is called from several places of another: whole stacks agree on the functions, but not on the place.
cat >places.c <<'EOF_C'
volatile unsigned long sum;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void spin(unsigned long n)
{
	while (n--)
		sum += n;
}
NOINLINE void inner(unsigned long n, volatile char *room)
{
	volatile char more[6000];

	more[0] = room[0];
	spin(n);
	sum += (unsigned char)more[0];
}
NOINLINE void work(unsigned long i)
{
	volatile char room[6000];

	room[0] = 1;
	if (i % 5)
		inner(30000, room);
	else
		spin(60000);
	sum += (unsigned char)room[0];
}
NOINLINE void places(unsigned long i)
{
	if (i & 1)
		work(i / 2);
	else
		work(i / 2 + 1);
	sum++;
}
int main(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		places(i);
	return 0;
}
EOF_C
if "$CC" -O1 -fomit-frame-pointer -o places places.c 2>cc.err &&
	"$BIN/pcap-perf" -F 999 -e cpu-clock:u --call-graph=dwarf,8192 -o places.data -- ./places 2>record.err; then
	"$BIN/pdecode" -b places.data 2>/dev/null | "$BIN/psym" -j -s 2>places.err >places.json
	like places.err 'of these copies ended, and were continued by complete stacks' 'stacks agree on functions alone'
	"$BIN/pdecode" -b places.data 2>/dev/null | "$BIN/psym" -b 2>/dev/null | "$BIN/pfold" --no-header -c >places.folded 2>/dev/null
	is "$(sed -n 's/ [0-9]*$//; /;spin$/p' places.folded | sort -u | sed 's/^places;_start;.*;main;/main;/')" \
		'main;places;work;inner;spin
main;places;work;spin' 'and these are right'
	# Called from spin, inner has its room: the copy ends in the frame of work.
	is "$(sed -n '/"sym":"spin".*"sym":"inner"/s/.*"sym":"work","dso":"[^"]*"},{"addr":"\([^"]*\)","sym":"places".*/\1/p' places.json |
		sort -u | sed 's/^0x0*//')" "$(nm places | sed -n 's/^0*\([0-9a-f]*\) T places$/\1/p')" \
		'where it calls from is not known: it is where the function begins'
else
	skip 3 'pcap-perf cannot record here'
fi

# Rare large copies, a helper's, continue the small ones of its event, and are no events themselves.
of_event() { grep -c "\"type\":\"sample\".*\"event\":\"$1\"" "$2"; }
if "$BIN/pcap-perf" -v -o help.data -e cpu-clock:u -c 500000 -g -- ./plain 30 ladder 2>help.err &&
	"$BIN/pdecode" -j help.data >help.json && [ "$(of_event cpu-clock:u help.json)" -ge 50 ]; then
	like help.err 'copies of up to 1024 bytes for each event, and of up to 65528 at [0-9]+ Hz to continue' 'small copies have a helper'
	main=$(of_event cpu-clock:u help.json)
	perf script -i help.data -F event 2>/dev/null | sed -n 's/^ *\(.*cpu-clock:u\):* *$/\1/p' | sort | uniq -c >perf.txt
	is "$(awk '{ print $2, $1 }' perf.txt)" "cpu-clock:u $main
perfpipe-stacks:cpu-clock:u $(of_event perfpipe-stacks:cpu-clock:u help.json)" 'perf script reads both, and pdecode prints both'
	"$BIN/pdecode" -b help.data >help.ps
	for filter in "$BIN/psym" "$BIN/psym --keep-stacks" "$BIN/pfilter 'period > 0'" "$BIN/pfilter 'period > 0' | $BIN/psym"; do
		sh -c "$filter" <help.ps 2>/dev/null | "$BIN/pfold" --count 2>/dev/null | awk '{ n += $NF } END { print n }'
	done | sort -u >counts.txt
	is "$(cat counts.txt)" "$main" 'pfold counts the event alone'
	is "$("$BIN/phist" --by event --tsv help.ps 2>/dev/null | grep -c perfpipe-stacks)" 0 'and so does phist'
	"$BIN/psym" -s -b help.ps 2>help.err >help.sym
	like help.err "of these copies ended, and were continued by complete stacks" 'the stacks are continued'
	like help.err "^psym: $main samples" 'of so many samples'
	chains help.ps | grep 'ladder;spin;$' | grep '^_start' | sort -u >help.txt
	is "$(grep -Evc '^_start;[^;]*;[^;]*;main;(ladder;){1,31}spin;$' help.txt)" 0 'every call is there, and none too many'
else
	skip 7 'pcap-perf cannot record here'
fi

# other NAME DESCRIPTION FLAG...: stacks are whole also without some of the tables.
other() {
	name=$1
	what=$2
	shift 2
	if build "$name" "$@" 2>/dev/null && recorded "$name.data" 16384 "./$name" 3; then
		ok "$what" whole "$name.data.ps"
		diag_file ends.txt
		chains "$name.data.ps" >"$name.txt"
		like "$name.txt" '^_start;.*main;(deep;){4}array;spin;$' "$what: every call is there"
	else
		skip 2 "cannot be built or recorded here" "$what"
	fi
}
other static 'a static program without a table to search' -static -Wl,--no-eh-frame-hdr
other debug 'only .debug_frame' -fno-asynchronous-unwind-tables -g
other packed 'only .debug_frame, packed' -fno-asynchronous-unwind-tables -g -gz=zlib
other fp 'clang and its linker' -fuse-ld=lld

# Where no table is, rows are made from code, of these machines.
rows_from_code=$(case $(uname -m) in x86_64 | aarch64) echo yes ;; esac)

# apart NAME DESCRIPTION COMMAND...: the same when the tables are moved out of the program, to NAME.debug.
apart() {
	name=$1
	what=$2
	shift 2
	if have objcopy && have xz && build "$name" -fno-asynchronous-unwind-tables -g 2>/dev/null &&
		objcopy --only-keep-debug "$name" "$name.debug" && objcopy --strip-all "$name" && "$@" &&
		recorded "$name.data" 16384 "./$name" 3; then
		ok "$what" whole "$name.data.ps"
		diag_file ends.txt
		mv "$name.debug" moved
		"$BIN/psym" -s -b "$name.data.ps" 2>ends.txt >/dev/null
		mv moved "$name.debug"
	else
		skip 1 "cannot be built or recorded here" "$what"
		false
	fi
}
linked() { objcopy --remove-section=.gnu_debuglink --add-gnu-debuglink=linked.debug linked; }
if apart linked '.debug_frame in the file of the debug link' linked; then
	without=': an address has no unwind table$'
	[ -z "$rows_from_code" ] || without='\(100.0 %\): the outermost function was reached$'
	like ends.txt "$without" 'without that file the code leads on'
else
	skip 1 'no such recording'
fi
packed_link() {
	objcopy --compress-debug-sections=zlib-gnu zlink.debug 2>/dev/null
	objcopy --remove-section=.gnu_debuglink --add-gnu-debuglink=zlink.debug zlink
}
apart zlink 'the same, packed as .zdebug_frame' packed_link
# Fedora's mini debuginfo: symbols and .debug_frame, without the rest, in a section of the program.
mini() {
	objcopy --remove-section=.debug_info --remove-section=.debug_abbrev --remove-section=.debug_line \
		--remove-section=.debug_str --remove-section=.debug_line_str --remove-section=.debug_aranges \
		--remove-section=.debug_rnglists --remove-section=.debug_loclists mini.debug mini.small &&
		xz -f mini.small && objcopy --add-section=.gnu_debugdata=mini.small.xz mini
}
if apart mini '.debug_frame in .gnu_debugdata' mini; then
	unlike ends.txt ': an address has no unwind table$' 'which is in the program itself'
	chains mini.data.ps >mini.txt
	like mini.txt '^_start;.*main;(deep;){4}array;spin;$' 'with its symbols'
else
	skip 2 'no such recording'
fi

# The kernel's code in every process: its image is this kernel's, if the build-ids agree.
cat >clock.c <<'EOF_C'
#include <time.h>
__attribute__((noinline)) static void tick(struct timespec *t)
{
	for (int i = 0; i < 100; i++)
		clock_gettime(CLOCK_MONOTONIC, t);
}
int main(void)
{
	struct timespec t;

	do
		tick(&t);
	while (clock() < CLOCKS_PER_SEC * 4 / 10);
	return 0;
}
EOF_C
"$CC" -O2 -fomit-frame-pointer -o clock clock.c
if recorded clock.data 16384 ./clock && "$BIN/psym" -j clock.data.ps 2>/dev/null |
	grep '"type":"sample"' >clock.json && grep -q 'dso":"\[vdso\]"' clock.json; then
	ok 'through the vdso' whole clock.data.ps
	diag_file ends.txt
	id=$("$BIN/pdecode" -j clock.data 2>/dev/null | grep -a '"path":"\[vdso\]"' | sed -n 's/.*"build_id":"\([0-9a-f]*\)".*/\1/p' | head -n 1)
	if [ -n "$id" ]; then
		perl -0777 -pe 'BEGIN { $id = pack "H*", shift } s/\Q$id\E/~$id/ge' "$id" clock.data.ps >other.ps
		"$BIN/psym" -j other.ps 2>/dev/null | grep '"type":"sample"' | grep 'dso":"\[vdso\]"' >other.json
		unlike other.json '"sym":"[^"]*","dso":"\[vdso\]"' "a recording with another vdso: this kernel's lends no names"
		is "$(grep -v '"stack_guessed":1' other.json | grep -c 'the outermost function was reached')" 0 \
			'nor tables: a stack through it ends there, or is a guess'
	else
		skip 2 'perf has recorded no build-id of it'
	fi
else
	skip 3 'no sample is in the vdso'
fi

# Where no table is, rows are made from the code.
if [ "$rows_from_code" ] && build none -fno-asynchronous-unwind-tables 2>/dev/null && recorded none.data 16384 ./none 3; then
	ok 'a program without tables: its stacks are whole' whole none.data.ps
	diag_file ends.txt
	chains none.data.ps >none.txt
	like none.txt '^_start;.*main;(deep;){4}array;spin;$' 'every call is there'
	like none.txt ';main;.*qsort.*;order;spin;$' 'through the C library and back'
	"$BIN/psym" -j none.data.ps 2>/dev/null >none.json
	unlike none.json '"stack_guessed":1' 'and nothing is guessed'
	# Without symbols, calls tell where functions begin.
	mkdir -p "bare$PWD"
	strip -o "bare$PWD/none" none
	ends none.data.ps --symfs bare --symfs / >bare.txt
	ends none.data.ps >ends.txt
	same bare.txt ends.txt 'nor does it take symbols'
else
	skip 5 'cannot be built or recorded here'
fi
cat >odd.c <<'EOF_C'
char room[65536];
char *top = room + 60000, *old;
void odd(void);
__asm__(".text\n.globl odd\n.type odd,@function\n"
	"odd: mov %rsp, old(%rip)\nmov top(%rip), %rsp\nmov $400000000, %ecx\n"
	"1: dec %ecx\njnz 1b\nmov old(%rip), %rsp\nret\n.size odd, . - odd\n");
int main(void)
{
	for (int i = 0; i < 3; i++)
		odd();
	return 0;
}
EOF_C
if "$CC" -O1 -o odd odd.c 2>cc.err && recorded odd.data 16384 ./odd; then
	ends odd.data.ps >ends.txt
	like ends.txt '[0-9] an address has no unwind table' 'code that leaves its stack: the end of the walk tells'
	"$BIN/pfold" out.ps >odd.folded 2>/dev/null
	like odd.folded '^[^;]*;\[no unwind table: odd\];odd ' 'and pfold names the file'
	"$BIN/psym" -s -b odd.data.ps 2>stats.txt >/dev/null
	like stats.txt '^psym:   [0-9]+ in .*/odd' 'psym --stats, too'
	like stats.txt '^psym:   build it with' 'with what would help'
else
	skip 4 'cannot be built or recorded here'
fi
if build steps -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer 2>/dev/null &&
	recorded steps.data 16384 ./steps 3; then
	chains steps.data.ps >steps.txt
	like steps.txt ';main;(deep;){4}array;spin;$' 'with frame pointers instead, they lead on'
	"$BIN/psym" -j steps.data.ps 2>/dev/null >steps.json
	unlike steps.json '"stack_guessed":1' 'which is no guess'
else
	skip 2 'cannot be built or recorded here'
fi

# Go as it is shipped: without symbols, its own table has names and the sizes of frames.
cat >stripped.go <<'EOF_GO'
package main

var sum uint64

//go:noinline
func leaf(n uint64) uint64 {
	for i := uint64(0); i < 100000; i++ {
		sum += n ^ i
	}
	return sum
}

//go:noinline
func deep(n uint64) uint64 {
	var room [50]uint64
	room[n] = n
	if n == 0 {
		return leaf(n) + room[n%50]
	}
	return deep(n-1) + room[n%50]
}

func main() {
	for i := 0; i < 3000; i++ {
		deep(4)
	}
}
EOF_GO
if have go && go build -ldflags='-s -w' -o stripped stripped.go 2>go.err && recorded go.data 16384 ./stripped; then
	chains go.data.ps >go.txt
	like go.txt '^runtime.goexit;runtime.main;main.main;(main.deep;){5}main.leaf;$' 'stripped Go: names, and whole stacks'
	is "$(grep -c 'main.leaf;$' go.txt)" \
		"$(grep -Ec '^runtime.goexit;runtime.main;main.main;(main.deep;){5}main.leaf;$' go.txt)" 'of each sample'
else
	skip 2 'no go, or it cannot build or be recorded here'
fi

# A coroutine is whole where makecontext had it begin.
cat >context.c <<'EOF_C'
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t home, co;
volatile unsigned long sum;
__attribute__((noinline, noclone)) void inner(unsigned long n)
{
	for (unsigned long i = 0; i < 100000; i++)
		sum += n ^ i;
}
static void body(void)
{
	for (;;) {
		inner(sum);
		swapcontext(&co, &home);
	}
}
int main(void)
{
	getcontext(&co);
	co.uc_stack.ss_sp = malloc(65536);
	co.uc_stack.ss_size = 65536;
	co.uc_link = &home;
	makecontext(&co, body, 0);
	for (int i = 0; i < 3000; i++)
		swapcontext(&home, &co);
	return 0;
}
EOF_C
if "$CC" -O1 -fomit-frame-pointer -o context context.c 2>cc.err && recorded context.data 16384 ./context; then
	# For ten instructions of swapcontext, after it has taken the other stack pointer, libc's table is wrong.
	ok 'a coroutine: its stacks are whole' whole context.data.ps 'an address is not mapped'
	diag_file ends.txt
	chains context.data.ps >context.txt
	unlike context.txt 'main;(.*;)?body;' 'and end with it'
else
	skip 2 'cannot be built or recorded here'
fi
mv plain gone
"$BIN/psym" -s -b --debug-dir none plain.data.ps 2>stats.txt >/dev/null
like stats.txt '\): the file was not found$' 'without the file the walk ends there'
"$BIN/psym" -b --debug-dir none plain.data.ps 2>/dev/null | "$BIN/pfold" >gone.folded 2>/dev/null
like gone.folded '^[^;]*;\[file not found: plain\];' 'and pfold names it'
done_testing

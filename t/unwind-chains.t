#!/bin/sh
# Chains of frame pointers: which are whole, how the others are marked and counted; and the functions of
# stripped files, whose names are compared with those of nm. A program is built and recorded here.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC" nm strip

cat >prog.c <<'EOF_C'
#include <pthread.h>
#include <time.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile unsigned long sum;
volatile int rare = 1;
static double seconds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

NOINLINE static void spin(void)
{
	for (unsigned long i = 0; i < 3000000; i++)
		sum += i;
}

/* What keeps its frame pointer for something else: the kernel gets no further than here. */
NOINLINE static void clobber(void)
{
#ifdef __x86_64__
	unsigned long n = 5000000;

	__asm__ volatile("mov %%rbp, %%rdx\n\txor %%ebp, %%ebp\n"
			 "1:\tdec %0\n\tjnz 1b\n\tmov %%rdx, %%rbp"
			 : "+c"(n)
			 :
			 : "rdx", "cc");
#endif
}

NOINLINE static void count(void)
{
	sum++;
}

__attribute__((cold, noinline)) static void complain(void)
{
	sum++;
}

/* What keeps its frame pointer, and has a loop in the part that is split off. */
NOINLINE static void split(void)
{
	count();
	if (rare) {
		complain();
		for (unsigned long i = 0; i < 3000000; i++)
			sum += i * i;
	}
	count();
}

NOINLINE static void middle(void)
{
	spin();
	split();
	sum++;
}

static void *thread(void *p)
{
	while (now() < seconds) {
		middle();
		clobber();
	}
	return p;
}

int main(void)
{
	pthread_t t;

	seconds = 0.3;
	if (pthread_create(&t, NULL, thread, NULL))
		return 1;
	thread(NULL);
	return pthread_join(t, NULL);
}
EOF_C
{ "$CC" -g0 -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -c prog.c 2>cc.err &&
	"$CC" -O2 -pthread -o prog prog.o 2>>cc.err; } || skip_all "$CC does not build a program"
[ "$(uname -m)" = x86_64 ] || skip_all 'the program is for x86-64'
{ "$BIN/pcap-perf" -e cpu-clock -F 999 --call-graph fp -o fp.data -- ./prog >record.txt 2>&1 &&
	"$BIN/pcap-perf" -e cpu-clock -F 999 --call-graph dwarf -o dwarf.data -- ./prog >>record.txt 2>&1; } ||
	skip_all 'perf events cannot be recorded here'
mkdir empty

# folded NAME DATA PSYM-OPTION...: NAME.ps, and user frames of its stacks
folded() {
	name=$1 data=$2
	shift 2
	"$BIN/pdecode" -b "$data" | "$BIN/psym" -b "$@" >"$name.ps" 2>psym.err
	"$BIN/pfold" -c --no-header "$name.ps" 2>pfold.err | sed 's/ [0-9]*$//' >"$name.folded"
}

# ---- which are whole ----

folded fp fp.data
folded dwarf dwarf.data
like fp.folded '^prog;[^[][^;]*;(.*;)?main;thread;middle;split(\.cold)?(;|$)' 'a chain up to main is whole'
like fp.folded '^prog;(start_thread|[^[][^;]*);thread;middle;split(\.cold)?(;|$)' "so is one up to a thread's first function"
unlike fp.folded '^prog;\[[^;]*\];(.*;)?(main;)?thread;middle;split(\.cold)?(;|$)' 'and none of these has a mark'
is "$(grep -c '^prog;clobber' fp.folded)" 0 'a chain that ends at a function that is no start is not whole'
like fp.folded '^prog;\[no frame pointer: prog\];clobber(;|$)' 'though it is one frame: it has a mark'

# A stack without a mark is one of those that were unwound, as far as the kernel got.
# (A function that has no frame pointer itself, as the innermost, hides its caller.)
inner() { sed -nE '/^prog;\[/d; s/^prog;.*;((main;)?thread;.*split(\.cold)?)(;.*)?$/\1/p' "$1" | sort -u; }
inner fp.folded >fp.inner
inner dwarf.folded >dwarf.inner
is "$(comm -23 fp.inner dwarf.inner | head -n 3)" '' \
	'chains without a mark are those of copies of the stack'

# A start that leaves a pointer to data in the frame pointer, as main's caller in glibc 2.43 does: what the kernel
# takes for more frames is left out where it is no code, or leads to none, and only there.
cat >begin.c <<'EOF_C'
volatile unsigned long sum;
__attribute__((noinline, noclone)) void spin(void)
{
	for (unsigned long i = 0; i < 300000000; i++)
		sum += i;
}
/* Called by _start. */
__attribute__((noinline, noclone)) void begin(void)
{
	spin();
	sum++;
	__asm__ volatile("mov $60, %eax\n\txor %edi, %edi\n\tsyscall");
}
unsigned long frames[4] = {NEXT, RETURNS, 1, 0x4854415f5952};
__asm__(".globl _start\n_start:\n\tlea frames(%rip), %rbp\n\tcall begin\n\thlt\n\t.skip 512, 0x90\n");
EOF_C
for returns in 0 0x4854415f5952 begin+1 begin+2; do
	next=1
	[ $returns != begin+2 ] || next='(unsigned long)&frames[2]' # and from there to where nothing is mapped
	if "$CC" -g0 -O1 -fno-omit-frame-pointer -fno-pie -no-pie -nostdlib -static \
		"-DRETURNS=(unsigned long)$returns" "-DNEXT=$next" -o begin begin.c 2>cc.err &&
		"$BIN/pcap-perf" -e cpu-clock -F 999 --call-graph fp -o begin.data -- ./begin >record.txt 2>&1; then
		for form in -b --plain; do
			"$BIN/pdecode" "$form" begin.data 2>/dev/null | "$BIN/psym" -b 2>/dev/null | "$BIN/pfold" --no-header 2>/dev/null |
				sed -n 's/;spin [0-9]*$/;spin/p' | sort -u
		done >begin.folded
		case $returns in
		begin+1) want='begin;[no frame pointer: begin];begin;_start;spin' ;;
		*) want='begin;_start;spin' ;;
		esac
		is "$(sort -u begin.folded)" "$want" "a start that returns to $returns"
	else
		skip 1 'such a program cannot be built or recorded here'
	fi
done

# What the innermost function hides is counted, where the unwind table shows it: the caller of spin, or none.
cat >leaf.c <<'EOF_C'
volatile unsigned long sum;
__attribute__((noinline, noclone)) void spin(void)
{
	for (unsigned long i = 0; i < 3000000; i++)
		sum += i;
}
__attribute__((noinline, noclone)) void middle(void)
{
	spin();
	sum++;
}
int main(void)
{
	for (int i = 0; i < 50; i++)
		middle();
	return 0;
}
EOF_C
# leaf NAME OPTION...: the program's stacks, and what psym tells of them.
leaf() {
	out=$1
	shift
	"$CC" -fno-omit-frame-pointer "$@" -o leaf leaf.c 2>cc.err &&
		"$BIN/pcap-perf" -e cpu-clock:u -F 999 --call-graph fp -o leaf.data -- ./leaf 2>record.txt &&
		"$BIN/pdecode" leaf.data 2>decode.err | "$BIN/psym" --stats 2>"$out.stats" | "$BIN/pfold" --no-header >"$out.folded" 2>pfold.err
}
if leaf bare -O2 -momit-leaf-frame-pointer && leaf framed -O0; then
	like bare.folded '^leaf;([^[][^;]*;)*main;spin [0-9]' 'a leaf without a frame hides its caller'
	unlike bare.folded 'middle;spin' 'always'
	like bare.stats '([89][0-9]|100)\.[0-9] %\) of the frame pointer chains have no caller of the innermost function' \
		'psym --stats counts that'
	like framed.folded 'main;middle;spin [0-9]' 'one with a frame does not'
	unlike framed.stats '([3-9][0-9]|100)\.[0-9] %\) of the frame pointer chains have no' 'and is not counted'
else
	skip 5 "$CC does not know the options"
fi

# Names of the C library are not needed.
"$BIN/pdecode" -b fp.data | "$BIN/psym" -b -D empty 2>psym.err | "$BIN/pfold" -c --no-header >bare.folded 2>pfold.err
unlike bare.folded '^prog;\[[^;]*\];(.*;)?(main;)?thread;middle;split(\.cold)?(;|$| )' \
	'a start of a stripped C library is found by what leads there'

# What two filters hand on in parts, and what they do not.
"$BIN/psym" -j <fp.ps 2>psym.err >fp.json
like fp.json '"stack_end":"the outermost function was reached"' 'a second psym keeps the verdict'
mv prog gone
"$BIN/psym" -b -D empty <fp.ps 2>psym.err | "$BIN/pfold" -c --no-header 2>pfold.err | sed 's/ [0-9]*$//' >twice.folded
same twice.folded fp.folded 'so do its stacks'
mv gone prog
folded again fp.data --keep-stacks
same again.folded fp.folded 'chains in parts and whole ones have the same marks'

# ---- the account ----

"$BIN/pfold" --stats fp.ps >all.folded 2>stats.txt
like all.folded '^# event: .*, stacks: marked, from: ' 'the first line says that stacks are marked'
awk '/^#/ { next } { n = $NF; all += n; split($0, f, ";"); if (f[2] ~ /^\[no frame pointer/) bad += n; if (f[2] ~ /^\[(truncated|no|file|other|broken|stack|memory|register|on|too|damaged|generated|mappings)[] ]/) marked += n }
	END { printf "%.1f %.1f\n", 100 * (all - marked) / all, 100 * bad / all }' all.folded >share
read -r whole bad <share
like stats.txt "$whole % of the stacks are complete; .*\\[no frame pointer\\] $bad %.*; what helps most: record copies of the stack \(pcap-perf -g\)\$" \
	'pfold --stats ends with the account'
"$BIN/psvg" all.folded >all.svg 2>psvg.err
like all.svg "$whole % of the stacks are complete" 'it is in the foot of the picture'
"$BIN/psvg" --html all.folded >all.html 2>psvg.err
like all.html "$whole % of the stacks are complete" 'and in the page'
printf 'a;b 1\n' | "$BIN/psvg" >none.svg 2>psvg.err
unlike none.svg 'stacks are complete|Call chains' 'nothing is said of text that has no marks'

# How they were recorded goes from the first line to the picture, of all texts that there are.
for how in 'copies of up to 65528 bytes at 99 Hz: cheap' 'frame pointers at 9 Hz: it is Go & such'; do
	printf '# event: cpu-clock, unit: ns, samples: 1, chains: %s, stacks: marked, from: x\na;b 1\n' "$how" >"how.${how%% *}"
done
"$BIN/psvg" how.copies >how.svg 2>psvg.err
like how.svg '<text id="chains" [^>]*>Call chains: copies of up to 65528 bytes at 99 Hz: cheap</text>' 'the foot tells how stacks were recorded'
"$BIN/pfold" how.copies how.frame >both.folded 2>pfold.err
"$BIN/psvg" --html both.folded >how.html 2>psvg.err
like how.html '<br>Call chains: copies of up to 65528 bytes at 99 Hz: cheap; in others: frame pointers at 9 Hz: it is Go &amp; such</p>' \
	'the page, of two recordings'
"$BIN/pfold" --hide '^\[' fp.ps 2>pfold.err | "$BIN/psvg" >hidden.svg 2>psvg.err
unlike hidden.svg 'stacks are complete' 'nor of stacks whose marks can be gone'
"$BIN/preport" fp.ps >report.txt 2>preport.err
like report.txt "^cpu-clock.* \\($bad %\\) \\[no frame pointer\\]" "preport's head counts each mark by its name"
"$BIN/psym" --stats -b <fp.ps 2>stats.txt >/dev/null
like stats.txt 'frame pointers led no further, and not to a start$' 'psym --stats says how chains ended'

# ---- another stack ----

# What goes to another stack as Go's runtime does, with Go's table of functions (src/internal/abi/symtab.go; Go 1.20).
# On the other stack are return addresses that calls have left there before: none of them is a frame.
cat >switch.c <<'EOF_C'
#include <stdlib.h>
volatile unsigned long sum;

__attribute__((noinline)) void on_it(void)
{
#ifdef FRAME
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
#endif
	for (unsigned long i = 0; i < 100000000; i++)
		sum += i;
}

#define SWITCH(name) \
	".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n" \
	"push %rbx\n.cfi_def_cfa_offset 16\n" \
	"mov %rsp, %rbx\nmov %rdi, %rsp\ncall *%rsi\nmov %rbx, %rsp\n" \
	"pop %rbx\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.size " name ", .-" name "\n"
void go(char *stack, void (*f)(void)) __asm__("runtime.systemstack");
void leave(char *stack, void (*f)(void)) __asm__("runtime.mcall");
void stale(void);
__asm__(".text\nstart:\n" SWITCH("runtime.systemstack") SWITCH("runtime.mcall") "end:\n"
	".globl stale\n.cfi_startproc\ncall on_it\nstale: ret\n.cfi_endproc\n.globl runtime.goexit\nruntime.goexit: ret\n"
	".section .gopclntab,\"a\"\n"
	"table: .long 0xfffffff1\n.byte 0, 0, 1, 8\n.quad 2, 1, start\n"
	".quad names - table, after - table, after - table, after - table, functions - table\n"
	"names: .asciz \"runtime.systemstack\"\nmcall: .asciz \"runtime.mcall\"\nafter: .balign 8\n"
	"functions: .long 0, one - functions, runtime.mcall - start, two - functions, end - start\n"
	"one: .long 0, 0, 0, 0, 0, 0\ntwo: .long runtime.mcall - start, mcall - names, 0, 0, 0, 0\n"
	".section .note.GNU-stack,\"\",@progbits\n.text\n");

int main(void)
{
	unsigned long *stack = calloc(8192, 8);

	for (int i = 4000; i < 8192; i++)
		stack[i] = (unsigned long)stale;
	go((char *)(stack + 4096), on_it);
	leave((char *)(stack + 4096), on_it);
	return 0;
}
EOF_C
if "$CC" -O2 -no-pie -o switch switch.c 2>cc.err &&
	"$BIN/pcap-perf" -e cpu-clock -F 999 --call-graph dwarf -o switch.data -- ./switch >record.txt 2>&1; then
	"$BIN/pdecode" -b switch.data | "$BIN/psym" -b 2>psym.err | "$BIN/pfold" -c --no-header >switch.folded 2>pfold.err
	like switch.folded '^switch;\[on another stack\];runtime\.systemstack;on_it[; ]' 'a switch of stacks is no broken stack'
	like switch.folded '^switch;runtime\.mcall;on_it[; ]' 'one that leaves its stack for good begins another'
	unlike switch.folded 'stale|^switch;\[broken stack\].*;on_it[; ]' 'and what lies beyond is no frame'
else
	diag_file cc.err
	skip 3 'the program was not built, or not recorded'
fi

# By frame pointers, too: they lead to the goroutine that was left, which may run elsewhere by then.
if "$CC" -O2 -no-pie -fno-omit-frame-pointer -DFRAME -o switchfp switch.c 2>cc.err &&
	"$BIN/pcap-perf" -e cpu-clock -F 999 --call-graph fp -o switchfp.data -- ./switchfp >record.txt 2>&1; then
	"$BIN/pdecode" -b switchfp.data >switchfp.ps 2>pdecode.err
	"$BIN/psym" -b <switchfp.ps 2>psym.err | "$BIN/pfold" -c --no-header >switchfp.folded 2>pfold.err
	like switchfp.folded '^switchfp;runtime\.mcall;on_it[; ]' 'frame pointers: what leaves its stack begins another'
	unlike switchfp.folded ';.*;runtime\.mcall;on_it' 'and nothing calls it'
else
	diag_file cc.err
	skip 2 'the program was not built, or not recorded'
fi

# What a signal interrupts lies above the signal's frame, which is larger than a small copy; or on a stack of its own.
cat >signal.c <<'EOF_C'
#include <signal.h>
#include <stdlib.h>
volatile unsigned long sum;

static void handler(int sig)
{
	for (unsigned long i = 0; i < 100000000; i++)
		sum += i;
	(void)sig;
}

int main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = argc > 1 ? SA_ONSTACK : 0};
	stack_t other = {.ss_sp = calloc(1, 1 << 20), .ss_size = 1 << 20};

	(void)argv;
	return sigaltstack(&other, NULL) || sigaction(SIGUSR1, &a, NULL) || raise(SIGUSR1);
}
EOF_C
if "$CC" -O2 -o signal signal.c 2>cc.err && for how in '' own; do
	"$BIN/pcap-perf" -e cpu-clock -F 999 --call-graph dwarf,256 -o signal.data -- ./signal $how >record.txt 2>&1 || break
	"$BIN/pdecode" -b signal.data | "$BIN/psym" -b 2>psym.err | "$BIN/pfold" -c --no-header >"signal$how.folded" 2>pfold.err
done; then
	like signal.folded '^signal;\[truncated[^];]*\];(.*;)?handler[; ]' 'a signal on the same stack: the copy ended'
	unlike signal.folded 'another stack.*;handler' 'which is no other stack'
	like signalown.folded '^signal;\[on another stack\];(.*;)?handler[; ]' 'one with a stack of its own'
else
	diag_file cc.err
	skip 3 'the program was not built, or not recorded'
fi

# ---- functions of stripped files ----

mkdir -p "stripped$PWD"
strip -o "stripped$PWD/prog" prog
folded named dwarf.data --symfs stripped
nm prog | awk '$2 ~ /^[tT]$/ { sub(/^0+/, "", $1); print "prog+0x" $1 ($3 ~ /\.cold$/ ? ".cold" : "") }' | sort >nm.names
tr ';' '\n' <named.folded | grep '^prog+0x' | sort -u >guessed.names
is "$(comm -13 nm.names guessed.names)" '' 'functions without a name go by where nm has them'
for f in spin middle split.cold; do
	addr=$(nm prog | awk -v f="$f" '$3 == f { sub(/^0+/, "", $1); print $1 }')
	[ -z "$addr" ] || case $f in
	*.cold) echo "$f prog+0x$addr.cold" ;;
	*) echo "$f prog+0x$addr" ;;
	esac
done >some
is "$(while read -r f name; do grep -qxF "$name" guessed.names || echo "$f"; done <some)" '' \
	'the functions that ran are among them, parts that were split off too'
"$BIN/pprobe" -x "stripped$PWD/prog" -F --tsv 2>pprobe.err | cut -f 1 | sort >listed
is "$(comm -13 listed guessed.names)" '' 'pprobe calls them the same'
like named.folded '^prog;_start;' 'the entry point of a program is _start'
like listed '^_start$' 'in pprobe, too'
# One whose start no table covers, as musl has it.
cat >own.c <<'EOF_C'
volatile unsigned long sum;
__asm__(".globl _start\n_start: xor %ebp,%ebp\n\tand $-16,%rsp\n\tcall begin\n\thlt\n\t.p2align 4");
__attribute__((noinline)) static void work(void)
{
	for (unsigned long i = 0; i < 200000000; i++)
		sum += i;
}

void begin(void)
{
	work();
	__asm__ volatile("syscall" : : "a"(231), "D"(0L));
}
EOF_C
# made NAME FLAG...: NAME.c is built and recorded; its stacks are NAME.folded, with counts.
made() {
	name=$1
	shift
	[ "$(uname -m)" = x86_64 ] && "$CC" -O2 "$@" -o "$name" "$name.c" 2>cc.err &&
		"$BIN/pcap-perf" -F 999 --call-graph dwarf,1024 -o "$name.data" -- "./$name" 2>record.txt || return
	"$BIN/pdecode" -b "$name.data" | "$BIN/psym" -b 2>psym.err | "$BIN/pfold" -c --no-header >"$name.folded" 2>pfold.err
}
if made own -s -static -nostdlib -fno-asynchronous-unwind-tables; then
	like own.folded '^own;_start;own\+0x[0-9a-f]+;own\+0x[0-9a-f]+ ' 'a start that no table covers'
	"$BIN/pprobe" -x own -F --tsv 2>pprobe.err | cut -f 1 >listed
	like listed '^_start$' 'and pprobe has it'
else
	diag_file cc.err
	skip 2 'the program was not built, or not recorded'
fi
# A function without a size, and one after it whose symbol was stripped.
cat >open.c <<'EOF_C'
volatile unsigned long sum;
__asm__(".globl first\n.type first,@function\nfirst: ret\n\t.p2align 4");
__attribute__((noinline)) static void second(void)
{
	for (unsigned long i = 0; i < 200000000; i++)
		sum += i;
}

int main(void)
{
	second();
	return 0;
}
EOF_C
if made open -fno-toplevel-reorder -Wl,-x; then
	like open.folded ';main;open\+0x[0-9a-f]+ ' 'a function after one without a size goes by where it begins'
	unlike open.folded ';first[; ]' 'not by the other'
else
	diag_file cc.err
	skip 2 'the program was not built, or not recorded'
fi
# A function without a size that ends with a system call, from which it does not return: it is the one that waits.
cat >last.c <<'EOF_C'
#include <fcntl.h>
#include <stdlib.h>
long last(int fd, void *to, unsigned long n);
__asm__(".globl last\n.type last,@function\nlast: .cfi_startproc\nxor %eax, %eax\n\tsyscall\n.cfi_endproc\n"
	"\tnopl (%rax)\n\t.p2align 4\n\tret\n");

int main(void)
{
	static char to[1 << 20];
	int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 4000; i++)
		if (last(fd, to, sizeof(to)) < 0)
			return 1;
	return 0;
}
EOF_C
if made last; then
	like last.folded ';last[; ]' 'a system call at the end of a function without a size is of the function'
else
	diag_file cc.err
	skip 1 'the program was not built, or not recorded'
fi
"$BIN/pdecode" -b dwarf.data | "$BIN/psym" -b --symfs stripped --no-guessed 2>psym.err | "$BIN/pfold" -c --no-header >plain.folded 2>pfold.err
unlike plain.folded 'prog\+0x' '--no-guessed leaves them out'
like plain.folded ';\[prog\]' 'as it was'
"$BIN/pdecode" -b dwarf.data | "$BIN/psym" --symfs stripped --missing >missing.txt 2>psym.err
like missing.txt "$PWD/prog" '--missing still names the file'
"$BIN/preport" named.ps >report.txt 2>preport.err
"$BIN/phist" --by sym named.ps >hist.txt 2>phist.err
"$BIN/pdecode" -t named.ps >text.txt 2>pdecode.err
is "$(grep -lF 'prog+0x' report.txt hist.txt text.txt | paste -s -d ' ')" \
	'report.txt hist.txt text.txt' 'preport, phist and pdecode -t have them'
"$BIN/pfold" named.ps 2>pfold.err | "$BIN/psvg" >named.svg 2>psvg.err
like named.svg '#ccc' 'they are grey'
mv prog gone
"$BIN/psym" -b -D empty <named.ps 2>psym.err | "$BIN/pfold" -c --no-header 2>pfold.err | sed 's/ [0-9]*$//' >kept.folded
same kept.folded named.folded 'another psym without the file keeps them'
done_testing

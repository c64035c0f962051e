#!/bin/sh
# psym unwinds through generated code by the tables that a jitdump has for it.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"
[ "$(uname -m)" = x86_64 ] || skip_all 'the code of this test is of x86-64'

# The generated code makes room on the stack and calls a function: sub $24,%rsp; call *%rdi;
# add $24,%rsp; ret. Nothing has a frame pointer. The jitdump has tables and the code; with the argument `code` the
# code alone; with `name` neither. With `map` there is a perf map instead, and the program goes on until it is ended; with
# `tiny` it does not, and the code is as Python's: it moves the stack pointer by 8 bytes.
cat >prog.c <<'EOF'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const unsigned char code[] = "\x48\x83\xec\x18\xff\xd7\x48\x83\xc4\x18\xc3";
/* CIE: the CFA is rsp + 8. FDE: 32 from byte 4 on, 8 from byte 10 on. The code is 16 bytes before it. */
static const unsigned char table[] =
	"\x14\0\0\0\0\0\0\0\1zR\0\1\x78\x10\1\x1b\x0c\7\x08\x90\1\0\0"
	"\x14\0\0\0\x1c\0\0\0\xd0\xff\xff\xff\x0b\0\0\0\0\x44\x0e\x20\x46\x0e\x08\0"
	"\1\x1b\3\x3b\xcc\xff\xff\xff\1\0\0\0\xc0\xff\xff\xff\xe8\xff\xff\xff";
static volatile unsigned long sum;

__attribute__((noinline, noclone)) static void spin(void)
{
	for (unsigned long i = 0; i < 200000000; i++)
		sum += i;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline, noclone)) static void outer(void (*jit)(void (*)(void)))
{
	jit(spin);
	sum++;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	uint32_t head[6] = {0x4a695444, 1, 40, 0, 0, (uint32_t)getpid()};
	uint64_t rest[2] = {now(), 0}, sizes[3] = {sizeof(table) - 1, 20, sizeof(table) - 1};
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t unwind[2] = {4, 16 + sizeof(sizes) + sizeof(table) - 1};
	uint32_t load[2] = {0, 16 + 40 + 5 + (strcmp(how, "name") ? sizeof(code) - 1 : 0)}, ids[2] = {head[5], head[5]};
	uint64_t where[4] = {(uintptr_t)at, (uintptr_t)at, sizeof(code) - 1, 1}, time;
	char path[64];
	FILE *f;

	memcpy(at, code, sizeof(code));
	if (!strcmp(how, "tiny"))
		at[3] = at[9] = 8;
	if (!strcmp(how, "map") || !strcmp(how, "tiny")) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		f = fopen(path, "wx");
		puts(path);
		fprintf(f, "%lx %zx made\n", (unsigned long)at, sizeof(code) - 1);
		fclose(f);
		do
			outer((void (*)(void (*)(void)))(uintptr_t)at);
		while (!strcmp(how, "map"));
		return 0;
	}
	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	f = fopen(path, "w+");
	fwrite(head, sizeof(head), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
	fflush(f);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	time = now();
	if (argc == 1) {
		fwrite(unwind, sizeof(unwind), 1, f);
		fwrite(&time, sizeof(time), 1, f);
		fwrite(sizes, sizeof(sizes), 1, f);
		fwrite(table, sizeof(table) - 1, 1, f);
	}
	fwrite(load, sizeof(load), 1, f);
	fwrite(&time, sizeof(time), 1, f);
	fwrite(ids, sizeof(ids), 1, f);
	fwrite(where, sizeof(where), 1, f);
	fwrite("made", 5, 1, f);
	if (strcmp(how, "name"))
		fwrite(code, sizeof(code) - 1, 1, f);
	fclose(f);
	outer((void (*)(void (*)(void)))(uintptr_t)at);
	return 0;
}
EOF
"$CC" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o prog prog.c || bail "$CC cannot build the program"
"$BIN/pcap-perf" -k mono -F 999 -e cpu-clock:u --call-graph=dwarf,16384 -o with.data -- ./prog 2>record.log ||
	skip_all 'recording is not allowed here'
"$BIN/pdecode" with.data >with.ps 2>/dev/null || skip_all 'nothing was recorded'
run_pipe '"$BIN/psym" --stats with.ps' '"$BIN/pfold" --no-header'
is "$statuses" '0 0' 'psym and pfold succeed'
like "$OUT" '^prog;(.*;)?main;outer;made;spin [0-9]+$' 'the stack goes on below generated code'
unlike "$OUT" '\[generated code\]' 'and nowhere ends there'
unlike "$ERR.1" 'generated code$' 'as the account says'

# recorded ARGUMENT: the program's recording, folded to $OUT; the account goes to $ERR.1.
recorded() {
	"$BIN/pcap-perf" -k mono -F 999 -e cpu-clock:u --call-graph=dwarf,16384 -o "$1.data" -- ./prog "$1" >"$1.map" 2>record.log
	"$BIN/pdecode" "$1.data" >"$1.ps" 2>/dev/null
	run_pipe "'$BIN/psym' --stats $1.ps" '"$BIN/pfold" --no-header'
}
whole='^prog;(.*;)?main;outer;made;spin [0-9]+$'
recorded code
like "$OUT" "$whole" 'without tables the instructions tell'
unlike "$OUT" '\[generated code\]' 'always'
recorded name
like "$OUT" '^prog;\[generated code\];made;spin [0-9]+$' 'without instructions it ends there'
like "$ERR.1" 'java -XX:.PreserveFramePointer, node --perf-prof --perf-prof-unwinding-info, python3 -X perf$' 'and what would help is told'

# Neither tables nor a jitdump: the names of a perf map, the instructions of the process.
./prog map >map.map &
pid=$!
await test -s "/tmp/perf-$pid.map"
"$BIN/pcap-perf" -F 999 -e cpu-clock:u --call-graph=dwarf,16384 --bundle map.tar -o map.data -p $pid 2>record.log &
recorder=$!
await counting $recorder
burn $pid 20
kill -INT $recorder
wait $recorder
run_pipe '"$BIN/pdecode" map.data' '"$BIN/psym" --stats' '"$BIN/pfold" --no-header'
like "$OUT" "$whole" 'of a process that lives the instructions are read'
unlike "$OUT" '\[generated code\]' 'for each stack'
kill $pid
{ wait $pid; } 2>/dev/null
run_pipe '"$BIN/pdecode" map.data' '"$BIN/psym" --stats' '"$BIN/pfold" --no-header'
unlike "$OUT" 'main;outer;made' 'not when it is gone'
rm -f "/tmp/perf-$pid.map"
run_pipe '"$BIN/pdecode" map.data' '"$BIN/psym" --stats --symfs map.tar' '"$BIN/pfold" --no-header'
like "$OUT" "$whole" 'but a bundle has them'
unlike "$OUT" '\[generated code\]' 'for each stack, too'
tar xf map.tar
for at in 32 40 56 64 96; do
	cp "tmp/perf-$pid.core" core
	printf '\377\377\377\377\377\377\377\377' | dd of="tmp/perf-$pid.core" bs=1 seek=$at conv=notrunc 2>/dev/null
	run_pipe '"$BIN/pdecode" map.data' '"$BIN/psym" --symfs .' '"$BIN/pfold" --no-header'
	is "$statuses" '0 0 0' "a damaged core file, byte $at"
	cp core "tmp/perf-$pid.core"
done

recorded tiny
like "$OUT" "$whole" 'code that only calls is seen through when the process is gone'
unlike "$OUT" '\[generated code\]' 'in each stack'
rm -f "$(cat tiny.map)"

# What is damaged is as if there was none.
for dump in jit-*.dump; do
	[ "$(od -An -tu4 -j40 -N4 "$dump" | tr -d ' ')" = 4 ] || continue
	cp "$dump" kept
	for at in 52 60 84 90 96 100 112; do
		{
			head -c $at kept
			printf '\377\377\377\377'
			tail -c +$((at + 5)) kept
		} >"$dump"
		run "$BIN/psym" -b with.ps
		[ "$status" = 0 ] || fail "byte $at: status $status"
	done
	head -c 100 kept >"$dump"
	run_pipe '"$BIN/psym" with.ps' '"$BIN/pfold" --no-header'
	like "$ERR.1" 'the jitdump is cut off or damaged' 'a jitdump that is cut off within its tables'
	break
done
done_testing

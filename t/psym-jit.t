#!/bin/sh
# psym on a program that generates code: names from /tmp/perf-PID.map, and from a jitdump file with
# the time at which each code was there.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"

# The code is a copy of a function of the program; in its second half it has another name. With
# "map" as its argument it writes a perf map, with "dump" a jitdump. "map KIND": the kind of memory that the
# code is in. "map anon UID": as that user, and it stays until it is killed.
cat >jitted.c <<'EOF'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#define SIZE 4096
typedef void code(volatile unsigned long *sum, unsigned long n);

__attribute__((noinline, noclone, section(".text.spin"))) void spin(volatile unsigned long *sum,
								   unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		*sum += i;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static FILE *open_dump(void)
{
	uint32_t h[6] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};
	uint64_t rest[2] = {now(), 0};
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	f = fopen(path, "w+");
	fwrite(h, sizeof(h), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
	fflush(f);
	mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	return f;
}

/* Lines of the code that comes next: of its first bytes, then of the rest. */
static void say_lines(FILE *f, void *at, const char *file, uint32_t line, uint64_t shift)
{
	uint32_t h[2] = {2, (uint32_t)(16 + 16 + 16 + strlen(file) + 1 + 16 + 2)};
	uint64_t time = now(), head[2] = {(uintptr_t)at, 2}, addr = (uintptr_t)at + shift;
	uint32_t rest[2] = {line, 0};

	fwrite(h, sizeof(h), 1, f);
	fwrite(&time, sizeof(time), 1, f);
	fwrite(head, sizeof(head), 1, f);
	fwrite(&addr, sizeof(addr), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
	fwrite(file, strlen(file) + 1, 1, f);
	addr++;
	rest[0]++;
	fwrite(&addr, sizeof(addr), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
	fwrite("\xff", 2, 1, f);
}

static void say_load(FILE *f, void *at, const char *name, uint64_t index)
{
	uint32_t h[2] = {0, (uint32_t)(16 + 48 + strlen(name) + 1 - 8 + SIZE)};
	uint64_t time = now(), where[5] = {0, (uintptr_t)at, (uintptr_t)at, SIZE, index};
	uint32_t ids[2] = {(uint32_t)getpid(), (uint32_t)getpid()};

	fwrite(h, sizeof(h), 1, f);
	fwrite(&time, sizeof(time), 1, f);
	fwrite(ids, sizeof(ids), 1, f);
	fwrite(where + 1, 4 * sizeof(where[0]), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(at, SIZE, 1, f);
	fflush(f);
}

/* Memory for the code, which the kernel has different names for. */
static char *get_memory(const char *kind)
{
	int prot = PROT_READ | PROT_WRITE | PROT_EXEC, fd = -1, flags = MAP_PRIVATE;
	char *p;

	if (!strcmp(kind, "memfd")) {
		fd = memfd_create("doublemapper", 0);
		flags = MAP_SHARED;
		if (fd < 0 || ftruncate(fd, SIZE))
			return NULL;
	} else if (!strcmp(kind, "zero")) {
		fd = open("/dev/zero", O_RDWR);
	} else if (!strcmp(kind, "shared")) {
		flags = MAP_SHARED | MAP_ANONYMOUS;
	} else if (!strcmp(kind, "sysv")) {
		int id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0700);

		p = id < 0 ? (void *)-1 : shmat(id, NULL, SHM_EXEC);
		if (id >= 0)
			shmctl(id, IPC_RMID, NULL);
		return p == (void *)-1 ? NULL : p;
	} else {
		flags |= MAP_ANONYMOUS;
	}
	p = mmap(NULL, SIZE, prot, flags, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"alpha code", "beta code"};
	static volatile unsigned long sum;
	int is_map = argc > 1 && !strcmp(argv[1], "map");
	char *at = get_memory(is_map && argc > 2 ? argv[2] : "anon");
	FILE *dump = NULL, *map;
	char path[64];

	if (!at || (argc > 3 && setuid((uid_t)atoi(argv[3]))))
		return 1;
	if (argc > 1 && !strcmp(argv[1], "dump"))
		dump = open_dump();
	for (int i = 0; i < 2; i++) {
		memcpy(at, (void *)(uintptr_t)spin, 128);
		__builtin___clear_cache(at, at + 128);
		if (dump && argc > 2)
			say_lines(dump, at, i ? "dir/beta\033.src" : "dir/alpha.src", 100 * i + 7,
				  strtoul(argv[2], NULL, 0));
		if (dump)
			say_load(dump, at, names[i], (uint64_t)i);
		((code *)(uintptr_t)at)(&sum, 100000000);
	}
	if (is_map) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		map = fopen(path, "w");
		fprintf(map, "%lx %x mapped code\n", (unsigned long)(uintptr_t)at, SIZE);
		fclose(map);
	}
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (argc > 3)
		sleep(60);
	return 0;
}
EOF
"$CC" -O1 -fcf-protection=none -o jitted jitted.c 2>/dev/null || "$CC" -O1 -o jitted jitted.c ||
	bail "$CC cannot build the program"

"$BIN/pcap-perf" -k mono -F 999 -e cpu-clock:u -o map.data -- ./jitted map >pid 2>record.log ||
	skip_all 'recording is not allowed here'
"$BIN/pdecode" map.data >map.ps 2>/dev/null || skip_all 'nothing was recorded'
pid=$(cat pid)
map=/tmp/perf-$pid.map
trap 'rm -f "$map"; t_end' EXIT

fold() {
	run_pipe "\"\$BIN/psym\" --stats $*" '"$BIN/pfold"'
}

fold map.ps
is "$statuses" '0 0' 'psym and pfold succeed'
like "$OUT" '^jitted;.*mapped code [0-9]+$' 'a perf map names the code'
cp "$OUT" named
mkdir -p root/tmp
mv "$map" root/tmp
fold map.ps
unlike "$OUT" 'mapped code' 'without the map no name'
like "$OUT" 'jitted;.*\[unnamed generated code\]' 'but the same one in each run'
like "$ERR.1" '^psym: [0-9]+ address(es)?: generated code without a map$' 'and the reason'
fold --symfs root map.ps
like "$OUT" 'mapped code [0-9]+$' 'the map below --symfs'
sed 's/mapped code/other host/' "root/tmp/perf-$pid.map" >"$map"
host=$(uname -n)
other=$(printf '%s' "$host" | tr 'a-zA-Z0-9' 'b-zaB-ZA1-90')
if "$BIN/pdecode" -j map.data | grep -q '"hostname"' && [ "$other" != "$host" ]; then
	sed "s/$host/$other/g" map.ps >other.ps
	fold other.ps
	unlike "$OUT" 'other host' "a recording of another host does not take this one's map"
else
	skip 1 'the recording does not name its host'
fi
rm -f "$map"

# Other kinds of memory that code is made in.
for kind in memfd zero shared sysv; do
	if "$BIN/pcap-perf" -F 999 -e cpu-clock:u -o kind.data -- ./jitted map $kind >pid 2>record.log &&
		[ -s pid ]; then
		map=/tmp/perf-$(cat pid).map
		"$BIN/pdecode" kind.data >kind.ps 2>/dev/null
		fold kind.ps
		like "$OUT" '^jitted;.*mapped code [0-9]+$' "code in memory of the kind $kind"
		rm -f "$map"
		fold kind.ps
		unlike "$OUT" 'mapped code' 'which comes from the map'
	else
		skip 2 "no code in memory of the kind $kind"
	fi
done

# A map that another user has put there is not believed, but that of the process's own user.
# It is a child of this shell, so that it is gone after wait.
sh -c 'while [ ! -e go ]; do sleep 0.05; done; exec ./jitted map anon 65534' >user.pid &
pid=$!
"$BIN/pcap-perf" -F 999 -e cpu-clock:u -p $pid -o user.data 60 2>record.log &
recorder=$!
# begun FILE PID: the process has written to the file, or is gone.
begun() {
	[ -s "$1" ] || gone "$2"
}
await begun user.data $recorder
: >go
await begun user.pid $pid
kill -INT $recorder 2>/dev/null
if wait $recorder && [ -s user.pid ] && [ "$(id -u)" = 0 ]; then
	map=/tmp/perf-$pid.map
	"$BIN/pdecode" user.data >user.ps 2>/dev/null
	fold user.ps
	like "$OUT" 'mapped code [0-9]+$' "the map of the process's user"
	fold --like-perf user.ps
	unlike "$OUT" 'mapped code' 'perf believes only root and oneself'
	chown 65533 "$map"
	fold user.ps
	unlike "$OUT" 'mapped code' 'the map of another user'
	chown 65534 "$map"
	kill "$pid"
	wait "$pid"
	fold user.ps
	unlike "$OUT" 'mapped code' 'the map of a process that is gone, of another user'
	like "$ERR.1" '^psym: [0-9]+ address(es)?: generated code whose map belongs to another user$' 'and the reason'
	run "$BIN/psym" --missing user.ps
	like "$OUT" "tried $map: belongs to a user other" '--missing names it'
	chown 0 "$map"
	fold user.ps
	like "$OUT" 'mapped code [0-9]+$' "root's map"
	ln "$map" "$map.x"
	fold user.ps
	unlike "$OUT" 'mapped code' 'one that has another name, as a hard link makes it'
	rm -f "$map.x"
	mv "$map" "$map.x"
	chown 65534 "$map.x"
	ln -s "$map.x" "$map"
	fold user.ps
	unlike "$OUT" 'mapped code' "root's link to another user's map"
	rm -f "$map"
	mkdir -p own/tmp
	mv "$map.x" "own$map"
	fold --symfs own user.ps
	like "$OUT" 'mapped code [0-9]+$' 'below --symfs a map is believed'
else
	kill "$pid" 2>/dev/null
	skip 10 'another user cannot be had here'
fi

"$BIN/pcap-perf" -k mono -F 999 -e cpu-clock:u -o dump.data -- ./jitted dump >pid 2>record.log
"$BIN/pdecode" dump.data >dump.ps 2>/dev/null
pid=$(cat pid)
fold dump.ps
like "$OUT" 'beta code [0-9]+$' 'a jitdump names the code'
if "$BIN/pdecode" -j dump.data | grep -q '"clock":"mono"'; then
	like "$OUT" 'alpha code [0-9]+$' 'also the code that was replaced'
	a=$(sed -n 's/.*alpha code //p' "$OUT")
	b=$(sed -n 's/.*beta code //p' "$OUT")
	ok 'each for about half of the time' test "$((4 * a))" -gt "$b" -a "$((4 * b))" -gt "$a"
else
	like "$ERR.1" "jitdump's clock" 'without its clock in the recording: it is reported'
	skip 1 'the recording does not tell its clock'
fi

# lines SHIFT: text with source lines of a run whose jitdump has them, off by so many bytes.
lines() {
	"$BIN/pcap-perf" -k mono -F 999 -e cpu-clock:u -o lines.data -- ./jitted dump "$1" >linespid 2>record.log
	"$BIN/pdecode" lines.data >lines.ps 2>/dev/null
	run "$BIN/psym" --srcline -t -F comm,ip,sym,srcline lines.ps
}
lines 0
is "$status" 0 'a jitdump with source lines'
like "$OUT" ' beta code$' 'names as ever'
like "$OUT" '^  beta.*\.src:108$' 'the line of the code'
unlike "$OUT" 'src:107$' 'and not the one before it'
if grep -q ' alpha code$' "$OUT"; then
	like "$OUT" '^  alpha\.src:8$' 'also of the code that was replaced'
else
	skip 1 'the recording does not tell its clock'
fi
unlike "$OUT" "$(printf '\033')" 'control characters of a file name do not reach the terminal'
run "$BIN/psym" --srcline -j lines.ps
like "$OUT" '"file":"dir/beta\\u001b\.src","line":108' 'JSON has the whole path'
run "$BIN/psym" -j lines.ps
unlike "$OUT" '\.src' 'without --srcline there are none'
lines 4096
is "$status" 0 'lines of addresses outside of the code are no failure'
like "$ERR" 'the lines of 2 functions are garbage' 'but said'
unlike "$OUT" 'src:' 'and not believed'
like "$OUT" ' beta code$' 'the names are'

head -c 4400 "jit-$pid.dump" >short
mv short "jit-$pid.dump"
fold dump.ps
is "$statuses" '0 0' 'a jitdump that is cut off is no failure'
like "$ERR.1" 'the jitdump is cut off or damaged' 'but said'
echo 'this is no dump' >"jit-$pid.dump"
fold dump.ps
like "$ERR.1" 'is not a jitdump file' 'nor is a file that is none'
unlike "$OUT" ' code [0-9]+$' 'which gives no names'
done_testing

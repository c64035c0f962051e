#!/bin/sh
# Replays the corpus of every fuzz entry: whole, cut at every byte, and with bits turned, for some seconds.
#
#	FLIPS=1000000 t/fuzz.t	so many times, however long it takes
#	CUTS=1000 t/fuzz.t	no more cuts than that of an entry: every k-th byte
#	SEED=7 t/fuzz.t		other bits
#	ROOM=fold t/fuzz.t	the entries that include a header of lib/fold
. "${0%/*}/lib.sh"
all_of_asan

cut=20000
cuts=${CUTS:-0}
flips=${FLIPS:-100000}
seconds=1
[ -z "${FLIPS:-}" ] || seconds=0
export FUZZ_ROOT="$ROOT/t/fuzz/corpus"
seed=${SEED:-1}

# The replay itself must notice what it is there for: an entry that reads one byte too many, and
# one that returns nonsense.
cat >over.c <<'C'
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 3)
		return ((const volatile uint8_t *)data)[size] ? 0 : -1;
	if (size && data[0] != 'a')
		return 7;
	return 0;
}
C
entries=
for source in "$ROOT"/t/fuzz/*.c; do
	name=${source##*/}
	[ "$name" != replay.c ] && grep -q "\"${ROOM:+$ROOM/}" "$source" && entries="$entries ${name%.c}"
done
# shellcheck disable=SC2086
set -- $entries
plan $(($# * 4 + 6))

run "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -o over over.c "$ROOT/t/fuzz/replay.c"
is "$status" 0 'replay builds without sanitizers'
printf 'aaaaa' >five
run ./over five
is "$status" 0 'a sound input passes'
run ./over --cut 100 five
isnt "$status" 0 'reading past the end of a cut input is a crash'
like "$ERR" 'crash in five, first 3 of 5 bytes' 'and the input is named'
run ./over --cut 100 --most 1 five
is "$(cat "$OUT")" '2 inputs from 1 files' 'some of the cuts'
run ./over --flip 500 1 five
is "$status" 1 'a flipped bit reaches the entry'

# elf_end() of some damaged files leaves the bytes of .shstrtab, which elf_strptr() had read; the handle
# itself is freed. A handle that perfpipe forgets is still reported: its elf_file leaks with it.
echo 'leak:libelf.so' >leaks

# Replays one entry three ways; leaves of each the status and what it printed.
cat >one <<'SH'
name=$1 corpus=$2 cut=$3 cuts=$4 flips=$5 seed=$6 seconds=$7
[ "$name" != inspect ] || export LSAN_OPTIONS="suppressions=$PWD/leaks:print_suppressions=0"
way() {
	to=$name.$1
	shift
	"$FUZZ/$name" "$@" "$corpus" >"$to.err" 2>&1
	echo $? >"$to.status"
}
way whole
way cut --cut "$cut" --most "$cuts"
way flip --flip "$flips" "$seed" --seconds "$seconds"
SH
# One entry may take as long as all tests beside it: as many at a time as there are CPUs.
for name in $entries; do
	printf '%s\n' "$name"
done | xargs -P "${JOBS:-2}" -I NAME sh one NAME "$FUZZ_ROOT/NAME" $cut "$cuts" "$flips" "$seed" "$seconds"

# way NAME WAY WHAT: that this replay of NAME ended well.
way() {
	is "$(cat "$1.$2.status")" 0 "$1: $3"
	[ "$(cat "$1.$2.status")" = 0 ] || diag_file "$1.$2.err"
}
for name in $entries; do
	ok "$name: has a corpus" test -n "$(ls "$FUZZ_ROOT/$name" 2>/dev/null)"
	way "$name" whole corpus
	way "$name" cut "cut at every byte${CUTS:+, up to $CUTS}"
	way "$name" flip "up to $flips bit flips, seed $seed"
done

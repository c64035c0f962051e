#!/bin/sh
# Replays the corpus of every fuzz entry: whole, cut at every byte, and with bits turned, for some seconds.
#
#	FLIPS=1000000 t/fuzz.t	so many times, however long it takes
#	SEED=7 t/fuzz.t		other bits
. "${0%/*}/lib.sh"

cut=20000
flips=${FLIPS:-100000}
seconds=5
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
set -- "$ROOT"/t/fuzz/*.c
plan $((($# - 1) * 4 + 5))

run "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -o over over.c "$ROOT/t/fuzz/replay.c"
is "$status" 0 'replay builds without sanitizers'
printf 'aaaaa' >five
run ./over five
is "$status" 0 'a sound input passes'
run ./over --cut 100 five
isnt "$status" 0 'reading past the end of a cut input is a crash'
like "$ERR" 'crash in five, first 3 of 5 bytes' 'and the input is named'
run ./over --flip 500 1 five
is "$status" 1 'a flipped bit reaches the entry'

# elf_end() of some damaged files leaves the bytes of .shstrtab, which elf_strptr() had read; the handle
# itself is freed. A handle that perfpipe forgets is still reported: its elf_file leaks with it.
echo 'leak:libelf.so' >leaks

for source; do
	name=${source##*/}
	name=${name%.c}
	[ "$name" != replay ] || continue
	corpus=$ROOT/t/fuzz/corpus/$name
	LSAN_OPTIONS=
	[ "$name" != inspect ] || LSAN_OPTIONS=suppressions=$PWD/leaks:print_suppressions=0
	export LSAN_OPTIONS
	ok "$name: has a corpus" test -n "$(ls "$corpus" 2>/dev/null)"
	run "$FUZZ/$name" "$corpus"
	is "$status" 0 "$name: corpus"
	[ "$status" = 0 ] || diag_file "$ERR"
	run "$FUZZ/$name" --cut $cut "$corpus"
	is "$status" 0 "$name: cut at every byte"
	[ "$status" = 0 ] || diag_file "$ERR"
	run "$FUZZ/$name" --flip "$flips" "$seed" --seconds "$seconds" "$corpus"
	is "$status" 0 "$name: up to $flips bit flips, seed $seed"
	[ "$status" = 0 ] || diag_file "$ERR"
done

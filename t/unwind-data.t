#!/bin/sh
# psym on a shipped recording with copies of the user stack: what needs neither perf nor a compiler.
# t/unwind.t records programs of its own.
. "${0%/*}/lib.sh"
plan 6

mkdir symfs empty
cp "$ROOT/t/data/chain.elf" symfs/chain
"$BIN/pdecode" -b "$ROOT/t/data/chain.data.gz" >chain.ps
"$BIN/psym" -b --symfs symfs chain.ps >named.ps 2>psym.err
"$BIN/pfold" --no-header -c named.ps >folded 2>pfold.err
# What the source of the program says: t/data/README.md.
n=$("$BIN/pdecode" -t chain.ps 2>/dev/null | grep -c 'cpu-clock:u')
echo "chain;_start;plain;fp;expr;moved;bare;leaf $n" >want
same folded want 'pushes, a frame pointer, an expression, a register in a register, no rules'
"$BIN/psym" -j --symfs symfs chain.ps >chain.json 2>psym.err
is "$(grep -c '"stack_end":"the outermost function was reached"' chain.json)" "$n" \
	'every stack reaches the outermost function'
is "$(grep -c '"stack_guessed":1' chain.json)" 0 'the function without rules has them from its code, and is no guess'
unlike chain.json '"user_stack"' 'the copies are gone'
"$BIN/psym" -j --keep-stacks --symfs symfs chain.ps >kept.json 2>psym.err
like kept.json '"user_stack"' '--keep-stacks: they are not'
"$BIN/psym" -b --symfs empty chain.ps 2>psym.err | "$BIN/pfold" --no-header -c >none 2>pfold.err
like none '^chain;\[file not found: chain\];' 'without the program the stacks say what they lack'

#!/bin/sh
# pprobe -k: types of the kernel (BTF) as C has them, members of structures, and definitions with them. The
# expected places are the C compiler's: a program prints them.
. "${0%/*}/lib.sh"

src=$ROOT/t/probe
cc=${CC:-gcc}
if ! "$cc" -gbtf -O2 -nostdlib -static -Wl,-e,_start -o typed "$src/types.c" 2>"$ERR" ||
	! readelf -S typed 2>/dev/null | grep -q '\.BTF'; then
	skip_all 'the compiler writes no BTF (gcc 12 does)'
fi
printf 'ffffffff81000000 T %s\n' work find nothing give by_result >kallsyms
k() {
	run "$BIN/pprobe" -k --btf typed --kallsyms kallsyms "$@"
}

cat >places.c <<'C'
#include "types.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#define AT(type, member) printf("%zu\t%zu\t\t\t%s\n", offsetof(type, member), sizeof(((type *)0)->member), #member)
#define BITS(type, member) { \
	static type all; \
	unsigned char *bytes = (unsigned char *)&all; \
	int first = -1, n = 0; \
	all.member = -1; \
	for (unsigned i = 0; i < 8 * sizeof(all); i++) \
		if (bytes[i / 8] >> i % 8 & 1) { \
			first = first < 0 ? (int)i : first; \
			n++; \
		} \
	printf("%d\t%zu\t%d\t%d\t%s\n", first / 8, sizeof(__typeof__(all.member + 0)), first % 8, n, #member); \
}
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		AT(struct inner, a);
		BITS(struct inner, low);
		BITS(struct inner, high);
		return 0;
	}
	AT(struct outer, name);
	AT(struct outer, whole);
	AT(struct outer, part);
	AT(struct outer, other);
	AT(struct outer, in);
	AT(struct outer, many);
	AT(struct outer, next);
	AT(struct outer, call);
	printf("%zu\t8\t0\t40\tbig\n", offsetof(struct outer, call) + 8);
	AT(struct outer, tiny);
	AT(struct outer, list);
	AT(struct outer, grid);
	AT(struct outer, yes);
	AT(struct outer, mode);
	AT(struct outer, texts);
	printf("%zu\t0\t\t\trest\n", offsetof(struct outer, rest));
	return 0;
}
C
"$cc" -I"$src" -o places places.c 2>"$ERR" || bail "$(cat "$ERR")"
at() { # MEMBER of struct outer
	./places | awk -F'\t' -v m="$1" '$5 == m { print $1 }'
}

k --type 'struct outer' --tsv
is "$status" 0 'members of a structure'
is "$(grep -v '^#' "$OUT" | cut -f 1-5)" "$(./places)" 'are where the compiler has them'
# In C23, which is what newer compilers compile, _Bool is called bool.
is "$(grep -v '^#' "$OUT" | cut -f 6 | sed 's/^bool$/_Bool/' | tr '\n' ';')" \
	'char[16];long int;short int;short int;struct inner;struct inner[3];struct outer *;int (*)(struct outer *, const char *);long long unsigned int;signed char;short int[4];int[2][2];_Bool;enum {...};char *const *;unsigned char[];' \
	'with their types'
k --type 'struct inner' --tsv
is "$(grep -v '^#' "$OUT" | cut -f 1-5)" "$(./places inner)" 'bit fields'
k --type 'struct outer' --json
is "$(grep '"low"\|"grid"' "$OUT")" \
	"{\"offset\":$(at grid),\"size\":16,\"bit\":null,\"bits\":null,\"name\":\"grid\",\"type\":\"int[2][2]\"}" 'as JSON'
k --type pair_t --tsv
is "$(grep -v '^#' "$OUT" | cut -f 5 | tr '\n' ' ')" 'first second third ' 'a typedef'
for bad in 'struct nosuch' 'union outer' '' struct mod:pair_t; do
	k --type "$bad"
	is "$status" 2 "'$bad' is none"
done
run "$BIN/pprobe" -x ./typed --type 'struct outer'
is "$status" 64 'of programs there are none'

k -V work --tsv
is "$(grep -v '^#' "$OUT")" "o	struct outer *	%di
text	const char *	%si
n	long unsigned int	%dx
by_value	pair_t	%cx
last	short int	%r9
on_stack	struct outer *	+8(%sp)
\$retval	int	where it returns" 'parameters and the result, as C declares them'
k -V give
is "$(cat "$OUT")" 'o                 struct outer *                    %di' 'without a result'
k -F -v --tsv
is "$(grep -v '^#' "$OUT" | cut -f 3)" 'int work(struct outer *o, const char *text, long unsigned int n, pair_t by_value, short int last, struct outer *on_stack)
struct outer *find(int id)
pair_t *nothing(void)
void give(struct outer *o, ...)
struct pair by_result(long int first)' 'declarations'
k -F 'gi*'
is "$(awk '{ print $1, $2 }' "$OUT")" 'give yes' 'without -v there are none'

k -n 'work o->in.a o->next->name first=o->next->name:string o->part o->whole o->list o->list[2] o->grid o->many[1].a'
is "$(sed 's/^p:probe.work work //' "$OUT" | tr ' ' '\n')" "a=+$(at in)(%di):s32
name__str=+0(+$(at next)(%di)):x8[16]
first=+0(+$(at next)(%di)):string
part=+$(at part)(%di):s16
whole=+$(at whole)(%di):s64
list__elem=+$(at list)(%di):s16[4]
list=+$(($(at list) + 4))(%di):s16
grid__elem=+$(at grid)(%di):s32[4]
a_2=+$(($(at many) + 8))(%di):s32" 'nested and unnamed members, arrays'
k -n 'work o->in.low o->in.high o->big o->tiny o->yes o->mode o->call *o->texts text text:string n'
is "$(sed 's/^p:probe.work work //' "$OUT" | tr ' ' '\n')" "low=+$(($(at in) + 4))(%di):b3@0/8
high__s5=+$(($(at in) + 4))(%di):b5@3/8
big=+$(($(at call) + 8))(%di):b40@0/64
tiny=+$(at tiny)(%di):s8
yes=+$(at yes)(%di):u8
mode=+$(at mode)(%di):u32
call=+$(at call)(%di):x64
texts=+0(+$(at texts)(%di)):x64
text=%si:x64
text_2=+0(%si):string
n=%dx:u64" 'bit fields, signs, pointers'
k -n 'work o->in on_stack->in.a by_value.first last'
is "$(sed 's/^p:probe.work work //' "$OUT" | tr ' ' '\n')" "in_a=+$(at in)(%di):s32
in_low=+$(($(at in) + 4))(%di):b3@0/8
in_high__s5=+$(($(at in) + 4))(%di):b5@3/8
a=+$(at in)(+8(%sp)):s32
first=%cx:s64
last=%r9:s16" 'whole structures, the stack, a structure that is passed by value'
k -n 'find%return $retval $retval->in.a $retval->name:string' 'work%return $retval'
is "$(cut -d ' ' -f 3- "$OUT")" "retval=\$retval:x64 a=+$(at in)(\$retval):s32 name=+0(\$retval):string
retval=\$retval:s32" 'results and their parts'
for bad in 'o->list[4]' 'o->list[-1]' 'o->nosuch' 'o->in.a->b' 'o->many' 'o->rest' 'o->list[x]' 'o->' 'o->in.a[0]' \
	'by_value.second' '*n' 'nosuch' '$retval'; do
	k -n "work $bad"
	isnt "$status" 0 "not $bad"
	is "$(wc -c <"$OUT")" 0 'and nothing is made'
done

# Whatever is missing or damaged is refused, not guessed.
for n in 0 1 23 24 100 300; do
	head -c "$n" typed >part.elf
	run "$BIN/pprobe" -k --btf part.elf --kallsyms kallsyms --type 'struct outer'
	is "$status" 2 "types that are cut off after $n bytes"
done
run "$BIN/pprobe" -k --kallsyms kallsyms --btf nosuch --type 'struct outer'
is "$status" 2 'types that are not there'

# The types of this kernel, beside bpftool's and pahole's reading of them.
if [ -r /sys/kernel/btf/vmlinux ] && command -v pahole >/dev/null; then
	for name in sock task_struct sk_buff; do
		pahole -C $name --hex /sys/kernel/btf/vmlinux 2>/dev/null |
			sed -n 's#^\t[^\t{}]*[ *]\([a-z_0-9]*\)\[*[0-9]*\]*; */\* *\(0x[0-9a-f]*\|0\) *\(0x[0-9a-f]*\|0\) \*/$#\1 \2 \3#p' >theirs
		"$BIN/pprobe" -k --type "struct $name" --tsv | awk -F'\t' '!/^#/ && $3 == "" { printf "%s 0x%x 0x%x\n", $5, $1, $2 }' |
			sed 's/ 0x0\>/ 0/g' >ours
		is "$(wc -l <theirs | awk '{ print ($1 > 5) }')" 1 "pahole has members of struct $name"
		is "$(grep -vxFf ours theirs | head -n 3)" '' "struct $name: offsets and sizes are pahole's"
	done
else
	skip 6 'no types of this kernel, or no pahole (package dwarves)'
fi
done_testing

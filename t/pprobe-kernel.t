#!/bin/sh
# pprobe -k with the kernel's image: a small one with the symbols, structures and debug information that
# matter; and functions of modules.
. "${0%/*}/lib.sh"

src=$ROOT/t/probe
sed -n '/^static KEEP int twice/,/^}/p' "$src/kernel.c" |
	sed 's/^static KEEP/#define KEEP __attribute__((noinline, used, noclone))\nstatic KEEP/; s/ \* 3/ * 5/' >kernel2.c
echo 'int call_other(int a) { return twice(a); }' >>kernel2.c
"${CC:-gcc}" -std=gnu11 -g -O2 -fno-toplevel-reorder -fcf-protection=branch -nostdlib -static -Wl,-e,vfs_read \
	-o vmlinux "$src/kernel.c" kernel2.c 2>"$ERR" || bail "$(cat "$ERR")"
addr() { # SYMBOL
	echo "0x$(nm vmlinux | awk -v s="$1" '$3 == s { print $1; exit }')"
}
text=$(addr _text)
from_text() { # ADDRESS
	echo $(($1 - text))
}
printf 'ffffffff81000000 T vfs_read\nffffffffc0000000 t mod_open\t[mod]\n' >kallsyms
k() {
	run "$BIN/pprobe" -k --vmlinux ./vmlinux --kallsyms kallsyms -n "$@"
}

# As perf probe 6.1 wrote them for 6.12, but for the places, which it counts from _text.
k 'rd=vfs_read name=file->f_path.dentry->d_name.name:string count:x64 buf pos' \
	'op=do_sys_openat2 dfd filename:ustring flags=how->flags:x64 mode=how->mode:x64' \
	'wake=try_to_wake_up comm=p->comm:string pid=p->pid state:x32' 'rdret=vfs_read%return ret=$retval'
is "$status" 0 'probes of the kernel by its debug information'
is "$(cat "$OUT")" 'p:probe/rd vfs_read name=+0(+104(+144(%di))):string count=%dx:x64 buf=%si:x64 pos=%cx:x64
p:probe/op do_sys_openat2 dfd=%di:s32 filename=+0(%si):ustring flags=+0(%dx):x64 mode=+8(%dx):x64
p:probe/wake try_to_wake_up comm=+2072(%di):string pid=+1408(%di):s32 state=%si:x32
r:probe/rdret vfs_read ret=$retval:s64' 'members, texts, the result'
k 'name_of%return $retval:string'
is "$(cat "$OUT")" 'r:probe/name_of__return name_of retval=+0($retval):string' 'a text that is returned'

data=$(($(addr init_task) + 1412 - text))
k 'try_to_wake_up tgid=init_task.tgid second=counted[1]'
is "$(sed 's/.* tgid=/tgid=/' "$OUT")" "tgid=@_text+$data:s32 second=@_text+$(($(addr counted) + 8 - text)):s64" \
	'variables of the kernel are counted from _text'

line=$(awk '/^static inline long add/ { n = NR } /counted\[1\] \+= a/ { print NR; exit }' "$src/kernel.c")
k "kernel.c:$line"
like "$OUT" '^p:probe/vfs_read_L[0-9]+ vfs_read\+[0-9]+$' 'a line, in the function that it was inlined into'
k 'add a b'
like "$OUT" '^p:probe/add vfs_read\+[0-9]+ ' 'an inlined function'

k twice
is "$(sed 's/.* //' "$OUT" | sort)" "$(nm vmlinux | awk '$3 == "twice" { print "0x" $1 }' | while read -r a; do
	echo "_text+$(from_text "$a")"
done | sort)" 'functions with the same name are told apart'

run "$BIN/pprobe" -k --vmlinux ./vmlinux -F 'vfs*' --tsv
is "$(awk -F'\t' '!/^#/ { print $1, $4 }' "$OUT")" 'vfs_read yes' 'functions are listed'
run "$BIN/pprobe" -k --vmlinux ./vmlinux -L vfs_read
like "$OUT" 'yes +buf\[0\] = 0;' 'lines'
run "$BIN/pprobe" -k --vmlinux ./vmlinux -V do_sys_openat2 --tsv
is "$(awk -F'\t' '!/^#/ { printf "%s%s ", $4, $6 }' "$OUT")" 'dfd%di filename%si how%dx ' 'variables'

k 'vfs_read:999'
is "$status" 2 'a line that the function does not have'
k 'vfs_read nosuch'
is "$status" 2 'a variable that there is not'
like "$ERR" 'there are: file, buf, count, pos' 'and those that there are'
k nosuch
is "$status" 2 'a function that there is not'
k '%sdt:marker'
isnt "$status" 0 'the kernel has no markers'
run "$BIN/pprobe" -k --vmlinux ./nosuch -n vfs_read
is "$status" 2 'no such image'
run "$BIN/pprobe" -k --vmlinux "$BIN/pprobe" -n vfs_read
is "$status" 2 'a program is no kernel'
like "$ERR" 'no _text symbol' 'and that is reported'
run "$BIN/pprobe" -k --kallsyms kallsyms -L vfs_read
is "$status" 2 'without an image there are no lines'
like "$ERR" '--vmlinux' 'and what would have them is named'

for what in vfs_read:12 'vfs_read;*' file.c:12; do
	run "$BIN/pprobe" -k --kallsyms kallsyms -n "$what"
	is "$status" 2 "$what: without an image, lines are not known"
	like "$ERR" 'from its image .*--vmlinux' 'and that is reported'
done
run "$BIN/pprobe" -k --kallsyms kallsyms -V vfs_read:12
like "$ERR" 'from its image .*--vmlinux' 'nor are the variables of a line'
for what in '%sdt:marker' 0xffffffff81000010; do
	run "$BIN/pprobe" -k --kallsyms kallsyms -n "$what"
	is "$status" 64 "$what: not of the kernel"
done

# A module's functions are in kallsyms; without its types, registers remain.
k 'mod_open a=%di' 'mod:mod_open b=%si:x64'
is "$(cat "$OUT")" 'p:probe/mod_open mod_open a=%di
p:probe/mod_open_1 mod:mod_open b=%si:x64' 'functions of a module'
k 'mod:mod_open file'
isnt "$status" 0 'whose parameters are not known here'

# Functions that the kernel forbids: of two with a name, the first one is.
first=$(nm vmlinux | awk '$3 == "twice" { print "0x" $1; exit }')
second=$(nm vmlinux | awk '$3 == "twice" { a = "0x" $1 } END { print a }')
printf '0x%x-0x%x\ttwice\n0xffffffffc0000000-0xffffffffc0000010\tmod_open\n' \
	$((first)) $((first + 4)) >forbidden
printf '0x0000000000000001-0x0000000000000002\tdo_sys_openat2\n' >>forbidden
{ cat kallsyms; nm vmlinux | grep ' _text$'; } >with_text
f() {
	run "$BIN/pprobe" -k --vmlinux ./vmlinux --kallsyms with_text --blacklist forbidden -n "$@"
}
f vfs_read
is "$status $(cat "$OUT")" '0 p:probe/vfs_read vfs_read' 'a function that is not forbidden'
f twice
is "$status" 1 'one of two functions with a name is forbidden: not all was made'
is "$(sed 's/.* //' "$OUT")" "_text+$(from_text "$second")" 'the other one is left'
like "$ERR" 'forbids probes in _text\+[0-9]+ ' 'and that is reported'
for definition in do_sys_openat2 do_sys_openat2%return mod_open mod:mod_open; do
	f vfs_read "$definition"
	is "$status $(cat "$OUT")" '2 ' "$definition is forbidden, and nothing is made"
	like "$ERR" 'the kernel forbids probes in (mod_open|do_sys_openat2)' 'with the reason'
done
f do_sys_openat
isnt "$status" 0 'names are compared to their ends'
unlike "$ERR" 'forbids' 'of a function that there is not, too'
printf 'garbage\n\n\tvfs_read_iter\n0x\n-\n0xffffffffffffffffffff-0x\tvfs' >forbidden
f vfs_read
is "$status $(cat "$OUT")" '0 p:probe/vfs_read vfs_read' 'a list that is none forbids nothing'
run "$BIN/pprobe" -k --kallsyms kallsyms --blacklist nosuch -n vfs_read
is "$status" 2 'a list that is not there'
like "$ERR" 'nosuch' 'is named'

# Without -x, -p and -k it is about the kernel, as with perf probe; nothing needs more than a function's name.
run "$BIN/pprobe" --vmlinux ./vmlinux --kallsyms kallsyms -n vfs_read
is "$status $(cat "$OUT")" '0 p:probe/vfs_read vfs_read' 'the kernel is the default'
run "$BIN/pprobe" --vmlinux ./vmlinux -F 'vfs*'
like "$OUT" '^vfs_read ' 'its functions'
run "$BIN/pprobe" --vmlinux ./vmlinux -L vfs_read
like "$OUT" 'yes +buf\[0\] = 0;' 'its lines'
run "$BIN/pprobe" --vmlinux ./vmlinux -V main
is "$status" 2 'a function of a program is none of it'
like "$ERR" '-x FILE' 'and the option that names programs is told'
run "$BIN/pprobe" -U
is "$status" 64 'markers are of programs'
like "$ERR" '-x FILE' 'which is told, too'
run "$BIN/pprobe"
is "$status" 64 'nothing to do'
for option in -k --fprobe '--vmlinux x' '--btf x' '--kallsyms x' '--blacklist x'; do
	# shellcheck disable=SC2086
	run "$BIN/pprobe" -x ./vmlinux $option -n vfs_read
	is "$status" 64 "${option%% *} and -x are of different things"
done
run "$BIN/pprobe" --vmlinux ./vmlinux --kallsyms kallsyms -n vfs_read count
is "$status" 2 'an argument as a word of its own'
like "$ERR" "'vfs_read count'" 'is told where it belongs'

# Patterns, by the symbols alone. Oracle: the names that sh matches.
for name in tcp_a tcp_b tcp_twin tcp_twin tcp_c.isra.0 tcp_d.cold tcp_e.part.0 __pfx_tcp_a udp_a; do
	printf 'ffffffff8100%04x t %s\n' "$(printf %s "$name" | cksum | cut -c 1-4)" "$name"
done >symbols
printf 'ffffffffc0000000 t tcp_mod\t[mod]\nffffffff82000000 T _sinittext\n' >>symbols
printf 'ffffffff82000010 t tcp_init\nffffffff82000020 T _einittext\n' >>symbols
s() {
	run "$BIN/pprobe" --kallsyms symbols -n "$@"
}
s 'tcp_*'
is "$status" 1 'a pattern; a name that several functions have is left out'
is "$(cat "$OUT")" 'p:probe/tcp_a tcp_a
p:probe/tcp_b tcp_b
p:probe/tcp_c_isra_0 tcp_c.isra.0
p:probe/tcp_mod mod:tcp_mod' 'a probe of each function, and of none of the parts and of what is gone'
like "$ERR" '2 functions left out: others have the same name' 'which is counted'
s 'tcp_[ab]%return ret=$retval'
is "$status $(cat "$OUT")" '0 r:probe/tcp_a__return tcp_a ret=$retval
r:probe/tcp_b__return tcp_b ret=$retval' 'of returns'
s 'both=tcp_[ab]'
is "$(cat "$OUT")" 'p:probe/both tcp_a
p:probe/both tcp_b' 'a name of its own is one event'
s 'mod:tcp_*' '*mod:*'
is "$(cat "$OUT")" 'p:probe/tcp_mod mod:tcp_mod
p:probe/tcp_mod_1 mod:tcp_mod' 'of a module'
s 'sctp_*'
is "$status" 2 'that fits none'
like "$ERR" 'no function that matches' 'is reported'
s 'tcp_init*'
is "$status" 2 'that fits only what is gone'
seq 40 | sed 's/.*/ffffffff81000000 t many_&/' >>symbols
s 'many_*'
is "$(cut -d ' ' -f 1 "$OUT" | sort -u) $(wc -l <"$OUT")" 'p:probe/many 40' 'of more than 32 there is one event'
s 'mod:tcp_a'
is "$status" 2 'a function that is in no such module'
s '+0($retval):string'
isnt "$status" 0 'an argument is no function'

# Arguments by number, and the result within an expression.
s 'tcp_a $arg1 n=$arg2:u32 +0($arg3):string +8(+0($arg7)):x64 %rdi'
is "$(cat "$OUT")" 'p:probe/tcp_a tcp_a arg1=%di n=%si:u32 arg3=+0(%dx):string arg4=+8(+0(+8(%sp))):x64 rdi=%di' \
	'arguments by their number'
s 'tcp_a%return +0($retval):string'
is "$(cat "$OUT")" 'r:probe/tcp_a__return tcp_a arg1=+0($retval):string' 'what the result points to'
for bad in 'tcp_a +0($retval):string' 'tcp_a $retval' 'tcp_a+4 $arg1' 'tcp_a $arg0' 'tcp_a%return $arg1'; do
	s "$bad"
	is "$status" 64 "not $bad"
done

mkdir -p unreadable/kprobe_events
run "$BIN/pprobe" --kallsyms symbols --tracefs unreadable --mine mine2 tcp_a
is "$status" 2 'lists that cannot be read'
like "$ERR" 'unreadable: its lists of probes cannot be read' 'are named'

# Fprobes: the beginning and the return of functions, with arguments by their number. A directory stands for
# tracefs, whose README tells what the kernel takes.
mkdir tracefs
: >tracefs/kprobe_events
: >tracefs/uprobe_events
: >tracefs/dynamic_events
cat >tracefs/README <<'E'
	f[:[<group>/][<event>]] <func-name>[%return] [<args>]
	$stack<index>, $stack, $retval, $comm, $arg<N>,
E
k --tracefs tracefs --fprobe 'rd=vfs_read name=file->f_path.dentry->d_name.name:string count:x64 buf pos' \
	'rdret=vfs_read%return ret=$retval' 'who=vfs_read $comm ip=+0($stack):x64'
is "$status" 0 'fprobes of the kernel'
is "$(cat "$OUT")" 'f:probe/rd vfs_read name=+0(+104(+144($arg1))):string count=$arg3:x64 buf=$arg2:x64 pos=$arg4:x64
f:probe/rdret vfs_read%return ret=$retval:s64
f:probe/who vfs_read comm=$comm:string ip=+0($stack):x64' 'arguments by their number, the result'
k --tracefs tracefs --fprobe 'vfs_read+4' 'vfs_read a=%ax' "kernel.c:$line" 'mod:mod_open'
is "$(cut -c 1 "$OUT" | tr -d '\n')" pppp 'what cannot be an fprobe is a kprobe'
is "$(grep -c 'stays a kprobe: ' "$ERR")" 4 'and that is reported'
like "$ERR" 'a register that is not an argument' 'with the reason'
printf 'none of that\n' >tracefs/README
k --tracefs tracefs --fprobe vfs_read
is "$(cat "$OUT")" 'p:probe/vfs_read vfs_read' 'a kernel without fprobes: kprobes are made'
like "$ERR" 'does not mention fprobes' 'and that is reported'
printf 'f:g/e <func-name>[%%return] $arg<N>\n' >tracefs/README
run "$BIN/pprobe" -k --vmlinux ./vmlinux --kallsyms kallsyms --tracefs tracefs --mine mine --fprobe \
	'vfs_read count' 'vfs_read+4'
is "$status" 0 'made'
is "$(cat tracefs/dynamic_events)" 'f:probe/vfs_read vfs_read count=$arg3:u64' 'an fprobe is entered in dynamic_events'
like tracefs/kprobe_events '^p:probe/vfs_read_1 vfs_read\+4$' 'a kprobe in kprobe_events'
run "$BIN/pprobe" --tracefs tracefs --mine mine -d probe:vfs_read
is "$status" 0 'an fprobe is removed'
is "$(tail -n 1 tracefs/dynamic_events)" '-:probe/vfs_read' 'by the list that it is in'

# The types may be in an ELF file, as that of the kernel has them.
if "${CC:-gcc}" -gbtf -O2 -fno-toplevel-reorder -nostdlib -static -Wl,-e,vfs_read -o typed "$src/kernel.c" 2>"$ERR" &&
	readelf -S typed 2>/dev/null | grep -q '\.BTF'; then
	run "$BIN/pprobe" -k --btf typed --kallsyms kallsyms -n \
		'rd=vfs_read name=file->f_path.dentry->d_name.name:string count buf pos'
	is "$(cat "$OUT")" \
		'p:probe/rd vfs_read name=+0(+104(+144(%di))):string count=%dx:u64 buf=%si:x64 pos=%cx:x64' \
		'the same members by BTF'
else
	skip 1 'the compiler writes no BTF (gcc 12 does)'
fi
done_testing

#!/bin/sh
# Completion: what a word can be, beside the options' tables and what there is; and typed in shells on a terminal.
. "${0%/*}/lib.sh"
BINDIR=$BIN
PATH=$BIN:$PATH
export BINDIR PATH
data=$ROOT/t/data
tab=$(printf '\t')

# can WORD...: the candidates, without what they are.
can() {
	perfpipe complete "$@" 2>/dev/null | cut -f 1
}

# --- options: those of --help, for every program ---
bad=
for file in "$ROOT"/bin/*.c; do
	program=${file##*/}
	program=${program%.c}
	[ "$program" != cli ] || continue
	"$program" --help | awk '/^  (-., |    )--/ {
		rest = substr($0, 7)
		sub(/^--/, "", rest)
		sub(/[ =[].*/, "", rest)
		print rest
	}' | sort >want
	"$program" --help=options | cut -f 2 | sort >got
	cmp -s want got || bad="$bad $program"
done
is "$bad" '' '--help=options has the options of --help, of every program'
can psvg -- | sed 's/=$//' | sort >got
psvg --help=options | sed "s/^.$tab\([^$tab]*\)$tab.*/--\1/" | sort >want
same got want 'all are candidates'
is "$(can pfold --no-mar)" --no-marks 'by their beginning'
is "$(can pcap-perf --stat --int)" "$(pcap-perf --stat --help=options | awk -F '\t' '/^.\tint/ { print "--" $2 ($3 == "-" ? "" : "=") }')" 'those of --stat'
run perfpipe complete psym --trust
is "$(cut -f 2 "$OUT")" "$(psym --help=options | sed -n "s/^-${tab}trust-host$tab-$tab//p")" 'with what they are'

# --- what they take ---
is "$(can pconv --to per | tr '\n' ' ')" 'perfetto perf-script ' 'formats'
is "$(can plat --kind soft | tr '\n' ' ')" 'softirq softirq-raise ' 'kinds of intervals'
is "$(can plat --kind runq,block-i)" runq,block-io 'the last of a list'
is "$(can plat --kind=irqs)" --kind=irqsoff 'after ='
is "$(can pcap-perf --call-graph=d)" --call-graph=dwarf 'words that the help of an option lists'
is "$(can plat --restart '' | tr '\n' ' ')" 'replace nest keep ' 'all of them'
is "$(can phist --by comm,mem_l | tr '\n' ' ')" 'comm,mem_level comm,mem_lock ' 'fields of samples'
is "$(can phist "$data/sched.dat" --by prev_p | sort | tr '\n' ' ')" 'prev_pid prev_prio ' 'fields of the events of a recording'
is "$(can preport "$data/sched.dat" -e sched:sched_proc | sort)" \
	"$(pdecode --list "$data/sched.dat" | sed -n 's/.* \(sched:sched_proc.*\)/\1/p' | sort)" 'its events'
if pcap-perf --list 2>/dev/null | grep -q ^sched:sched_switch; then
	is "$(can pcap-perf -e sched:sched_swi)" sched:sched_switch 'events of this kernel'
else
	skip 1 'tracepoints cannot be read here'
fi
cp "$data/chain.elf" elf
pprobe -x ./elf --tsv -F 'm*' 2>/dev/null | sed -n "s/^\(m[^$tab]*\)$tab.*/\1/p" | sort -u >want
can pprobe -x ./elf -F m | grep -v '^ ' | sort -u >got
ok 'functions of a file' test -s want
same got want 'those of pprobe'
is "$(can psym --symfs /)" ' dirs' 'folders'
is "$(can pfold '' | tail -n 1)" ' files' 'operands'
is "$(can perfpipe doc | head -n 1)" doctor 'commands'
is "$(can perfpipe run offcpu | head -n 1)" offcputime 'recipes'

# --- typed in a shell: what the program gets at last ---
sed "s/@PROGRAMS@/pfold plat pcap-perf/" "$ROOT/share/complete/bash" >bash.rc
mkdir zsh
sed "s/@PROGRAMS@/pfold plat pcap-perf/" "$ROOT/share/complete/zsh" >zsh/_perfpipe
sed "s/@PROGRAMS@/pfold plat pcap-perf/" "$ROOT/share/complete/fish" >fish.rc
${CC:-cc} -O1 -D_GNU_SOURCE -o pty "$ROOT/t/pty.c" || exit 1
cat >>bash.rc <<'END'
PS1='ready '
pfold() { printf '%s\n' "pfold $*" >>got; }
plat() { printf '%s\n' "plat $*" >>got; }
END
{
	echo 'PS1="ready "; fpath=("$PWD/zsh" $fpath); autoload -U compinit; compinit -u -D'
	sed -n '/^p[a-z]*() /p' bash.rc
} >zsh/.zshrc
cat >>fish.rc <<'END'
function pfold; echo pfold $argv >>got; end
function plat; echo plat $argv >>got; end
function fish_prompt; echo -n 'ready '; end
set -U fish_greeting
END
touch a-file.folded
keys="<await ready>pfold --no-mar$tab<await no-marks><enter>plat --kind=irqs$tab<await irqsoff><enter>"
keys="${keys}plat --kind runq,block-i$tab<await block-io><enter>pfold a-fi$tab<await a-file.folded><enter>exit<enter>"
printf '%s\n' 'pfold --no-marks' 'plat --kind=irqsoff' 'plat --kind runq,block-io' 'pfold a-file.folded' >want
typed() { # SHELL COMMAND
	have "$1" || {
		skip 1 "$1 is not installed"
		return
	}
	rm -f got
	touch got
	PTY_TERM=vt100 run timeout 300 ./pty 24x100 "$keys" sh -c "exec $2 </dev/tty 2>&1"
	sed 's/ *$//' got >typed
	same typed want "in $1" || diag_file "$OUT"
}
typed bash 'bash --noprofile --rcfile bash.rc -i'
typed zsh 'env ZDOTDIR=$PWD/zsh zsh -i'
typed fish 'fish --no-config -i -C "source fish.rc"'
done_testing

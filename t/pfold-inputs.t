#!/bin/sh
# Inputs of pfold: the text of DTrace, of trace-cmd report, bcc's folded text, recordings of the
# function_graph tracer.
. "${0%/*}/lib.sh"

# ---- DTrace ----
cat >dtrace.txt <<'EOF'
CPU     ID                    FUNCTION:NAME
  0  64091                        :tick-60s 


              genunix`kmem_cache_free+0xce
              unix`sys_syscall+0x17a
                1

              libc.so.1`write+0x7
              std::map<int, A>::find(int const&) const+0x3
              a->b+0x1
              0xfffffd7f
               12

              genunix`kmem_cache_free+0x1
              unix`sys_syscall+0x17a
               41
EOF
run "$BIN/pfold" dtrace.txt
is "$status" 0 'DTrace'
is "$(cat "$OUT")" "$(printf '%s\n' '0xfffffd7f;a;b_[i];std::map<int, A>::find;libc.so.1`write 12' 'unix`sys_syscall;genunix`kmem_cache_free 42')" 'its stacks'
empty "$ERR" 'nothing to say of its head'
# The expected stacks are those of stackcollapse.pl.
printf '%s\n' 'CPU     ID                    FUNCTION:NAME' '  8  35077                        :tick-60s ' '' \
	'              0x104d08831' '              libjvm.dylib`JavaCalls::call_helper+0x5' '                3' >hex.txt
is "$("$BIN/pfold" hex.txt)" 'libjvm.dylib`JavaCalls::call_helper;0x104d08831 3' 'a frame without a name comes first'
head -n 12 dtrace.txt >cut.txt
run "$BIN/pfold" cut.txt
is "$status" 1 'without the last count'
like "$ERR" 'the last stack has no count' 'is cut off'
run "$BIN/pfold" --by cpu dtrace.txt
is "$status" 2 '--by'
run "$BIN/pfold" --chart dtrace.txt
is "$status" 2 '--chart'
is "$("$BIN/pfold" --rename 's/.*`//' --prefix sun dtrace.txt | tail -n 1)" 'sun;sys_syscall;kmem_cache_free 42' 'the options that change stacks'

# ---- an event stream of several events ----
"$BIN/pdecode" "$ROOT/t/data/small.data" >small.ps 2>/dev/null
run "$BIN/pfold" small.ps
like "$ERR" "left out: tracepoints \\($("$BIN/pdecode" --list "$ROOT/t/data/small.data" | awk '$NF ~ /:/ { n += $1 } END { print n }')\\)" \
	'samples that are left out are counted'
is "$(head -n 1 "$OUT" | cut -d , -f 1)" '# event: cpu-clock' 'folded is the event with most weight, not the first'

# ---- one event on two kinds of CPU cores ----
"$BIN/pdecode" "$ROOT/t/data/hybrid-cycles.data.gz" >hybrid.ps 2>/dev/null
# The sum of the periods of perf script's lines, whose event matches: the word before it.
periods() {
	"$BIN/pdecode" -t hybrid.ps | awk -v event="$1" '{ for (i = 2; i <= NF; i++) if ($i ~ event) sum += $(i - 1) }
		END { printf "%.0f\n", sum }'
}
# total TEXT: the sum of the counts of folded text
total() {
	awk '!/^#/ { sum += $NF } END { printf "%.0f\n", sum }' "$1"
}
run "$BIN/pfold" hybrid.ps
is "$(cat "$ERR")" '' 'nothing is left out'
is "$(total "$OUT")" "$(periods 'cpu_(core|atom)/cycles/P:')" 'cycles of both kinds of cores add up'
is "$(head -n 1 "$OUT" | sed 's/, from.*//')" \
	'# event: cycles:P, unit: cycles, samples: 103, pmus: cpu_atom+cpu_core' 'which the first line tells'
cp "$OUT" hybrid.folded
"$BIN/pfold" -e cpu_core/cycles/P hybrid.ps >core 2>/dev/null
is "$(total core)" "$(periods cpu_core/cycles/P:)" '-e with a PMU: that part'
"$BIN/pfold" -e cycles:P hybrid.ps 2>/dev/null | cmp -s - hybrid.folded
is $? 0 '-e without a PMU: both'
"$BIN/pdecode" -t hybrid.ps | awk '{ ip = $NF; $NF = ""; print $0 "\n\t" ip " f (/x)\n" }' >hybrid.txt
is "$("$BIN/pfold" hybrid.txt | sed 's/, from.*//')" \
	"# event: cycles:P, unit: cycles, samples: 103, pmus: cpu_atom+cpu_core
moldyn-cli;f $(periods cycles)" 'perf script text'
is "$("$BIN/pfold" --by base_event hybrid.txt | tail -n 1 | cut -d ';' -f 1)" cycles:P '--by base_event, of text'
for form in ps folded; do
	is "$("$BIN/preport" hybrid.$form 2>/dev/null | head -n 1)" \
		"cycles:P (cpu_atom+cpu_core): 103 samples, $(periods cycles) cycles" "preport of .$form"
done
is "$("$BIN/preport" -e 'cpu_core/*' hybrid.ps 2>/dev/null | head -n 1)" \
	"cpu_core/cycles/P: 100 samples, $(periods cpu_core) cycles" 'preport -e with a PMU'
is "$("$BIN/phist" --by base_event --tsv hybrid.ps | tail -n 1 | cut -f 2-3)" "cycles:P	103" 'phist --by base_event'
is "$("$BIN/phist" --by event --tsv hybrid.ps | grep -c cycles)" 2 'phist --by event: each part'
is "$("$BIN/psvg" hybrid.ps 2>/dev/null | grep -c "cycles:P")" "$("$BIN/psvg" hybrid.folded | grep -c "cycles:P")" 'psvg'
# The cores of each kind in one recording, of the other in the other.
"$BIN/pfilter" --drop 'event == "cpu_core/cycles/P"' hybrid.ps >core.ps
"$BIN/pfilter" --drop 'event == "cpu_atom/cycles/P"' hybrid.ps >atom.ps
run "$BIN/pdiff" core.ps atom.ps
is "$(cat "$ERR")" '' 'pdiff: it is the same event on other cores'

# ---- bcc -f ----
printf '%s\n' 'swapper/0;secondary_startup_64_no_verify;-;do_idle 3' 'my prog;[unknown];main;--;read_[k] 2' 'swapper/0;secondary_startup_64_no_verify;-;do_idle 4' >bcc.txt
is "$("$BIN/pfold" bcc.txt)" "$(printf '%s\n' 'my prog;[unknown];main;--;read_[k] 2' 'swapper/0;secondary_startup_64_no_verify;-;do_idle 7')" 'bcc -f'

# ---- trace-cmd report: pdecode -t prints what it does ----
# Where the kernel is the one that recorded stacks.dat, psym knows names that the recording lacks.
echo 'ffffffffffffff00 T none_of_them' >kallsyms
for name in stacks kinds; do
	"$BIN/pdecode" "$ROOT/t/data/$name.dat" >$name.ps 2>/dev/null
	"$BIN/pdecode" -t --all "$ROOT/t/data/$name.dat" >$name.txt 2>/dev/null
	set --
	[ $name != stacks ] || set -- -k kallsyms
	"$BIN/psym" "$@" $name.ps 2>/dev/null | "$BIN/pfold" --no-header >want 2>/dev/null
	run "$BIN/pfold" --no-header $name.txt
	is "$status" 0 "trace-cmd report of $name.dat"
	sed 's/__do_sys_/__x64_sys_/g' "$OUT" | sort >got
	sed 's/__do_sys_/__x64_sys_/g' want | sort >wanted
	same got wanted 'as from the recording'
done
# What older ones begin with, and system calls as the kernel's trace file has them.
printf '%s\n' 'version = 6' 'CPU 1 is empty' 'cpus=2' \
	'              ls-4734  [000] 106439.675591: sched_switch:         trace-cmd:4734 [120] R ==> migration/2:18 [0]' >old.txt
is "$("$BIN/pfold" --no-header old.txt 2>&1)" 'ls 1' 'trace-cmd report of version 6'
printf '%s\n' '           <...>-4083  [004] ....   395.705673: sys_rt_sigprocmask -> 0x0' \
	'           xfwm4-3252  [005] ....   395.705680: sys_recvmsg(fd: 3, msg: 7ffe3ce41670, flags: 0)' >calls.txt
is "$("$BIN/pfold" calls.txt 2>&1 | tr '\n' '|')" \
	'# event: sys_rt_sigprocmask+sys_recvmsg, unit: samples, samples: 2, from: calls.txt|<...> 1|xfwm4 1|' 'system calls'
cat >report.txt <<'EOF'
cpus=2
          my-prog-12    [001]    10.000001: sched_switch:         my-prog:12 [120] S ==> x:9 [120]
          my-prog-12    [001]    10.000002: kernel_stack:         <stack trace >
=> schedule (ffffffff81a52e2a)
=> do_x+0x10/0x20 (ffffffff81000000)
          my-prog-12    [001]    10.000003: user_stack:           	=> 0x7efe6ddefad7
	=> libc_read
	=> 0x0
            x-9     [000] d..2.    10.000004: sched_wakeup:         a:1 [120]
 my-prog-12 (     10) [001] d..2. 10.000005: sched_switch: prev_comm=my-prog
 my-prog-12 (     10) [001] d..2. 10.000006: <stack trace>
 => schedule
EOF
run "$BIN/pfold" report.txt
is "$status" 0 'stacks of the kernel and of user space'
is "$(grep -v '^# ' "$OUT")" "$(printf '%s\n' 'my-prog;libc_read;[unknown];do_x;schedule 1' 'my-prog;schedule 1' 'x 1')" 'are one'
is "$("$BIN/pfold" --no-header --by cpu,tid --only schedule report.txt | cut -d ';' -f 1-3 | sort -u)" 'cpu 1;tid 12;my-prog' '--by'
is "$("$BIN/pfold" --no-header -e sched_wakeup report.txt 2>/dev/null)" 'x 1' '--event'
is "$("$BIN/pfold" --no-header --chart report.txt | wc -l | tr -d ' ')" 3 '--chart'

# ---- function_graph: self times, beside those that are added up here ----
gzip -dc "$ROOT/t/data/trace-v6.dat.gz" >v6.dat
"$BIN/pdecode" v6.dat >v6.ps 2>/dev/null
run "$BIN/pfold" -e function_graph v6.ps
is "$status" 0 'function_graph'
cp "$OUT" graph.folded
like graph.folded '^# event: function_graph, unit: ns, samples: [0-9]*, from: ' 'is in ns'
"$BIN/pdecode" -j v6.ps 2>/dev/null | perl -ne '
	next unless /"event":"ftrace:funcgraph_(entry|exit)".*"cpu":(\d+).*"tid":(\d+).*"comm":"([^"]*)".*"func":(\d+).*"depth":(\d+)/;
	my ($what, $key, $comm, $func, $d) = ($1, $3 || "cpu$2", $4, $5, $6);
	my $s = $in{$key} ||= [];
	if ($what eq "entry") { $#$s = $d - 1; $s->[$d] = [$func, 0]; next }
	/"calltime":(\d+),"rettime":(\d+)/ or die;
	my $took = $2 - $1;
	$s->[$d] = [$func, $s->[$d] ? $s->[$d][1] : 0];
	$#$s = $d;
	my $self = $took - $s->[$d][1];
	$sum += $self > 0 ? $self : 0;
	$calls++;
	$s->[$d - 1][1] += $took if $d;
	$#$s = $d - 1;
	END { print "$sum $calls\n" }' >want
is "$(awk '!/^# / { n += $NF } END { printf "%.0f", n }' graph.folded) $(sed -n 's/.*samples: \([0-9]*\),.*/\1/p' graph.folded)" \
	"$(cat want)" 'the self times of all calls'
is "$("$BIN/pfold" -c -e function_graph v6.ps | awk '!/^# / { n += $NF } END { printf "%.0f", n }')" "$(cut -d ' ' -f 2 want)" '-c counts calls'
like graph.folded ';vfs_read;' 'functions have their names'
cat >graph.txt <<'EOF'
            true-329   [001]    99.910647: funcgraph_entry:      ! 125.318 us |  mutex_unlock();
            true-329   [001]    99.910872: funcgraph_entry:                   |  outer() {
            true-329   [001]    99.910874: funcgraph_entry:        0.812 us   |    inner();
            true-329   [001]    99.910875: funcgraph_entry:                   |    inner() {
            true-329   [001]    99.910876: funcgraph_entry:        0.100 us   |      leaf();
            true-329   [001]    99.910876: funcgraph_exit:         0.500 us   |    }
            true-329   [001]    99.910876: funcgraph_exit:         3.565 us   |  }
            true-329   [001]    99.910877: funcgraph_entry:                   |  open() {
EOF
"$BIN/pdecode" graph.txt 2>/dev/null | "$BIN/pfold" --no-header >got
is "$(cat got)" "$(printf '%s\n' 'true;mutex_unlock 125318' 'true;outer 2253' 'true;outer;inner 1212' 'true;outer;inner;leaf 100')" 'of its text'
run "$BIN/pfold" --kallsyms /nowhere v6.ps
is "$status" 2 'a file of symbols that is not there'

# ---- members of a group have the periods that perf script prints (perf 6.1: their sums) ----
gzip -dc "$ROOT/t/data/group.data.gz" >group.data
for event in page-faults=2817 context-switches=72; do
	"$BIN/pdecode" group.data | "$BIN/pfold" -e "${event%=*}" >got 2>"$ERR"
	is "$(awk '!/^#/ { n += $NF } END { print n }' got)" "${event#*=}" "${event%=*} of a group"
done
done_testing

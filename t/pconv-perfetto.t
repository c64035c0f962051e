#!/bin/sh
# pconv --to perfetto: what protoc reads from it by the numbers of Perfetto's schema is what the recording
# has: scheduler events by their fields, samples by joining what they refer to, intervals, counters, losses.
. "${0%/*}/lib.sh"
need protoc

# The part of protos/perfetto/trace that is checked; unknown fields are shown by their number.
cat >trace.proto <<'P'
syntax = "proto2";
message Trace { repeated Packet packet = 1; }
message Packet {
	optional Bundle ftrace_events = 1; optional Tree process_tree = 2; optional Snapshot clock_snapshot = 6;
	optional uint64 timestamp = 8; optional uint32 trusted_packet_sequence_id = 10; optional TrackEvent track_event = 11;
	optional Interned interned_data = 12; optional uint32 sequence_flags = 13; optional System system_info = 45;
	optional Defaults trace_packet_defaults = 59; optional Track track_descriptor = 60; optional Sample perf_sample = 66;
}
message Bundle { optional uint32 cpu = 1; repeated Event event = 2; optional bool lost_events = 3; }
message Event {
	optional uint64 timestamp = 1; optional uint32 pid = 2; optional Switch sched_switch = 4; optional Wake sched_wakeup = 17;
	optional Wake sched_waking = 20; optional Vec softirq_entry = 24; optional Vec softirq_exit = 25; optional Irq irq_handler_entry = 36;
	optional Irq irq_handler_exit = 37; optional Wake sched_wakeup_new = 114; optional Generic generic = 327;
	optional Call sys_enter = 329; optional Call sys_exit = 330;
}
message Switch {
	optional string prev_comm = 1; optional int32 prev_pid = 2; optional int32 prev_prio = 3; optional int64 prev_state = 4;
	optional string next_comm = 5; optional int32 next_pid = 6; optional int32 next_prio = 7;
}
message Wake { optional string comm = 1; optional int32 pid = 2; optional int32 prio = 3; optional int32 success = 4; optional int32 target_cpu = 5; }
message Vec { optional uint32 vec = 1; }
message Irq { optional int32 irq = 1; optional string name = 2; }
message Call { optional int64 id = 1; optional int64 two = 2; }
message Field { optional string name = 1; optional string str_value = 3; optional int64 int_value = 4; optional uint64 uint_value = 5; }
message Generic { optional string event_name = 1; repeated Field field = 2; }
message Process { optional int32 pid = 1; optional int32 ppid = 2; repeated string cmdline = 3; }
message Thread { optional int32 tid = 1; optional string name = 2; optional int32 tgid = 3; }
message Tree { repeated Process processes = 1; repeated Thread threads = 2; }
message Clock { optional uint32 clock_id = 1; optional uint64 timestamp = 2; }
message Snapshot { repeated Clock clocks = 1; optional uint32 primary_trace_clock = 2; }
message Utsname { optional string sysname = 1; optional string version = 2; optional string release = 3; optional string machine = 4; }
message System { optional Utsname utsname = 1; }
message Text { optional uint64 iid = 1; optional bytes str = 2; }
message Mapping { optional uint64 iid = 1; optional uint64 build_id = 2; repeated uint64 path_string_ids = 7; }
message Frame {
	optional uint64 iid = 1; optional uint64 function_name_id = 2; optional uint64 mapping_id = 3; optional uint64 rel_pc = 4;
	optional uint64 source_path_iid = 5; optional uint32 line_number = 6; optional uint32 kind = 7;
}
message Stack { optional uint64 iid = 1; repeated uint64 frame_ids = 2; }
message Interned {
	repeated Text function_names = 5; repeated Frame frames = 6; repeated Stack callstacks = 7; repeated Text build_ids = 16;
	repeated Text mapping_paths = 17; repeated Text source_paths = 18; repeated Mapping mappings = 19;
}
message Timebase { optional uint64 period = 1; optional string name = 10; }
message SampleDefaults { optional Timebase timebase = 1; }
message Defaults { optional SampleDefaults perf_sample_defaults = 12; optional uint32 timestamp_clock_id = 58; }
message Sample {
	optional uint32 cpu = 1; optional uint32 pid = 2; optional uint32 tid = 3; optional uint64 callstack_iid = 4;
	optional uint32 cpu_mode = 5; optional uint64 timebase_count = 6; optional uint32 unwind_error = 16; optional uint64 kernel_records_lost = 17;
}
message TrackThread { optional int32 pid = 1; optional int64 tid = 2; }
message Counter { optional string unit_name = 6; }
message Track { optional uint64 uuid = 1; optional string name = 2; optional TrackThread thread = 4; optional uint64 parent_uuid = 5; optional Counter counter = 8; }
message Annotation { optional string string_value = 6; optional string name = 10; }
message TrackEvent {
	repeated Annotation debug_annotations = 4; optional uint32 type = 9; optional uint64 track_uuid = 11; optional string name = 23;
	optional double double_counter_value = 44;
}
P
# Perl's view of it: packets as hashes of lists.
cat >trace.pm <<'P'
my %escape = (n => "\n", t => "\t", r => "\r");
sub value { my $v = shift; return $v unless $v =~ s/^"(.*)"$/$1/; $v =~ s/\\(?:([0-7]{3})|(.))/defined $1 ? chr oct $1 : $escape{$2} || $2/ge; $v }
sub trace {
	my @at = ({}); open my $f, '<', shift or die;
	while (<$f>) {
		if (/^ *(\w+) \{$/) { my $m = {}; push @{$at[-1]{$1}}, $m; push @at, $m }
		elsif (/^ *\}$/) { pop @at }
		elsif (/^ *(\w+): (.*)$/) { my ($k, $v) = ($1, $2); die "unknown field: $_" if $k =~ /^\d/; push @{$at[-1]{$k}}, value($v) }
		else { die "what is $_" }
	}
	@{$at[0]{packet}}
}
sub one { my ($m, @k) = @_; for (@k) { $m = $m->{$_}[0] // return undef } $m }
1;
P
decoded() {
	protoc --decode=Trace trace.proto <"$1" >"$1.txt"
}

# ---- the scheduler ----

gunzip -c "$ROOT/t/data/sched.data.gz" >sched.data
"$BIN/pdecode" sched.data >sched.ps 2>/dev/null
run "$BIN/pconv" -o sched.pftrace sched.ps
is "$status" 0 'the scheduler: written'
ok 'the scheduler: protoc reads it' decoded sched.pftrace
# TIME CPU PREV STATE NEXT, by perf script's text: its states are letters.
"$BIN/pdecode" -t sched.ps 2>/dev/null | perl -ne 'print "$2 $1 $3>$4\n"
	if /\[(\d+)\]\s+([\d.]+):.*sched:sched_switch:.*prev_pid=(\d+).*next_pid=(\d+)/' | sort >want
perl -I. -Mtrace -e 'for my $p (trace "sched.pftrace.txt") { my $b = one($p, "ftrace_events") or next;
	for my $e (@{$b->{event}}) { my $s = one($e, "sched_switch") or next;
		printf "%s %d %d>%d\n", sprintf("%.6f", int(one($e, "timestamp") / 1000) / 1e6), one($b, "cpu"), one($s, "prev_pid") // 0, one($s, "next_pid") // 0 } }' | sort >got
sed -i 's/^\([0-9.]*\) 0*\([0-9]\)/\1 \2/' want
ok 'the scheduler: each switch with time, CPU and threads' cmp want got
is "$(wc -l <got | tr -d ' ')" "$("$BIN/phist" --by event sched.ps 2>/dev/null | awk '$1 == "sched:sched_switch" { print $2 }' | tr -d ,)" 'as many as there are'

# ---- samples ----

gunzip -c "$ROOT/t/data/report.kallsyms.gz" >kallsyms
gunzip -c "$ROOT/t/data/report.data.gz" >report.data
"$BIN/pdecode" report.data 2>/dev/null | "$BIN/psym" --kallsyms kallsyms 2>/dev/null >report.ps
run "$BIN/pconv" -o report.pftrace report.ps
is "$status" 0 'samples: written'
ok 'samples: protoc reads it' decoded report.pftrace
"$BIN/pfold" --no-header report.ps 2>/dev/null | sed 's/_\[k\]//g' | sort >want
perl -I. -Mtrace -e '
	my (%seq, %comm, %sum, %count);
	for my $p (trace "report.pftrace.txt") {
		for my $t (@{one($p, "process_tree", "threads") ? $p->{process_tree}[0]{threads} : []}) { $comm{one($t, "tid")} = one($t, "name") // $comm{one($t, "tid")} }
		my $q = $seq{one($p, "trusted_packet_sequence_id") // next} //= {};
		die "state" if one($p, "sequence_flags") == 2 && !$q->{begun}; $q->{begun} = 1;
		if (my $i = one($p, "interned_data")) { for my $k (keys %$i) { for (@{$i->{$k}}) { die "twice" if $q->{$k}{one($_, "iid")}++ ; $q->{$k}{one($_, "iid")} = $_ } } }
		my $s = one($p, "perf_sample") or next;
		my $key = one($p, "trusted_packet_sequence_id") . " " . one($s, "cpu");
		my $weight = one($s, "timebase_count") - ($count{$key} // 0); $count{$key} += $weight;
		my $stack = $q->{callstacks}{one($s, "callstack_iid")} or die "no stack";
		my @names = map { my $f = $q->{frames}{$_} or die "no frame"; my $m = $q->{mappings}{one($f, "mapping_id")} or die "no mapping";
			$q->{mapping_paths}{one($m, "path_string_ids")} or die "no path"; my $n = $q->{function_names}{one($f, "function_name_id")} or die "no name"; one($n, "str") } @{$stack->{frame_ids}};
		s/;/:/g for @names;
		$sum{join ";", $comm{one($s, "tid")}, @names} += $weight;
	}
	print "$_ $sum{$_}\n" for keys %sum' >joined
is "$?" 0 'samples: all that they refer to is there, once'
# NAME TOTAL SELF, each function once for a stack; and the stacks in which pfold changes nothing.
"$BIN/preport" --tsv --by sym report.ps 2>/dev/null |
	awk -F '\t' '!/^#/ && $2 !~ /^\[/ { print $2, $4, $7 + 0 }' | sort >want
perl -ne 's/ (\d+)$// or die; my ($w, %seen) = $1; my ($comm, @f) = split /;/, $_; chomp @f; $self{$f[-1]} += $w; $total{$_} += $w for grep { !$seen{$_}++ } @f;
	END { for (keys %total) { printf "%s %d %d\n", $_, $total{$_}, $self{$_} // 0 unless /^\[/ } }' joined | sort >got
ok 'samples: self and total of each function are those of preport' cmp want got
grep -v '\[' joined | sort >got
"$BIN/pfold" --no-header report.ps 2>/dev/null | grep -v '\[' | sort >want
ok 'samples: and so are whole stacks with the names of threads' cmp want got

# ---- intervals, counters, losses ----

"$BIN/plat" --emit=runq,offcpu sched.ps >lat.ps 2>/dev/null
run "$BIN/pconv" -o both.pftrace sched.ps lat.ps
ok 'intervals: protoc reads them beside the rest' decoded both.pftrace
perl -I. -Mtrace -e 'my (%track, %open, %n, %sum); for my $p (trace "both.pftrace.txt") {
	if (my $t = one($p, "track_descriptor")) { $track{one($t, "uuid")} = one($t, "name") // ""; die "no parent" if one($t, "parent_uuid") && !exists $track{one($t, "parent_uuid")} }
	my $e = one($p, "track_event") or next; my $u = one($e, "track_uuid"); die "no track" unless exists $track{$u};
	if (one($e, "type") == 1) { die "overlap" if $open{$u}; $open{$u} = one($p, "timestamp") }
	elsif (one($e, "type") == 2) { $n{$track{$u}}++; $sum{$track{$u}} += one($p, "timestamp") - $open{$u}; $open{$u} = 0 } }
	print "$_ $n{$_} $sum{$_}\n" for sort keys %n' >got
"$BIN/plat" --kind=runq,offcpu --by kind --tsv sched.ps 2>/dev/null | awk -F '\t' '
	/^#/ { for (i = 1; i <= NF; i++) { if ($i ~ /:count/) c = i; if ($i ~ /:sum/) s = i } next } { print $2, $c, $s }' | sort >want
ok 'intervals: as many of a kind and as long as for plat, and none overlaps another on its track' cmp want got
gunzip -c "$ROOT/t/data/stat-612.data.gz" | "$BIN/pdecode" >stat.ps 2>/dev/null
run "$BIN/pconv" -o stat.pftrace stat.ps
ok 'counters: protoc reads them' decoded stat.pftrace
# By event and CPU, as pdecode -j tells; the clock is in msec.
"$BIN/pdecode" -j stat.ps | perl -ne 'print "$1 $2 ", $2 == 1 ? $3 / 1e6 : $3, "\n" if /"type":"count",.*"cpu":(\d+),"event":(\d+),"value":(\d+)/' | sort >want
perl -I. -Mtrace -e 'my %e = ("cpu-clock" => 1, "page-faults" => 2, "context-switches" => 3); my %t; for my $p (trace "stat.pftrace.txt") {
	$t{one($p, "track_descriptor", "uuid")} = one($p, "track_descriptor", "name") if one($p, "track_descriptor");
	my $e = one($p, "track_event") or next; my ($name, $cpu) = $t{one($e, "track_uuid")} =~ /^(\S+) CPU (\d+)/ or next;
	print "$cpu $e{$name} ", one($e, "double_counter_value") + 0, "\n" }' | sort >got
ok 'counters: each, with its scale' cmp want got

# As trace-cmd report prints them, with a loss between: a bundle ends there.
cat >lost.txt <<'T'
cpus=1
              sh-7     [000]     1.000000: sched_switch:         sh:7 [120] S ==> swapper/0:0 [120]
CPU:0 [5 EVENTS DROPPED]
          <idle>-0     [000]     2.000000: sched_switch:         swapper/0:0 [120] R ==> sh:7 [120]
T
"$BIN/pdecode" lost.txt 2>/dev/null >lost.ps
run "$BIN/pconv" -o lost.pftrace lost.ps
is "$status" 0 'losses of the recording are no damage'
like "$ERR" 'lost 5 events' 'but are reported'
ok 'losses: protoc reads them' decoded lost.pftrace
is "$(perl -I. -Mtrace -e 'for my $p (trace "lost.pftrace.txt") { my $b = one($p, "ftrace_events");
	print one($b, "lost_events") ? "lost " : "", one($b, "event", "timestamp"), " ", one($b, "event", "sched_switch", "next_pid") // 0, "\n" if $b;
	my $t = one($p, "track_event", "name"); print "$t\n" if $t && $t =~ /^the recording[^;]*$/ }' | sort)" '1000000000 0
lost 2000000000 7
the recording lost 5 events' 'losses: before the events that come after them, and on a track'
run "$BIN/pconv" --strict -o lost.pftrace lost.ps
is "$status" 1 'losses: --strict'

# ---- what has no times, and nothing ----

echo 'a;b 1' >x.folded
run "$BIN/pconv" --to perfetto x.folded
is "$status" 2 'text without times: it cannot be done'
like "$ERR" 'perfetto shows times' 'and why'
done_testing

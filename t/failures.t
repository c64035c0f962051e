#!/usr/bin/perl
# Each filter, with one allocation, read, write, open, mapping or thread that fails: what comes out is
# complete and the exit status 0, or there is a message and the status 1 or 2. t/shim.c makes them fail.
#
#	FULL=1 t/failures.t		every call of each kind, instead of a choice of some
#	ONLY='psym,alloc' t/failures.t	only this filter, or this filter and kind
#	SEED=7 t/failures.t		another choice
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX qw(:sys_wait_h);

my $root = abs_path(dirname(abs_path($0)) . '/..');
my $bin = abs_path($ENV{BIN} // "$root/bin");
my $shim = abs_path($ENV{SHIM} // "$root/build/t/shim.so");
my $data = "$root/t/data";
my $each = $ENV{RUNS} // 5;    # runs of a filter and a kind
my @kinds = qw(alloc alloc+ read pread pread+ write open mmap thread);
my ($only, $only_kind) = split /,/, $ENV{ONLY} // '';
my $tests = 0;
my $failed = 0;

srand($ENV{SEED} // 1);
if (!$shim || !-e $shim) { print "1..0 # SKIP t/shim.so is not built\n"; exit 0 }
if (`nm '$bin/psym' 2>/dev/null` =~ /__asan_init/) {
	print "1..0 # SKIP a sanitizer wants to be loaded first\n";
	exit 0;
}
my $cc = $ENV{CC} || 'gcc';
my $tmp = tempdir('perfpipe-t.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chdir $tmp or die "$tmp: $!\n";
$ENV{HOME} = $tmp;
$ENV{LC_ALL} = 'C';
$ENV{TZ} = 'UTC';

sub slurp {
	my ($name) = @_;
	open my $f, '<', $name or return undef;
	local $/;
	return scalar <$f>;
}

sub make { system('sh', '-c', $_[0]) == 0 or die "cannot make the input: $_[0]\n" }

# Runs a command with stdout and stderr in files: the exit status, or 128 + signal, or 'time'.
sub run {
	my ($command, $fail) = @_;
	my $prog = $command->[0];
	my $pid = fork // die "fork: $!\n";

	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', 'out';
		open STDERR, '>', 'err';
		if (defined $fail) {
			$ENV{LD_PRELOAD} = $shim;
			$ENV{FAIL} = $fail;
			$ENV{FAIL_PROG} = $prog;
			$ENV{FAIL_COUNT} = "$tmp/count";
		}
		alarm 600;    # of a machine that is busy
		exec "$bin/$prog", @$command[1 .. $#$command] or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return 'time' if WIFSIGNALED($?) && WTERMSIG($?) == 14;
	return WIFSIGNALED($?) ? 128 + WTERMSIG($?) : WEXITSTATUS($?);
}

# What is to fail: all of n calls, or the first ones and a choice of the others.
sub choose {
	my ($n, $each) = @_;

	return 1 .. $n if $ENV{FULL} || $n <= $each;
	my %chosen = map { $_ => 1 } 1 .. $each / 2;
	$chosen{1 + int rand $n} = 1 while keys %chosen < $each;
	return sort { $a <=> $b } keys %chosen;
}

# What is wrong with how a run ended; '' if nothing.
sub fault {
	my ($status, $whole, $result) = @_;
	my $err = slurp('err') // '';

	return 'takes too long' if $status eq 'time';
	return "ends by signal " . ($status - 128) if $status >= 128;
	if ($status == 0 && !defined $whole) {
		system("pdecode '$result' >/dev/null 2>err") == 0 or return 'status 0, but pdecode does not read it';
		return '';
	}
	if ($status == 0) {
		return (slurp($result) // '') eq $whole ? '' : 'status 0, but the output differs';
	}
	return "status $status" if $status > 2;
	return $err =~ /^[a-z-]+: ./m ? '' : "status $status without a message";
}

# COMMAND with each kind of failure, or those in kinds. result: the file that it writes. recording: it is another one each time, and
# has to be one that pdecode finds whole. crash: a signal may end it when it has
# no memory, since libtraceevent, or libdw (dwarf_tag; as it opens split DWARF) does not look whether it got any. before: is called before
# each run; each: so many runs; after: after each, with its status, and tells what is wrong beside the output.
sub try {
	my ($name, $command, %o) = @_;
	my $result = $o{result} // 'out';

	return if $only && $name !~ /^\Q$only\E/;
	for my $kind (@{$o{kinds} // \@kinds}) {
		next if $only_kind && $kind ne $only_kind;
		my ($what, $plus) = $kind =~ /^(\w+)(\+?)$/;
		unlink 'count', $result;
		$o{before}->() if $o{before};
		my $status = run($command, "$what:0");
		my $whole = slurp($result);
		my $n = slurp('count');
		my (@faults, $runs);

		$tests++;
		if ($status ne '0' || !defined $n || !defined $whole) {
			$failed++;
			print "not ok $tests - $name: without a failure: status $status\n";
			print map { "# $_\n" } split /\n/, slurp('err');
			return;
		}
		for my $i (choose($n + 0, $o{each} // $each)) {
			unlink $result;
			$o{before}->() if $o{before};
			$status = run($command, "$what:$i$plus");
			my $fault = fault($status, $o{recording} ? undef : $whole, $result);
			$runs++;
			$fault = '' if $o{crash} && $what eq 'alloc' && $fault =~ /signal/;
			$fault = $o{after}->($status) if $o{after} && $fault eq '';
			push @faults, "$what:$i$plus: $fault" if $fault ne '';
		}
		$runs //= 0;
		$failed++ if @faults;
		print @faults ? 'not ok' : 'ok', " $tests - $name: $runs of ", $n + 0, " $kind\n";
		print "# $_\n" for @faults > 20 ? (@faults[0 .. 19], '...') : @faults;
	}
}

$ENV{PATH} = "$bin:$ENV{PATH}";
make("pdecode $data/small.data >small.ps");
make("pdecode $data/sched.dat >sched.ps");
make("pdecode $data/sched.data.gz >perf.ps");
make("pdecode -t $data/sched.dat >sched.txt && plat --timeline sched.ps >sched.tl");
make("pdecode $data/stacks.dat >stacks.ps");
make("$bin/pdecode $data/demo.pstream.zst >demo.ps");
make("pdecode -t $data/kinds.dat >/dev/null");
make("pdecode $data/deep.data >deep.ps && mkdir root && gzip -dc $data/deep.gz >root/deep");
make("psym --symfs root deep.ps >deep.sym");
make("gzip -dc $data/chain.data.gz | pdecode >chain.ps && cp $data/chain.elf root/chain");
make("pdecode $data/syscalls.dat >syscalls.ps && pdecode $data/paths.data.gz >paths.ps");
make("gzip -dc $data/lock.data.gz | pdecode >lock.ps && gzip -dc $data/lock.kallsyms.gz >lock.kallsyms");
make("pfold demo.ps >demo.folded");
make("phist --tsv --by comm sched.ps >hist.tsv");
make("seq 1 40 | sed 's/.*/prog;main;f&;g 3&/' >a.folded && sed 's/f4;/f5;/' a.folded >b.folded");
make("sed 's/ 3/ 4/' a.folded >c.folded && pdiff --learn-noise a.folded b.folded c.folded >noise.tsv");
make("plat --tsv --by comm -k runq sched.ps >lat.tsv");
# What libraries know of a program: lines, inlined functions, those in a file of its own (split DWARF).
put('lined.c', <<'C');
static volatile unsigned long sum;
static inline __attribute__((always_inline)) void inlined(int n) { while (n--) sum = sum * 5 + 1; }
__attribute__((noinline)) void spin(int n) { inlined(n); sum++; }
int main(void) { for (int i = 0; i < 20; i++) spin(1000000); return 0; }
C
my $lined = system("$cc -O1 -g -o root/lined lined.c 2>/dev/null && $cc -O1 -g -gsplit-dwarf -o root/split lined.c 2>/dev/null") == 0;
for my $name ($lined ? qw(lined split) : ()) {
	$lined = 0 if system("pcap-perf -e cpu-clock:u -F 99 -o $name.data -- root/$name 2>/dev/null && pdecode $name.data >$name.ps && psym $name.ps >$name.sym") != 0;
}
make("gunzip -c '$data/stat.data.gz' >stat.data && pdecode stat.data >stat.ps");

try('pdecode perf.data', ['pdecode', "$data/small.data"]);
try('pdecode pipe form', ['pdecode', "$data/demo.data"], kinds => ['alloc'], each => 100);
try('pdecode perf.data directory', ['pdecode', "$data/threads.dir"]);
try('pdecode trace.dat', ['pdecode', "$data/kinds.dat"]);
try('pdecode gzip', ['pdecode', "$data/sched.data.gz"]);
try('pdecode text', ['pdecode', 'sched.txt']);
try('pdecode two', ['pdecode', "$data/sched.dat", "$data/stacks.dat"]);
try('pdecode -t perf.data', ['pdecode', '-t', "$data/small.data"], crash => 1);
try('pdecode -t trace.dat', ['pdecode', '-t', "$data/kinds.dat"], crash => 1);
try('pdecode -j', ['pdecode', '-j', "$data/kinds.dat"]);
try('pfilter', ['pfilter', 'prev_state == R && prev_comm =~ "a"', 'sched.ps']);
try('pfilter twice', ['pfilter', '--after', 'prev_state == R', '--before', 'prev_state == S', '--margin', '1ms', '', 'sched.ps']);
try('pfilter time', ['pfilter', '--time', '20%-60%', '', 'sched.ps']);
try('psym', ['psym', 'demo.ps']);
try('psym:binary', ['psym', '--symfs', 'root', 'deep.ps']);
try('psym unwinds', ['psym', '--symfs', 'root', 'chain.ps']);
for my $name ($lined ? qw(lined split) : ()) {
	try("psym inlines of $name", ['psym', '-i', '--srcline', "$name.ps"], kinds => [qw(alloc alloc+ pread pread+ open)],
		crash => 1);
}
try('preport lines', ['preport', '--function', 'spin', '--annotate', '--trust-host', 'lined.sym'],
	kinds => [qw(alloc pread pread+ open)], crash => 1) if $lined;
print "# no compiler, or no recording: lines and inlined functions are not tried\n" if !$lined;
try('psym:kallsyms', ['psym', '--kallsyms', 'lock.kallsyms', 'lock.ps']);
try('pfold stream', ['pfold', 'demo.ps']);
try('pfold folded', ['pfold', 'demo.folded']);
try("pfold shape", ["pfold", "--by", "cpu", "--rename", "s,(.)_,\\1-,g", "--strip-templates", "--merge-recursion", "--prefix", "x", "demo.ps"]);
try("pfold chart", ["pfold", "--chart", "--only", ".", "demo.ps"]);
try('phist', ['phist', '--by', 'event,comm', 'sched.ps']);
try('phist counts', ['phist', 'stat.ps']);
try('phist counts as a table', ['phist', '--tsv', 'stat.ps']);
try('pdecode -t counts', ['pdecode', '-t', 'stat.data']);
try('phist heat', ['phist', '-f', 'prev_prio', '--heatmap=10ms', '--tsv', 'sched.ps']);
try('preport', ['preport', 'demo.ps']);
try('preport tree', ['preport', '--tree', 'callee', '--by', 'tid,sym', '--json', 'demo.ps']);
try('preport function', ['preport', '--function', 'compute', '--annotate', '--symfs', 'root', 'deep.sym'], crash => 1);
try('preport folded', ['preport', '--tree', 'caller', 'demo.folded']);
try('pstrace', ['pstrace', 'syscalls.ps']);
try('pstrace table', ['pstrace', '--by-thread', 'syscalls.ps']);
try('pstrace json', ['pstrace', '--json', 'paths.ps']);
try('plat', ['plat', 'sched.ps']);
try('plat open', ['plat', '-u', '--json', 'sched.ps']);
try('plat list', ['plat', '--slower', '1ms', '--by', 'prev_prio', 'sched.ps']);
try('plat emit', ['plat', '--emit', 'offcpu', 'perf.ps']);
try('plat timehist', ['plat', '--timehist', '-w', '-V', '--with-summary', 'sched.ps']);
try('plat map', ['plat', '--map', '--compact', 'sched.ps']);
try('phist gate', ['phist', '--by', 'comm', '-f', 'prev_prio', '--fail-if',
	'any(p99(prev_prio) > 1000 && comm =~ "^a")', 'sched.ps']);
try('plat gate', ['plat', '-k', 'runq', '--fail-if', 'p50(runq, comm in {a, wl}) > 100s', 'sched.ps']);
try('pdiff', ['pdiff', 'a.folded', 'b.folded', '--', 'c.folded', 'b.folded']);
try('pdiff folded', ['pdiff', '--folded', 'a.folded', 'c.folded']);
try('pdiff streams', ['pdiff', '--norm=time', 'demo.ps', 'demo.ps']);
try('pdiff noise', ['pdiff', '--json', '--noise', 'noise.tsv', 'a.folded', 'b.folded']);
try('pdiff learn', ['pdiff', '--learn-noise', 'a.folded', 'b.folded', 'c.folded']);
try('pdiff latencies', ['pdiff', '--markdown', 'lat.tsv', 'lat.tsv', '--', 'lat.tsv', 'lat.tsv']);
try('psvg', ['psvg', 'demo.folded']);
try('psvg page', ['psvg', '--html', 'demo.folded']);
try('psvg stream', ['psvg', 'demo.ps']);
try('psvg table', ['psvg', 'hist.tsv']);
try('plat timeline', ['plat', '--timeline', 'sched.ps']);
try('psvg timeline', ['psvg', '--timeline', 'sched.tl']);
try('psvg timeline as SVG', ['psvg', '--timeline=svg', 'sched.tl']);
try('phist merge', ['phist', '--merge', 'hist.tsv']);

# Probes, in lists that stand for the kernel's: all are made or none. What was made and cannot be removed, as
# nothing can be opened or written any more, is named.
sub put {
	my ($name, $text) = @_;
	open my $f, '>', $name or die "$name: $!\n";
	print $f $text;
	close $f or die "$name: $!\n";
}
sub probes {
	my %there;
	for (split /\n/, slurp('tracefs/uprobe_events')) {
		$there{$1} = 1 if /^p:(\S+)/;
		delete $there{$1} if /^-:(\S+)/;
	}
	return sort keys %there;
}
my $program = "$root/t/fuzz/corpus/inspect/c5";
my $others = "p:others/probe /bin/true:0x1000\n";
mkdir 'tracefs';
my $before = sub { put('tracefs/uprobe_events', $others); put('mine', '') };
my @made = ('probe/f', 'probe/f__return', 'others/probe');
my @make = ('pprobe', '--tracefs', 'tracefs', '--mine', 'mine', '--group', 'probe', '-x', $program, 'f $params', 'f%return');
try('pprobe makes', \@make, crash => 1, before => $before, after => sub {
	my ($status) = @_;
	my $there = join ' ', probes();
	return $there eq join(' ', sort @made) ? '' : "status $status, but there is: $there" if $status =~ /^[01]$/;
	return '' if $there eq 'others/probe' || slurp('err') =~ /cannot be removed/;
	return "status $status, and left is: $there";
});
my $with = sub { put('tracefs/uprobe_events', $others . "p:probe/f $program:0x164\n"); put('mine', "probe/f\n") };
try('pprobe lists', ['pprobe', '--tracefs', 'tracefs', '--mine', 'mine', '-l'], before => $with);
try('pprobe removes', ['pprobe', '--tracefs', 'tracefs', '--mine', 'mine', '--all-mine'], before => $with, after => sub {
	my ($status) = @_;
	my $there = join ' ', probes();
	return '' if $there eq ($status eq '0' ? 'others/probe' : 'others/probe probe/f');
	return '' if $status eq '2' && $there eq 'others/probe';
	return "status $status, and there is: $there";
});
for ([functions => '-F'], [pattern => '-F', '*'], [lines => '-L', 'f'], [variables => '-V', 'f'], [definitions => '-n', 'f $params', 'f%return']) {
	my ($name, @options) = @$_;
	try("pprobe $name", ['pprobe', '-x', $program, @options], crash => 1);
}

# Not everybody may record.
my @record = ('pcap-perf', '-e', 'cpu-clock', '-g', '-o', 'record.data', '--', 'true');
my @bundle = ('pcap-perf', '-e', 'cpu-clock', '-F', '9999', '--call-graph', 'dwarf,1024', '--bundle', 'b.tar', '-o', 'record.data',
	'--', 'sh', '-c', 'for i in 1 2 3 4; do /bin/true; done');
if (run(\@record) eq '0') {
	try('pcap-perf', \@record, result => 'record.data', recording => 1);
	try('pcap-perf bundle', \@bundle, result => 'record.data', recording => 1);
}
else { print "# pcap-perf cannot record here\n" }
print "1..$tests\n";
exit($failed ? 1 : 0);

#!/usr/bin/perl
# No option is taken without effect: each pair of options of a filter changes something in one of the modes that
# t/option-pairs names, or is refused, or is in that table with the reason why nothing changes. So are options by
# themselves. What recorders and probes do to a machine is not tried here: pcap-perf, pcap-ftrace, pprobe.
#
# It takes a minute, so it is tried with ALL_PAIRS=yes, which make check-all sets, or of some programs:
#
#	t/option-pairs.t [PROGRAM]...
use strict;
use warnings;
use File::Temp 'tempdir';
use Cwd 'abs_path';

my $here = abs_path(__FILE__) =~ s|/[^/]*$||r;
my $bin = abs_path($ENV{BIN} // "$here/../bin");
my $data = "$here/data";
my (%program, @failed, $tests);

open my $table, '<', "$here/option-pairs" or die "option-pairs: $!";
while (<$table>) {
	chomp;
	next if /^#/ || !/\S/;
	my ($name, $kind, $text) = split /\t/;
	my $p = $program{$name} //= {mode => [], option => [], never => {}, fine => {}};
	if ($kind eq 'never' || $kind eq 'fine') {
		$text =~ /^(.*?): ./ or die "option-pairs: no reason: $_\n";
		$p->{$kind}{$1} = 0;
	} else {
		push @{$p->{$kind}}, [split / /, $text];
	}
}
if (!@ARGV && !$ENV{ALL_PAIRS}) {
	print "1..0 # SKIP ALL_PAIRS=yes tries each pair of options: make check-all\n";
	exit;
}
@ARGV = sort keys %program unless @ARGV;
chdir tempdir(CLEANUP => 1) or die;
$ENV{LC_ALL} = 'C.UTF-8';

# The inputs of the modes.
sub make {
	my ($file, $command) = @_;
	local $ENV{PATH} = "$bin:$ENV{PATH}";
	system('sh', '-c', "($command) >$file 2>/dev/null");
	if (!-s $file) { print "Bail out! no $file: $command\n"; exit 1 }
}
make('report.kallsyms', "gzip -dc $data/report.kallsyms.gz");
make('report.data', "gzip -dc $data/report.data.gz");
make('report.ps', 'pdecode report.data | psym -k report.kallsyms');
make('sched.dat', "cat $data/sched.dat");
make('sched.ps', 'pdecode sched.dat');
make('stacks.ps', "gzip -dc $data/sched-stacks.data.gz | pdecode | psym");
make('sys.ps', "gzip -dc $data/strace.data.gz | pdecode");
make('offcpu.ps', 'plat --emit offcpu stacks.ps');
make('clock.data', "cat $data/clock-realtime.data");
make('kinds.tl', 'plat --timeline stacks.ps');
make('count.tsv', 'phist --by comm --tsv sched.ps');
make('time.tsv', 'phist --over-time=20ms -f prev_prio --tsv sched.ps');
make('hist.tsv', 'phist --by comm -f prev_prio --tsv sched.ps');
make('frames.txt', q(printf '%s\n' 'prog     1/1     [000]     1.000000:         10 cycles: ' '	  400000 f<int>::g+0x0 (/usr/bin/prog)' \
	'  prog.cc:12' '	  400010 Lfoo;::bar+0x0 (/tmp/perf-1.map)' '	  400020 h (inlined)' '	  400030 main+0x0 (/usr/bin/prog)' ''));
make('a.folded', 'pfold -c --by comm report.ps; echo "swapper;start;gone_in_b 40"');
make('b.folded', 'pfold -c --by comm --rename s/do_idle/sleeping.isra.0/ report.ps; grep -v gone_in_b a.folded');

# What comes of a command line: all that it writes, or undef where it is refused or fails without a word of output.
sub result {
	my ($name, @words) = @_;
	unlink glob 'out*';
	my $pid = open my $from, '-|';
	if (!$pid) {
		open STDERR, '>', 'err';
		open STDIN, '<', '/dev/null';
		exec "$bin/$name", @words or exit 127;
	}
	local $/;
	my $text = <$from> // '';
	close $from;
	my $status = $?;
	if ($status & 127) { push @failed, "signal: $name @words" }
	$status >>= 8;
	return if $status == 64 || ($status == 2 && $text eq '');
	# The command line is in the stream.
	$text = stream($text) if $text =~ /^PPSTREAM/;
	for my $file ('err', sort glob 'out*') {
		open my $f, '<', $file or next;
		my $written = <$f> // '';
		$text .= "\0$file\0" . ($written =~ /^PPSTREAM/ ? stream($written) : $written);
	}
	return "$status\0$text";
}

sub stream {
	my ($stream) = @_;
	open my $f, '>', 'stream' or die;
	print $f $stream;
	close $f;
	my $version = unpack 'S', substr $stream, 12, 2;
	my $text = `$bin/pdecode -j --all stream 2>/dev/null`;
	$text =~ s/^\{"type":"provenance".*\n//mg;
	return "$version\0$text";
}

sub name_of { ($_[0][0] =~ s/=.*//r) }

for my $name (@ARGV) {
	my $p = $program{$name} or die "option-pairs has no $name\n";
	my @o = @{$p->{option}};
	my (%seen, %effect, %taken, @alone, %named);
	$named{name_of($_)}++ for @o;
	for my $mode (@{$p->{mode}}) {
		my %base = map { (s/=.*//r => 1) } grep { /^-./ } @$mode;
		my $none = result($name, @$mode) // die "option-pairs: the mode is refused: $name @$mode\n";
		my @one = map { $base{name_of($_)} && $named{name_of($_)} ? undef : scalar result($name, @$_, @$mode) } @o;
		for my $i (0 .. $#o) {
			next unless defined $one[$i];
			$alone[$i] |= $one[$i] ne $none;
		}
		for my $i (0 .. $#o) {
			for my $j ($i + 1 .. $#o) {
				next if name_of($o[$i]) eq name_of($o[$j]);
				next if $base{name_of($o[$i])} || $base{name_of($o[$j])};
				next if $effect{"$i $j"} && $effect{"$j $i"};
				my $both = result($name, @{$o[$i]}, @{$o[$j]}, @$mode) // next;
				for ([$i, $j], [$j, $i]) {
					my ($this, $other) = @$_;
					$taken{"$this $other"} = 1;
					next if defined $one[$other] && $both eq $one[$other];
					$effect{"$this $other"} = 1;
					# Alone it was refused.
					$alone[$this] = 1 unless defined $one[$this];
				}
			}
		}
	}
	my @bad;
	for my $i (0 .. $#o) {
		my $a = "@{$o[$i]}";
		if (exists $p->{never}{$a}) {
			$p->{never}{$a}++;
			push @bad, "never: $a makes a difference" if $alone[$i];
			next;
		}
		push @bad, "$a: no difference in any mode" unless $alone[$i];
		for my $j (0 .. $#o) {
			my $b = "@{$o[$j]}";
			next if !$alone[$i] || !$taken{"$i $j"} || $effect{"$i $j"};
			my ($fine) = grep { exists $p->{fine}{$_} } "$a / $b", "$a / *", "* / $b";
			if ($fine) { $p->{fine}{$fine}++ } else { push @bad, "$a / $b: no difference" }
		}
	}
	push @bad, map { "fine, but not met: $_" } grep { !$p->{fine}{$_} } sort keys %{$p->{fine}};
	# Each option of --help is in the table.
	my %all = map { ($_ => 1) } `$bin/$name --help` =~ /^  (?:-., |    )(--[a-z0-9-]+)/mg;
	my %letter = reverse `$bin/$name --help` =~ /^  (-.), (--[a-z0-9-]+)/mg;
	my %tried = map { (name_of($_) => 1) } @o, map { [$_] } map { grep { /^-./ } @$_ } @{$p->{mode}};
	delete @all{qw(--help --version --no-sandbox --strict --verbose)};
	for my $long (sort keys %all) {
		next if $tried{$long} || $tried{$letter{$long} // ''};
		my @never = grep { $_ eq $long } keys %{$p->{never}};
		push @bad, "$long is not in the table" unless @never;
		$p->{never}{$_}++ for @never;
	}
	push @bad, map { "never, but not met: $_" } grep { !$p->{never}{$_} } sort keys %{$p->{never}};
	push @bad, splice @failed;
	$tests++;
	print @bad ? 'not ' : '', "ok $tests - $name: ", scalar @o, " options, each pair changes something or is refused\n";
	print "# $_\n" for @bad;
}
print "1..$tests\n";

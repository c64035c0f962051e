#!/bin/sh
# Recordings of simpleperf (Android): the names that they hold themselves, in header feature 128 or 132, or in records
# before there were these; mappings in feature 134; what is skipped is reported by name.
. "${0%/*}/lib.sh"
need perl

# perl make.pl FORM [damaged|more]: a recording whose file has names in that form: 128, old128 (without offsets), 132,
# records. The layouts are those that simpleperf's record_file_format.h, record_file.proto and record.h describe.
cat >make.pl <<'E'
use strict;
my ($form, $extra) = (@ARGV, '', '');
my ($vaddr, $off) = (0x2000, 0x1000);
# Kind, path, an address, where it is, and names with address and size.
my @files = (
	[0, '[kernel.kallsyms]', 0, 0, ['sys_work', 0xffffffff81000100, 0x50]],
	[1, '/vendor/lib/modules/wifi.ko', 0x40, 0x1000, ['wifi_poll', 0x60, 0x20]],
	[2, '/data/app/libx.so', $vaddr, $off, ['_Z4workv', 0x2100, 0x80], ['main', 0x2200, 0x40]],
	[2, '/data/app_jit_cache:0-100', 0x77, 0x88, ['jitted', 0x9000010000, 0x100]],
	[3, '/data/app/base.vdex', 0, 0, ["a.b\nc", 0x3010, 0x10]],
	[4, 'perf-10.map', 0, 0, ['interpreted', 0x5000010000, 0x1000]],
);
sub s0 { return "$_[0]\0" }
sub rec { # type, misc, body
	my ($type, $misc, $body) = @_;
	$body .= "\0" x (-length($body) % 8);
	my $n = 8 + length $body;
	return pack('L<S<2', $type, $type >= 32768 ? ($n >> 16, $n & 0xffff) : ($misc, $n)) . $body;
}
sub mmap2 { # misc, addr, len, pgoff, prot, path
	my ($misc, $addr, $len, $pgoff, $prot, $path) = @_;
	my $pid = $misc == 1 ? -1 : 10;
	return rec(10, $misc, pack('l<2Q<3L<2Q<2L<2', $pid, $pid, $addr, $len, $pgoff, 0, 0, 0, 0, $prot, 2) . s0($path));
}
sub sample { # chain of addresses, innermost first
	my $kernel = $_[0] >> 63;
	my @chain = map { pack 'Q<', $_ } @_;
	unshift @chain, pack 'q<', $kernel ? -128 : -512; # PERF_CONTEXT_KERNEL, _USER
	return rec(9, $kernel ? 1 : 2, pack('Q<L<2Q<2', $_[0], 10, 10, 1000000000, scalar @chain) . join '', @chain);
}
sub varint {
	my ($v, $s) = ($_[0], '');
	while ($v >= 128) { $s .= chr($v & 127 | 128); $v >>= 7 }
	return $s . chr $v;
}
sub number { return varint($_[0] << 3) . varint($_[1]) }
sub bytes { return varint($_[0] << 3 | 2) . varint(length $_[1]) . $_[1] }
sub file128 {
	my ($kind, $path, $v, $o, @names) = @{$_[0]};
	my $s = s0($path) . pack('L<Q<L<', $kind, $v, scalar @names);
	$s .= pack('Q<L<', $_->[1], $_->[2]) . s0($_->[0]) for @names;
	$s .= pack('L<Q<', 1, 0x20) if $kind == 3;
	$s .= pack('Q<', $o) if ($kind == 1 || $kind == 2) && $form ne 'old128';
	return pack('L<', length $s) . $s;
}
sub file132 {
	my ($kind, $path, $v, $o, @names) = @{$_[0]};
	my $s = bytes(1, $path) . number(2, $kind) . number(3, $v);
	$s .= bytes(4, number(1, $_->[1]) . number(2, $_->[2]) . bytes(3, $_->[0]) . number(9, 5)) for @names;
	$s .= bytes($kind == 2 ? 6 : 7, number(1, $o)) if $kind == 1 || $kind == 2;
	return pack('L<', length $s) . $s;
}
sub records {
	my ($s, $id) = ('', 0);
	for (@files) {
		my ($kind, $path, $v, $o, @names) = @$_;
		$s .= rec(32770, 0, pack('Q<3', $kind, ++$id, $v) . s0($path));
		$s .= rec(32771, 0, pack('Q<3', $_->[1], $_->[2], $id) . s0($_->[0])) for @names;
	}
	return $s;
}
my $maps = rec(3, 0, pack('L<2', 10, 10) . s0('app')) .
	mmap2(1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, 5, '[kernel.kallsyms]_text') .
	mmap2(1, 0xffffffffa0000000, 0x10000, 0, 5, '/vendor/lib/modules/wifi.ko') .
	mmap2(2, 0x7000000000, 0x10000, $off, 5, '/data/app/libx.so') .
	mmap2(2, 0x6000000000, 0x10000, 0x3000, 5, '/data/app/base.vdex') .
	mmap2(2, 0x5000000000, 0x20000, 0, 5, '//anon') .
	mmap2(2, 0x9000000000, 0x20000, 0, 0x4000, '/data/app_jit_cache:0-100');
my $data = sample(0x9000010004, 0x5000010004, 0x6000000018, 0x7000000210, 0x7000000105) .
	sample(0x7000000300) . sample(0xffffffff81000110) . sample(0xffffffffa0001024) . sample(0xffffffff81000200);
my %features = (129 => s0('simpleperf_version') . s0('1'));
$features{128} = join '', map { file128($_) } @files if $form =~ /128$/;
$features{132} = join '', map { file132($_) } @files if $form eq '132';
if ($form eq '132') { $features{134} = $maps } else { $data = $maps . $data }
$data = records() . $data if $form eq 'records';
$features{128} .= pack('L<', 100) . 'x' if $extra eq 'damaged';
if ($extra eq 'more') {
	$data .= rec(32775, 0, 'x') x 2 . rec(32783, 0, 'y') . rec(99, 0, '') x 3 . rec(4242, 0, '');
	$data .= rec(70, 0, pack('L<2', 3, 0)) . rec(71, 0, pack('Q<3L<4', 8, 0, 0, 0, 0, 0, 0)) . '01234567';
	$features{133} = 'x';
}
my $attr = pack('L<2Q<5', 1, 112, 0, 1000, 0x27, 0, 0) . "\0" x 64; # cpu-clock: IP TID TIME CALLCHAIN
my ($head, $at) = (104, 104 + 128);
my ($bits, $table, $bodies) = ("\0" x 32, '', '');
my $where = $at + length($data) + 16 * keys %features;
for (sort { $a <=> $b } keys %features) {
	vec($bits, $_, 1) = 1;
	$table .= pack 'Q<2', $where + length $bodies, length $features{$_};
	$bodies .= $features{$_};
}
binmode STDOUT;
print 'PERFILE2', pack('Q<8', $head, 128, $head, 128, $at, length $data, 0, 0), $bits, $attr, pack('Q<2', 0, 0), $data,
	$table, $bodies;
E
folded() { # FILE
	run sh -c '"$1/pdecode" "$2" | "$1/psym" | "$1/pfold" --no-header --no-marks' sh "$BIN" "$1"
}
cat >want <<'E'
app;[[kernel.kallsyms]] 1000
app;[libx.so] 1000
app;sys_work 1000
app;wifi_poll 1000
app;work;main;a.b c;interpreted;jitted 1000
E
for form in 128 132 records; do
	perl make.pl "$form" >$form.data || bail 'the recording cannot be made'
	folded "$form.data"
	# A module's addresses are not known without its offset, which the records do not have.
	[ "$form" != records ] || sed -i 's/wifi_poll/[wifi.ko]/' want
	sort "$OUT" >got
	sort -o want want
	same got want "names of files, modules, the kernel, generated code: $form"
done
perl make.pl old128 >old.data
folded old.data
like "$OUT" '^app;work;main;' 'without offsets they count from the mapping'

# What is damaged is reported, and what came before has its names.
perl make.pl 128 damaged >cut.data
folded cut.data
like "$OUT" '^app;work;main;' 'a damaged feature: the files before have names'
run "$BIN/pdecode" cut.data
is "$status" 1 'and it is damage'
like "$ERR" 'header feature 128 is damaged' 'which is reported'

perl make.pl 132 more >more.data
run "$BIN/pdecode" more.data
like "$ERR" "3 of simpleperf's own records skipped: 2 callchain, 1 of type 32783$" "simpleperf's records by name"
like "$ERR" '4 records of unknown types skipped: 3 of type 99, 1 of type 4242$' 'unknown ones by number'
like "$ERR" '8 bytes of hardware trace data \(Arm CoreSight ETM\) in 1 record skipped$' 'hardware trace data by kind'
like "$ERR" 'header feature etm_branch_list\) skipped$' 'and what was decoded of it'
done_testing

#!/bin/sh
# Options that users of perf, trace-cmd, FlameGraph, bcc and strace type from habit: the message
# tells what does the same.
. "${0%/*}/lib.sh"

# PROGRAM OPTION: what has to be told.
while read -r program option expected; do
	run "$BIN/$program" "$option"
	if [ "$status" != 64 ] || ! grep -Eq -e "^$program: ${option%%=*}: no option here: .*$expected" "$ERR"; then
		echo "$program $option: $(head -n 1 "$ERR")"
	fi
done <<'END' >failed
pdecode -i a FILE is an operand
pdecode --input=x a FILE is an operand
pdecode -o > FILE
pdecode -e pfilter 'EVENT:'
pdecode -C --cpu
pdecode --comms pfilter --comm
pdecode --time=1,2 pfilter --time
pdecode --header-only pdecode --header
pdecode --itrace perf script
pdecode -k psym --vmlinux
pfold --reverse psvg --reverse
pfold --inverted psvg --inverted
pfold -i psvg --inverted
pfold -o > FILE
pfold --vmlinux=x psym --vmlinux
pfold -S pfilter 'sym ==
psvg -k pfold --all
psvg -o > FILE
psvg --random only on the name
psvg -n --raw
psvg --pid pfold --pid
preport --stdio text
preport -i a FILE is an operand
preport -s --by KEYS
preport -g --tree
preport --inverted --tree caller
preport --show-nr-samples --samples
preport --percent-limit=1 --min-share
preport --comms=x pfilter --comm
preport --tui --view
preport -o > FILE
pdiff -s --by UNIT
pdiff --compute=ratio share
pdiff -o share
plat -p pfilter --pid
plat --CPU pfilter --cpu
plat -i --every
plat -m a suitable unit
plat -S --with-summary
phist -H -f EXPR
phist -C --by
phist -p pfilter --pid
phist -d pcap-perf SECONDS
pstrace --duration=1 --slower
pstrace -p pfilter --pid
pstrace -c --summary
pstrace --failure --failed
pstrace -f all threads
pstrace -o > FILE
pprobe --add=f an operand
pprobe --definition --dry-run
psym -C --cpu
psym --no-inline --inline
pfilter -C --cpu
pfilter --comms=x --comm
pfilter --symbols=x pfilter 'sym ==
pcap-perf --off-cpu plat --emit offcpu
pcap-perf --vmlinux=x psym --vmlinux
pcap-perf -U --user-callchains
pcap-ftrace -m --start NAME
pcap-ftrace -i not needed
pcap-ftrace --no-filter not needed
pcap-ftrace --module=ext4 -l ':mod:MODULE'
pcap-ftrace -d -O nofunction-trace
END
is "$(cat failed)" '' 'habits are answered by what does the same'

# What is recommended is there.
for program in pcap-ftrace pcap-perf pconv pdecode pdiff pfilter pfold phist plat pprobe preport pstrace psvg psym; do
	"$BIN/$program" --help >"$program.help"
done
grep -oE '\bp[a-z]+(-perf)? --[a-z-]+' "$ROOT/lib/base/habits.c" | sort -u | while read -r program option; do
	[ -f "$program.help" ] || continue
	grep -q -e " $option\>" "$program.help" || echo "$program $option"
done >missing
is "$(cat missing)" '' 'all options in the messages exist'
ok 'and there are many of them' test "$(grep -coE 'psym --|pfilter --' "$ROOT/lib/base/habits.c")" -gt 10

# No habit shadows an option: such a row would never be read.
sed -n 's/^	{"\([a-z -]*\)", "\([^"]*\)".*/\1|\2/p' "$ROOT/lib/base/habits.c" | while IFS='|' read -r programs names; do
	for program in $programs; do
		for name in $names; do
			case $name in ?) pattern="^  -$name," ;; *) pattern="--$name\>[^-]" ;; esac
			! grep -q -e "$pattern" "$program.help" || echo "$program $name"
		done
	done
done >shadowed
is "$(cat shadowed)" '' 'no habit is an option that there is'

# Recipes.
while read -r recipe option expected; do
	run timeout 20 sh "$ROOT/share/recipes/$recipe" "$option"
	if [ "$status" != 64 ] || ! grep -Eq -e "^$recipe: no option $option here: .*$expected" "$ERR"; then
		echo "$recipe $option: $(head -n 1 "$ERR")"
	fi
done <<'END' >failed
biolatency -p pcap-perf -p PID
offcputime -f folded
offcputime -U --user-callchains
profile -F pcap-perf -F
funclatency --pid -p PID
funclatency -m a suitable unit
funclatency -r shell pattern
opensnoop -T always
opensnoop --pid -p PID
biolatency -D --by
runqlat -j --json
END
is "$(cat failed)" '' 'recipes answer those of bcc'
done_testing

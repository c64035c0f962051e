#!/bin/sh
# share/recipes: the options that the tools of bcc have, on events whose answer is known, and beside awk on the text of
# recordings.
. "${0%/*}/lib.sh"

BINDIR=$BIN
export BINDIR
dir=$ROOT/share/recipes
data=$ROOT/t/data

rows() {
	sed 1d "$OUT"
}

recipe() {
	t_recipe=$1
	shift
	run "$dir/$t_recipe" "$@"
}

# Connections: what is left of the table by awk.
gzip -dc "$data/net.data.gz" >net.data
recipe tcplife net.data
rows >all
for choice in '-L 7777|7' '-D 7777|9' '-D 1,7777|9' '-L 7777 -4|7'; do
	options=${choice%%|*}
	# shellcheck disable=SC2086
	recipe tcplife $options net.data
	rows >got
	awk -v c="${choice#*|}" '$c == 7777' all >want
	same got want "tcplife $options"
done
isnt "$(wc -l <want)" 0 'and there are some'
recipe tcplife -D 7 net.data
is "$status" 1 'tcplife: no such port'
recipe tcplife -6 net.data
is "$status" 1 'tcplife -6: all are of IPv4'
recipe tcpaccept -P 7777 net.data
is "$(rows | wc -l)" "$(awk '$7 == 7777' all | wc -l)" 'tcpaccept -P'
recipe tcpconnect -P 9 net.data
is "$(rows | awk '{ print $8, $9 }')" '9 failed' 'tcpconnect -P'
recipe tcpconnect net.data
rows | awk '{ n[$5 " " $7 " " $8]++ } END { for (k in n) print k, n[k] }' | sort >want
recipe tcpconnect -c net.data
rows | awk '{ print $1, $2, $3, $4 }' | sort >got
same got want 'tcpconnect -c: the lines, counted'
recipe tcpretrans "$data/retrans.dat"
rows | awk '{ n[$4 " " $5 " " $7 " " $8]++ } END { for (k in n) print k, n[k] }' | sort >want
recipe tcpretrans -c "$data/retrans.dat"
rows | awk '{ print $1, $2, $3, $4, $5 }' | sort >got
same got want 'tcpretrans -c: the lines, counted'
isnt "$(wc -l <want)" 0 'and there are some'
for wrong in http '' '1,' 80:; do
	recipe tcplife -L "$wrong" net.data
	is "$status" 64 "tcplife -L '$wrong'"
	like "$ERR" "is not a list of ports" 'and that is reported'
done
recipe tcplife -L
is "$status" 64 'tcplife -L without ports'
own_L=7 recipe tcplife net.data
rows >got
same got all 'a variable of the environment is no option'
recipe opensnoop -L 80 net.data
is "$status" 64 'an option of other recipes'

# Flags of open as <fcntl.h> of x86 has them.
cat >opens.events <<'EVENTS'
syscalls sys_enter_openat 601 | int __syscall_nr; unsigned long dfd; unsigned long filename; char path[32]; unsigned long flags | "dfd: 0x%08lx, filename: 0x%08lx \"%s\", flags: 0x%08lx", REC->dfd, REC->filename, REC->path, REC->flags
syscalls sys_exit_openat 602 | int __syscall_nr; long ret | "0x%lx", REC->ret
@ 0 5000000000 11 sys_enter_openat 257 1 0x7f00 /a 0x80000
@ 0 5000001000 11 sys_exit_openat 257 3
@ 0 5000002000 12 sys_enter_openat 257 1 0x7f00 /b 0x241
@ 0 5000003000 12 sys_exit_openat 257 -13
@ 0 5000004000 11 sys_enter_openat 257 1 0x7f00 /c 0x101002
@ 0 5000005000 11 sys_exit_openat 257 4
@ 0 5000006000 11 sys_enter_openat 257 1 0x7f00 /d 0x410002
@ 0 5000007000 11 sys_exit_openat 257 5
EVENTS
"$ROOT/t/trace-make" events=opens.events >opens.dat
recipe opensnoop -e opens.dat
rows | awk '{ print $5, $6 }' >got
cat >want <<'WANT'
O_RDONLY|O_CLOEXEC /a
O_WRONLY|O_CREAT|O_TRUNC /b
O_RDWR|O_SYNC /c
O_RDWR|O_TMPFILE /d
WANT
same got want 'opensnoop -e: flags'
recipe opensnoop -f O_CREAT,O_WRONLY opens.dat
is "$(rows | awk '{ print $4, $5 }')" 'EACCES /b' 'opensnoop -f: with all of these'
recipe opensnoop -f o_creat opens.dat
is "$status" 64 'opensnoop -f: no flag'
recipe opensnoop -t 12 opens.dat
is "$(rows | awk '{ print $5 }')" /b 'opensnoop -t: of a thread'

# Long options of the last filter, before the file as after it.
recipe runqlat "$data/sched.dat" --by 'comm,pid' --top 3 --tsv=plain
cp "$OUT" want
is "$status" 0 'options after the file'
recipe runqlat --by 'comm,pid' --top=3 --tsv=plain "$data/sched.dat"
same "$OUT" want 'and before it'
recipe runqlat --tsv=plain "$data/sched.dat" --top=3 --by 'comm,pid'
same "$OUT" want 'and on both sides'
recipe opensnoop --json opens.dat
is "$status" 0 'JSON in the place of a table'
is "$(grep -c '"event":"[a-z:]*sys_enter_openat"' "$OUT")" 4 'has all that was opened'
recipe runqlat --tsv "$data/sched.dat"
is "$status" 0 'a value that may be missing is not the next word'
recipe runqlat --by
like "$ERR" 'option --by needs an argument' 'a value is missing'
recipe runqlat --nothing "$data/sched.dat"
is "$status" 64 'no option of either'
like "$ERR" 'there is no option --nothing' 'and that is reported'

# Names of files: by what was opened, copied, inherited and closed.
cat >files.events <<'EVENTS'
syscalls sys_enter_openat 601 | int __syscall_nr; unsigned long dfd; unsigned long filename; char path[32] | "dfd: 0x%08lx, filename: 0x%08lx \"%s\", flags: 0x0", REC->dfd, REC->filename, REC->path
syscalls sys_exit_openat 602 | int __syscall_nr; long ret | "0x%lx", REC->ret
syscalls sys_enter_close 603 | int __syscall_nr; unsigned long fd | "fd: 0x%08lx", REC->fd
syscalls sys_enter_dup2 604 | int __syscall_nr; unsigned long oldfd; unsigned long newfd | "oldfd: 0x%08lx, newfd: 0x%08lx", REC->oldfd, REC->newfd
syscalls sys_exit_dup2 605 | int __syscall_nr; long ret | "0x%lx", REC->ret
syscalls sys_enter_read 606 | int __syscall_nr; unsigned long fd | "fd: 0x%08lx, buf: 0x1, count: 0x5", REC->fd
syscalls sys_exit_read 607 | int __syscall_nr; long ret | "0x%lx", REC->ret
sched sched_process_fork 608 | char comm[16]; int pid; char child[16]; int child_pid | "comm=%s pid=%d child_comm=%s child_pid=%d", REC->comm, REC->pid, REC->child, REC->child_pid
@ 0 5000000000 11 sys_enter_openat 257 1 0x7f00 /etc/one,of-two
@ 0 5000001000 11 sys_exit_openat 257 3
@ 0 5001000000 11 sys_enter_read 0 3
@ 0 5001100000 11 sys_exit_read 0 5
@ 0 5002000000 11 sys_enter_dup2 33 3 0
@ 0 5002001000 11 sys_exit_dup2 33 0
@ 0 5002002000 11 sys_enter_close 3 3
@ 0 5003000000 11 sys_enter_read 0 0
@ 0 5003200000 11 sys_exit_read 0 6
@ 0 5004000000 11 sched_process_fork eleven 11 twelve 12
@ 0 5005000000 12 sys_enter_read 0 0
@ 0 5005300000 12 sys_exit_read 0 7
@ 0 5006000000 12 sys_enter_close 3 0
@ 0 5007000000 12 sys_enter_openat 257 1 0x7f00 /other
@ 0 5007000100 12 sys_exit_openat 257 0
@ 0 5008000000 12 sys_enter_read 0 0
@ 0 5008400000 12 sys_exit_read 0 8
@ 0 5009000000 11 sys_enter_read 0 0
@ 0 5009500000 11 sys_exit_read 0 9
EVENTS
"$ROOT/t/trace-make" events=files.events >files.dat
recipe fileslower -t 150us files.dat
rows | awk '{ print $1, $2, $5, $7, $8 }' >got
cat >want <<'WANT'
5.003000 11 6 0.200 /etc/one,of-two
5.005000 12 7 0.300 /etc/one,of-two
5.008000 12 8 0.400 /other
5.009000 11 9 0.500 /etc/one,of-two
WANT
same got want 'fileslower: names of files'

# -a: what is no file as well, whose name a recording does not have.
cat >pipe.events <<'EVENTS'
syscalls sys_enter_read 606 | int __syscall_nr; unsigned long fd | "fd: 0x%08lx, buf: 0x1, count: 0x5", REC->fd
syscalls sys_exit_read 607 | int __syscall_nr; long ret | "0x%lx", REC->ret
probe file_read 611 | unsigned long __probe_ip; unsigned int mode; unsigned int dev; unsigned long ino; char name[16] | "(%lx) mode=%u dev=%u ino=%lu name=\"%s\"", REC->__probe_ip, REC->mode, REC->dev, REC->ino, REC->name
@ 0 5002000000 21 sys_enter_read 0 8
@ 0 5002001000 21 file_read 1 4480 14 78 -
@ 0 5002200000 21 sys_exit_read 0 6
@ 0 5003000000 21 sys_enter_read 0 9
@ 0 5003300000 21 sys_exit_read 0 7
EVENTS
"$ROOT/t/trace-make" events=pipe.events >pipe.dat
recipe fileslower -a -t 0ns pipe.dat
is "$(rows | awk '{ print $2, $4, $5, $7 }' | paste -sd,)" '21 R 6 0.200,21 R 7 0.300' 'fileslower -a: also a pipe'

# Opens of ext4, which a probe of its function tells; one of another file system, and one that failed.
cat >opens.events <<'EVENTS'
syscalls sys_enter_openat 601 | int __syscall_nr; unsigned long dfd; unsigned long filename; char path[32] | "dfd: 0x%08lx, filename: 0x%08lx \"%s\", flags: 0x0", REC->dfd, REC->filename, REC->path
syscalls sys_exit_openat 602 | int __syscall_nr; long ret | "0x%lx", REC->ret
probe file_open 614 | unsigned long __probe_ip; unsigned int dev; char name[16] | "(%lx) dev=%u name=\"%s\"", REC->__probe_ip, REC->dev, REC->name
@ 0 5000000000 11 sys_enter_openat 257 1 0x7f00 /etc/one
@ 0 5000100000 11 file_open 1 8388609 one
@ 0 5000300000 11 sys_exit_openat 257 3
@ 0 5001000000 12 sys_enter_openat 257 1 0x7f00 /proc/self
@ 0 5001400000 12 sys_exit_openat 257 3
@ 0 5002000000 11 sys_enter_openat 257 1 0x7f00 /none
@ 0 5002500000 11 sys_exit_openat 257 -2
@ 0 5003000000 12 sys_enter_openat 257 1 0x7f00 /etc/two
@ 0 5003010000 12 file_open 1 8388609 two
@ 0 5003020000 12 sys_exit_openat 257 3
EVENTS
"$ROOT/t/trace-make" events=opens.events >ext4-opens.dat
recipe ext4slower -t 100us ext4-opens.dat
is "$(rows | awk '{ print $2, $4, $5, $6, $7, $8 }')" '11 O 0 0 0.300 /etc/one' 'ext4slower: a slow open'
unlike "$ERR" 'left out|no file name' 'all of it is known'
sed '/file_open/d' opens.events >no-opens.events
"$ROOT/t/trace-make" events=no-opens.events >no-opens.dat
recipe ext4slower -t 100us no-opens.dat
like "$ERR" '^ext4slower: 2 calls that took 100us or longer to open a file are left out: no file_open' 'ext4slower: what opens are of is not known'

# Sequence numbers of segments, which a probe tells byte by byte.
cat >again.events <<'EVENTS'
probe tcp_seq 615 | unsigned long __probe_ip; unsigned char s0; unsigned char s1; unsigned char s2; unsigned char s3 | "(%lx) s0=%d s1=%d s2=%d s3=%d", REC->__probe_ip, REC->s0, REC->s1, REC->s2, REC->s3
tcp tcp_retransmit_skb 616 | int state; unsigned short sport; unsigned short dport; unsigned short family | "family=AF_INET sport=%u dport=%u saddr=10.0.0.1 daddr=10.0.0.2 saddrv6=::ffff:10.0.0.1 daddrv6=::ffff:10.0.0.2 state=TCP_SYN_SENT", REC->sport, REC->dport
@ 0 5000000000 0 tcp_seq 1 210 4 150 173
@ 0 5000001000 0 tcp_retransmit_skb 2 4000 80 2
@ 0 5001001000 0 tcp_retransmit_skb 2 4000 80 2
EVENTS
"$ROOT/t/trace-make" events=again.events >again.dat
recipe tcpretrans -s again.dat
is "$(rows | awk '{ print $5, $NF }' | paste -sd,)" "4000 $((210 + 256 * (4 + 256 * (150 + 256 * 173)))),4000 -" 'tcpretrans -s'
recipe tcpretrans -s -c again.dat
is "$status $(grep -c '^tcpretrans: -c and -s exclude each other' "$ERR")" '64 1' 'tcpretrans -s -c: refused'

# What probes of the kernel tell: the file's own name; a pipe (S_IFIFO) is none; what had the inode, by name.
cat >probed.events <<'EVENTS'
syscalls sys_enter_read 606 | int __syscall_nr; unsigned long fd | "fd: 0x%08lx, buf: 0x1, count: 0x5", REC->fd
syscalls sys_exit_read 607 | int __syscall_nr; long ret | "0x%lx", REC->ret
probe file_read 611 | unsigned long __probe_ip; unsigned int mode; unsigned int dev; unsigned long ino; char name[16] | "(%lx) mode=%u dev=%u ino=%lu name=\"%s\"", REC->__probe_ip, REC->mode, REC->dev, REC->ino, REC->name
ext4 ext4_sync_file_enter 612 | unsigned long dev; unsigned long ino | "dev %d,%d ino %lu", 8, 1, REC->ino
ext4 ext4_sync_file_exit 613 | unsigned long dev; unsigned long ino; int ret | "dev %d,%d ino %lu ret %d", 8, 1, REC->ino, REC->ret
@ 0 5000000000 22 ext4_sync_file_enter 0 77
@ 0 5000200000 22 ext4_sync_file_exit 0 77 0
@ 0 5001000000 21 sys_enter_read 0 9
@ 0 5001001000 21 file_read 1 33188 8388609 77 deed.txt
@ 0 5001100000 21 sys_exit_read 0 5
@ 0 5002000000 21 sys_enter_read 0 8
@ 0 5002001000 21 file_read 1 4480 14 78 -
@ 0 5002200000 21 sys_exit_read 0 6
@ 0 5003000000 22 ext4_sync_file_enter 0 77
@ 0 5003300000 22 ext4_sync_file_exit 0 77 0
EVENTS
"$ROOT/t/trace-make" events=probed.events >probed.dat
recipe fileslower -t 0ns probed.dat
is "$(rows | awk '{ print $2, $4, $5, $8 }')" '21 R 5 deed.txt' 'fileslower: by the kernel, without a pipe'
recipe ext4slower -t 0ns probed.dat
is "$(rows | awk '{ print $2, $4, $7, $8 }' | paste -sd,)" '22 S 0.200 inode,21 R 0.100 deed.txt,22 S 0.300 deed.txt' 'ext4slower: by the kernel, and by the inode'
like "$ERR" '^ext4slower: rows without a file name: 1: no probe' 'what has none is counted'

# Signals: those that did not arrive, too; a signal by number and name.
cat >kill.events <<'EVENTS'
signal signal_generate 541 | int sig; int errno; int code; char comm[16]; int pid; int group; int result | "sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d", REC->sig, REC->errno, REC->code, REC->comm, REC->pid, REC->group, REC->result
syscalls sys_enter_kill 542 | int __syscall_nr; unsigned long pid; unsigned long sig | "pid: 0x%08lx, sig: 0x%08lx", REC->pid, REC->sig
syscalls sys_exit_kill 543 | int __syscall_nr; long ret | "0x%lx", REC->ret
@ 0 5000000000 11 sys_enter_kill 62 12 15
@ 0 5000001000 11 signal_generate 15 0 0 twelve 12 1 0
@ 0 5000002000 11 sys_exit_kill 62 0
@ 0 5000003000 12 sys_enter_kill 62 99 9
@ 0 5000004000 12 sys_exit_kill 62 -3
@ 0 5000005000 12 signal_generate 10 0 0 eleven 11 1 1
EVENTS
"$ROOT/t/trace-make" events=kill.events >kill.dat
for choice in '|12 TERM sent,99 KILL ESRCH,11 USR1 ignored,' '-x|99 KILL ESRCH,11 USR1 ignored,' '-s TERM|12 TERM sent,' \
	'-s 9|99 KILL ESRCH,' '-s SIGUSR1 -p 12|11 USR1 ignored,' '-p 11|12 TERM sent,'; do
	# shellcheck disable=SC2086
	recipe killsnoop ${choice%%|*} kill.dat
	is "$(rows | awk '{ printf "%s %s %s,", $5, $4, $NF }')" "${choice#*|}" "killsnoop ${choice%%|*}"
done

# Programs: times from the first event on, and by a text in their arguments.
cat >exec.events <<'EVENTS'
sched sched_process_exec 714 | char filename[32]; int pid; int old_pid | "filename=%s pid=%d old_pid=%d", REC->filename, REC->pid, REC->old_pid
sched sched_process_exit 715 | char comm[16]; int pid; int prio | "comm=%s pid=%d prio=%d", REC->comm, REC->pid, REC->prio
syscalls sys_enter_exit_group 716 | int __syscall_nr; unsigned long code | "error_code: 0x%08lx", REC->code
@ 0 5000000000 11 sched_process_exec /bin/a 11 11
@ 0 5250000000 12 sched_process_exec /bin/bc 12 12
@ 0 5300000000 11 sys_enter_exit_group 231 0
@ 0 5300001000 11 sched_process_exit eleven 11 120
@ 0 5400000000 12 sys_enter_exit_group 231 3
@ 0 5400001000 12 sched_process_exit twelve 12 120
EVENTS
"$ROOT/t/trace-make" events=exec.events >exec.dat
recipe execsnoop -t exec.dat
is "$(rows | awk '{ printf "%s %s,", $1, $6 }')" '0.000000 /bin/a,0.250000 /bin/bc,' 'execsnoop -t'
recipe execsnoop -l bc exec.dat
is "$(rows | awk '{ print $1, $6 }')" '5.250000 /bin/bc' 'execsnoop -l'
recipe execsnoop -l '' exec.dat
is "$status" 64 'execsnoop -l without text'
recipe exitsnoop -x exec.dat
is "$(rows | awk '{ print $2, $NF }')" '12 3' 'exitsnoop -x'

# Requests: from the first event of each to its issue, and by disk.
"$BIN/pdecode" -t "$data/block.data.gz" | awk '
	/block_(bio_queue|getrq|rq_issue|rq_complete):/ {
		for (i = 1; i <= NF; i++) {
			if ($i ~ /^[0-9]+\.[0-9]+:$/) t = $i + 0
			if ($i ~ /^block:block_/) { dev = $(i + 1); event = $i }
			if ($i == "+") { key = dev " " $(i - 1); n = $(i + 1) }
		}
		if (n == 0) next
		if (event ~ /bio_queue|getrq/ && !(key in first)) first[key] = t
		if (event ~ /issue/) issued[key] = t
		if (event ~ /complete/ && key in issued) {
			if (key in first) printf "%s %.3f\n", key, (issued[key] - first[key]) * 1000
			delete first[key]
			delete issued[key]
		}
	}' | sort >want
recipe biosnoop -Q "$data/block.data.gz"
rows | awk '$6 != "-" && $(NF - 1) != "-" { printf "%s %s %s\n", $(NF - 5), $(NF - 3), $(NF - 1) }' | sort >got
same got want 'biosnoop -Q: time in the queue'
isnt "$(wc -l <want)" 0 'and there are some'
recipe biosnoop "$data/block.data.gz"
rows | awk '$4 == "254,16"' >want
recipe biosnoop -D 254,16 "$data/block.data.gz"
rows >got
same got want 'biosnoop -D: of one disk'

# Whether each begins where the one before it on its disk ended, by the order of completion.
"$BIN/pdecode" -t "$data/block.data.gz" | awk '
	/block_(rq_issue|rq_complete):/ {
		for (i = 1; i <= NF; i++) {
			if ($i ~ /^block:block_/) { dev = $(i + 1); event = $i }
			if ($i == "+") { sector = $(i - 1); n = $(i + 1) }
		}
		if (event ~ /issue/) issued[dev, sector] = 1
		if (event !~ /complete/ || n == 0) next
		how = !(dev in end) ? "-" : end[dev] == sector ? "S" : "R"
		end[dev] = sector + n
		if ((dev, sector) in issued) print dev, how, sector
		delete issued[dev, sector]
	}' >want
recipe biosnoop -P "$data/block.data.gz"
rows | awk '$7 != "-" { print $4, $6, $7 }' >got
same got want 'biosnoop -P: sequential or not'
is "$(cut -d ' ' -f 2 want | sort -u | tr '\n' ' ')" '- R S ' 'and there are some of each'

# Of one process, by name: what pfilter leaves of what is not cut down to it.
gzip -dc "$data/sched.data.gz" >sched.data
"$BIN/pdecode" sched.data | "$BIN/plat" -k runq --by pid --tsv 2>"$ERR" |
	awk -F'\t' '$1 == "runq" { print $3, $2 }' | sort -rn | sed -n 2p >top
read -r count pid <top
recipe runqlat -p "$pid" sched.data --tsv
is "$(awk -F'\t' '$1 == "runq" { print $3 }' "$OUT")" "$count" 'runqlat -p'
recipe offcputime -p "$pid" sched.data
"$BIN/pdecode" sched.data | "$BIN/plat" --emit offcpu 2>"$ERR" | "$BIN/pfilter" --pid "$pid" | "$BIN/pfold" >want 2>"$ERR"
is "$(awk '!/^#/ { n += $NF } END { print n }' "$OUT")" "$(awk '!/^#/ { n += $NF } END { print n }' want)" 'offcputime -p'
for name in runqslower cpudist schedlat wakeuptime offwaketime chaintime syscount syslat lockstat profile ptop; do
	recipe $name -p 0x sched.data
	is "$status" 64 "$name -p: no number"
done
recipe profile -p 1 -n zzz "$data/demo.data"
is "$status" 1 'profile -p -n: of nobody'
recipe profile -n pfo "$data/demo.data"
is "$(grep -vc '^pfold' "$OUT")" "$(grep -c '^#' "$OUT")" 'profile -n: a part of the name'

# A row for each second, also where nothing happened; a clock that jumps is not followed.
cat >cache.events <<'EVENTS'
writeback writeback_dirty_folio 801 | char name[16]; unsigned long ino; unsigned long index | "bdi %s: ino=%lu index=%lu", REC->name, REC->ino, REC->index
@ 0 5000000000 11 writeback_dirty_folio x 1 1
@ 0 5000001000 11 writeback_dirty_folio x 1 2
@ 0 8500000000 11 writeback_dirty_folio x 1 3
@ 0 200005000000000 11 writeback_dirty_folio x 1 4
EVENTS
"$ROOT/t/trace-make" events=cache.events >cache.dat
recipe cachestat cache.dat
is "$(rows | awk '{ printf "%s %s,", $1, $4 }')" '5.000000 2,6.000000 0,7.000000 0,8.000000 1,200005.000000 1,' \
	'cachestat: a row for each second, but none for a jump of the clock'
done_testing

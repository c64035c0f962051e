#!/bin/sh
# plat --path, --tail, --emit chain: what decided when spans and waits ended. The truth is that of recordings that are written here, step by step.
. "${0%/*}/lib.sh"

# Lines as of trace-cmd report, from "TIME(us) CPU TASK-TID EVENT..." and "+ FUNCTION..." for the stack of the event above.
recording() {
	awk '
	function line(what) { printf "%16s [%03d] .....  %d.%06d: %s\n", task, cpu, t / 1000000, t % 1000000, what }
	/^#/ || !NF { next }
	$1 == "+" {
		line("<stack trace>")
		for (i = 2; i <= NF; i++)
			print " => " $i
		next
	}
	{ t = $1; cpu = $2; task = $3; $1 = $2 = $3 = ""; sub(/^ */, "") }
	$1 == "switch" {
		split($2, a, ":"); split($4, b, ":")
		line("sched_switch: prev_comm=" a[1] " prev_pid=" a[2] " prev_prio=120 prev_state=" $3 " ==> next_comm=" b[1] " next_pid=" b[2] " next_prio=120")
		next
	}
	$1 == "waking" || $1 == "wakeup" || $1 == "new" {
		split($2, a, ":")
		line("sched_" ($1 == "new" ? "wakeup_new" : $1) ": comm=" a[1] " pid=" a[2] " prio=120 target_cpu=" ($3 == "" ? "001" : $3))
		next
	}
	{ line($0) }' >recording.txt
	"$BIN/pdecode" recording.txt >"$1"
}

SPAN='-s req_begin:id -e req_end:id'

# shares FILE: the rows of --path: "THREAD|STATE|WHERE|FOR NS".
# shellcheck disable=SC2086
shares() {
	"$BIN/plat" --path $SPAN --tsv "$1" 2>/dev/null | awk -F'\t' '/^path\t/ { print $2 "|" $3 "|" $4 "|" $5 " " $7 }' | sort
}

# steps FILE [OPTION]...: the steps of the first span: "AT THREAD|STATE NS".
# shellcheck disable=SC2086
steps() {
	file=$1; shift
	"$BIN/plat" --path ${1:-$SPAN} --nth 1 --tsv "$file" 2>steps.err | awk -F'\t' '/^path\t/ { print $2 / 1000, $3 "|" $4, $8 / 1000 }'
}

# A lock whose holder is kept from its CPU, and then waits for a disk.
recording lock.ps <<'EOF'
500 1 hog-30 switch hog:30 R holder:20
600 0 request-10 waking rest:40
1000 0 request-10 req_begin: id=1
2500 1 holder-20 switch holder:20 R hog:30
3000 0 request-10 switch request:10 S swapper/0:0
+ __schedule schedule futex_wait_queue futex_wait do_futex __x64_sys_futex do_syscall_64
6000 1 hog-30 switch hog:30 R holder:20
8000 1 holder-20 switch holder:20 D swapper/1:0
+ __schedule schedule io_schedule folio_wait_bit_common do_syscall_64
9500 1 <idle>-0 waking holder:20
+ try_to_wake_up blk_mq_end_request virtblk_done asm_common_interrupt default_idle
9600 1 <idle>-0 switch swapper/1:0 R holder:20
10600 1 holder-20 waking request:10
+ try_to_wake_up wake_up_q futex_wake do_futex do_syscall_64
10700 0 <idle>-0 switch swapper/0:0 R request:10
11700 0 request-10 req_end: id=1
EOF
cat >want <<'EOF'
0 request|running 2000
2000 holder|[runnable] behind hog 3000
5000 holder|running 2000
7000 holder|[disk] 1500
8500 holder|[runnable] 100
8600 holder|running 1000
9600 request|[runnable] 100
9700 request|running 1000
EOF
steps lock.ps >got
same got want 'the steps of a span'
cat >want <<'EOF'
holder|[disk]|folio_wait_bit_common|[lock] futex_wait_queue 1500000
holder|[runnable] behind hog||[lock] futex_wait_queue 3000000
holder|[runnable]|folio_wait_bit_common|[lock] futex_wait_queue 100000
holder|running||[lock] futex_wait_queue 3000000
request|[runnable]|futex_wait_queue| 100000
request|running|| 3000000
EOF
shares lock.ps >got
same got want 'the shares of all spans'
# shellcheck disable=SC2086
{
	run "$BIN/plat" --path $SPAN lock.ps
	is "$status" 0 '--path'
	like "$OUT" '^path: of 1 spans: 10.7 ms$' 'the title'
	run "$BIN/plat" --path --slowest $SPAN lock.ps
	like "$OUT" '^path: of span 1, req_begin: 10.7 ms$' 'the longest'
	run "$BIN/plat" --emit path $SPAN lock.ps
	cp "$OUT" path.ps
	run "$BIN/plat" --path --stacks $SPAN --json lock.ps
	like "$OUT" '"where":"do_syscall_64;folio_wait_bit_common;io_schedule;schedule;__schedule"' 'whole stacks'
}
"$BIN/pfold" path.ps 2>/dev/null | sed '/^#/d; s/;do_syscall_64.*;\[/;[/' | sort >got
cat >want <<'EOF'
holder;[disk] 1500000
holder;[runnable] 100000
holder;[runnable] 3000000
holder;[running] 3000000
request;[runnable] 100000
request;[running] 3000000
EOF
same got want '--emit path: folded stacks'
"$BIN/pfold" path.ps 2>/dev/null >path.folded
run "$BIN/psvg" path.folded
like "$OUT" 'id="legend".*waiting for a CPU' 'the picture has the colours of the wall clock'
is "$("$BIN/phist" --by key -f period --tsv path.ps | awk -F'\t' '/^period by/ { print $2, $4 }')" '1 10700000' 'the number of the span is the key'

# Wakers of wakers, through pipes; one that is born meanwhile; two in turn on the CPU; a second waker, which is too late.
recording chain.ps <<'EOF'
100 1 b-30 switch b:30 S a:20
+ __schedule pipe_read vfs_read
100 0 request-10 waking rest:40
1000 0 request-10 req_begin: id=7
1000 0 request-10 switch request:10 S swapper/0:0
+ __schedule pipe_read vfs_read
2000 1 a-20 waking b:30
3000 1 a-20 switch a:20 R x:50
3500 1 x-50 switch x:50 R y:60
4500 1 y-60 switch y:60 R b:30
5000 1 b-30 new c:70
5000 1 b-30 switch b:30 R c:70
6000 1 c-70 waking request:10
6100 1 c-70 waking request:10
6100 1 c-70 switch c:70 R a:20
7000 0 <idle>-0 switch swapper/0:0 R request:10
7000 0 request-10 req_end: id=7
EOF
cat >want <<'EOF'
0 a|running 1000
1000 b|[runnable] behind a 1000
2000 b|[runnable] behind x 500
2500 b|[runnable] behind y 1000
3500 b|running 500
4000 c|running 1000
5000 request|[runnable] 1000
EOF
steps chain.ps >got
same got want 'wakers of wakers, a birth, turns on a CPU, and a waker that is too late'

# Not the thread that an interrupt came to: a device, a timer, a network. A worker that work was given to.
recording devices.ps <<'EOF'
100 1 hog-30 waking rest:40
100 0 request-10 waking rest:41
200 2 kworker-50 switch kworker:50 I swapper/2:0
+ __schedule schedule worker_thread kthread
1000 0 request-10 req_begin: id=1
1000 0 request-10 switch request:10 D swapper/0:0
+ __schedule schedule io_schedule folio_wait_bit_common do_syscall_64
2000 1 hog-30 waking request:10
+ try_to_wake_up bio_endio blk_mq_end_request virtblk_done asm_common_interrupt
2000 0 <idle>-0 switch swapper/0:0 R request:10
3000 0 request-10 switch request:10 S swapper/0:0
+ __schedule schedule do_nanosleep hrtimer_nanosleep do_syscall_64
4000 0 <idle>-0 waking request:10
+ try_to_wake_up hrtimer_wakeup asm_sysvec_apic_timer_interrupt default_idle
4000 0 <idle>-0 switch swapper/0:0 R request:10
5000 0 request-10 switch request:10 S swapper/0:0
+ __schedule schedule schedule_preempt_disabled some_driver_wait do_syscall_64
6000 1 ksoftirqd/1-18 waking request:10
+ try_to_wake_up sock_def_readable tcp_rcv_established net_rx_action run_ksoftirqd smpboot_thread_fn
6000 0 <idle>-0 switch swapper/0:0 R request:10
7000 0 request-10 waking kworker:50 002
+ try_to_wake_up __queue_work queue_work_on do_syscall_64
7000 0 request-10 switch request:10 S swapper/0:0
+ __schedule schedule flush_work do_syscall_64
7500 2 <idle>-0 switch swapper/2:0 R kworker:50
9000 2 kworker-50 waking request:10
+ try_to_wake_up complete process_one_work worker_thread
9000 0 <idle>-0 switch swapper/0:0 R request:10
9000 0 request-10 req_end: id=1
EOF
cat >want <<'EOF'
0 request|[disk] 1000
1000 request|running 1000
2000 request|[timer] 1000
3000 request|running 1000
4000 request|[network] 1000
5000 request|running 1000
6000 kworker|[runnable] 500
6500 kworker|running 1500
EOF
steps devices.ps >got
same got want 'interrupts, timers, softirqs, workers'

# A waker that is not in the recording, and switches that are not.
recording lost.ps <<'EOF'
100 0 request-10 waking rest:41
100 1 other-20 waking rest:42
1000 0 request-10 req_begin: id=1
1000 0 request-10 switch request:10 S swapper/0:0
+ __schedule pipe_read vfs_read
2000 0 <idle>-0 wakeup request:10 000
2000 0 <idle>-0 switch swapper/0:0 R request:10
3000 0 request-10 switch request:10 S swapper/0:0
+ __schedule pipe_read vfs_read
4000 1 third-30 req_other: x=1
6000 1 other-20 waking request:10
7000 0 <idle>-0 switch swapper/0:0 R request:10
7000 0 request-10 req_end: id=1
EOF
cat >want <<'EOF'
0 request|[pipe] waker not known 1000
1000 request|running 1000
2000 other|[not known] 3000
5000 request|[runnable] 1000
EOF
steps lost.ps >got
same got want 'where a path ends'
like steps.err 'for 3.00 ms \(50.00 %\) it is not known' 'it is reported'
# shellcheck disable=SC2086
run "$BIN/plat" --path $SPAN lost.ps
is "$status" 1 'so much of a path is not known that the result is partial'

# A command's life: not that of what it makes.
recording command.ps <<'EOF'
100 0 sh-5 new make:10 000
100 0 sh-5 switch sh:5 S make:10
1000 0 make-10 new cc:11
1000 1 <idle>-0 switch swapper/1:0 R cc:11
2000 0 make-10 switch make:10 S swapper/0:0
+ __schedule do_wait kernel_wait4 do_syscall_64
5000 1 cc-11 waking make:10
5000 0 <idle>-0 switch swapper/0:0 R make:10
5000 1 cc-11 switch cc:11 X swapper/1:0
6000 0 make-10 switch make:10 X swapper/0:0
EOF
cat >want <<'EOF'
0 make|running 1900
1900 cc|running 3000
4900 make|running 1000
EOF
steps command.ps '--of process' >got
same got want 'the life of a command'
is "$("$BIN/plat" --path --tsv command.ps 2>/dev/null | grep -c '^path	')" 2 'which is what is taken without --of'

# Of recordings: the sums of all paths are those of their intervals.
for file in sched.data sched-stacks.data; do
	gunzip -c "$ROOT/t/data/$file.gz" >$file || exit 1
	"$BIN/pdecode" $file 2>/dev/null >$file.ps
	for kind in offcpu blocked oncpu; do
		want=$("$BIN/plat" -k $kind --tsv $file.ps 2>/dev/null | awk -F'\t' -v k=$kind '
			/^#/ && $1 ~ "name=" k { for (i = 2; i <= NF; i++) if ($i ~ /:sum/) at = i }
			$1 == k { s += $at } END { printf "%.0f", s }')
		got=$("$BIN/plat" --path --of $kind --tsv $file.ps 2>/dev/null | awk -F'\t' '
			$1 == "path" { s += $7 } END { printf "%.0f", s }')
		is "$got" "$want" "$file: $kind, to the nanosecond"
	done
done

# A wakeup by an interrupt, as the event itself says, is none by the thread in its place, whose stack is not recorded. What is
# left here after that are threads that waited for a child: the kernel's threads have none.
"$BIN/pfilter" --drop 'event == "sched:sched_switch" || (event == "sched:sched_waking" && (common_flags & 8) != 0)' \
	sched.data.ps >hard.ps 2>/dev/null
"$BIN/plat" --path --of blocked --tsv hard.ps 2>/dev/null | awk -F'\t' '$1 == "path" && $5 != ""' | cut -f 2 >others
ok 'there are paths that go on in another thread' test -s others
unlike others '^(rcu_|kworker)' 'none in one that was interrupted'

# Chains: below each wait who ended it, upside down, and what that waited for meanwhile.
chains() {
	"$BIN/plat" --emit chain "$1" 2>chains.err | "$BIN/pfold" --no-header 2>/dev/null | grep -v "^#" | sort
}
K=';do_syscall_64;__x64_sys_futex;do_futex;futex_wait;futex_wait_queue;schedule;__schedule;[lock];--;try_to_wake_up;wake_up_q;futex_wake;do_futex;do_syscall_64;holder;'
cat >want <<EOF
holder;do_syscall_64;folio_wait_bit_common;io_schedule;schedule;__schedule;[disk] 1500000
request${K}[runnable] 3000000
request${K}[running] 3000000
request${K}do_syscall_64;folio_wait_bit_common;io_schedule;schedule;__schedule;[disk] 1500000
request${K}do_syscall_64;folio_wait_bit_common;io_schedule;schedule;__schedule;[runnable] 100000
EOF
sort want >sorted
chains lock.ps >got
same got sorted 'the chain of a lock'
K='request;vfs_read;pipe_read;__schedule;[pipe];--;c;'
cat >want <<EOF
${K}[not yet started];--;b;[running] 500000
${K}[not yet started];--;b;vfs_read;pipe_read;__schedule;[pipe];--;a;[running] 1000000
${K}[not yet started];--;b;vfs_read;pipe_read;__schedule;[runnable] 2500000
${K}[running] 1000000
EOF
sort want >sorted
chains chain.ps | grep '^request' >got
same got sorted 'a chain of pipes and a birth'
cat >want <<'EOF'
[blocked] -- worker_thread kworker [running] 1500000
[blocked] -- worker_thread kworker worker_thread [runnable] 500000
[disk] 1000000
[network] 1000000
[timer] 1000000
EOF
chains devices.ps | sed 's/^request;//' |
	awk -F';' '{ s = ""; for (i = 1; i <= NF; i++) if ($i ~ /^(\[|--|kworker|worker_thread)/) s = s (s == "" ? "" : " ") $i; print s }' | sort >got
same got want 'it ends at devices, timers, and where a worker was given its work'
cat >want <<'EOF'
request;vfs_read;pipe_read;__schedule;[pipe] 1000000
request;vfs_read;pipe_read;__schedule;[pipe];--;other;[not known] 3000000
EOF
chains lost.ps >got
same got want 'wakers and switches that are not recorded'
"$BIN/plat" --emit chain lock.ps 2>/dev/null >chain-lock.ps
"$BIN/pfold" chain-lock.ps 2>/dev/null >chain.folded
run "$BIN/psvg" chain.folded
like "$OUT" 'id="legend".*waiting for a CPU' 'the picture has the colours of the wall clock'
run "$BIN/preport" --tsv --sort sym chain-lock.ps
like "$OUT" '\[disk\]' 'preport reads it'

# Which request of a device it was, and who gave a worker what it worked on, where these events are recorded.
recording requests.ps <<'EOF'
100 1 hog-30 waking rest:40
100 3 other-60 waking rest:42
200 2 kworker-50 switch kworker:50 I swapper/2:0
+ __schedule schedule worker_thread kthread
1000 0 request-10 req_begin: id=1
1000 0 request-10 switch request:10 D swapper/0:0
+ __schedule schedule io_schedule folio_wait_bit_common do_syscall_64
2000 1 hog-30 block_rq_complete: dev=8388608 sector=1234 nr_sector=8 error=0 rwbs=RA
2000 1 hog-30 waking request:10
+ try_to_wake_up bio_endio blk_mq_end_request virtblk_done asm_common_interrupt
2000 0 <idle>-0 switch swapper/0:0 R request:10
3000 0 request-10 switch request:10 D swapper/0:0
+ __schedule schedule io_schedule folio_wait_bit_common do_syscall_64
4000 1 hog-30 block_rq_complete: dev=8388608 sector=5678 nr_sector=16 error=0 rwbs=RA
4000 1 hog-30 waking request:10
4000 0 <idle>-0 switch swapper/0:0 R request:10
5000 0 request-10 switch request:10 S swapper/0:0
+ __schedule schedule schedule_timeout sk_wait_data tcp_recvmsg_locked do_syscall_64
6000 1 hog-30 netif_receive_skb: name=eth0 len=52
6000 1 hog-30 waking request:10
+ try_to_wake_up sock_def_readable tcp_rcv_established net_rx_action asm_common_interrupt
6000 0 <idle>-0 switch swapper/0:0 R request:10
6500 3 other-60 workqueue_queue_work: work=0xaa function=f
+ __queue_work queue_work_on do_syscall_64
6500 3 other-60 waking kworker:50 002
6600 2 <idle>-0 switch swapper/2:0 R kworker:50
6600 2 kworker-50 workqueue_execute_start: work=0xaa function=f
7000 0 request-10 waking helper:80
7000 0 request-10 switch request:10 S swapper/0:0
+ __schedule schedule flush_work do_syscall_64
7100 1 hog-30 switch hog:30 R helper:80
7400 1 helper-80 workqueue_queue_work: work=0xbb function=g
+ __queue_work queue_work_on do_syscall_64
8000 2 kworker-50 workqueue_execute_end: work=0xaa function=f
8000 2 kworker-50 workqueue_execute_start: work=0xbb function=g
9000 2 kworker-50 waking request:10
+ try_to_wake_up complete process_one_work worker_thread
9000 0 <idle>-0 switch swapper/0:0 R request:10
9500 2 kworker-50 workqueue_execute_end: work=0xbb function=g
9500 0 request-10 req_end: id=1
EOF
cat >want <<'EOF'
0 request|[disk] 8,0 RA 1234+8 1000
1000 request|running 1000
2000 request|[disk] 8,0 RA 5678+16 1000
3000 request|running 1000
4000 request|[network] eth0 52 bytes 1000
5000 request|running 1000
6000 helper|[runnable] behind hog 100
6100 helper|running 300
6400 kworker|running 1600
8000 request|running 500
EOF
steps requests.ps >got
same got want 'requests, and a worker that had other work before'
shares requests.ps | grep '\[disk\]\|\[network\]' >got
cat >want <<'EOF'
request|[disk] 8,0 RA|folio_wait_bit_common| 2000000
request|[network] eth0|sk_wait_data| 1000000
EOF
same got want 'sums are by device'
chains requests.ps | awk -F';' '/^request.*helper/ { s = ""; for (i = 1; i <= NF; i++) if ($i ~ /^(\[|--|kworker|helper)/) s = s (s == "" ? "" : " ") $i; print s }' >got
cat >want <<'EOF'
[blocked] -- kworker [work: idle] -- helper [runnable] 100000
[blocked] -- kworker [work: idle] -- helper [running] 300000
EOF
same got want 'the chain of a worker goes on with who gave it its work'

# A pipeline of three processes, each on its own CPU, and a convoy of three that hold a lock in turn; how long each
# takes is at random.
awk '
function rnd(n) { seed = (seed * 1103 + 12345) % 65536; return 100 + seed % n }
function waits(i, where) { print t, i, who[i], "switch", name[i], "S swapper/" i ":0"; print "+ " where }
function wakes(by, i) { print t, by, who[by], "waking", name[i]; print t, i, "<idle>-0 switch swapper/" i ":0 R", name[i] }
function turn(first, last, where, took,   i, d) {
	t += rnd(500)
	wakes(1, first)
	waits(1, where)
	for (i = first; i <= last; i++) {
		t += d = rnd(3000)
		took[i] += d * 1000
		wakes(i, i < last ? i + 1 : 1)
		waits(i, where)
	}
}
BEGIN {
	seed = 5
	split("request-10 src-20 mid-30 dst-40 one-50 two-60 three-70", who, " ")
	for (i in who) { name[i] = who[i]; sub(/-/, ":", name[i]) }
	t = 1000
	for (i = 2; i <= 7; i++)
		waits(i, i < 5 ? "pipe_read" : "futex_wait")
	for (round = 0; round < 30; round++) {
		turn(2, 4, "pipe_read", took)
		turn(5, 7, "futex_wait", took)
	}
	to["pipe"] = "request;pipe_read;[pipe];--;dst;"; to["lock"] = "request;futex_wait;[lock];--;three;"
	print to["pipe"] "[running]", took[4] >"truth"
	print to["pipe"] "pipe_read;[pipe];--;mid;[running]", took[3] >"truth"
	print to["pipe"] "pipe_read;[pipe];--;mid;pipe_read;[pipe];--;src;[running]", took[2] >"truth"
	print to["lock"] "[running]", took[7] >"truth"
	print to["lock"] "futex_wait;[lock];--;two;[running]", took[6] >"truth"
	print to["lock"] "futex_wait;[lock];--;two;futex_wait;[lock];--;one;[running]", took[5] >"truth"
}' >three.txt
recording three.ps <three.txt
chains three.ps | grep '^request' >got
sort truth >want
same got want 'a pipeline of three processes, and a convoy'

# The waits of each thread, in either form, to the nanosecond.
for file in three.ps sched.data.ps sched-stacks.data.ps; do
	for form in wall chain; do
		"$BIN/plat" --emit $form --idle $file 2>/dev/null | "$BIN/phist" --by tid,key_text -f period --tsv 2>/dev/null | awk -F'\t' '
			!/^#/ && $3 !~ /runnable|running|interrupted|not known/ { print $2, $3, $5 }' | sort >$form.sums
	done
	same chain.sums wall.sums "$file: chains add up to the waits"
	ok 'there are some' test -s wall.sums
done

# The tail: of 100 spans, each tenth waits 20 ms for a disk, by its lock; a timer's turn is at random.
awk 'BEGIN {
	print "100 1 holder-20 waking rest:40\n100 0 request-10 waking rest:41"
	seed = 7
	for (i = 1; i <= 100; i++) {
		at = i * 100000
		seed = (seed * 1103 + 12345) % 65536
		run = 900 + seed % 200
		disk = i % 10 == 0 ? 20000 : 0
		print at, "0 request-10 req_begin: id=" i
		print at, "0 request-10 switch request:10 S swapper/0:0"
		print "+ futex_wait do_futex do_syscall_64"
		if (disk) {
			print at + 1, "1 holder-20 switch holder:20 D swapper/1:0"
			print "+ io_schedule folio_wait_bit_common do_syscall_64"
			print at + 1 + disk, "1 <idle>-0 waking holder:20"
			print "+ bio_endio asm_common_interrupt"
			print at + 1 + disk, "1 <idle>-0 switch swapper/1:0 R holder:20"
		}
		print at + run + disk, "1 holder-20 waking request:10"
		print at + run + disk, "0 <idle>-0 switch swapper/0:0 R request:10"
		print at + run + disk + seed % 7, "0 request-10 req_end: id=" i
		all[i] = run + disk + seed % 7
		runs[i] = run
		if (disk) { slow += all[i]; slowrun += run; nslow++ }
	}
	printf "" > "truth"
	printf "%.0f %.0f\n", slow / nslow * 1000, 20000000 > "truth"
}' >tail.txt
recording tail.ps <tail.txt
# shellcheck disable=SC2086
{
	run "$BIN/plat" --tail=p90 $SPAN --tsv tail.ps
	is "$status" 0 '--tail'
	awk -F'\t' '/^tail/ { print $2 "|" $3 "|" $4 "|" $5, $7 }' "$OUT" | sort >got
	like got '^holder\|\[disk\]\|folio_wait_bit_common\|\[lock\] futex_wait 20000000$' 'what the slow ones have more of, and how much'
	is "$(grep -vc '^holder|\[disk\]\|may be chance' got)" 0 'what may be chance has no name'
	is "$(awk -F'\t' '/^tail/ { for (i = 2; i <= NF; i++) if (name[i] ~ /^slow:sum/) s += $i } /^#/ { for (i = 2; i <= NF; i++) name[i] = $i } END { printf "%.0f", s }' "$OUT")" \
		"$(cut -d' ' -f1 truth)" 'the parts of slow spans add up to them'
	run "$BIN/plat" --tail=p90 $SPAN tail.ps
	like "$OUT" '^tail: of 100 spans: the slow 10, p90 and more, take 21.. ms, 20.. ms more than the 50 in the middle$' 'the title'
	run "$BIN/plat" --tail=p90 --folded $SPAN tail.ps
	cp "$OUT" tail.folded
	like tail.folded '^holder;do_syscall_64;folio_wait_bit_common;io_schedule;\[disk\] 0 20000000$' 'folded, with both counts'
	run "$BIN/psvg" --diff tail.folded
	is "$status" 0 'psvg --diff draws it'
	run "$BIN/plat" --tail $SPAN tail.ps
	is "$status" 1 'too few slow spans'
	like "$ERR" 'too few of [0-9]+ spans are slow' 'it is reported'
}

# Another stream has its own threads and stacks.
cat sched-stacks.data.ps sched-stacks.data.ps >twice.ps
for options in '--path --of blocked' '--path --of process'; do
	for file in sched-stacks.data twice; do
		# shellcheck disable=SC2086
		"$BIN/plat" $options --tsv $file.ps 2>/dev/null | awk -F'\t' '
			$1 == "path" { sum[$2 "|" $3 "|" $4 "|" $5] = $7 } END { for (k in sum) print k, sum[k] }' | sort >$file.rows
	done
	awk '{ $NF *= 2; print }' sched-stacks.data.rows >want
	same twice.rows want "two streams: $options"
done

# What cannot be.
run "$BIN/plat" --path --nth 5 --of blocked sched.data.ps
cp "$OUT" fifth
is "$status" 0 '--nth'
# shellcheck disable=SC2086
run "$BIN/plat" --path --nth 5 $SPAN lock.ps
is "$status" 1 'a span that is not there'
like "$ERR" 'there are only 1 spans' 'it is reported'
# shellcheck disable=SC2086
run "$BIN/plat" --path lock.ps
is "$status" 1 'no command'
like "$ERR" 'no spans: no command has begun and ended' 'it is reported'
run "$BIN/plat" --path --of nothing lock.ps
is "$status" 64 'no such kind'
for options in '--of process' '--path --by comm' '--path --emit wall' '--path --nth 0' '--nth 1' '--path --nth 1 --slowest' \
	'--emit chain -u' '--emit chain --of process' '--path --of blocked -k blocked' '--path --timehist' '--tail --path' '--tail=p100' '--folded' '--tail --folded --tsv'; do
	# shellcheck disable=SC2086
	run "$BIN/plat" $options lock.ps
	is "$status" 64 "usage: $options"
done
"$BIN/pdecode" "$ROOT/t/data/small.data" 2>/dev/null >small.ps
run "$BIN/plat" --path small.ps
is "$status" 1 'no switches'
like "$ERR" 'no switches: record with pcap-perf --wall' 'it says how to record'
head -c 20000 sched.data.ps >cut.ps
run "$BIN/plat" --path --of blocked cut.ps
is "$status" 1 'cut off'

done_testing

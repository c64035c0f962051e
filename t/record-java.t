#!/bin/sh
# pcap-perf --perf-map: a Java program without frame pointers has names and whole stacks, without an option of its own.
. "${0%/*}/lib.sh"
for program in java javac; do
	have "$program" || skip_all "$program is not installed"
done
[ "$(uname -m)" = x86_64 ] || skip_all 'generated code is unwound on x86-64'
cat >Deep.java <<'EOF'
import java.util.*;
public class Deep {
  static long work(int n) { Map<String, Integer> m = new HashMap<>(); for (int i = 0; i < n; i++) m.merge("k" + i % 97, 1, Integer::sum); return m.size(); }
  static long deep(int d) { return d == 0 ? work(20000) : deep(d - 1) + 1; }
  public static void main(String[] a) { long t = 0; for (;;) t += deep(20); }
}
EOF
javac Deep.java 2>javac.err || skip_all "javac: $(head -n 1 javac.err)"
java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp . Deep 2>java.err &
java=$!
sh -c 'trap "echo quit >quit" QUIT; touch ready; while :; do sleep 0.1; done' &
shell=$!
sleep 1000 &
sleeper=$!
await test -e ready
burn $java 300 || skip_all 'java does not run'
"$BIN/pcap-perf" -F 499 -e cpu-clock:u -g --perf-map --bundle java.tar -o java.data -p $java,$shell,$sleeper 2>record.err &
recorder=$!
await counting $recorder
burn $java 100
kill -INT $recorder
wait $recorder
status=$?
is $status 0 'the recorder succeeds'
unlike record.err 'perf map' 'and has had its answer'
ok 'no other process gets a signal' sh -c "! test -e quit && kill -0 $sleeper"
ok 'nothing is left behind' sh -c "! ls /tmp/.attach_pid$java 2>/dev/null"
run_pipe '"$BIN/pdecode" java.data' '"$BIN/psym" --stats' '"$BIN/pfold" --no-header'
is "$statuses" '0 0 0' 'the filters succeed'
like "$OUT" '^java;(.*;)?JavaCalls::call_helper[^;]*;StubRoutines[^;]*;(Interpreter;)*(.*;)?long Deep.deep;(.*;)?long Deep.work(;.*)? [0-9]+$' 'a whole stack'
share=$(sed -n 's/.*(\([0-9]*\)[0-9.]* %): the outermost function was reached/\1/p' "$ERR.2")
ok "most stacks are whole ($share %)" test "${share:-0}" -ge 90
{
	kill $java $shell $sleeper
	wait
} 2>/dev/null
rm -f "/tmp/perf-$java.map"
run_pipe '"$BIN/pdecode" java.data' '"$BIN/psym" --symfs java.tar --stats' '"$BIN/pfold" --no-header'
like "$OUT" '^java;(.*;)?JavaCalls::call_helper[^;]*;StubRoutines[^;]*;(Interpreter;)*(.*;)?long Deep.deep;(.*;)?long Deep.work(;.*)? [0-9]+$' 'from the bundle, too'
done_testing

#!/bin/sh
# Real servers, nginx and Redis from Debian: how long requests and commands take, beside what the server counted
# itself ($request_time, INFO commandstats and LATENCY HISTOGRAM). They are started here, for nobody else.
. "${0%/*}/lib.sh"

have nginx redis-server || skip_all 'nginx or redis-server is not installed'
need redis-cli curl
[ "$(id -u)" = 0 ] || skip_all 'probes are made by root'
spanlat=$ROOT/share/recipes/spanlat

servers=
stop() {
	# shellcheck disable=SC2086
	[ -z "$servers" ] || { kill $servers && wait $servers; } 2>/dev/null || :
	t_end
}
trap stop EXIT

# in_ms FILE: the sum of the intervals of a table in TSV.
in_ms() {
	awk -F'\t' '$1 == "intervals" { print $4 / 1e6 }' "$1"
}
# alike WHAT OURS THEIRS: within a percent or two, but where the machine is busy between their clock and our probe.
alike() {
	ok "$1: $2 ms, by the server $3 ms" awk "BEGIN { exit !($2 >= 0.9 * $3 && $2 < 2 * $3) }"
}

# ---- Redis: one command at a time ----

redis-server --port 0 --unixsocket "$TMP/redis" --save '' >redis.log 2>&1 &
servers="$servers $!"
redis() {
	redis-cli -s "$TMP/redis" "$@"
}
await redis ping >/dev/null 2>&1
redis eval 'for i = 1, 50000 do redis.call("set", "k" .. i, i) end' 0 >/dev/null
redis config resetstat >/dev/null
for _ in 1 2 3 4 5 6 7 8; do
	echo 'keys *'
done >commands
run "$BIN/pcap-perf" -m 4M --strict -a -x "$(command -v redis-server)" --probe call --probe call%return -o redis.data -- \
	sh -c "redis-cli -s '$TMP/redis' <commands >/dev/null"
if [ "$status" != 0 ]; then
	diag_file "$ERR"
	skip_all 'probes cannot be made here'
fi
redis info commandstats | sed -n '/resetstat/d; s/^cmdstat_.*:calls=\([0-9]*\),usec=\([0-9]*\),.*/\1 \2/p' |
	awk '{ calls += $1; us += $2 } END { print calls, us / 1000 }' >counted
run "$spanlat" -e call redis.data --tsv
is "$status" 0 'spanlat finds what ends a function'
is "$(awk -F'\t' '$1 == "intervals" { print $3 }' "$OUT")" "$(cut -d ' ' -f 1 counted)" 'each command of Redis'
alike 'commands of Redis' "$(in_ms "$OUT")" "$(cut -d ' ' -f 2 counted)"

# ---- nginx: one thread serves several requests at once ----

mkdir www
head -c 400000 /dev/zero >www/big
cat >nginx.conf <<X
daemon off;
master_process off;
user root;
pid $TMP/nginx.pid;
error_log $TMP/nginx.err;
events { worker_connections 64; }
http {
	log_format t '\$request_time \$status';
	access_log $TMP/access t;
	limit_rate 1m;
	server { listen unix:$TMP/nginx; root $TMP/www; }
}
X
nginx -p "$TMP" -c "$TMP/nginx.conf" 2>nginx.out &
servers="$servers $!"
get() {
	curl -s --unix-socket "$TMP/nginx" http://x/big -o /dev/null
}
await get
# A request is logged when it is freed, after its client has gone.
await test -s access
: >access
cat >get.sh <<X
for _ in 1 2 3 4 5 6; do
	curl -s --unix-socket '$TMP/nginx' http://x/big -o /dev/null &
done
wait
until [ "\$(wc -l <access)" -ge 6 ]; do sleep 0.05; done
X
# shellcheck disable=SC2016
run "$BIN/pcap-perf" -m 4M --strict -a -x "$(command -v nginx)" \
	--probe 'ngx_http_create_request%return r=$retval' --probe 'ngx_http_free_request r=$arg1' -o nginx.data -- sh get.sh
is "$status" 0 'requests of nginx are recorded'
run "$spanlat" -e ngx_http_create_request__return -E ngx_http_free_request -k r nginx.data --tsv
unlike "$ERR" 'restarted|without start|open' 'each is paired by its address'
is "$(awk -F'\t' '$1 == "intervals" { print $3 }' "$OUT")" 6 'all of them'
alike 'requests of nginx' "$(in_ms "$OUT")" "$(awk '{ s += $1 * 1000 } END { print s }' access)"
done_testing

#!/bin/sh
# A real server, PostgreSQL from Debian: markers by the names that people type, and how long statements take,
# beside what the server counted itself (pg_stat_statements). It is started here, for nobody else.
. "${0%/*}/lib.sh"

bin=
for dir in /usr/lib/postgresql/*/bin; do
	[ ! -x "$dir/postgres" ] || bin=$dir
done
[ -x "$bin/pgbench" ] || skip_all 'postgresql is not installed'
export pg="$bin/postgres"

# By any name it is the same marker.
run "$BIN/pprobe" -n -x "$pg" '%postgresql:query__start'
cp "$OUT" want
like want '^p:sdt_postgresql/query__start ' 'the server has markers'
for name in query__start postgresql:query__start sdt_postgresql:query__start usdt:postgresql:query__start \
	"usdt:$pg:postgresql:query__start" "u:$pg:query__start" usdt:postgres:query__start postgresql:query-start \
	%query-start; do
	run "$BIN/pprobe" -n -x "$pg" "$name"
	same "$OUT" want "$name"
done
run "$BIN/pprobe" -n -x "$pg" usdt:/bin/sh:a:b
like "$ERR" "-x /bin/sh --probe '%a:b'" 'a marker of another file: what to type'
run "$BIN/pprobe" -n -x "$pg" "uretprobe:$pg:PostgresMain"
like "$ERR" "-x $pg --probe 'PostgresMain%return'" 'a function after its file: what to type'
# shellcheck disable=SC2016
run "$BIN/pprobe" -n -x "$pg" '%postgresql:query__start q=+0($arg1):string'
like "$ERR" ': q=arg1:string$' 'an argument as the kernel has it: what to type'
if nm "$pg" 2>/dev/null | grep -q ' [tT] '; then
	skip 1 'this postgres is not stripped'
else
	run "$BIN/pprobe" -n -x "$pg" exec_simple_query
	like "$ERR" "has no function 'exec_simple_query'; its symbols were stripped" 'why a function is not there'
fi

if [ "$(id -u)" != 0 ] || ! have setpriv psql; then
	skip 14 'the server is started by root for another user'
	done_testing
	exit
fi
mkdir server
chown nobody server
chmod 755 .
as() {
	setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"
}
export PGHOST="$TMP/server" PGUSER=nobody PGDATABASE=postgres
as "$bin/initdb" -D "$TMP/server/data" -A trust -N >init.out 2>&1 || bail 'initdb'
stop() {
	(cd server && as "$bin/pg_ctl" -D "$TMP/server/data" -m immediate stop >/dev/null 2>&1) || :
	t_end
}
trap stop EXIT
(cd server && as "$bin/pg_ctl" -D "$TMP/server/data" -w -l "$TMP/server/log" -o "-k $TMP/server -h '' -c fsync=off \
	-c shared_preload_libraries=pg_stat_statements -c pg_stat_statements.track_planning=on" start) >start.out 2>&1 ||
	bail 'the server does not start'
counts=yes
psql -qc 'create extension pg_stat_statements' 2>"$ERR" || counts=
"$bin/pgbench" -i -q >/dev/null 2>&1 || bail 'pgbench -i'
[ -z "$counts" ] || psql -qAtc 'select pg_stat_statements_reset()' >/dev/null
run "$BIN/pcap-perf" --strict -a -m 16M -x "$pg" --probe '%postgresql:query__start query=arg1:string' \
	--probe query__done -o pg.data -- "$bin/pgbench" -n -c 2 -t 300
if [ "$status" != 0 ]; then
	diag_file "$ERR"
	skip 14 'probes cannot be made here'
	done_testing
	exit
fi
psql -qAt -F ' ' -c "select calls, round((total_exec_time + total_plan_time)::numeric, 3), left(query, 20)
	from pg_stat_statements where calls >= 600" >counted 2>/dev/null
run "$ROOT/share/recipes/spanlat" -e '%postgresql:query' pg.data --by 'shape(query)' --tsv
is "$status" 0 'spanlat finds what ends a statement'
unlike "$ERR" 'without start|open' 'and each start its end'
run_pipe '"$BIN/pdecode" pg.data' '"$BIN/pfilter" --drop "query__start:"' '"$BIN/phist" --by "shape(query)"'
like "$OUT" '^UPDATE pgbench_tellers SET tbalance = tbalance \+ \? WHERE .* 600 ' 'all statements of a shape are one row'
is "$(grep -c ' 600 ' "$OUT")" 7 'of which there are seven'
# Arguments of markers have no names: what --by names is the first one.
"$bin/pgbench" -n -c 2 -T 100 >/dev/null 2>&1 &
load=$!
run "$ROOT/share/recipes/spanlat" -b "$pg" -e '%postgresql:query' --by 'shape(query)' --tsv 1
cp "$OUT" shapes
cp "$ERR" told
for name in query-start sdt_postgresql:query__start "usdt:$pg:postgresql:query__start" postgresql:query; do
	run "$ROOT/share/recipes/spanlat" -b "$pg" -e "$name" 1
	like "$OUT" '^pair +[0-9]{2}' "spanlat -e $name"
done
{ kill "$load" && wait "$load"; } 2>/dev/null
is "$(grep -cE '^pair	(BEGIN|END|SELECT|UPDATE|INSERT)[ ;]' shapes)" 7 'spanlat --by query, live: seven shapes'
like told 'query: the first argument of .*query__start, as text' 'and what query is'
if [ -z "$counts" ]; then
	skip 3 'there is no pg_stat_statements'
else
	is "$(awk '$1 == 600' counted | wc -l)" 7 'as many as the server counted'
	"$BIN/pdecode" pg.data | "$BIN/plat" -s query__start -e query__done --by 'shape(query)' 2>/dev/null >all
	diag_file all
	diag_file counted
	# The server's times are those of planning and execution, a part of each span.
	server=$(awk '{ s += $2 } END { print s }' counted)
	ours=$(awk '$1 == "pair" && $4 == "s" { print $3 * 1000; exit } $1 == "pair" && $4 == "ms" { print $3; exit }' all)
	ok "spans of $ours ms hold the server's $server ms" awk "BEGIN { exit !($ours >= $server) }"
	# Markers of the execution alone are beside the executor's own clock; a percent or less where nothing comes between.
	echo 'select sum(i) from generate_series(1, 100000) i;' >heavy.sql
	psql -qAtc 'select pg_stat_statements_reset()' >/dev/null
	run "$BIN/pcap-perf" --strict -a -m 16M -x "$pg" --probe '%postgresql:query__execute__start' \
		--probe query__execute__done -o heavy.data -- "$bin/pgbench" -n -c 2 -t 5 -f heavy.sql
	server=$(psql -qAtc "select round(total_exec_time::numeric, 3) from pg_stat_statements where query like 'select sum%'")
	run "$ROOT/share/recipes/spanlat" -e query__execute heavy.data --tsv
	ours=$(awk -F'\t' '$1 == "intervals" && $3 == 10 { print $4 / 1e6 }' "$OUT")
	ok "execution of ten statements: $ours ms, by the server $server ms" \
		awk "BEGIN { exit !($ours >= 0.9 * $server && $ours < 2 * $server) }"
fi
done_testing

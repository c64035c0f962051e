#!/bin/sh
# The recipe fleet on engines that are not ours: Slurm, on one node that is set up here for nobody else, as root; DuckDB,
# where NPM is the folder in which "npm install @duckdb/node-api" was. make check-all has both.
. "${0%/*}/lib.sh"
BINDIR=$BIN
PATH=$BIN:$PATH:/usr/sbin
export BINDIR PATH
fleet=$ROOT/share/recipes/fleet
gunzip -c "$ROOT/t/data/sched.data.gz" >s1.data
gunzip -c "$ROOT/t/data/sched-stacks.data.gz" >s2.data
cp "$ROOT/t/data/sched.dat" s3.dat
echo garbage >s4.data

# ---- DuckDB: the query of the man page, beside phist --merge ----

if [ -n "${NPM:-}" ] && have node && [ -d "$NPM/node_modules/@duckdb/node-api" ]; then
	"$fleet" --tsv=plain --by source measure s1.data s2.data s3.dat -- --kind runq >all.tsv
	sed -n '/^WITH rows/,/;$/{ s/\\e/\\/g; s/\\(aq/'"'"'/g; p; }' "$ROOT/man/perfpipe-fleet.7" >query.sql
	ok 'perfpipe-fleet(7) has a query' test -s query.sql
	cat >query.mjs <<'END'
import {readFileSync} from 'fs';
const {DuckDBInstance} = await import(process.argv[2] + '/node_modules/@duckdb/node-api/lib/index.js');
const db = await (await DuckDBInstance.create(':memory:')).connect();
for (const row of (await db.runAndReadAll(readFileSync(process.argv[3], 'utf8'))).getRows())
	console.log(row.join('\t'));
END
	run node query.mjs "$NPM" query.sql
	LC_ALL=C sort "$OUT" >got
	"$fleet" --tsv=plain measure s1.data s2.data s3.dat -- --kind runq >merged.tsv
	awk -F '\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["table"] == "runq" { print $at["comm"], $at["count"], $at["sum"], $at["p99"], $at["max"] }' merged.tsv |
		LC_ALL=C sort >want
	ok 'there are rows' test -s want
	same got want "DuckDB adds up the recordings as phist --merge does"
else
	skip 3 'NPM names no folder with @duckdb/node-api'
fi

# ---- Slurm ----

stop_slurm() {
	for pid in $slurm; do
		kill "$pid" 2>/dev/null
	done
	for pid in $slurm; do
		wait "$pid" 2>/dev/null
	done
	slurm=
}

slurm=
if [ "$(id -u)" = 0 ] && have slurmctld && have slurmd && have munged && have sbatch; then
	trap 'stop_slurm; t_end' EXIT
	host=$(hostname -s)
	dir=$TMP/slurm
	mkdir -m 755 "$dir" "$dir/ctld" "$dir/d" "$dir/munge"
	# A socket's name may have 107 characters.
	socket=$(mktemp -u /tmp/perfpipe-munge.XXXXXX)
	(umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
	ports=$((20000 + $$ % 20000))
	export SLURM_CONF="$dir/slurm.conf"
	cat >"$SLURM_CONF" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$socket
CredType=cred/munge
SlurmctldPort=$ports
SlurmdPort=$((ports + 1))
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmdSpoolDir=$dir/d
StateSaveLocation=$dir/ctld
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
	munged --foreground --force --num-threads=4 --key-file="$dir/munge/key" --socket="$socket" \
		--pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" >munged.log 2>&1 &
	slurm="$! $slurm"
	await test -S "$socket"
	slurmctld -D >slurmctld.log 2>&1 &
	slurm="$! $slurm"
	slurmd -D >slurmd.log 2>&1 &
	slurm="$! $slurm"
	idle() {
		sinfo -h -o %T 2>/dev/null | grep -q idle
	}
	await idle
	run "$fleet" -o cluster -j 2 --slurm count s1.data s2.data s3.dat s4.data -- --by comm,event
	is "$status" 0 'fleet --slurm submits'
	read -r array last <"$OUT"
	over() {
		! squeue -h -j "$last" 2>/dev/null | grep -q .
	}
	await over
	diag "$(scontrol -o show job 2>/dev/null | sed -n 's/^JobId=\([^ ]*\) .*JobName=\([^ ]*\) .*JobState=\([^ ]*\) .*ExitCode=\([^ ]*\) .*/job \1 \2 \3 \4/p' | tr '\n' ' ')"
	for file in s1.data s2.data s3.dat; do
		pdecode "$file" 2>/dev/null | phist --by comm,event --tsv 2>/dev/null >"$file.tsv"
	done
	phist --merge s1.data.tsv s2.data.tsv s3.dat.tsv >want
	await test -s cluster/merged.err
	same cluster/merged want "Slurm's jobs $array and $last make what one run makes"
	like cluster/merged.err 's4.data: exit status 2: ' 'and what failed is named'
	like cluster/merged.err '3 of 4 recordings' 'and counted'
	stop_slurm
	rm -f "$socket" "$socket.lock"
else
	skip 4 'slurm-wlm and munge are not installed, or this is not root'
fi
done_testing

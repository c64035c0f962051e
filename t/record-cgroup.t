#!/bin/sh
# pcap-perf --cgroup, --record-cgroups and --namespaces: cgroups by name and by the beginning of a container's
# id, and the keys cgroup, container and nspid of what was recorded.
. "${0%/*}/lib.sh"
[ "$(id -u)" = 0 ] || skip_all 'only root can make cgroups'
"$BIN/pcap-perf" -a -e cpu-clock -o p.data -- true >/dev/null 2>&1 || skip_all 'recording is not allowed here'

# The hierarchy that perf events use: perf_event of version 1, else version 2.
root=$(awk '$3 == "cgroup" && $4 ~ /(^|,)perf_event(,|$)/ { v1 = $2 } $3 == "cgroup2" { v2 = $2 }
	END { print v1 ? v1 : v2 }' /proc/mounts)
[ "$root" ] || skip_all 'no cgroups here'
id=9c2281e2be090123456789abcdef0123456789abcdef0123456789abcdef0123
other=9c2281ffff090123456789abcdef0123456789abcdef0123456789abcdef0123
top=$root/perfpipe-test-$$
dirs="$top $top/docker $top/docker/$id $top/system.slice $top/system.slice/docker-$other.scope"
# shellcheck disable=SC2086
mkdir $dirs 2>/dev/null || {
	rmdir "$top" 2>/dev/null
	skip_all 'cgroups cannot be made here'
}
finish() {
	for d in $(echo "$dirs" | tr ' ' '\n' | sort -r); do
		rmdir "$d" 2>/dev/null || { sleep 1 && rmdir "$d"; }
	done
	t_end
}
trap finish EXIT

# in_cgroup DIR COMMAND: runs it there.
cat >in_cgroup <<'EOF'
#!/bin/sh
echo $$ >"$1/cgroup.procs" || exit
shift
exec "$@"
EOF
cat >busy <<'EOF'
#!/bin/sh
i=0
while [ $i -lt 200000 ]; do i=$((i + 1)); done
EOF
chmod +x in_cgroup busy
"$TMP/in_cgroup" "$top/docker/$id" true 2>/dev/null || skip_all 'tasks cannot be moved here'

record() { # NAME of the cgroup: a load in each of the two containers and one outside
	run "$BIN/pcap-perf" -e cpu-clock -F 999 --cgroup="$1" --record-cgroups -o p.data -- sh -c \
		"./in_cgroup '$top/docker/$id' ./busy & ./in_cgroup '$top/system.slice/docker-$other.scope' ./busy & ./busy; wait"
}

by() {
	"$BIN/pdecode" p.data >p.ps
	run "$BIN/phist" --wide --by "$1" p.ps
}

name=${top#"$root"/}
record "$name/docker/$id"
is "$status" 0 'a cgroup by its whole name'
by cgroup
like "$OUT" "/docker/$id +[0-9]+ +100.00%" 'only that one is recorded'
record "$name/docker/9c2281e"
is "$status" 0 'the beginning of an id'
by cgroup
like "$OUT" "/docker/$id +[0-9]+ +100.00%" 'finds the directory'
record "docker/9c2281ff"
is "$status" 0 'docker/ID that lies deeper, as systemd names it'
by container
like "$OUT" '^9c2281ffff09 +[0-9]+ +100.00%' 'finds the scope; its container is a key'
run "$BIN/pcap-perf" -e cpu-clock --cgroup=docker/9c2281 -o x.data -- true
is "$status" 64 'the beginning of two ids'
like "$ERR" '2 cgroups begin with this: docker/9c2281' 'is refused'
run "$BIN/pcap-perf" -e cpu-clock --cgroup=docker/777 -o x.data -- true
is "$status" 2 'an id that there is not'
like "$ERR" 'docker/777' 'is named'
run "$BIN/pcap-perf" --stat -a -e context-switches --for-each-cgroup docker/9c2281e -- sleep 0.1
is "$status" 0 'counting by the same names'

run "$BIN/pcap-perf" -a -e cpu-clock -F 999 --namespaces --record-cgroups -o p.data -- \
	./in_cgroup "$top/docker/$id" unshare -pf ./busy
if [ "$status" = 0 ]; then
	by container,nspid,comm
	like "$OUT" '^9c2281e2be09 +1 +busy ' 'a process is number 1 in its container'
	run_pipe "\"\$BIN/pfilter\" --drop 'container == \"9c2281e2be09\" && nspid == 1 && nspid != pid' p.ps" \
		'"$BIN/phist" --by comm'
	# Process 1 may have had a sample before it became busy.
	like "$OUT" '^busy +[0-9]+ +(100|9[0-9])\.' 'conditions know both'
	run_pipe "\"\$BIN/pdecode\" -j p.data" "grep '\"type\":\"namespaces\"' | grep '\"tid\":$$,' | head -n 1"
	like "$OUT" "\"inner\":$(sed -n 's/^NSpid:.*[^0-9]\([0-9][0-9]*\)$/\1/p' /proc/$$/status),\"links\":\\[" \
		'processes that were there before have their number of /proc'
	like "$OUT" ",[0-9]+,$(stat -L -c %i /proc/$$/ns/pid),[0-9]+,$(stat -L -c %i /proc/$$/ns/user)," \
		'and their namespaces'
	if have perf; then
		perf script -i - <p.data >perf.text 2>/dev/null
		is "$(wc -l <perf.text)" "$("$BIN/pdecode" -t p.data 2>/dev/null | wc -l)" 'perf script reads it'
	else
		skip 1 'perf is not installed'
	fi
else
	skip 5 'no pid namespaces here'
fi
done_testing

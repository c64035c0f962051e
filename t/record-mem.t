#!/bin/sh
# pcap-perf --mem: the events by which a machine samples memory accesses, found in trees of sysfs. perf, which takes
# another tree by SYSFS_PATH, is asked for its own, and for what they mean.
. "${0%/*}/lib.sh"

words=$UNIT/pevent_memory
[ -x "$words" ] || skip_all "$words has not been built"

# The events of perf mem record, with commas between them.
of_perf() { # TREE
	SYSFS_PATH=$1 perf mem record -v -o /dev/null true 2>&1 | sed -n 's/^calling: record //p' | head -n 1 |
		sed -e 's/^.*-e \(.*-e\)/-e \1/' -e 's/ -o .*//' -e 's/-e //g' -e 's/ *$//' -e 's/ /,/g'
}

# Type, config, config1 and precise_ip of the first event that perf would open.
attr_of_perf() { # TREE EVENT
	SYSFS_PATH=$1 perf record -vv -W -d -e "$2" -o /dev/null true 2>&1 | awk '
		/^perf_event_attr:/ { n++ }
		n > 1 { exit }
		$1 == "type" { type = $2 }
		$1 == "config" { config = $2 }
		/config1/ { config1 = $NF }
		$1 == "precise_ip" { precise = $2 }
		END { print type, config ? config : "0x0", config1 ? config1 : "0x0", precise + 0 }'
}

if have perf; then
	for tree in skylake sapphire; do
		# perf 6.1 looks in two places, and has the bits of 30 beside those of the 3 that mem-loads has itself:
		# 31 has these.
		path=$TMP/$tree
		cp -r "$ROOT/t/data/memory/$tree" "$path"
		mkdir "$path/devices"
		ln -s ../bus/event_source/devices/cpu "$path/devices/cpu"
		run "$words" "$path" 3 0
		is "$status" 0 "$tree: there are events"
		is "$(head -n 1 "$OUT")" "$(of_perf "$path")" 'those of perf mem record'
		run "$words" "$path" 3 31
		sed 1d "$OUT" | while read -r name rest; do
			case $name in *P) ;; *) name=${name}P ;; esac
			echo "$name $(attr_of_perf "$path" "$name") = ${rest% *}"
		done | sed 's/^[^ ]* //' >attrs
		is "$(awk -F ' = ' '$1 != $2' attrs)" '' 'and mean what they mean to perf'
		ok 'all of them' test "$(wc -l <attrs)" -ge 2
	done
else
	skip 8 'perf is not installed'
fi

run "$BIN/pcap-perf" --mem=list
if [ "$status" = 0 ]; then
	like "$OUT" '^both +[a-z_0-9{]+/' '--mem=list: what there is'
else
	is "$status" 2 'a machine without such a PMU'
	like "$ERR" 'samples memory accesses|traced by arm_spe' 'with the reason'
	run "$BIN/pcap-perf" --mem -- true
	is "$status" 2 'which cannot be recorded'
fi
for bad in --mem=nonsense --ldlat=0 --ldlat=70000 '--ldlat=50' '--mem=store --ldlat=50'; do
	# shellcheck disable=SC2086
	run "$BIN/pcap-perf" $bad -- true
	is "$status" 64 "not $bad"
done
done_testing

#!/bin/sh
# Runs every command that README.md and the man pages show as an example.
#
# Examples are: the lines of ```sh blocks in README.md; in man pages, ".Dl $ COMMAND", and lines of
# .Bd -literal blocks that begin with "$ ". A backslash at the end continues a line. t/examples.list
# names the input files that they may use, the commands that are not run, with the reason, and those
# that do not end with 0.
#
# They run in one directory, in the order in which they stand, by bash with pipefail. What records
# for some seconds records for a short while here. "| head" may end what is before it by SIGPIPE.
. "${0%/*}/lib.sh"

list=$ROOT/t/examples.list
export SAMPLE="${SAMPLE:-$ROOT/t/data/deep.data}"

# The program that the sample is of, where psym finds it whatever this machine has: in perf's cache.
id=a6001d72af8b5296f14349b4f86d204cda21be3e
cache=$HOME/.debug/.build-id/${id%"${id#??}"}/${id#??}
mkdir -p "$cache"
gzip -dc "$ROOT/t/data/deep.gz" >"$cache/elf"

# "FILE:LINE<tab>COMMAND" for each example of a man page.
man_examples() {
	awk '
	function unescape(s) {
		gsub(/\\e/, "\\", s)
		gsub(/\\\(aq/, "\047", s)
		gsub(/\\\(dq/, "\"", s)
		gsub(/\\\(ha/, "^", s)
		gsub(/\\\(ti/, "~", s)
		gsub(/\\&/, "", s)
		gsub(/\\-/, "-", s)
		return s
	}
	function take(s) {
		s = unescape(s)
		if (more) sub(/^(> )?[ \t]*/, "", s)
		else where = name ":" FNR
		more = s ~ /\\$/
		sub(/\\$/, "", s)
		command = command s
		if (!more) {
			print where "\t" command
			command = ""
		}
	}
	FNR == 1 { name = FILENAME; sub(/.*\//, "", name) }
	/^\.Bd -literal/ { literal = 1; next }
	/^\.Ed/ { literal = more = 0; next }
	/^\.Dl \$ / {
		if (/"/) print name ":" FNR "\tfalse .Dl eats quotes: write \\(dq"
		else take(substr($0, 7))
		next
	}
	literal && (/^\$ / || more) { take(more ? $0 : substr($0, 3)) }' "$@"
}

readme_examples() {
	awk '
	FNR == 1 { name = FILENAME; sub(/.*\//, "", name) }
	/^```/ { sh = $0 == "```sh"; next }
	sh && !more && (/^#/ || /^[ \t]*$/) { next }
	sh {
		line = $0
		if (more) sub(/^[ \t]*/, "", line)
		else where = name ":" FNR
		more = line ~ /\\$/
		sub(/\\$/, "", line)
		command = command line
		if (!more) {
			print where "\t" command
			command = ""
		}
	}' "$@"
}

# The extraction itself, on a page with one example of each form.
cat >page.7 <<'END'
.Bd -literal
$ pone a \e
    | ptwo \(aqx y\(aq
output of it
$ pthree
.Ed
.Dl $ pfour \-o f
.Dl $ pfive "x"
.Bd -literal
text
.Ed
END
printf '%s\t%s\n' page.7:2 "pone a | ptwo 'x y'" page.7:5 pthree page.7:7 'pfour -o f' \
	page.7:8 'false .Dl eats quotes: write \(dq' >want
man_examples page.7 >got
same got want 'examples of a man page are found'
# shellcheck disable=SC1003
printf '%s\n' '```sh' '# why' 'a | \' '   b' '' 'c' '```' '```' 'd' '```' >page.md
printf '%s\t%s\n' page.md:3 'a | b' page.md:6 c >want
readme_examples page.md >got
same got want 'examples of a README are found'

readme_examples "$ROOT/README.md" >examples
for page in "$ROOT"/man/*.[157]; do
	man_examples "$page" >page.examples
	cat page.examples >>examples
	case $page in
	*.1) ok "${page##*/} has an example" test -s page.examples ;;
	esac
done

# t/examples.list: "KIND ARGUMENT :: COMMAND"
grep -v -e '^#' -e '^$' "$list" >entries
grep -Ev '^(input [^ /]+|skip .+|exit [0-9]+) :: .' entries >bad.list
empty bad.list 'the list is well formed'

mkdir scratch wrap
for f in "$BIN"/*; do
	[ ! -x "$f" ] || [ -d "$f" ] || ln -s "$f" wrap/
done
# A recording of N seconds is one of a quarter of a second here.
rm -f wrap/pcap-perf
cat >wrap/pcap-perf <<'END'
#!/bin/bash
for arg; do [ "$arg" != -- ] || exec "$BIN/pcap-perf" "$@"; done
last=${!#}
[[ ! $last =~ ^[0-9.]+$ ]] || set -- "${@:1:$#-1}" 0.25
exec "$BIN/pcap-perf" "$@"
END
chmod +x wrap/pcap-perf
[ -x "$BIN/pcap-perf" ] || rm wrap/pcap-perf
ln -s ../wrap scratch/bin
cd scratch || exit 1
PATH=$TMP/wrap:$ROOT/share/recipes:$PATH
export BINDIR="$TMP/wrap" # for the recipes

sed -n 's/^input \([^ ]*\) :: /\1	/p' ../entries >../inputs
while IFS='	' read -r name command; do
	run bash -o pipefail -c "$command"
	ok "input $name: $command" test "$status" = 0 -a -s "$name"
done <../inputs

refused=
if [ -x "$BIN/pcap-perf" ]; then
	run "$BIN/pcap-perf" -F 99 -ag -o probe.data -- true
	[ "$status" != 2 ] || refused='the kernel refuses perf events here'
	rm -f probe.data
fi

: >../used
while IFS='	' read -r where command; do
	entry=$(awk -v c=" :: $command" '{
		i = index($0, " :: ")
		if (i && substr($0, i) == c && $1 != "input") { print substr($0, 1, i - 1); exit }
	}' ../entries)
	wanted=0
	case $entry in
	skip*)
		echo "$entry :: $command" >>../used
		# On no machine, so not in the account of what this one lacks.
		lacks=${SKIPPED:-}
		SKIPPED=
		skip 1 "${entry#skip }" "$where: $command"
		SKIPPED=$lacks
		continue
		;;
	exit*)
		echo "$entry :: $command" >>../used
		wanted=${entry#exit }
		;;
	esac
	if [ -n "$refused" ] && echo "$command" | grep -Eq '(^|[| /])(pcap-perf|perf) '; then
		skip 1 "$refused" "$where: $command"
		continue
	fi
	missing=
	for peer in perf trace-cmd zstd; do
		echo "$command" | grep -Eq "(^|[|;] *)$peer " && ! have $peer && missing=$peer
	done
	if [ -n "$missing" ]; then
		skip 1 "$missing is not installed" "$where: $command"
		continue
	fi
	run timeout 600 bash -o pipefail -c "$command" </dev/null
	# perf 6.1 itself aborts now and then while it records, the more the busier the machine is: the recording
	# that the next lines need is ours then.
	tries=1
	while [ "$tries" -lt 6 ] && [ "${command%% -*}:$status" = 'perf record:134' ]; do
		run timeout 600 bash -o pipefail -c "$command" </dev/null
		tries=$((tries + 1))
	done
	if [ "${command%% -*}:$status" = 'perf record:134' ]; then
		skip 1 'perf aborts each time' "$where: $command"
		run timeout 600 bash -o pipefail -c "pcap-perf ${command#perf record}" </dev/null
		command="$command, by pcap-perf"
	fi
	case $command:$status in
	*'| head'*:141) status=0 ;;
	esac
	is "$status" "$wanted" "$where: $command"
	[ "$status" = "$wanted" ] || diag_file "$ERR"
done <../examples

grep -E '^(skip|exit) ' ../entries | sort >../exceptions
sort -u ../used | comm -23 ../exceptions - >../stale
empty ../stale 'every exception in the list is about an example that there is'
done_testing

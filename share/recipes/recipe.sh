# What the recipes have in common; sourced by each of them, after it has set
#
#	purpose	one line: the question that it answers
#	events	the events that it needs, with blanks between them
#	last	the filter that prints the result: it gets the options after the operand
#	letters	options of its own, as getopts has them: t: (time), e: (event), f: (field)
#	symbols	yes if functions are found by psym (stage psym is symbolize): it takes psym's options
#		that say where symbols are
#	stacks	yes if call chains are recorded, too; -s sets it; --call-graph says how
#	record	how to record, where pcap-perf cannot
#	pages	how large the buffer of each CPU is for events that come thick (pcap-perf -m)
#	tables	yes if the result is tables of phist or plat: -i writes them every so often
#	profile	in the place of events: how pcap-perf samples
#
# Then it defines pipe, of stages (stage FILTER [ARG]..., the first one decode), and ends with
# main "$@". The exit status is the worst of all stages.

name=${0##*/}
here=${here:-${0%/*}}
letters=${letters:-}
stacks=${stacks:-}
symbols=${symbols:-}
record=${record:-}
pages=${pages:-}
tables=${tables:-}
profile=${profile:-}
interval=${interval:-}
graph=
symbols_from=
[ -z "$tables" ] || letters=${letters}i:

# Whether it can record call chains: --call-graph says how.
can_walk() {
	case ${stacks}${profile} in
	yes | *-g*) can_record ;;
	*) case $letters in *s*) can_record ;; *) false ;; esac ;;
	esac
}

# Whether pcap-perf can record what it needs.
can_record() {
	[ -z "$record" ] || [ -n "$events" ]
}

usage() {
	own=
	case $letters in *t:*) own="$own [-t TIME]" ;; esac
	case $letters in *e:*) own="$own -e EVENT" ;; esac
	case $letters in *f:*) own="$own -f FIELD" ;; esac
	case $letters in *s*) own="$own [-s]" ;; esac
	case $letters in *i:*) ! can_record || own="$own [-i SECONDS]" ;; esac
	! can_walk || own="$own [--call-graph HOW]"
	[ -z "$symbols" ] || own="$own [--symfs DIR]..."
	if can_record; then
		echo "usage: $name$own [SECONDS|FILE|-] [OPTION]..."
	else
		echo "usage: $name$own FILE|- [OPTION]..."
	fi
}

help() {
	usage
	echo "$purpose"
	echo
	case $letters in *t:*) echo "  -t TIME     only what took TIME or longer (${time:-})" ;; esac
	case $letters in *e:*) echo "  -e EVENT    this event; it may be a shell pattern in a recording" ;; esac
	case $letters in *f:*) echo "  -f FIELD    this field or expression" ;; esac
	case $letters in *s*) echo "  -s          ${folded:-}" ;; esac
	! can_walk || {
		echo "  --call-graph fp|dwarf[,SIZE]|lbr"
		echo "              how call chains are recorded; dwarf: true ones of programs without frame"
		echo "              pointers, at the price of SIZE bytes for each event (dwarf,4096)"
	}
	[ -z "$symbols" ] || {
		echo "  --kallsyms FILE, --vmlinux FILE, --symfs DIR, --debug-dir DIR, --debuginfod[=SECONDS],"
		echo "  --guest-kallsyms FILE, --guest-vmlinux FILE, --trust-host"
		echo "              where symbols are: goes to psym"
	}
	echo "  -h, --help  print this and exit"
	case $letters in *i:*) echo "  -i SECONDS  print a table for every so many seconds${interval:+ ($interval)}, and the sum at the end" ;; esac
	! can_record || {
		echo "  SECONDS     record this machine for so long; without it and FILE: until Control-C"
	}
	echo "  FILE        a recording of perf, trace-cmd or pcap-perf, or an event stream; -: stdin"
	echo "  OPTION      goes to $last; without SECONDS and FILE after --"
	[ -z "$events" ] || echo "events: $events"
	[ -z "$record" ] || echo "to record: $record"
}

bad_usage() {
	{
		[ $# = 0 ] || echo "$name: $*"
		usage
	} >&2
	exit 64
}

# The filters: where BINDIR says, beside the recipes in the source or where they are installed,
# else by PATH.
find_filters() {
	for bin in "${BINDIR:-}" "$here/../../bin" "$here/../../../bin"; do
		[ -z "$bin" ] || [ ! -x "$bin/pdecode" ] || return 0
	done
	bin=
	command -v pdecode >/dev/null || {
		echo "$name: the filters are not found: set BINDIR or PATH" >&2
		exit 2
	}
}

# Control-C goes to all of the pipe, and ends the recording alone: the filters finish what was recorded,
# and shells and awk wait for them.
patiently() (
	trap '' INT
	exec "$@"
)

# One stage of the pipe. Its status goes to descriptor 3, since a POSIX shell keeps only that of
# the last stage.
stage() {
	trap : INT
	filter=$1
	shift
	rc=0
	"${bin:+$bin/}$filter" "$@" 3>&- 4>&- || rc=$?
	echo "$filter $rc" >&3
}

# awk, for lines that come while the recording runs: each is printed at once. mawk waits for more
# lines and collects its output unless it is told not to.
promptly() {
	if [ -z "$live" ] && [ "$operand" != - ]; then
		patiently awk "$@"
		return
	fi
	case $(awk -W version 2>/dev/null </dev/null) in
	mawk*) patiently awk -W interactive -v live=1 "$@" ;;
	*) patiently awk -v live=1 "$@" ;;
	esac
}

# Lines as they are; to print none is to have found nothing.
lines() {
	trap : INT
	rc=0
	promptly '{ print; if (live) fflush() } END { exit NR == 0 }' 3>&- 4>&- || rc=$?
	echo "lines $rc" >&3
}

# Lines of pfilter -t as a table: the rules of awk in $2 print the rows, by row(...). They have comm, pid,
# tid, time, event (without its system), text, and value(NAME), what is after "NAME=" or "NAME: " in it.
# With options for pfilter, its lines stay as they are.
table() {
	trap : INT
	if [ -n "$options" ]; then
		lines
		return
	fi
	rc=0
	LC_ALL=C promptly -v header="$1" '
		function value(name,   s) {
			s = " " text
			if (!match(s, "[ ,]" name "(=|: *)"))
				return "?"
			s = substr(s, RSTART + RLENGTH)
			sub(/[ ,].*/, "", s)
			return s
		}
		# Addresses of IPv4 as such, of IPv6 as theirs.
		function address(side) {
			return value("family") ~ /6$/ ? value(side "v6") : value(side)
		}
		function row(s) {
			if (!rows++)
				print header
			print s
			if (live)
				fflush()
		}
		!match($0, / [0-9]+\/[0-9]+ +\[[0-9]+\] +[0-9]+\.[0-9]+: +[^ ]+:/) { next }
		{
			comm = substr($0, 1, RSTART - 1)
			text = substr($0, RSTART + RLENGTH + 1)
			split(substr($0, RSTART, RLENGTH - 1), part, " ")
			sub(/^ +/, "", comm)
			sub(/ +$/, "", comm)
			sub(/^ +/, "", text)
			split(part[1], id, "/")
			pid = id[1]
			tid = id[2]
			time = part[3]
			sub(/:$/, "", time)
			event = part[4]
			sub(/.*:/, "", event)
		}
		# The stack of the event before.
		event ~ /^(kernel|user)_stack$/ { next }
		'"$2"'
		END { exit rows == 0 }' 3>&- 4>&- || rc=$?
	echo "table $rc" >&3
}

# Folded stacks as they are; a recording without stacks is reported.
folded() {
	trap : INT
	rc=0
	patiently awk -v name="$name" '/;/ { deep = 1 } { print }
		END {
			if (NR && !deep)
				print name ": the recording has no call chains: perf record -g, trace-cmd record -T" >"/dev/stderr"
		}' 3>&- 4>&- || rc=$?
	echo "folded $rc" >&3
}

# An argument as a word for the shell.
quote() {
	printf " '%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")"
}

# How call chains are recorded, in $graph; $words: how many words say so.
take_graph() {
	can_walk || bad_usage "it records no call chains: there is no option --call-graph"
	case $1 in
	--call-graph=*) graph=$1 words=1 ;;
	*)
		[ $# -gt 1 ] || bad_usage "option $1 needs an argument"
		graph=--call-graph=$2 words=2
		;;
	esac
	taken=$((taken + words))
}

# The options for psym that come first, in symbols_from; $taken: how many words they are.
take_symbols() {
	taken=0
	while [ -n "$symbols" ] && [ $# -gt 0 ]; do
		case $1 in
		--kallsyms | --vmlinux | --symfs | --debug-dir | --guest-kallsyms | --guest-vmlinux)
			[ $# -gt 1 ] || bad_usage "option $1 needs an argument"
			symbols_from="$symbols_from$(quote "$1=$2")"
			taken=$((taken + 2))
			shift 2
			;;
		--kallsyms=* | --vmlinux=* | --symfs=* | --debug-dir=* | --guest-kallsyms=* | \
			--guest-vmlinux=* | --debuginfod | --debuginfod=* | --trust-host)
			symbols_from="$symbols_from$(quote "$1")"
			taken=$((taken + 1))
			shift
			;;
		--call-graph | --call-graph=*) take_graph "$@" && shift $((words - 1)) && shift ;;
		*) return ;;
		esac
	done
}

# psym, with the options that say where symbols are.
symbolize() {
	eval "stage psym $symbols_from"
}

decode() {
	if [ -n "$live" ]; then
		# shellcheck disable=SC2046,SC2086
		stage pcap-perf -a ${profile:-${stacks:+-g} $(printf -- '-e %s ' $events)} $graph \
			${pages:+-m "$pages"} ${seconds:+"$seconds"} | stage pdecode
	else
		stage pdecode -- "$operand"
	fi
}

how_to_record() {
	if [ -n "$live" ]; then
		echo "$name: nothing to show: of ${events:+the events }${events:-samples} there was none${seconds:+ in $seconds s}, or none that fits"
		return
	fi
	echo "$name: nothing to show"
	if [ -n "$events" ]; then
		echo "$name: it needs the events $events${field:+, and of them the field $field}"
		# shellcheck disable=SC2086
		echo "$name: to record them: perf record -a ${stacks:+-g }$(printf -- '-e %s ' $events)-- sleep 10"
		# shellcheck disable=SC2086
		echo "$name: or: trace-cmd record ${stacks:+-T }$(printf -- '-e %s ' $events)sleep 10"
	fi
	[ -z "$profile" ] || echo "$name: to record: perf record -a $profile -- sleep 10"
	[ -z "$record" ] || echo "$name: to record: $record"
}

# The worst of the lines "FILTER STATUS". A filter whose reader went away (141) is to blame only if
# nothing else went wrong.
worst() {
	awk '$2 == 141 { pipe = 1; next } $2 > max { max = $2 } END { print max ? max : pipe ? 141 : 0 }'
}

# The options of one letter that come first; $taken: how many words they are, $more: others follow.
take_letters() {
	more=
	OPTIND=1
	while [ -z "$more" ] && getopts ":h-:$letters" letter; do
		case $letter in
		h)
			help
			exit 0
			;;
		-) more=yes ;;
		t) time=$OPTARG ;;
		e) events=$OPTARG event=$OPTARG ;;
		f) field=$OPTARG ;;
		s) stacks=yes ;;
		i) interval=$OPTARG ;;
		:) bad_usage "option -$OPTARG needs an argument" ;;
		*) bad_usage "there is no option -$OPTARG" ;;
		esac
	done
	taken=$((OPTIND - 1))
	# The long option has still to be taken.
	[ -z "$more" ] || taken=$((taken - 1))
}

main() {
	case ${1:-} in
	--help)
		help
		exit 0
		;;
	esac
	# Options of both kinds, in any order.
	more=yes
	while [ -n "$more" ]; do
		take_symbols "$@"
		shift "$taken"
		case ${1-} in --?*) bad_usage "there is no option $1" ;; esac
		take_letters "$@"
		shift "$taken"
	done
	live=
	seconds=
	operand=
	# Without SECONDS and FILE, options for the last filter come after "--".
	case ${1--x} in
	-?*)
		can_record || bad_usage 'what to read is missing'
		live=yes
		;;
	*)
		operand=$1
		shift
		;;
	esac
	case $letters in *e:*) [ -n "${event:-}" ] || bad_usage 'which event? -e EVENT' ;; esac
	case $letters in *f:*) [ -n "${field:-}" ] || bad_usage 'which field? -f FIELD' ;; esac
	# For copies of stacks the buffers are large already.
	case $graph in *dwarf*) pages= ;; esac
	options=$*
	case $operand in
	'' | . | *.*.* | *[!0-9.]*) ;;
	*) live=yes seconds=$operand ;;
	esac
	case $graph in
	'') ;;
	*)
		[ -n "$stacks$profile" ] || bad_usage "--call-graph goes with -s"
		[ -n "$live" ] || bad_usage "--call-graph is for recording, not for a file"
		;;
	esac
	case $interval in
	'') ;;
	*[!0-9.]*) set -- --every "$interval" "$@" ;;
	*) set -- --every "${interval}s" "$@" ;;
	esac
	if [ -n "$live" ] && [ -z "$events$profile" ]; then
		echo "$name: pcap-perf cannot record this; use: $record" >&2
		exit 2
	fi
	find_filters
	trap : INT
	exec 4>&1
	statuses=$(
		trap : INT
		exec 3>&1 >&4
		pipe "$@"
	)
	exec 4>&-
	status=$(echo "$statuses" | worst)
	# The last stage alone has failed: the recording is whole, but has nothing for it.
	if [ "$status" = 1 ] && ! echo "$statuses" | grep -q '^pdecode [^0]'; then
		how_to_record >&2
	fi
	exit "$status"
}

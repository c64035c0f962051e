# What the recipes have in common; sourced by each of them, after it has set
#
#	purpose	one line: the question that it answers
#	events	the events that it needs, with blanks between them
#	more	events that it needs, too, but which older kernels do not have: they are left out there
#	last	the filter that prints the result: it gets its long options, and all after the operand
#	letters	options of its own, as getopts has them: t: (time), e: (event), f: (field), and of those
#		that print with `table`: p: (process), n: (name), x (failed; $failing says what for)
#	own	options that the tool of bcc has and no other recipe, a line each: "L:PORTS what it does", or "e what
#		it does" without an argument; their values are own_L (own_e=yes), for awk ENVIRON["own_L"]
#	probes	lines, definitions of pprobe: probes of the C library that are made for the recording
#		(pcap-perf --probe), if that is allowed; what they are for is in
#	told	one or two words: what is missing without them
#	kernel_tells	yes if a probe of the kernel, lib_path, tells paths in their place, where the kernel has
#		such: at the return of the function that has copied the path, since at the beginning of a call the
#		path may not be in memory
#	symbols	yes if functions are found by psym (stage psym is symbolize): it takes psym's options
#		that say where symbols are
#	apart	pairs of those without a common meaning, "cs"
#	stacks	yes if call chains are recorded, too; -s sets it; --call-graph says how
#	record	how to record, where pcap-perf cannot
#	tracer	the tracer of ftrace that records the functions of -e, which are patterns then, where the kernel
#		has it (pcap-ftrace -p); what they are for it is in
#	tracer_word	-l, functions, or -g, functions with what they call
#	pages	how large the buffer of each CPU is for events that come thick (pcap-perf -m)
#	tables	yes if the result is tables of phist or plat: -i writes them every so often
#	names	yes if files get their names from where they were opened (see slow_files)
#	clock	an event that comes every so often, for rows of periods without others
#	profile	in the place of events: how pcap-perf samples
#	probing	yes if it makes probes: add_probes adds them (add_probe DEFINITION), for each
#		definition of -e in $1 if letters has e:, of FILE (letter b:) or of what runs as PID (P:)
#	patterns	yes if an operand that is no file and no number is what -e would say: funccount 'vfs_*'
#
# Then it defines pipe, of stages (stage FILTER [ARG]..., the first one decode), and ends with
# main "$@". The exit status is the worst of all stages.

name=${0##*/}
here=${here:-${0%/*}}
letters=${letters:-}
own=${own:-}
# No values from the environment.
for own_one in $(printf '%s\n' "$own" | sed -n 's/^\([A-Za-z0-9]\)[: ].*/own_\1/p'); do unset "$own_one"; done
own_letters=$(printf '%s\n' "$own" | sed -n 's/^\([A-Za-z0-9]\)\(:\{0,1\}\).*/\1\2/p' | tr -d '\n')
apart=${apart:-}
stacks=${stacks:-}
symbols=${symbols:-}
record=${record:-}
pages=${pages:-}
tracer=${tracer:-}
tables=${tables:-}
profile=${profile:-}
clock=${clock:-}
names=${names:-}
open_events='syscalls:sys_enter_openat syscalls:sys_exit_openat syscalls:sys_enter_open syscalls:sys_exit_open syscalls:sys_enter_creat syscalls:sys_exit_creat syscalls:sys_enter_openat2 syscalls:sys_exit_openat2'
open_probes='
lib_open=open path=+0(%di):string
lib_openat=openat path=+0(%si):string
lib_open_nocancel=__open64_nocancel path=+0(%di):string
lib_openat_nocancel=__openat64_nocancel path=+0(%si):string'
[ -z "$names" ] || {
	more="$more $open_events syscalls:sys_enter_close syscalls:sys_enter_dup syscalls:sys_exit_dup syscalls:sys_enter_dup2 syscalls:sys_exit_dup2 syscalls:sys_enter_dup3 syscalls:sys_exit_dup3 syscalls:sys_enter_fcntl syscalls:sys_exit_fcntl sched:sched_process_fork"
	probes=$open_probes
	kernel_tells=yes
	told='paths of files'
}
probes=${probes:-}
kernel_tells=${kernel_tells:-}
more=${more:-}
told=${told:-}
failing=${failing:-only failures}
failed=
only_pid=
only_name=
lib_words=
probing=${probing:-}
patterns=${patterns:-}
probe_words=
event_words=
wanted=
file=
pid=
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
	[ -z "$record" ] || [ -n "$events$probing" ]
}

usage() {
	can=
	case $letters in *t:*) can="$can [-t TIME]" ;; esac
	case $letters in *b:*) can="$can [-b FILE] [-P PID]" ;; esac
	case $letters$probing$patterns in *yesyes) can="$can [-e DEFINITION]" ;; *E:*yes) can="$can -e START [-E END]" ;; *e:*yes) can="$can -e DEFINITION" ;; *e:*) can="$can -e EVENT" ;; esac
	case $letters in *f:*) can="$can -f FIELD" ;; esac
	case $letters in *p:*) can="$can [-p PID]" ;; esac
	case $letters in *n:*) can="$can [-n NAME]" ;; esac
	case $letters in *x*) can="$can [-x]" ;; esac
	case $letters in *a*) can="$can [-a]" ;; esac
	case $letters in *s*) can="$can [-s]" ;; esac
	can="$can$(printf '%s\n' "$own" | sed -n 's/^\([A-Za-z0-9]\) .*/ [-\1]/p; s/^\([A-Za-z0-9]\):\([^ ]*\) .*/ [-\1 \2]/p' | tr -d '\n')"
	! can_record || can="$can [-d SECONDS]"
	case $letters in *i:*) ! can_record || can="$can [-i SECONDS]" ;; esac
	! can_walk || can="$can [--call-graph HOW]"
	[ -z "$symbols" ] || can="$can [--symfs DIR]..."
	if can_record; then
		echo "usage: $name$can ${patterns:+[PATTERN] }[SECONDS|FILE|-] [OPTION]..."
	else
		echo "usage: $name$can FILE|- [OPTION]..."
	fi
}

help() {
	usage
	echo "$purpose"
	echo
	case $letters in *t:*) echo "  -t TIME     only what took TIME or longer (${time:-})" ;; esac
	case $letters in *b:*)
		echo "  -b FILE     make probes in this program or library"
		case $letters in *p:*) also= ;; *) also='; also -p' ;; esac
		echo "  -P PID      record this process, and make probes in its program, or in FILE as it sees it$also"
		;;
	esac
	case $letters$probing in
	*e:*yes) echo "  -e DEFINITION  ${define:-what to probe, as in pprobe}; may be repeated" ;;
	*e:*) echo "  -e EVENT    this event; it may be a shell pattern in a recording" ;;
	esac
	case $letters in *E:*) echo "  -E DEFINITION  the event that ends it" ;; esac
	case $letters in *f:*) echo "  -f FIELD    this field or expression" ;; esac
	case $letters in *p:*) echo "  -p PID      only this process" ;; esac
	case $letters in *n:*) echo "  -n NAME     only threads that have NAME in their name" ;; esac
	case $letters in *x*) echo "  -x          $failing" ;; esac
	case $letters in *a*) echo "  -a          ${each:-}" ;; esac
	case $letters in *s*) echo "  -s          ${folded:-}" ;; esac
	printf '%s\n' "$own" | awk '/^[A-Za-z0-9] / { text = $0; sub(/^. /, "", text); printf "  -%s          %s\n", $1, text }
		/^[A-Za-z0-9]:/ {
			text = $0
			sub(/^[^ ]* /, "", text)
			printf "  -%-10s %s\n", substr($1, 1, 1) " " substr($1, 3), text
		}'
	! can_walk || {
		echo "  --call-graph auto|fp|dwarf[,SIZE]|lbr"
		echo "              how call chains are recorded; auto (the default): correct ones at a bounded cost;"
		echo "              dwarf: deeper ones, at the cost of SIZE bytes for each event (dwarf,8192)"
	}
	[ -z "$symbols" ] || {
		echo "  --kallsyms FILE, --vmlinux FILE, --symfs DIR, --debug-dir DIR, --debuginfod[=SECONDS],"
		echo "  --guest-kallsyms FILE, --guest-vmlinux FILE, --trust-host"
		echo "              where symbols are: passed to psym"
	}
	echo "  -h, --help  print this and exit"
	case $letters in *i:*) echo "  -i SECONDS  print a table every SECONDS${interval:+ ($interval)}, and the sum at the end" ;; esac
	! can_record || {
		echo "  SECONDS     record this machine for this long, like -d; without it and FILE: until Control-C"
	}
	[ -z "$patterns" ] || {
		echo "  PATTERN     as -e PATTERN"
	}
	echo "  FILE        a recording of perf, trace-cmd or pcap-perf, or an event stream; -: stdin"
	echo "  OPTION      passed to $last; long ones also before SECONDS and FILE"
	[ -z "$events" ] || echo "events: $events${more:+ $more}"
	[ -z "$probes" ] || {
		echo "probes, for $told (man pprobe):"
		echo "$probes" | sed '/^$/d; s/^/  /'
	}
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
	case "$filter $* " in "pfilter "*" -t "*" --json "*)
		# The recipe's own form is text, -t -F FIELDS.
		words=$#
		while [ "$words" -gt 0 ]; do
			case $1 in
			-t) ;;
			-F)
				shift
				words=$((words - 1))
				;;
			*) set -- "$@" "$1" ;;
			esac
			shift
			words=$((words - 1))
		done
		;;
	esac
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

# What the rules of tables can use. A row is printed by row(TEXT), and if its process and thread name are
# those of -p and -n by row(TEXT, PID, NAME).
functions='
	BEGIN {
		split("EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY " \
			"EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK " \
			"EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP", errors, " ")
		split("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT " \
			"STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS", signals, " ")
		for (digit = 0; digit < 256; digit++) {
			byte[sprintf("0x%x", digit)] = sprintf("%c", digit)
			low[sprintf("%c", digit)] = digit
		}
	}
	# The value of an option of the recipe, "" without.
	function own_of(letter) { return ENVIRON["own_" letter] }
	function in_list(list, item) { return index("," list ",", "," item ",") > 0 }
	# A connection that -L, -D, -4 and -6 ask for.
	function connection_wanted(port, other_port, version) {
		return (own_of("L") == "" || in_list(own_of("L"), port)) && (own_of("D") == "" || in_list(own_of("D"), other_port)) &&
			(own_of("P") == "" || in_list(own_of("P"), given_side == "L" ? port : other_port)) &&
			(own_of("4") == "" || version == 4) && (own_of("6") == "" || version == 6)
	}
	function wanted(from, whose) {
		return from == "" || ((only_pid == "" || from == only_pid) && (only_name == "" || index(whose, only_name)))
	}
	function row(s, from, whose) {
		if (!wanted(from, whose))
			return
		if (!rows++)
			print header
		print s
		if (live)
			fflush()
	}
	# A hexadecimal number of 32 or 64 bits, with its sign.
	function number(hex,   i, n) {
		if (hex !~ /^0x/)
			return hex
		sub(/^0x/, "", hex)
		for (i = length(hex) > 7 ? length(hex) - 6 : 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return length(hex) >= 8 && hex ~ /^f/ ? n - 268435456 : n + 0
	}
	# What a call returned: the names of errors.
	function result(n) {
		n = number(n)
		return n < 0 && -n in errors ? errors[-n] : n
	}
	# Of process PID its parent: known by a fork, or of what runs still; "-" without.
	function parent_of(pid,   line, file) {
		if (pid in parent)
			return parent[pid]
		if (!live)
			return "-"
		file = "/proc/" pid "/stat"
		if ((getline line <file) <= 0)
			line = ""
		close(file)
		sub(/^.*\) [^ ]* /, "", line)
		sub(/ .*/, "", line)
		return line == "" ? "-" : line
	}
'

# Lines of pfilter -t as a table: the rules of awk in $2 print the rows. They have comm, pid, tid, time, event
# (without its system), text, value(NAME), what is after "NAME=" or "NAME: " in it, quoted(NAME), a text in
# quotes, and bytes(NAME), an array of bytes as the text it is. Rules in $3 see all lines, those of stacks, too.
# With options for pfilter, its lines stay as they are.
table() {
	trap : INT
	if [ -n "$options" ]; then
		lines
		return
	fi
	rc=0
	LC_ALL=C promptly -v header="$1" -v failed="$failed" -v only_pid="$only_pid" -v only_name="$only_name" -v each_one="${each_one:-}" -v interval="$interval" "$functions"'
		function value(name,   s) {
			s = " " text
			if (!match(s, "[ ,]" name "(=|: *)"))
				return "?"
			s = substr(s, RSTART + RLENGTH)
			sub(/[ ,].*/, "", s)
			return s
		}
		function quoted(name,   s) {
			s = " " text
			if (!match(s, " " name "=\""))
				return ""
			s = substr(s, RSTART + RLENGTH)
			# The last one, or one that a further field follows.
			if (match(s, /" [a-z0-9_]+=/))
				s = substr(s, 1, RSTART - 1)
			sub(/"$/, "", s)
			return s
		}
		function bytes(name,   s, n, i, b) {
			s = " " text
			if (!match(s, " " name "=[{]"))
				return ""
			s = substr(s, RSTART + RLENGTH)
			sub(/[}].*/, "", s)
			n = split(s, b, ",")
			s = ""
			for (i = 1; i <= n && b[i] != "0x0"; i++)
				s = s (b[i] in byte && byte[b[i]] !~ /[[:cntrl:]]/ ? byte[b[i]] : "?")
			return i > n && n ? s "..." : s
		}
		# Addresses of IPv4 as such, of IPv6 as theirs.
		function address(side) {
			return value("family") ~ /6$/ ? value(side "v6") : value(side)
		}
		'"${3-}"'
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
			# Where a probe is.
			if (event ~ /^lib_/)
				sub(/^\([0-9a-f]+\) */, "", text)
		}
		# The stack of the event before.
		event ~ /^(kernel|user)_stack$/ { next }
		'"$2"'
		END { exit rows == 0 }' 3>&- 4>&- || rc=$?
	echo "table $rc" >&3
}

# Lines of pfilter -j as a table, for rules that need fields which the text does not have. They have comm, pid,
# tid, time and event as those of table; value(NAME) is the field, and address(SIDE) that of an IP packet.
table_of_fields() {
	trap : INT
	if [ -n "$options" ]; then
		lines
		return
	fi
	rc=0
	LC_ALL=C promptly -v header="$1" -v failed="$failed" -v only_pid="$only_pid" -v only_name="$only_name" "$functions"'
		function of(s, name) {
			if (!match(s, "\"" name "\":"))
				return "?"
			s = substr(s, RSTART + RLENGTH)
			if (s ~ /^\[/) {
				sub(/\].*/, "", s)
				return substr(s, 2)
			}
			if (s ~ /^"/) {
				match(s, /^"([^"\\]|\\.)*"/)
				return substr(s, 2, RLENGTH - 2)
			}
			sub(/[,}].*/, "", s)
			return s
		}
		function value(name) { return of(fields, name) }
		# The longest of the groups of zeros is "::".
		function address(side,   b, i, n, s, group, run, best, from) {
			if (value("family") != 10) {
				s = value(side)
				gsub(/,/, ".", s)
				return s
			}
			split(value(side "_v6"), b, ",")
			for (i = 1; i <= 8; i++)
				group[i] = sprintf("%x", b[2 * i - 1] * 256 + b[2 * i])
			if (group[6] == "ffff" && (group[1] group[2] group[3] group[4] group[5]) == "00000")
				return "::ffff:" b[13] "." b[14] "." b[15] "." b[16]
			for (i = 1; i <= 8; i++) {
				run = group[i] == "0" ? run + 1 : 0
				if (run > best) {
					best = run
					from = i - run + 1
				}
			}
			for (i = 1; i <= 8; i++)
				if (best > 1 && i >= from && i < from + best)
					s = s (i == from ? "::" : "")
				else
					s = s (s == "" || s ~ /:$/ ? "" : ":") group[i]
			return s
		}
		!/^\{"type":"sample"/ || !(i = index($0, "\"fields\":{")) { next }
		{
			fields = substr($0, i)
			start = substr($0, 1, i)
			event = of(start, "event")
			sub(/.*:/, "", event)
			comm = of(start, "comm")
			pid = of(start, "pid")
			tid = of(start, "tid")
			ns = of(start, "time")
			while (length(ns) < 10)
				ns = "0" ns
			time = substr(ns, 1, length(ns) - 9) "." substr(ns, length(ns) - 8, 6)
		}
		'"$2"'
		END { exit rows == 0 }' 3>&- 4>&- || rc=$?
	echo "table $rc" >&3
}

# The expression for what tells which files are open, for slow_files; its events and probes are in open_events and
# open_probes.
# shellcheck disable=SC2034
opens='syscalls/sys_*_open, syscalls/sys_*_openat, syscalls/sys_*_openat2, syscalls/sys_*_creat, syscalls/sys_*_dup, syscalls/sys_*_dup2, syscalls/sys_*_dup3, syscalls/sys_*_fcntl, syscalls/sys_enter_close, sched_process_fork, lib_open*, lib_path, file_open, file_read, file_write:'

# Reads and writes of files that took $time or longer, as a table: the rules of awk in $1 are for other events,
# and define $2, a condition on dev[tid], the device of the file as far as the call touched the page cache. Which
# file it was is asked of the program while it runs, or known from the inode. With $3 also the calls that opened a
# file on a device of the array that $3 names.
slow_files() {
	case $time in
	*ns) least=${time%ns} unit=1000000 ;;
	*us) least=${time%us} unit=1000 ;;
	*ms) least=${time%ms} unit=1 ;;
	*s) least=${time%s} unit=0.001 ;;
	*) least=$time unit=1000000 ;;
	esac
	case $least in
	'' | *[!0-9.]* | *.*.*) bad_usage "not a time: $time" ;;
	esac
	table '          time     pid comm             T         bytes       offset   latency/ms file' '
		BEGIN {
			least = '"$least / $unit"'
			all = own_of("a") != ""
		}
		# The key of path_of: a process has what its parent had, until it opens something itself.
		function opened_as(fd,   whose, i) {
			whose = pid
			for (i = 0; i < 64 && !((whose " " fd) in path_of) && !((whose " " fd) in closed) && whose in parent; i++)
				whose = parent[whose]
			return whose " " fd
		}
		function same_name(one, other) {
			sub(/.*\//, "", one)
			sub(/.*\//, "", other)
			return one == other
		}
		function close_file(fd) {
			delete path_of[pid " " fd]
			delete known[pid " " fd]
			delete called[pid " " fd]
			if (pid in parent)
				closed[pid " " fd] = 1
		}
		# The file that a process has open, if that can be asked; else its inode. Where the inode is known, the
		# number may have been given to another file meanwhile.
		function file_of(fd,   cmd, inode, path) {
			if (live && fd != "") {
				cmd = "cd /proc/" pid "/fd 2>/dev/null && stat -L -c %i " fd " 2>/dev/null && readlink " fd
				inode = path = ""
				if ((cmd | getline inode) > 0)
					cmd | getline path
				close(cmd)
				if (path != "" && (ino[tid] == "" ? !(opened_as(fd) in path_of) || same_name(path, path_of[opened_as(fd)]) : ino[tid] == inode))
					return path
			}
			if (opened_as(fd) in path_of)
				return path_of[opened_as(fd)]
			# An open that cuts the file off, or what had this inode before.
			if (fd == "" && tid in opening && opening[tid] != "")
				return opening[tid]
			if (base[tid] != "")
				return base[tid]
			if (ino[tid] != "")
				return (dev[tid] " " ino[tid]) in name_of ? name_of[dev[tid] " " ino[tid]] : "inode " ino[tid] " of " dev[tid]
			return fd == "" ? "-" : "fd " fd
		}
		function begin(what) {
			at[tid] = time
			call[tid] = what
			dev[tid] = ino[tid] = offset[tid] = base[tid] = ""
		}
		# What is neither pipe, socket nor terminal. Each descriptor is asked for once, and again for a row.
		function is_file(fd, again,   key) {
			key = pid " " fd
			if (all) {
				file = again ? file_of(fd) : ""
				return 1
			}
			if (opened_as(fd) in path_of) {
				file = again ? file_of(fd) : path_of[opened_as(fd)]
				return path_of[opened_as(fd)] !~ /^\/dev\/(pts|tty|null|zero)/
			}
			if (again || !(key in known)) {
				file = file_of(fd)
				known[key] = file !~ /^[a-z_]+:|^\/dev\/(pts|tty|null|zero)/
				called[key] = file
			} else
				file = called[key]
			return known[key] || ino[tid] != ""
		}
		function end(type, count, fd) {
			ms = (time - at[tid]) * 1000
			if (wanted(pid, comm) && is_file(fd, ms >= least)) {
				# Of what has ended before it could be asked: most often it was a pipe.
				if (live && !all && file ~ /^fd /) {
					unknown += ms >= least
					delete at[tid]
					return
				}
				if (ino[tid] != "" && file !~ /^(inode|fd|-)/)
					name_of[dev[tid] " " ino[tid]] = file
				operations++
				longest = ms > longest ? ms : longest
				nameless += ms >= least && file ~ /^(inode |fd |-$)/
				if (ms >= least)
					row(sprintf("%14s %7s %-16s %-8s %6s %12s %12.3f %s", at[tid], pid, comm, type, count,
						offset[tid] == "" ? "-" : offset[tid], ms, file), pid, comm)
			}
			delete at[tid]
		}
		# The device of a file that is open, as events have it; "-" if it is no regular file (S_IFREG, 8).
		function device_of(fd,   cmd, said, n) {
			said = ""
			cmd = "stat -L -c %f,%d /proc/" pid "/fd/" fd " 2>/dev/null"
			cmd | getline said
			close(cmd)
			n = substr(said, index(said, ",") + 1)
			return said !~ /^8/ ? (said == "" ? "" : "-") : int(n / 256) % 4096 "," n % 256 + int(n / 1048576) * 256
		}
		function opened(fd,   ms) {
			ms = (time - open_at[tid]) * 1000
			if (ms < least || !wanted(pid, comm))
				return
			if (open_dev[tid] == "" && live)
				open_dev[tid] = device_of(fd)
			unknown_opens += open_dev[tid] == "" && (live || !told_opens)
			if (!(open_dev[tid] in '"${3:-none}"'))
				return
			operations++
			longest = ms > longest ? ms : longest
			row(sprintf("%14s %7s %-16s %-8s %6s %12s %12.3f %s", open_at[tid], pid, comm, "O", 0, 0, ms,
				opening[tid] != "" ? opening[tid] : open_base[tid] != "" ? open_base[tid] : "-"), pid, comm)
			nameless += opening[tid] == "" && open_base[tid] == ""
		}
		function touched(device, inode, from) {
			sub(/:/, ",", device)
			if (dev[tid] == "") {
				dev[tid] = device
				ino[tid] = inode
			}
			if (offset[tid] == "")
				offset[tid] = from
		}
		function number16(hex,   i, n) {
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		# What was opened: paths are told by the kernel or probes, see opensnoop.
		event == "sched_process_fork" { if (value("child_pid") != pid) parent[value("child_pid")] = pid }
		event == "lib_path" && tid in opening && quoted("path") != "" { opening[tid] = quoted("path") }
		event ~ /^lib_open/ && quoted("path") != "" { told[tid] = quoted("path") }
		event ~ /^sys_enter_(open|creat)/ {
			opening[tid] = match(text, /".*"/) ? substr(text, RSTART + 1, RLENGTH - 2) : tid in told ? told[tid] : ""
			delete told[tid]
			open_at[tid] = time
			open_dev[tid] = open_base[tid] = ""
		}
		event == "file_open" {
			told_opens = 1
			n = number(value("dev"))
			open_dev[tid] = int(n / 1048576) "," n % 1048576
			open_base[tid] = quoted("name")
			'"${3:-none}"'[open_dev[tid]] = 1
			next
		}
		event ~ /^sys_exit_(open|creat)/ && tid in opening {
			sub(/ .*/, "", text)
			n = number(text)
			if (n >= 0) {
				close_file(n)
				if (opening[tid] != "")
					path_of[pid " " n] = opening[tid]
				if ('"${3:+1}"' + 0)
					opened(n)
			}
			delete opening[tid]
		}
		event ~ /^sys_enter_(dup|fcntl)/ && (event !~ /fcntl/ || number(value("cmd")) == 0 || number(value("cmd")) == 1030) {
			copying[tid] = number(value(event ~ /dup[23]/ ? "oldfd" : event ~ /fcntl/ ? "fd" : "fildes"))
		}
		event ~ /^sys_exit_(dup|fcntl)/ && tid in copying {
			sub(/ .*/, "", text)
			n = number(text)
			name = opened_as(copying[tid])
			name = name in path_of ? path_of[name] : ""
			if (n >= 0 && n != copying[tid]) {
				close_file(n)
				if (name != "")
					path_of[pid " " n] = name
			}
			delete copying[tid]
		}
		event == "sys_enter_close" { close_file(number(value("fd"))) }
		event ~ /^(sched_process_fork|lib_.*|sys_(enter|exit)_(open.*|creat|close|dup.*|fcntl))$/ { next }
		# The kernel tells: what is no regular file (S_IFREG, 8) is left out.
		event ~ /^file_(read|write)$/ {
			if (tid in at && !all && int(number(value("mode")) / 4096) != 8)
				delete at[tid]
			else if (tid in at) {
				n = number(value("dev"))
				touched(int(n / 1048576) "," n % 1048576, value("ino"), "")
				base[tid] = quoted("name")
			}
			next
		}
		event ~ /^sys_enter_/ {
			begin(substr(event, 11))
			fd_of[tid] = number(value("fd"))
			if (event ~ /enter_p/) {
				s = value("pos")
				sub(/^0x/, "", s)
				offset[tid] = number16(s)
			}
			next
		}
		event == "mm_filemap_get_pages" && tid in at {
			split(value("ofs"), range, "-")
			touched(value("dev"), number16(value("ino")), range[1])
			next
		}
		event == "iomap_dio_rw_begin" && tid in at {
			s = value("pos")
			sub(/^0x/, "", s)
			numbers = text
			sub(/^dev /, "", numbers)
			sub(/ .*/, "", numbers)
			touched(numbers, number16(substr(word_of("ino"), 3)), number16(s))
			next
		}
		# "dev 8,1 ino 12 pos 0 len 5".
		function word_of(name,   n, w, i) {
			n = split(text, w, " ")
			for (i = 1; i < n; i++)
				if (w[i] == name)
					return w[i + 1]
			return ""
		}
		event ~ /^ext4_(da_)?write_begin$/ && tid in at { touched(word_of("dev"), word_of("ino"), word_of("pos")) }
		'"$1"'
		event ~ /^sys_exit_/ && tid in at && "sys_exit_" call[tid] == event {
			sub(/ .*/, "", text)
			if (number(text) > 0 && '"${2:-1}"')
				end(call[tid] ~ /read/ ? "R" : "W", size_of(text), fd_of[tid])
			delete at[tid]
		}
		function size_of(hex) {
			if (hex !~ /^0x/)
				return hex
			return number16(substr(hex, 3))
		}
		# Those that took less are a result, too.
		END {
			if (unknown)
				printf "'"$name: %d reads and writes that took $time"' or longer are left out: the programs ended before it was known of what file they were, or that it was a pipe\n", unknown >"/dev/stderr"
			why = live ? "it was closed before it was known where it is" : "no file_open in the recording says where it is; see perfpipe-recipes(7)"
			if (unknown_opens)
				printf "'"$name: %d calls that took $time"' or longer to open a file are left out: %s\n", unknown_opens, why >"/dev/stderr"
			why = live ? "the kernel has no probes, or not its types (BTF), and the program was gone" : "no probe in the recording reports it"
			if (nameless)
				printf "'"$name: rows without a file name: %d: "'%s\n", nameless, why >"/dev/stderr"
			if (!rows && operations) {
				printf "'"$name: none of %d took $time"' or longer; the longest %.3f ms\n", operations, longest >"/dev/stderr"
				exit 0
			}
		}'
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

# psym with options, and with those that say where symbols are.
symbolize() {
	eval "stage psym \"\$@\" $symbols_from"
}

# A probe to be recorded; without FILE and PID of the kernel.
add_probe() {
	if [ -n "$file$pid" ]; then
		probe_words="$probe_words --probe$(quote "$1")"
	else
		probe_words="$probe_words --kprobe$(quote "$1")"
	fi
}

# The words for pcap-perf by which it makes probes, in $probe_words.
collect_probes() {
	probe_words=
	if [ $# = 0 ]; then
		add_probes
	else
		for definition; do add_probes "$definition"; done
	fi
	[ -z "$file" ] || probe_words="-x$(quote "$file")$probe_words"
	if [ -n "$pid$only_pid" ]; then
		probe_words="-p ${pid:-$only_pid} $probe_words"
	else
		probe_words="-a $probe_words"
	fi
}

# The words for pcap-perf by which it records events, in $event_words.
collect_events() {
	event_words=-a
	case $letters$profile in *b:* | *-F*) [ -z "$only_pid" ] || event_words="-p $only_pid" ;; esac
	event_words="$event_words $profile"
	set -f
	for event_of in $events; do
		event_words="$event_words -e$(quote "$event_of")"
	done
	set +f
	[ -z "$clock" ] || event_words="$event_words -e$(quote "$clock")"
	event_words="$event_words $lib_words"
}

# Whether the functions of -e can be traced, without a probe for each.
has_tracer() {
	[ -n "$tracer" ] && [ -z "$file" ] && grep -qw "$tracer" /sys/kernel/tracing/available_tracers 2>/dev/null
}

# The words for pcap-ftrace by which it traces functions, in $function_words.
collect_functions() {
	function_words="-p $tracer"
	[ -z "$pid$only_pid" ] || function_words="$function_words -P ${pid:-$only_pid}"
	for definition; do
		function_words="$function_words ${tracer_word:--l}$(quote "$definition")"
	done
}

# The recording ends with this shell, also when it is killed.
decode() {
	if [ -n "$live" ] && has_tracer; then
		eval "collect_functions $wanted"
		eval "stage pcap-ftrace --while $$ $function_words"' ${seconds:+"$seconds"}' | stage pdecode
	elif [ -n "$live" ]; then
		if [ -n "$probing" ]; then
			eval "collect_probes $wanted"
			event_words="$event_words $profile"
		else
			collect_events
		fi
		eval "stage pcap-perf --while $$ $probe_words $event_words"' \
			${stacks:+-g} ${graph:+"$graph"} ${pages:+-m "$pages"} ${seconds:+"$seconds"}' | stage pdecode
	else
		stage pdecode -- "$operand"
	fi
}

# Of probes that are made now, all that is recorded; else the event. With -p, of that process.
chosen() {
	if [ -n "$live" ] && [ -n "$probing" ]; then
		stage pfilter --lenient ${only_pid:+--pid "$only_pid"} -e __probe_ip -e __probe_func
	else
		stage pfilter --lenient ${only_pid:+--pid "$only_pid"} "$event: "
	fi
}

# What is of the process of -p, and of -n.
of_pid() {
	if [ -n "$only_pid$only_name" ]; then
		stage pfilter ${only_pid:+--pid "$only_pid"} ${only_name:+--comm "*$only_name*"}
	else
		cat
	fi
}

# Adds the events that this kernel has.
add_more() {
	for event_of in $more; do
		for tracefs in /sys/kernel/tracing /sys/kernel/debug/tracing; do
			if [ -d "$tracefs/events/$(echo "$event_of" | tr : /)" ]; then
				events="$events $event_of"
				break
			fi
		done
	done
}

# Adds words for a probe of the C library, if pcap-perf can make it.
add_lib_probes() {
	words='-x libc.so.6'
	for definition; do
		words="$words --probe$(quote "$definition")"
	done
	eval "\"\${bin:+\$bin/}pcap-perf\" -q $words -o /dev/null -- true" >/dev/null 2>&1 || return
	lib_words="$lib_words $words"
}

# Words for the probe of the kernel that tells the paths of all calls. Where the compiler has made two functions of
# it, only the second does the work of all.
path_probe() {
	copied=getname_flags
	! grep -q ' getname_flags\.part\.0$' /proc/kallsyms 2>/dev/null || copied=getname_flags.part.0
	path_words="-a --kprobe$(quote "lib_path=$copied%return path=+0(+0(\$retval)):string")"
}

# Words for probes of the kernel that tell of what file each read and write is, by its own types, and each open.
file_probes() {
	words=
	for which in read write; do
		words="$words --kprobe$(quote "file_$which=vfs_$which mode=file->f_inode->i_mode dev=file->f_inode->i_sb->s_dev ino=file->f_inode->i_ino name=file->f_path.dentry->d_name.name:string")"
	done
	file_words=$words open_words=
	[ -z "${opens_by-}" ] || open_words=" --kprobe$(quote "file_open=$opens_by dev=inode->i_sb->s_dev name=filp->f_path.dentry->d_name.name:string")"
}

# Adds those of the kernel: most often all can be made, which is found out at once.
add_kernel_probes() {
	path_probe
	file_words= open_words=
	[ -z "$names" ] || file_probes
	words=$path_words$file_words$open_words
	! add_if_made || return 0
	words=$path_words
	add_if_made || return
	[ -n "$file_words" ] || return 0
	words="-a$file_words"
	add_if_made || return 0
	[ -n "$open_words" ] || return 0
	words="-a$open_words"
	add_if_made || return 0
}

# The words, if their probes can be made.
add_if_made() {
	eval "\"\${bin:+\$bin/}pcap-perf\" -q $words -o /dev/null -- true" >/dev/null 2>&1 || return
	lib_words="$lib_words $words"
}

# The probes that are made for the recording, in lib_words: all at once, or those that can be made. The
# registers in their definitions are those of one machine.
choose_probes() {
	[ -n "$probes" ] || return 0
	[ -z "$kernel_tells" ] || ! add_kernel_probes || return 0
	old=$IFS
	IFS='
'
	# shellcheck disable=SC2086
	set -f -- $probes
	set +f
	IFS=$old
	if [ "$(uname -m)" = x86_64 ] && ! add_lib_probes "$@"; then
		for definition; do
			add_lib_probes "$definition" || :
		done
	fi
	[ -n "$lib_words" ] ||
		echo "$name: no probes could be made: $told will be missing" >&2
}

how_to_record() {
	if [ -n "$live" ]; then
		echo "$name: nothing to show: there were no ${events:+events }${events:-samples}${seconds:+ in $seconds s}, or none that match"
		return
	fi
	echo "$name: nothing to show, or not all of it: see above"
	if [ -n "$events" ]; then
		echo "$name: it needs the events $events${field:+, and their field $field}"
		# shellcheck disable=SC2086
		echo "$name: to record them: perf record -a ${stacks:+-g }$(printf -- '-e %s ' $events)-- sleep 10"
		# shellcheck disable=SC2086
		echo "$name: or: trace-cmd record ${stacks:+-T }$(printf -- '-e %s ' $events)sleep 10"
	fi
	case $profile in
	'') ;;
	*--wall*)
		echo "$name: to record: pcap-perf -a --wall -o wall.data 10"
		echo "$name: or: perf record -a -g -e cpu-clock -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup_new -- sleep 10"
		;;
	*--mem*)
		echo "$name: to record: perf c2c record -a -- sleep 10"
		echo "$name: or: pcap-perf -a $profile -o mem.data 10"
		;;
	*) echo "$name: to record: perf record -a $profile -- sleep 10" ;;
	esac
	[ -z "$record" ] || echo "$name: to record: $record"
}

# The worst of the lines "FILTER STATUS". A filter whose reader went away (141) is to blame only if
# nothing else went wrong.
worst() {
	awk '$2 == 141 { pipe = 1; next } $2 > max { max = $2 } END { print max ? max : pipe ? 141 : 0 }'
}

# What users of bcc's tools type from habit, and what does the same. Returns if it is none of these.
habit() {
	case $1,$last,$letters in
	pid,*P:*) bad_usage "no option $2 here: -p PID records one process" ;;
	pid,*p:*) bad_usage "no option $2 here: -p PID" ;;
	p,* | pid,* | t,* | tid,* | L,*)
		bad_usage "no option $2 here: pcap-perf -p PID (or -t TID) ${stacks:+-g }${events:+-e ... }-o FILE 10 records one; $name FILE reads that"
		;;
	c,* | count,pfilter,* | count,plat,* | count,phist,* | M,pfilter,* | max-events,pfilter,*) bad_usage "no option $2 here: | head -n N" ;;
	T,pfilter,*p:* | timestamp,pfilter,*p:*) bad_usage "no option $2 here: times are always shown" ;;
	T,*i:* | timestamp,*i:* | interval,*i:*) bad_usage "no option $2 here: -i SECONDS prints a table for each period" ;;
	duration,*) bad_usage "no option $2 here: -d SECONDS" ;;
	m,plat,* | u,plat,* | milliseconds,plat,* | microseconds,plat,*)
		bad_usage "no option $2 here: times are shown in a suitable unit"
		;;
	j,pfold,*) ;;
	j,*) bad_usage "no option $2 here: --json" ;;
	f,pfold,* | folded,pfold,*) bad_usage "no option $2 here: folded text is always printed" ;;
	F,* | frequency,*) [ -z "$profile" ] || bad_usage "no option $2 here: pcap-perf -F HZ -ag 10 | $name -" ;;
	U,pfold,* | user-stacks-only,pfold,*) bad_usage "no option $2 here: pcap-perf --user-callchains records only these" ;;
	K,pfold,* | kernel-stacks-only,pfold,*) bad_usage "no option $2 here: pcap-perf --kernel-callchains records only these" ;;
	r,*e:* | regexp,*e:*) bad_usage "no option $2 here: -e takes a shell pattern" ;;
	[DPCQF],plat,* | [HC],phist,*) bad_usage "no option $2 here: --by KEYS ($last(1))" ;;
	esac
}

# A long option of the last filter, in $passed; $words: how many words it is. Its help says whether it has a value.
take_passed() {
	find_filters
	words=1
	case $("${bin:+$bin/}${last%%,*}" --help | sed -n "s/^ *\(-., \)\{0,1\}${1%%=*}\(\[=\|[= ]\|\$\)\([^ ]*\).*/is\2\3/p") in
	'') bad_usage "there is no option ${1%%=*}" ;;
	'is[='* | 'is ' | is) ;;
	*)
		case $1 in
		*=*) ;;
		*)
			[ $# -gt 1 ] || bad_usage "option $1 needs an argument"
			passed="$passed$(quote "$1=$2")"
			words=2
			return
			;;
		esac
		;;
	esac
	passed="$passed$(quote "$1")"
}

# Takes an option of the recipe's own.
take_own() {
	case $own_letters in
	*"$letter":*) ;;
	*) OPTARG=yes ;;
	esac
	case $(printf '%s\n' "$own" | sed -n "s/^$letter:\([^ ]*\) .*/\1/p") in
	PORTS) case ,$OPTARG, in *,,* | *[!0-9,]*) bad_usage "-$letter: '$OPTARG' is not a list of ports" ;; esac ;;
	FLAGS) case ,$OPTARG, in *,,* | *[!A-Z_,]*) bad_usage "-$letter: '$OPTARG' is not a list of flags, such as O_WRONLY,O_CREAT" ;; esac ;;
	*) [ -n "$OPTARG" ] || bad_usage "-$letter: its argument is empty" ;;
	esac
	export "own_$letter=$OPTARG"
}

# What is to be recorded: as of -e, or in the words of bcc's tools: t:SYSTEM:EVENT, c:FUNCTION, FILE:FUNCTION,
# u:FILE:MARKER, p::FUNCTION, r::FUNCTION.
want() {
	event=$1
	case $1 in
	t:*:*) event=${1#t:} ;;
	u:*:*) of_file "${1#u:}" && event=%$event ;;
	usdt:*/*:*:*) of_file "${1#usdt:}" && event=%${file_of##*:}:$event ;;
	usdt:*/*:*) of_file "${1#usdt:}" && event=%$event ;;
	usdt:*) event=%${1#usdt:} ;;
	[pr]:?*:*) of_file "${1#?:}" ;;
	[pr]::*) event=${1#?::} ;;
	c:*) of_file "libc.so.6:${1#c:}" ;;
	*/*:*) of_file "$1" ;;
	esac
	case $1 in r:*:*) event=$event%return ;; esac
	wanted="$wanted$(quote "$event")"
	[ -n "$probing" ] || events=$event
}

# What ends it, in the same words.
want_end() {
	begun=$wanted
	first=${event-}
	recorded=$events
	want "$1"
	end=$event
	event=$first
	wanted=$begun
	events=$recorded
}

# FILE:EVENT
of_file() {
	event=${1##*:}
	file_of=${1%:*}
	case $file_of in */*:*) path=${file_of%:*} ;; *) path=$file_of ;; esac
	[ -z "$file" ] || [ "${file##*/}" = "${path##*/}" ] || bad_usage "one FILE at a time: $file or $path"
	file=${file:-$path}
}

# Whether an operand is one of those.
is_wanted() {
	case $patterns$1 in
	yes | yes-* | "$1") return 1 ;;
	yes*[!0-9.]*) [ ! -e "$1" ] ;;
	*) return 1 ;;
	esac
}

take_pid() {
	case $OPTARG in '' | *[!0-9]*) bad_usage "$1: '$OPTARG' is not a process id" ;; esac
	pid=$OPTARG
}

# The options of one letter that come first; $taken: how many words they are, $follow: others follow.
take_letters() {
	follow=
	OPTIND=1
	taking=$letters
	# -p is -P where it has no other meaning.
	case $letters in *p:*) ;; *P:*) taking=${taking}p: ;; esac
	! can_record || taking=${taking}d:
	taking=$taking$own_letters
	while [ -z "$follow" ] && getopts ":h-:$taking" letter; do
		case $letter in
		h)
			help
			exit 0
			;;
		-) follow=yes ;;
		[_$(printf '%s' "$own_letters" | tr -d :)]) take_own ;;
		t) time=$OPTARG ;;
		e) want "$OPTARG" ;;
		b) file=$OPTARG ;;
		P) take_pid "-P" ;;
		E) want_end "$OPTARG" ;;
		f) field=$OPTARG ;;
		s) stacks=yes ;;
		p)
			case $letters in
			*p:*) only_pid=$OPTARG ;;
			*) take_pid "-p" ;;
			esac
			;;
		n) only_name=$OPTARG ;;
		x) failed=yes ;;
		a) each_one=yes ;;
		d) seconds=$OPTARG ;;
		i) interval=$OPTARG ;;
		:) bad_usage "option -$OPTARG needs an argument" ;;
		*)
			habit "$OPTARG" "-$OPTARG"
			bad_usage "there is no option -$OPTARG"
			;;
		esac
	done
	taken=$((OPTIND - 1))
	# The long option has still to be taken.
	[ -z "$follow" ] || taken=$((taken - 1))
}

# An expression, a function or a second file where none is taken.
check_operands() {
	if [ "$operand" != - ] && [ ! -e "$operand" ]; then
		case $operand in
		*[!A-Za-z0-9_./-]*)
			case $letters in
			*e:*) bad_usage "there is no file '$operand'; -e says what to record" ;;
			*) bad_usage "there is no file '$operand'; expressions are for pfilter, between pdecode and $last" ;;
			esac
			;;
		esac
	fi
	case ${1--} in
	-*) ;;
	*) bad_usage "'$1' is not an option of $last; expressions are for pfilter, between pdecode and $last" ;;
	esac
}

# Whether -e means a function of the kernel, not an event: "vfs_read count", "tcp_*", "vfs_read".
is_function() {
	case $1 in
	*' '*) ;;
	*:*) return 1 ;;
	*[*?]* | *%return) ;;
	*) grep -q " [tTwW] $1\$" /proc/kallsyms 2>/dev/null ;;
	esac
}

# ---- spans: from an event -e to an event -E, with -k FIELD (own_k) of the same value ----

# The name of the event that a definition makes: "NAME=...", "%PROVIDER:MARKER ARG...", "FUNCTION%return".
event_of() {
	of=${1%% *}
	case $of in
	*=*) of=${of%%=*} ;;
	%*) of=${of##*[%:]} ;;
	*%return) of=${of%"%return"}__return ;;
	esac
	printf '%s\n' "$of"
}

# The names of markers and events that there are: of the program, or of the recording.
span_names() {
	if [ -n "$live" ]; then
		"${bin:+$bin/}pprobe" ${file:+-x "$file"} ${pid:+-p "$pid"} -U --tsv 2>/dev/null | cut -f 1-4 | tr '\t' '\n'
	elif [ "$operand" != - ]; then
		"${bin:+$bin/}pdecode" --list "$operand" 2>/dev/null | awk '{ print $NF }'
	fi
}

has_name() {
	echo "$there" | grep -q "\\(^\\|:\\)$1\$"
}

# A definition, in $marker as that of a marker if its name is that of one: also PROVIDER:NAME, and NAME with "-" as DTrace
# has it.
as_marker() {
	marker=$1
	word=${1%% *}
	called=$(echo "${word##*[%:]}" | sed 's/-/__/g')
	case $live$file$pid in yes?*) ;; *) return 0 ;; esac
	case $word in
	*"$called") ;;
	%*:*) marker=${word%:*}:$called${1#"$word"} ;;
	%*) marker=%$called${1#"$word"} ;;
	esac
	case $word in
	%* | *=*) ;;
	*:*)
		provider=${word%:*}
		! echo "$there" | grep -q "^${provider#sdt_}\$" || marker=%${provider#sdt_}:$called${1#"$word"}
		;;
	*-*) marker=$called${1#"$word"} ;;
	esac
}

# The two definitions, in $begin and $end: of a name that only begins alike, those that there are.
find_ends() {
	there=$(span_names)
	as_marker "$event"
	begin=$marker
	[ -z "$end" ] || {
		as_marker "$end"
		end=$marker
		return 0
	}
	word=${begin%% *}
	args=${begin#"$word"}
	for both in start/done begin/end entry/return entry/exit start/end enter/exit; do
		case ${word##*[%:]} in
		*__"${both%/*}") word=${word%__*} ;;
		esac
		if has_name "${word##*[%:]}__${both#*/}"; then
			end=${word}__${both#*/}
			# A function's own name is where it begins.
			! has_name "${word##*[%:]}__${both%/*}" || begin=${word}__${both%/*}$args
			return
		fi
	done
	case $word in
	%* | *:*) bad_usage "the event that ends it is not known: -E ${word%%__*}__..." ;;
	esac
	end=$word%return
}

add_span_probes() {
	for definition in "$begin" "$end"; do
		case $definition in
		%* | *[!A-Za-z0-9_:]*) add_probe "$definition" ;;
		*:*) event_words="$event_words -e$(quote "$definition")" ;;
		*) add_probe "$definition" ;;
		esac
	done
}

# Arguments of markers have no names. The one that --by names, beside what all samples have, is the first argument;
# one that may be a pointer is a text.
name_argument() {
	case $live${begin#%} in yes"$begin" | *' '*) return ;; esac
	for argument in $(printf '%s\n' "$options" | sed -n 's/.*--by[= ]//; T; s/ -.*//; s/[A-Za-z_0-9]*(//g; s/"[^"]*"//g; s/[^A-Za-z_0-9]/ /g; p'); do
		case $argument in
		[0-9]* | arg[0-9]* | *[A-Z]* | comm | pid | tid | cpu | event | kind | name | common_* | cgroup | container | nspid) ;;
		sym | dso | srcline | leaf | caller | site | stack | depth | source | args) ;;
		*)
			as=$("${bin:+$bin/}pprobe" ${file:+-x "$file"} ${pid:+-p "$pid"} -U --tsv 2>/dev/null |
				awk -F'\t' -v marker="${begin##*[%:]}" '$2 == marker { print $5 ~ /^8@/ ? ":string" : ""; exit }')
			begin="$begin $argument=arg1$as"
			echo "$name: $argument: the first argument of ${begin%% *}${as:+, as text}" >&2
			return
			;;
		esac
	done
}

# For prepare: what plat takes as -s and -e, in $span_begin and $span_end.
choose_ends() {
	find_ends
	name_argument
	span_begin=$(event_of "$begin")${own_k:+:$own_k}
	span_end=$(event_of "$end")${own_k:+:$own_k}
}

# For recipes that have something to find out once the options are known: they define it anew.
prepare() {
	:
}

main() {
	case ${1:-} in
	--help)
		help
		exit 0
		;;
	esac
	# Options of all kinds, in any order.
	follow=yes
	seconds=
	passed=
	while [ -n "$follow" ]; do
		take_symbols "$@"
		shift "$taken"
		case ${1-} in
		--?*)
			long=${1#--}
			habit "${long%%=*}" "$1"
			take_passed "$@"
			shift "$words"
			continue
			;;
		esac
		take_letters "$@"
		shift "$taken"
		if [ -z "$follow" ] && is_wanted "${1-}"; then
			want "$1"
			shift
			follow=yes
		fi
	done
	live=
	operand=
	# Without SECONDS and FILE, short options for the last filter come after "--".
	case ${1--x} in
	-?*)
		can_record || bad_usage 'the input is missing'
		live=yes
		;;
	*)
		operand=$1
		shift
		# What follows are options already: "--" says nothing more.
		[ "${1-}" != -- ] || shift
		check_operands "$@"
		;;
	esac
	eval "set -- $passed"' "$@"'
	case $seconds$only_pid in
	*.*.* | *[!0-9.]*) bad_usage "not a number: $seconds$only_pid" ;;
	esac
	for pair in $apart; do
		eval "[ -z \"\${own_${pair%?}-}\" ] || [ -z \"\${own_${pair#?}-}\" ]" || bad_usage "-${pair%?} and -${pair#?} exclude each other"
	done
	[ -z "$seconds" ] || [ -z "$operand" ] || bad_usage "-d is for recording: there is $operand"
	case $letters in *f:*) [ -n "${field:-}" ] || bad_usage 'which field? -f FIELD' ;; esac
	# For copies of stacks the buffers are large already.
	case $stacks$graph in yes | *dwarf* | *auto*) pages= ;; esac
	options=$*
	# How histograms are drawn, for recipes that show them: not in tables, nor in other forms.
	bars=--log2
	case " $options" in *' --fine'* | *' --linear'*) bars= ;; esac
	case " $options" in *' --tsv'* | *' --json'* | *' --emit'* | *' --timeline'* | *' --slower'* | *' --threads'*) bars= ;; esac
	case $operand in
	'' | . | *.*.* | *[!0-9.]*) ;;
	*) live=yes seconds=$operand ;;
	esac
	[ -z "$file$pid" ] || probing=yes
	case $letters in *e:*b:*) [ -z "$live" ] || ! is_function "${event:-:}" || probing=yes ;; esac
	case $letters in *e:*)
		if [ -z "$probing" ]; then
			[ -n "$wanted" ] || bad_usage 'which event? -e EVENT'
		else
			[ -z "$live" ] || [ -n "$wanted" ] || bad_usage 'which function? -e DEFINITION'
		fi
		;;
	esac
	case $graph in
	'') ;;
	*)
		[ -n "$stacks$profile" ] || bad_usage "--call-graph needs -s"
		[ -n "$live" ] || bad_usage "--call-graph is for recording, not for a file"
		;;
	esac
	case $interval in
	'') ;;
	*[!0-9.]*) set -- --every "$interval" "$@" ;;
	*) set -- --every "${interval}s" "$@" ;;
	esac
	if [ -n "$live" ] && [ -z "$events$profile$probing" ]; then
		echo "$name: pcap-perf cannot record this; use: $record" >&2
		exit 2
	fi
	find_filters
	trap : INT
	if [ -n "$live" ]; then
		add_more
		choose_probes
	fi
	prepare
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

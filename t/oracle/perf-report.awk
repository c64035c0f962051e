# The comparison of t/oracle/perf-report: rows of perf, then rows of preport, of one table:
# event, command, DSO, function, children, self, and the DSO and the function as they were called.
#
# A row that differs goes to the first kind whose condition holds; the kinds are listed in perf-report.
# Most of them state that two sets of rows, which the kind names, are the same samples under other
# names: then the sums of children and of self must be equal. What no kind takes is unexplained.

function abs(x) { return x < 0 ? -x : x }

# Equal as sums of N percentages that were rounded.
function near(a, b, n) { return abs(a - b) <= slack / 100 * (n < 1 ? 1 : sqrt(n)) + 0.0001 }

# How much more perf has.
function children(key) { return both ? all[key] - a2[key] : 0 }
function alone(key) { return self[key] - s2[key] }
function more(key) { return children(key) > 0 || alone(key) > 0 }

# Event, command, DSO and function of a row. The place is all but the function; of any command without
# EACH.
function part(key, i,	f) { split(key, f, "\t"); return f[i] }
function unnamed(key) { return part(key, 4) == "0x" }
function place(key, each) { return part(key, 1) "\t" (each ? part(key, 2) : "") "\t" part(key, 3) }

function claim(key, kind) {
	open[key] = 2
	kinds[kind]++
	if (verbose) tell(kind, key)
}

function tell(kind, key) {
	printf "  %s: perf %.2f %.2f, preport %.2f %.2f: %s\n", kind, all[key], self[key], a2[key], s2[key], key
}

# The set that a kind tries: it is of the kind if something is on both sides and the sums are equal.
function empty() { size = left = right = printed = sum = sum_alone = 0 }
function add(key) {
	if (abs(children(key)) < 0.0001 && abs(alone(key)) < 0.0001) return
	set[++size] = key
	sum += children(key)
	sum_alone += alone(key)
	printed += rows[key] + rows2[key]
	if (more(key)) left++
	else right++
}
function claim_equal(kind,	i) {
	if (!left || !right || !near(sum, 0, printed) || !near(sum_alone, 0, printed)) return 0
	for (i = 1; i <= size; i++) if (open[set[i]] == 1) claim(set[i], kind)
	return 1
}

# Where a sample is at an address without a name, perf has it twice: relative to the file for itself,
# and absolute in its stack. So children have what self has once too often.
function address(key) {
	if (!both || !unnamed(key) || part(key, 3) == "[unknown]" || near(self[key], 0, 1)) return
	if (near(children(key), 0, rows[key])) return
	all[key] -= self[key]
	if (!near(children(key), 0, rows[key]) || !near(alone(key), 0, rows[key])) return
	kinds["address"]++
	doubled[key]
}

# Functions of one name: perf has a row for each, preport one, where a stack with both counts once.
function twins(key) {
	if (unnamed(key) && part(key, 3) != "[unknown]") return
	if (both && rows[key] > 1 && near(self[key], s2[key], rows[key]) &&
		a2[key] >= most[key] - 0.01 && a2[key] <= all[key] + 0.01 * sqrt(rows[key]))
		claim(key, "twins")
}

# Threads without a name: the rows of :-1 and those of the commands that preport shows.
function exited(key,	j, k) {
	if (part(key, 2) != ":-1" || !more(key)) return
	empty()
	for (j = 1; j <= nkeys; j++) {
		k = keys[j]
		if (open[k] == 1 && more(k) && part(k, 2) != ":-1") continue
		if (place(k, 0) == place(key, 0) && part(k, 4) == part(key, 4)) add(k)
	}
	claim_equal("exited")
}

# Which rows of a place a kind has: those where perf has more, and those where preport has.
function theirs(kind, key) {
	if (kind == "no-file") return !unnamed(key) && (raw[key] in absent)
	if (kind == "sizes") return unnamed(key) && raw[key] ~ /^\[kernel\.vmlinux\]/
	if (kind == "module") return unnamed(key) && raw[key] ~ /^\[[^k]/ && !(raw[key] in absent)
	if (kind == "init") return unnamed(key) && raw[key] == "[unknown]"
	return kind == "plt" && (unnamed(key) || part(key, 4) == "@plt")
}
function ours(kind, key) {
	if (kind == "no-file") return unnamed(key)
	if (kind == "sizes") return !unnamed(key) && raw2[key] ~ /^\[kernel/
	if (kind == "module") return !unnamed(key) && raw2[key] ~ /^\[[^k]/
	if (kind == "init") return (part(key, 4) in init) && raw2[key] ~ /^\[kernel/
	return kind == "plt" && raw_sym[key] ~ /@plt$/ && raw_sym[key] !~ /^\*ABS\*/
}
function near_by(kind, a, b, each) {
	if (kind == "init") return part(a, 1) == part(b, 1) && part(a, 2) == part(b, 2)
	return place(a, each) == place(b, each)
}
function group(kind, key, each,	j, k) {
	if (!more(key) || !theirs(kind, key)) return
	empty()
	for (j = 1; j <= nkeys; j++) {
		k = keys[j]
		if (open[k] != 2 && near_by(kind, k, key, each) && (more(k) ? theirs(kind, k) : ours(kind, k)))
			add(k)
	}
	claim_equal(kind)
}

# What libunwind leaves at the end of a stack is no function.
function end(key) {
	if (part(key, 3) == "[unknown]" && raw_perf[key] ~ /^0xf+$/ && near(self[key], 0, 1) &&
		near(s2[key], 0, 1) && more(key))
		claim(key, "end")
}

# Inlined functions: psym --inline finds the same; or one that is called so by another of its names.
function inlined(key,	j, other, sym) {
	sym = part(key, 4)
	if (!both || !sub(/ \(inlined\)$/, "", sym) || self[key] >= 0.005) return
	if ((key in inner) && near(all[key], inner[key], 1)) {
		claim(key, "inlined")
		return
	}
	for (j = 1; j <= n && open[key] == 1; j++) {
		other = list[j]
		if (open[other] != 1 || more(other) || place(other, 1) != place(key, 1)) continue
		if (!((part(key, 3), sym, part(other, 4)) in same)) continue
		empty()
		add(key)
		add(other)
		claim_equal("alias")
	}
}

# An event without stacks: perf gives its samples the stack of the sample before.
function stale(key) {
	if (both && part(key, 1) ~ /call-graph=no/ && !(part(key, 1) in stacks) && more(key) &&
		near(self[key], s2[key], 1))
		claim(key, "stale")
}

# Addresses in mappings of data: perf tells whose, in preport they are in no file.
function data(key) {
	if (both && unnamed(key) && near(self[key], s2[key], 1) && outside[key] > 0 &&
		near(children(key), outside[key], rows[key]))
		claim(key, "data")
}

BEGIN {
	while ((getline line <missing) > 0) absent[line]
	while ((getline line <inits) > 0) init[line]
	while ((getline line <unmapped) > 0) {
		split(line, f, "\t")
		nowhere[f[1], f[2], "0x" f[3]]
	}
	while ((getline line <inline) > 0) {
		split(line, f, "\t")
		inner[f[1] "\t" f[2] "\t" f[3] "\t" f[4]] += f[5]
	}
	while ((getline line <aliases) > 0) {
		split(line, f, "\t")
		at = f[1] "\t" f[3]
		for (i = 1; i <= count[at]; i++) {
			same[f[1], f[2], called[at, i]]
			same[f[1], called[at, i], f[2]]
		}
		called[at, ++count[at]] = f[2]
	}
}
{
	key = $1 "\t" $2 "\t" $3 "\t" $4
	if (!(key in rows)) {
		keys[++nkeys] = key
		rows[key] = rows2[key] = all[key] = a2[key] = self[key] = s2[key] = 0
		most[key] = outside[key] = open[key] = 0
		raw[key] = raw2[key] = raw_sym[key] = ""
	}
}
FNR == NR {
	rows[key]++
	all[key] += $5
	self[key] += $6
	if ($5 > most[key]) most[key] = $5
	raw[key] = $7
	raw_perf[key] = $8
	if ($4 == "0x" && $3 != "[unknown]" && (($1, $2, $8) in nowhere)) outside[key] += $5
	next
}
{
	rows2[key]++
	a2[key] += $5
	s2[key] += $6
	raw2[key] = $7
	raw_sym[key] = $8
	if (abs($5 - $6) > 0.001) stacks[$1]
}
END {
	for (i = 1; i <= nkeys; i++) {
		key = keys[i]
		address(key)
		if (rows[key] && rows2[key])
			same_row = near(children(key), 0, rows[key]) && near(alone(key), 0, rows[key])
		else
			same_row = abs(children(key)) < 0.005 && abs(alone(key)) < 0.005
		if (same_row && rows[key] && !(key in doubled)) equal++
		if (same_row) continue
		list[++n] = key
		open[key] = 1
	}
	for (i = 1; i <= n; i++) if (open[list[i]] == 1) twins(list[i])
	for (i = 1; i <= n; i++) if (open[list[i]] == 1) exited(list[i])
	k = split("no-file sizes init module plt", names, " ")
	for (j = 1; j <= k; j++) {
		for (i = 1; i <= n; i++) if (open[list[i]] == 1) group(names[j], list[i], 1)
		for (i = 1; i <= n; i++) if (open[list[i]] == 1 && part(list[i], 2) == ":-1")
			group(names[j], list[i], 0)
	}
	for (i = 1; i <= n; i++) if (open[list[i]] == 1) end(list[i])
	for (i = 1; i <= n; i++) if (open[list[i]] == 1) inlined(list[i])
	for (i = 1; i <= n; i++) if (open[list[i]] == 1) stale(list[i])
	for (i = 1; i <= n; i++) if (open[list[i]] == 1) data(list[i])
	for (i = 1; i <= n; i++)
		if (open[list[i]] == 1) {
			unexplained++
			if (verbose) tell("unexplained", list[i])
		}
	line = sprintf("%s: %s: %d rows equal, %d unexplained", name, mode, equal, unexplained)
	print "equal\t" equal + 0 >>counts
	print "unexplained\t" unexplained + 0 >>counts
	for (kind in kinds) {
		line = line ", " kind " " kinds[kind]
		print kind "\t" kinds[kind] >>counts
	}
	print line
	exit unexplained > 0
}

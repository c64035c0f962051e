#!/bin/sh
# pprobe in D, Fortran and OCaml: names, lines, variables, and values as they are recorded.
# The other languages are in t/pprobe.t.
. "${0%/*}/lib.sh"

src=$ROOT/t/probe
tracefs=/sys/kernel/tracing
instance=$tracefs/instances/pprobe-languages-$$
group=pplang$$
records=
if [ -w "$tracefs/uprobe_events" ] && mkdir "$instance" 2>/dev/null; then
	records=yes
fi
cleanup() {
	[ "$records" ] || return 0
	echo 0 >"$instance/events/$group/enable"
	rmdir "$instance"
	"$BIN/pprobe" --mine mine --all-mine
} 2>/dev/null
trap 'cleanup; t_end' EXIT

# check TITLE PROGRAM EVENTS DEFINITION...: probes are made, and what they record is what the program prints.
check() {
	title=$1
	program=$2
	events=$3
	shift 3
	if [ -z "$records" ]; then
		run "$BIN/pprobe" -n -x "./$program" "$@"
		is "$status" 0 "$title: definitions"
		for event in $events; do
			skip 1 'no uprobes here, or not root' recording
		done
		return
	fi
	run "$BIN/pprobe" --mine mine --group "$group" -x "./$program" "$@"
	is "$status" 0 "$title: probes are made"
	[ "$status" = 0 ] || diag_file "$ERR"
	echo 1 >"$instance/events/$group/enable"
	"./$program" >/dev/null 2>printed
	echo 0 >"$instance/events/$group/enable"
	sed -n 's/^.*: \([a-zA-Z0-9_]*\): (0x[0-9a-f]*) */\1 /p' "$instance/trace" >recorded
	: >"$instance/trace"
	for event in $events; do
		grep "^$event " printed >want
		grep "^$event " recorded >got
		if [ -s want ]; then
			same got want "$title: $event: all calls, all values"
		else
			fail "$title: $event: the program printed nothing"
		fi
	done
	"$BIN/pprobe" --mine mine --all-mine 2>/dev/null
}

listed() { # PROGRAM PATTERN TITLE NAME
	run "$BIN/pprobe" -x "./$1" -F --tsv "$2"
	is "$(awk -F'\t' '!/^#/ && $6 != "inlined" { print $1 }' "$OUT")" "$4" "$3"
}

for level in 0 2; do
	if ! have gfortran; then
		skip 5 'gfortran is not installed' Fortran
		continue
	fi
	gfortran -g "-O$level" -J . -o "f$level" "$src/values.f90" 2>"$ERR" || bail "$(cat "$ERR")"
	listed "f$level" save_item "Fortran, -O$level: a function of a module" 'store::save_item'
	check "Fortran, -O$level" "f$level" 'save_item twice__return outside' \
		'save_item n id=it%id name:string counter' 'twice__return=store::twice%return $retval' 'outside n'
done

for compiler in gdc ldc2; do
	for level in 0 2; do
		if ! have $compiler; then
			skip 5 "$compiler is not installed" D
			continue
		fi
		out=-o
		[ $compiler = gdc ] || out=-of
		$compiler -g "-O$level" $out "$compiler$level" "$src/values.d" 2>"$ERR" || bail "$(cat "$ERR")"
		listed "$compiler$level" Store.save "D, $compiler -O$level: a method" \
			'values.Store.save(int, immutable(char)[], int[], values.Item*)'
		# At -O2 the compilers leave out what they do not need of a text or an array.
		if [ $level = 0 ]; then
			check "D, $compiler -O$level" "$compiler$level" 'save save__return twice' \
				'save=Store.save n len=key.length:s32 first=list[0] id=it.id base=this.base' \
				'save__return=save%return $retval' 'twice a'
		else
			check "D, $compiler -O$level" "$compiler$level" 'save__return twice' \
				'save__return=save%return $retval' 'twice a' 'save $params'
			like recorded '^save .*n=2' "D, $compiler -O$level: the parameters that are left"
		fi
	done
done

if have ocamlopt; then
	cp "$src/values.ml" .
	ocamlopt -g -o ml values.ml 2>"$ERR" || bail "$(cat "$ERR")"
	listed ml save 'OCaml: a function' 'Values.save'
	check 'OCaml' ml 'save save__return' 'save n=%ax:s64 name=+0(%bx):string id=+0(%di):s64' \
		'save__return=Values.save%return $retval:s64'
	run "$BIN/pprobe" -x ./ml -L values.ml --tsv
	like "$OUT" 'yes	  counter := ' 'OCaml: lines'
	run "$BIN/pprobe" -n -x ./ml 'values.ml:9'
	is "$status" 0 'OCaml: a line'
	run "$BIN/pprobe" -n -x ./ml 'save n'
	is "$status" 2 'OCaml: variables are not described'
else
	skip 7 'ocamlopt is not installed' OCaml
fi
done_testing

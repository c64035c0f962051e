#!/bin/sh
# t/demo: what it does when a step fails, with stand-ins for the filters; and a short one with the real
# filters, which are to be in the picture themselves.
. "${0%/*}/lib.sh"
plan 19

# filter NAME: a stand-in that runs the shell text on stdin.
filter() {
	{
		echo '#!/bin/sh'
		cat
	} >"fake/$1"
	chmod +x "fake/$1"
}

mkdir fake
echo 'echo recording' | filter pcap-perf
# shellcheck disable=SC2016
for f in pdecode psym; do
	echo 'cat "${1:--}"' | filter $f
done
echo cat | filter pfold
echo 'sed "s/^/svg of /"' | filter psvg
echo sample >sample

demo() {
	rm -f cpu.svg
	run env BIN="$TMP/fake" SAMPLE="$TMP/sample" "$ROOT/t/demo" "$@" </dev/null
}

demo
is "$status" 0 'all steps succeed'
is "$(cat cpu.svg)" 'svg of recording' 'the picture is of the recording'
like "$OUT" "the picture is $TMP/cpu.svg" 'where it is, is reported'
demo other.svg
ok 'a name of its own' test -s other.svg

echo 'echo "pcap-perf: not permitted" >&2; exit 2' | filter pcap-perf
# shellcheck disable=SC2016
printf 'cat "${1:--}" >data.$$\n[ -s data.$$ ] || echo "pdecode: no input" >&2\ncat data.$$\n' | filter pdecode
demo
is "$status" 0 'the kernel refuses: done all the same'
is "$(cat cpu.svg)" 'svg of sample' 'with the sample recording'
like "$OUT" 'does not let this user record' 'which is reported'
unlike "$ERR" 'pdecode' 'and nothing about the empty recording'
like "$ERR" '^pcap-perf: not permitted$' 'but why, in the words of pcap-perf'
rm sample
demo
isnt "$status" 0 'no sample either: fails'
echo sample >sample

echo 'echo recording; exit 1' | filter pcap-perf
demo
is "$status" 0 'a partial recording is drawn'
like "$ERR" 'pcap-perf says that the result is partial' 'which is reported'

echo 'echo recording' | filter pcap-perf
echo 'echo "psym: a warning" >&2; cat' | filter psym
demo
like "$ERR" '^psym: a warning$' 'what the other steps say is shown'
echo 'kill -9 $$' | filter psym
demo
is "$status" 137 'a step in the middle dies: its status'
like "$ERR" 'psym failed with exit status 137' 'and its name'
ok 'and no picture' test ! -e cpu.svg

cd "$ROOT" || exit 1
run env BIN="$BIN" SECONDS_TO_RECORD=2 t/demo "$TMP/real.svg"
is "$status" 0 'the filters themselves draw a picture'
if grep -q 'does not let this user record' "$OUT"; then
	skip 2 'the kernel refuses perf events here'
else
	like "$TMP/real.svg" '<title>(pfilter|psym|pfold|psvg|pdecode|plat) \(' 'which shows them'
	like "$TMP/real.svg" '<title>main \(' 'and their functions by name'
fi

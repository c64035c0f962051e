#!/bin/sh
# t/deps on made-up machines: a PATH with only the programs that a case is to have.
. "${0%/*}/lib.sh"
plan 11

# machine DIR PROGRAM...: a PATH directory with these and nothing else.
machine() {
	mkdir "$1"
	dir=$1
	shift
	for p; do
		ln -s "$(command -v "$p")" "$dir/$p"
	done
}

# fake DIR PROGRAM: a program that appends its arguments to $TMP/log; the rest is its body on stdin.
fake() {
	{
		echo '#!/bin/sh'
		echo "echo $2 \"\$@\" >>$TMP/log"
		cat
	} >"$1/$2"
	chmod +x "$1/$2"
}

deps() { # DIR ARGUMENT...
	dir=$1
	shift
	run env PATH="$TMP/$dir" /bin/sh "$ROOT/t/deps" "$@" </dev/null
}

machine bare sh cat env
printf 'exit 1\n' | fake bare pkg-config
deps bare --check build
is "$status" 2 'a check of a machine without anything fails'
like "$ERR" '^gcc is missing: the C compiler$' 'what is missing, and why'
like "$ERR" 'apt-get install gcc libc6-dev libelf-dev libdw-dev zlib1g-dev' 'and how to get it'

deps bare build
is "$status" 2 'no apt-get: fails'
like "$ERR" 'no apt-get here' 'and says so'

machine user sh env
printf 'exit 1\n' | fake user pkg-config
printf 'exit 0\n' | fake user apt-get
printf 'echo 1000\n' | fake user id
deps user build
is "$status" 2 'not root, no sudo: fails'
like "$ERR" 'not root and there is no sudo' 'and says so'

printf 'exit 1\n' | fake user sudo
deps user build
like "$ERR" 'no terminal to ask on' 'sudo that would ask, without a terminal'

# Root, and an apt-get which "installs" by telling the other fakes that things are there.
machine root sh env touch test
printf 'test -e %s/installed\n' "$TMP" | tee gate | fake root pkg-config
fake root gcc <gate
printf 'echo 0\n' | fake root id
printf 'case "$*" in *install*) touch %s/installed ;; esac\n' "$TMP" | fake root apt-get
: >log
deps root build
is "$status" 0 'root with apt-get: installs'
is "$(grep -c '^apt-get.* install .*libelf-dev.*libiberty-dev' log)" 1 'one install, of all'
deps root build
empty "$ERR" 'and nothing is reported when nothing is missing'

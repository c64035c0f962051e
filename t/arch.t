#!/bin/sh
# t/arch where it cannot be tried, and how it is called wrongly. Itself it takes minutes.
. "${0%/*}/lib.sh"
plan 6

run "$ROOT/t/arch"
is "$status" 64 'no architecture'
run "$ROOT/t/arch" vax
is "$status" 64 'an unknown one'
like "$ERR" '^usage: t/arch ' 'the usage is printed'

mkdir user
printf '#!/bin/sh\necho 1000\n' >user/id
chmod +x user/id
run env PATH="$TMP/user:$PATH" TMPDIR="$TMP" "$ROOT/t/arch" s390x
is "$status" 77 'not root: cannot be tried'
like "$ERR" '^t/arch: cannot be tried here: this is not root$' 'which is reported'
is "$(find "$TMP" -name 'perfpipe-arch*')" '' 'and nothing is left'

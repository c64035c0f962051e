#!/bin/sh
# t/fresh where it cannot be tried, and how it is called wrongly. Itself it takes minutes: .ci/run has it.
. "${0%/*}/lib.sh"
plan 5

run "$ROOT/t/fresh" bookworm a b
is "$status" 64 'too many arguments'

mkdir user
printf '#!/bin/sh\necho 1000\n' >user/id
chmod +x user/id
run env PATH="$TMP/user:$PATH" TMPDIR="$TMP" "$ROOT/t/fresh"
is "$status" 77 'not root: cannot be tried'
like "$ERR" '^t/fresh: cannot be tried here: this is not root$' 'which is reported'

# Root, but without the right to make a mount namespace.
printf '#!/bin/sh\necho 0\n' >user/id
printf '#!/bin/sh\nexit 0\n' >user/debootstrap
printf '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2\nexit 1\n' >user/unshare
chmod +x user/*
run env PATH="$TMP/user:$PATH" TMPDIR="$TMP" "$ROOT/t/fresh"
is "$status" 77 'no rights to mount: cannot be tried'
is "$(find "$TMP" -name 'perfpipe-fresh*')" '' 'and nothing is left'

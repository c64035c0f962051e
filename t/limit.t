#!/bin/sh
# t/limit: a test that does not end is ended, and named, with what it waits for.
. "${0%/*}/lib.sh"

limit=$ROOT/t/limit
export TMPDIR="$TMP"

cat >hangs <<'END'
#!/bin/sh
echo 1..1
sleep 613 &
echo $! >others
sleep 614 | cat
END
cat >ends <<'END'
#!/bin/sh
cat
exit 3
END
chmod +x hangs ends

LIMIT=1 run "$limit" ./hangs
is "$status" 124 'a test that takes too long has failed'
is "$(cat "$OUT")" '1..1' 'what it printed is there'
like "$ERR" '^\./hangs: not done after 1 seconds; what it waits for:$' 'it is named'
like "$ERR" '^ +[0-9]+ S sleep 614 *$' 'and what it waits for'
ok 'what it left in the background is ended, too' await gone "$(cat others)"

echo text | LIMIT=60 "$limit" ./ends >got
is "$?" 3 'the status of a test that ends'
is "$(cat got)" text 'and its input and output'
is "$(echo "$TMP"/perfpipe-limit.*)" "$TMP/perfpipe-limit.*" 'nothing is left of the limit'

done_testing

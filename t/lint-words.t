#!/bin/sh
# t/lint-words on a made-up tree: what it finds in each kind of file, and what it leaves alone.
. "${0%/*}/lib.sh"
plan 26

# The tree without a fault, with code that has some of the words.
tree() {
	rm -rf tree
	mkdir -p tree/man tree/bin tree/lib/base tree/share/recipes
	cat >tree/README.md <<'X'
# One

It prints what `tells` prints, and too many lines. There is no other one.

```sh
one --likewise, too.
```
X
	cat >tree/man/one.1 <<'X'
.Nm one
.Nd print one
The name stands for
a line, and there are no others.
.Ql tells
.Bd -literal -offset indent
$ one lacks beneath
.Ed
X
	cat >tree/bin/one.c <<'X'
/* A comment of a source may be as it is, too. */
static const char *const tells[] = {"lacks", "tells it"};

int main(void)
{
	int lacks = 0; /* likewise */

	return printf("%sthere is no event: it is no longer recorded\n", tells[lacks]);
}
X
	cat >tree/lib/base/one.h <<'X'
/*
 * One: `lacks` and r->lacks are names, beneath.h is a file, "a, too" is a text.
 */
int anew(void); /* adds one */
X
	cat >tree/share/recipes/one <<'X'
# It tells what it lacks.
purpose='what one does, in a few words'
awk '{ told[$1] = 1 }'
X
}

words() { # FILE, sed script that makes a fault
	tree
	[ $# -lt 2 ] || sed -i "$2" "tree/$1"
	run env TREE="$PWD/tree" "$ROOT/t/lint-words"
}

found() { # FILE, LINE, words, sed script
	words "$1" "$4"
	is "$status" 1 "$1: $3"
	is "$(cut -d : -f 1-3 "$OUT")" "$1:$2: \"$3\"" 'with its place, and nothing else'
}

words README.md
is "$status" 0 'a tree without a fault is clean'
empty "$OUT" 'and nothing is printed'

found README.md 3 tells '3s/There is/It tells of/'
found README.md 3 ', too' '3s/no other one/that, too/'
found man/one.1 2 likewise '2s/one/it likewise/'
found man/one.1 3 'stands' '3s/stands for/stands before/'
found man/one.1 4 'are no others' '4s/there are/these are/'
found bin/one.c 8 'lacks' '8s/there is no event/it lacks an event/'
found lib/base/one.h 2 'beneath' '2s/beneath.h is/it is beneath/'
found lib/base/one.h 4 'anew' '4s/adds one/counts anew/'
found share/recipes/one 2 'likewise' '2s/in a few words/likewise, in words/'

# A text over several lines is one.
words bin/one.c '8s/there is/there"\n"is/'
is "$status" 0 'literals that follow each other are one text'
words bin/one.c '8s/there is no event/the gate"\n" is closed/'
like "$OUT" '^bin/one\.c:8: "gate is closed": gate failed; gate passed$' 'and what to write is said'

run "$ROOT/t/lint-words" x
is "$status" 64 'it takes no argument'
like "$ERR" '^usage: ' 'and says so'
run env TREE="$PWD/nowhere" "$ROOT/t/lint-words"
isnt "$status" 0 'a tree that is not there'
run "$ROOT/t/lint-words"
is "$status" 0 'this project is clean' || diag_file "$OUT"

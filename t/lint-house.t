#!/bin/sh
# t/lint-house on a made-up tree, with one fault at a time.
. "${0%/*}/lib.sh"
plan 28

CC=${CC:-cc}
mkdir -p lib/base lib/upper bin t

# The tree without a fault: upper/top.c calls base/low.c, and upper/side.c.
tree() {
	cat >lib/base/low.c <<'END'
/* The lowest file. */
#include "base/low.h"

int low(void)
{
	return 1;
}
END
	cat >lib/base/low.h <<'END'
#ifndef BASE_LOW_H
#define BASE_LOW_H

/* What low.c offers. */
int low(void);

#endif
END
	cat >lib/upper/top.c <<'END'
/* The highest file. */
#include "base/low.h"
#include "upper/parts.h"

int top(void)
{
	return low() + side();
}
END
	cat >lib/upper/side.c <<'END'
/* A file beside top.c. */
#include "upper/parts.h"

int side(void)
{
	return 2;
}
END
	cat >lib/upper/parts.h <<'END'
#ifndef UPPER_PARTS_H
#define UPPER_PARTS_H

/* Private to lib/upper: what its files need of each other. */

/* ---- top.c ---- */

int top(void);

/* ---- side.c: the other one ---- */

int side(void);

#endif
END
	cat >lib/README.md <<'END'
### base/

| file | what |
|---|---|
| `low.ch` | the lowest |

### upper/

| file | what |
|---|---|
| `top.c` | the highest; it calls `low` |
| `side.c`, `parts.h` | beside it |
END
}

house() { # file [sed script that makes the fault]
	tree
	[ $# -lt 2 ] || sed -i "$2" "$1"
	for file in base/low upper/top upper/side; do
		mkdir -p "obj/lib/${file%/*}"
		$CC -Ilib -w -c -o "obj/lib/$file.o" "lib/$file.c" || echo "# cannot compile $file.c"
	done
	run env OBJ=obj TREE="$PWD" "$ROOT/t/lint-house"
}

house lib/README.md
is "$status" 0 'a tree without a fault is clean'
empty "$OUT" 'and nothing is printed'

house lib/upper/side.c 's/return 2/int top(void); return top()/'
is "$status" 1 'two files that call each other'
like "$OUT" 'upper/side -> upper/top: top' 'the call back is named'

house lib/base/low.c 's/return 1/int side(void); return side()/'
is "$status" 1 'a folder that calls one that calls it'
like "$OUT" 'circle of folders' 'is a circle of folders'
unlike "$OUT" 'circle of files' 'though no two files form one'

house lib/README.md '/low\.ch/d'
is "$status" 1 'a file that the map lacks'
like "$OUT" 'lib/base/low\.h is not on the map' 'is named'

house lib/README.md 's/^| `top\.c`/| `gone.c`, `top.c`/'
is "$status" 1 'a file that only the map has'
like "$OUT" 'lib/upper/gone\.c is on the map; there is no such file' 'is named'

house lib/README.md 's/`parts\.h`/`parts.h`, `top.c`/'
like "$OUT" 'lib/upper/top\.c is there twice' 'a file that is on the map twice is named'

house lib/README.md 's/the lowest/the lowest: `low_down`/'
like "$OUT" 'low_down is not a function of lib/base' 'a function that only the map has is named'

cp lib/base/low.h lib/upper/low.h
house lib/README.md
is "$status" 1 'a file of a name that is in another room'
like "$OUT" 'lib/upper/low\.h: base/ has a file of that name' 'is named'
rm lib/upper/low.h

house lib/upper/parts.h 's/^int side/struct low {\n\tint a;\n};\n&/'
is "$status" 0 'a struct of a header'
sed -i 's/^int low/struct low {\n\tint b;\n};\n&/' lib/base/low.h
run env OBJ=obj TREE="$PWD" "$ROOT/t/lint-house" structs
is "$status" 1 'two headers with a struct of one name'
like "$OUT" 'lib/upper/parts\.h: lib/base/low\.h defines struct low' 'are named'

house lib/upper/top.c 1d
is "$status" 1 'a file that begins with code'
like "$OUT" 'lib/upper/top\.c: begins without a comment' 'is named'

house lib/upper/parts.h 's/^int side/int unused_one(void);\nint side/'
is "$status" 0 'a prototype that nothing defines is not our matter'

house lib/upper/parts.h 's/^int top(void);/&\nint side(void);/'
is "$status" 1 'a prototype under the heading of another file'
like "$OUT" 'parts\.h:[0-9]+: side is defined in upper/side\.c, not in top\.c' 'is named with both files'

house lib/upper/top.c "s/return low.*/&	\\/* $(printf '%0100d' 0) *\\//"
is "$status" 1 'a line of more than 100 columns'
like "$OUT" 'lib/upper/top\.c:7: 1[0-9][0-9] columns' 'is named with its width'

house lib/README.md
rm obj/lib/base/low.o
run env OBJ=obj TREE="$PWD" "$ROOT/t/lint-house"
is "$status" 2 'without its objects it says so'
like "$ERR" 'obj/lib/base/low\.o is missing' 'and which'

house lib/README.md
run env OBJ=obj TREE="$PWD" "$ROOT/t/lint-house" nothing
is "$status" 64 'a check that does not exist is a usage error'

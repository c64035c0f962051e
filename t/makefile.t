#!/bin/sh
# The Makefile: install and uninstall, below a DESTDIR with a blank and a quote in its name; an O
# with blanks; the compiler's flags at the linking. The filters are those that are being tested;
# nothing is built.
. "${0%/*}/lib.sh"
need make
plan 23

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
dest="$TMP/a b's"

make_it() {
	run make -s -C "$ROOT" -o all BIN="$BIN" DESTDIR="$dest" PREFIX=/usr "$@"
}

make_it install
is "$status" 0 'installs'
empty "$ERR" 'without a message'
for filter in pcap-perf pconv pdecode pfilter psym pfold phist plat preport pstrace psvg; do
	[ -x "$dest/usr/bin/$filter" ] || break
done
is "$filter" psvg 'every filter'
run "$dest/usr/bin/pdecode" --version
is "$status" 0 'which runs'
(cd "$ROOT" && ls man/*.[157]) | sed 's|^man/\(.*\)\.\([157]\)$|man\2/\1.\2|' | sort >want
(cd "$dest/usr/share/man" && ls -d man*/*) | sort >got
same got want 'every page'
(cd "$ROOT/share" && ls -d ./*.* recipes/* examples/*) | sed 's|^\./||' | sort >want
(cd "$dest/usr/share/perfpipe" && ls -d ./*.* recipes/* examples/*) | sed 's|^\./||' | sort >got
same got want 'every shared file'
ok 'recipes are programs' test -x "$dest/usr/share/perfpipe/recipes/runqlat"
ok 'their common part is none' test ! -x "$dest/usr/share/perfpipe/recipes/recipe.sh"

echo mine >"$dest/usr/share/perfpipe/recipes/mine"
make_it uninstall
is "$status" 0 'uninstalls beside a file of others'
empty "$ERR" 'without a message'
is "$(find "$dest" -type f)" "$dest/usr/share/perfpipe/recipes/mine" 'which stays, alone'
make_it uninstall
is "$status" 0 'and again'
rm "$dest/usr/share/perfpipe/recipes/mine"
make_it uninstall
is "$status" 0 'and when it is gone'
ok 'then the folders go' test ! -e "$dest/usr/share/perfpipe"
rm -rf "$dest"
make_it uninstall
is "$status" 0 'where nothing was ever installed'

run make -s -C "$ROOT" O="a b" uninstall DESTDIR="$dest"
is "$status" 2 'O with a blank is refused'
like "$ERR" "O is 'a b': make cannot build in a folder whose name has blanks" 'with the reason'

# After make deb, the tree that packages were built in lies in the folder of the build.
mkdir -p o/deb/t/probe o/t/probe
echo 'module values;' | tee o/deb/t/probe/values.d >o/t/probe/values.d
run make -n -C "$ROOT" O="$TMP/o" HAVE_PACKAGES=yes packages
is "$status" 0 'what others left in O is not taken for makefiles'

run make -n -C "$ROOT" V=1 O=no-such-folder HAVE_PACKAGES=yes CFLAGS='-O1 -flto=2' \
	no-such-folder/bin/pfold
is "$status" 0 'what would be done for link-time optimization'
like "$OUT" '-flto=2 .*-o no-such-folder/bin/pfold ' 'the link line has the flags of the compiler'
like "$OUT" '-D_FORTIFY_SOURCE=3 .*-c -o no-such-folder/bin/pfold.o' 'hardened'
like "$OUT" '-Wl,-z,now .*-o no-such-folder/bin/pfold ' 'and linked so'
like "$OUT" '^gcc-ar qcs no-such-folder/libperfpipe.a' 'and the archive is made with its tool'

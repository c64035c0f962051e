#!/bin/sh
# t/lint-man on a made-up filter and pages with one fault each.
. "${0%/*}/lib.sh"
plan 16

mkdir fake
cat >fake/pone <<'END'
#!/bin/sh
cat <<'HELP'
usage: pone [OPTION]... [FILE]...
does one thing

  -o, --output FILE           write to FILE; -x is no option
      --strict                losses make the exit status 1
      --color[=WHEN]          colour the output
  -F, --frequency-of-sampling HZ
                              a long one
      --help                  print this and exit
HELP
END
chmod +x fake/pone
cat >pone.1 <<'END'
.Sh NAME
.Nm pone
.Nd does one thing
.Sh SYNOPSIS
.Nm pone
.Op Fl o Ar FILE
.Op Fl -strict
.Op Ar
.Op Ar FILE ...
.Sh OPTIONS
.Bl -tag
.It Fl o , Fl -output Ar FILE
.It Fl -strict
.It Fl -color Ns Op = Ns Ar WHEN
.It Fl F , Fl -frequency-of-sampling Ar HZ
.It Fl -help
.El
END

lint() { # sed script that makes the fault
	sed "$1" pone.1 >fault.1
	mkdir -p page && mv fault.1 page/pone.1
	run env BIN="$TMP/fake" "$ROOT/t/lint-man" page/pone.1
}

lint ''
is "$status" 0 'page and --help agree'
empty "$ERR" 'and nothing is reported'
lint '/It Fl -strict/d'
is "$status" 1 'an option missing in the page'
like "$ERR" '^-- --strict -$' 'is named'
lint 's/^\.It Fl -help/&\n.It Fl -extra/'
is "$status" 1 'an option missing in --help'
like "$ERR" '^\+- --extra -$' 'is named'
lint 's/It Fl o , Fl -output Ar FILE/It Fl o , Fl -output Ar NAME/'
is "$status" 1 'another argument'
lint 's/It Fl o , Fl -output Ar FILE/It Fl -output Ar FILE/'
is "$status" 1 'no short option'
lint 's/Ns Op = Ns Ar WHEN/Ar WHEN/'
is "$status" 1 'an argument that is no longer optional'
lint 's/Op Ar FILE \.\.\./Op Ar NAME .../'
is "$status" 1 'another operand'
lint 's/Op Fl -strict/Op Fl -stirct/'
is "$status" 1 'an option in the SYNOPSIS only'
like "$ERR" 'not described: --stirct' 'is named'
lint 's/Nm pone/Nm ptwo/'
is "$status" 1 'another name'
mv page/pone.1 page/ptwo.1
run env BIN="$TMP/fake" "$ROOT/t/lint-man" page/ptwo.1
is "$status" 1 'a page without program'
like "$ERR" 'there is no .*/ptwo' 'is named'
printf '#!/bin/sh\nexit 1\n' >fake/pone
lint ''
is "$status" 1 'a program whose --help fails'

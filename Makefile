# perfpipe: build, test, install. GNU make.
#
#   make              the filters, in bin/ (O=DIR: all of the build in DIR, filters in DIR/bin)
#   make demo         install missing packages, build, record this machine and draw cpu.svg
#   make test         install missing packages, build, run every test; TESTS='t/a.t t/b.t' some,
#                     ROOM=fold those of a folder of lib/, KIND=live those of a kind (t/README.md)
#   make check        the same without installing
#   make check-all    everything there is to check, for a few hours: t/check-all
#   make test-arch    ARCH=s390x|i386|arm64: tests of a build for it, under qemu, in a separate root
#                     (DIR=DIR keeps the root there: t/arch)
#   make lint         formatting, static analysis, scripts, man pages, layout; of files that differ
#                     from those that were clean before, t/lint.clean (make lint-all: of everything)
#   make bench        measure against the installed peers (t/bench/README.md)
#   make compare      is this tree slower than REF (default HEAD^)? recordings of both, and pdiff
#   make fuzz         libFuzzer programs in build-fuzz/t/fuzz (CC=afl-clang-fast for AFL++)
#   make fuzz-all     MINUTES=N ENTRIES='a b': runs them on all CPUs, and reports what they found
#   make fuzz-replay  the same entries as plain programs that replay files, in $(O)/t/fuzz
#   make install      PREFIX=/usr/local DESTDIR=; make uninstall
#   make dist         the source of HEAD, as $(O)/perfpipe-VERSION.tar.gz, the same bytes each time
#   make deb          Debian packages in $(O)/deb (as dpkg-buildpackage makes them); make rpm: the same
#   make clean
#
#   CC=gcc|clang  SAN=1 (address, undefined)  COVERAGE=1  WERROR=1  V=1 (whole command lines)
#   HARDEN= (no flags against exploits, for those who build with their own)

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

ifeq ($(origin CC),default)
CC       := $(if $(FUZZER),clang,gcc)
endif
# Objects of link-time optimization need the compiler's own.
ifeq ($(origin AR),default)
AR        = $(if $(findstring -flto,$(CFLAGS)),$(if $(findstring clang,$(CC)),llvm-ar,gcc-ar),ar)
endif
PKG_CONFIG ?= pkg-config
INSTALL  ?= install
PROVE    ?= prove
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
DATADIR  ?= $(PREFIX)/share/perfpipe
MANDIR   ?= $(PREFIX)/share/man
BASHDIR  ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR   ?= $(PREFIX)/share/zsh/site-functions
FISHDIR  ?= $(PREFIX)/share/fish/vendor_completions.d
O        ?= build$(if $(SAN),-san)$(if $(COVERAGE),-cov)
ifneq ($(words $(O)),1)
$(error O is '$(O)': make cannot build in a folder whose name has blanks)
endif
OPT      ?= $(if $(SAN),-O0,-O2)
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)
# A make that this one calls with -j itself, unless it was called with -j.
PARALLEL  = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))
PACKAGES := libelf zlib libzstd liblzma libdw libtraceevent libxxhash capstone

CFLAGS   ?= $(OPT) $(if $(SAN),-g1,-g)
PP_CFLAGS := -std=c11 -D_GNU_SOURCE -Ilib -Ibin -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wvla -Wno-missing-field-initializers -fno-strict-aliasing \
	-fno-common -pthread
# So that the filters can be profiled with call chains, as make demo does. Costs no time to speak of.
PP_CFLAGS += -fno-omit-frame-pointer
# Files of more than 2 GB, and times after 2038, on machines of 32 bits.
PP_CFLAGS += $(if $(filter __LP64__,$(shell $(CC) -dM -E -x c /dev/null)),,-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64)
PP_LDFLAGS := -pthread
ifdef WERROR
PP_CFLAGS += -Werror
endif
# Without optimization it builds in three quarters of the time, and the tests take hardly longer; gcc then knows
# too little of the numbers that are printed into a text of some size. As a PIE, each program would begin with
# 88,000 relocations.
ifdef SAN
PP_CFLAGS += -Wno-format-truncation -fno-pie
PP_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined
PP_LDFLAGS += -fsanitize=address,undefined -no-pie $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)
endif
ifdef COVERAGE
PP_CFLAGS += --coverage -O0 -DPP_COVERAGE
PP_LDFLAGS += --coverage
endif
ifdef FUZZER
PP_CFLAGS += -fsanitize=fuzzer-no-link,address,undefined
PP_LDFLAGS += -fsanitize=fuzzer,address,undefined
endif

# Against exploits, after the flags of others: those of Debian 12 ask for less. Not with sanitizers, which find more
# alone, nor without optimization, which _FORTIFY_SOURCE needs.
OPTIMIZED := $(if $(SAN)$(COVERAGE)$(FUZZER),,$(filter-out -O0,$(filter -O%,$(CFLAGS))))
ifneq ($(OPTIMIZED),)
HARDEN   ?= -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fPIE \
	$(if $(filter x86_64-% i%86-%,$(shell $(CC) -dumpmachine)),-fcf-protection)
endif
ifneq ($(HARDEN),)
HARDEN_LD ?= -pie -Wl,-z,relro -Wl,-z,now
endif

# Said by the rule `packages`, not here, so that make test can install what is missing first.
HAVE_PACKAGES := $(shell $(PKG_CONFIG) --exists $(PACKAGES) 2>/dev/null && \
	$(CC) -include libiberty/demangle.h -E -x c /dev/null >/dev/null 2>&1 && echo yes)
DEP_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
DEP_LIBS   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -liberty -lm

# Wanted, not needed: preport --view.
HAVE_CURSES := $(shell $(PKG_CONFIG) --exists ncursesw 2>/dev/null && echo yes)
ifeq ($(HAVE_CURSES),yes)
PP_CFLAGS += -DPP_CURSES
DEP_LIBS += $(shell $(PKG_CONFIG) --libs ncursesw)
endif

# The newest heading of the change log, "## 1.2.3 (DATE)".
VERSION  := $(shell sed -n 's/^\#\# \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)
PROGS    := $(patsubst bin/%.c,%,$(filter-out bin/cli.c,$(wildcard bin/*.c)))
LIB_SRC  := $(wildcard lib/*/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$(O)/%.o)
LIB      := $(O)/libperfpipe.a
# With ROOM=fold, only what tests that room: unit tests by their names, fuzz entries by what they include.
UNITS    := $(patsubst %.c,$(O)/%,$(if $(ROOM),$(wildcard t/unit/$(ROOM).c t/unit/$(ROOM)_*.c),$(wildcard t/unit/*.c)))
FUZZERS  := $(patsubst %.c,$(O)/%,$(filter-out t/fuzz/replay.c,$(if $(ROOM),$(shell grep -l '"$(ROOM)/' t/fuzz/*.c),$(wildcard t/fuzz/*.c))))
MEASURE  := $(O)/t/bench/measure
SHIM     := $(O)/t/shim.so
TESTS    ?=
MAN      := $(wildcard man/*.[157])
SHARE    := $(filter-out share/recipes share/ci share/complete share/examples,$(wildcard share/*))
RECIPES  := $(wildcard share/recipes/*)
CI       := $(wildcard share/ci/*)
TRIALS   := $(wildcard share/examples/*)
# In the plain build the programs lie in bin/, where the README's commands look for them.
BIN      := $(if $(filter build,$(O)),bin,$(O)/bin)

ifdef V
Q        :=
say       =
else
Q        := @
say       = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),,$(info $(1)	$(2)))
endif

SHELLS   := bash zsh fish

all: $(PROGS:%=$(BIN)/%) $(SHELLS:%=$(O)/complete/%)

packages:
ifneq ($(HAVE_PACKAGES),yes)
	@t/deps --check build
endif

$(O)/%.o: %.c | packages
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PP_CFLAGS) $(DEP_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(HARDEN) -MMD -MP -c -o $@ $<

# The parts of the scripts of pages: of timelines, and of flame graphs.
PAGES := psvg-fit.js:psvg-data.js:psvg-menu.js
TIMELINE := $(PAGES):psvg-timeline-data.js:psvg-timeline-lanes.js:psvg-timeline-draw.js:psvg-timeline-list.js:psvg-timeline-input.js:psvg-timeline.js
FLAME := $(PAGES):psvg-page-time.js:psvg-page-tree.js:psvg-page-input.js:psvg-page.js

# The scripts and the style inside psvg's pictures: C strings, without indentation and comments.
# With the hashes that a Content-Security-Policy names them by.
$(O)/share/psvg.c: Makefile share/psvg.js share/psvg-chart.js share/psvg.css share/psvg-timeline.css share/psvg-page.css \
		$(sort $(patsubst %,share/%,$(subst :, ,$(TIMELINE) $(FLAME))))
	@mkdir -p $(@D)
	$(Q)for v in script:psvg-fit.js:psvg.js chart_script:psvg-chart.js style:psvg.css \
			timeline_script:$(TIMELINE) timeline_style:psvg-timeline.css \
			page_script:$(FLAME) page_style:psvg-page.css; do \
		(cd share && IFS=: && cat $${v#*:}) >$@.text || exit; \
		sed -i -e 's/^[[:space:]]*//' -e '/^$$/d' -e '/^\/\//d' -e '/^\/\*.*\*\/$$/d' $@.text || exit; \
		hash=$$(sha256sum <$@.text) || exit; \
		echo "extern const char draw_$${v%%:*}[], draw_$${v%%:*}_sha256[];"; \
		echo "const char draw_$${v%%:*}_sha256[] = \"$${hash%% *}\";"; \
		echo "const char draw_$${v%%:*}[] ="; \
		sed -e 's/[\"]/\\&/g' -e 's/.*/"&\\n"/' $@.text; echo ';'; \
	done >$@
	@rm -f $@.text

$(O)/lib/base/version.o: CHANGELOG.md
$(O)/lib/guide/front.o: PP_CFLAGS += -DPP_TRACEEVENT='"$(shell $(PKG_CONFIG) --modversion libtraceevent)"'
$(O)/lib/base/version.o: PP_CFLAGS += -DPP_VERSION='"$(VERSION)"'

# The completions of shells, for all programs.
$(O)/complete/%: share/complete/% Makefile $(wildcard bin/*.c)
	@mkdir -p $(@D)
	$(Q)sed 's/@PROGRAMS@/$(sort $(PROGS))/' $< >$@

$(O)/share/psvg.o: $(O)/share/psvg.c
	$(Q)$(CC) $(PP_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(HARDEN) -c -o $@ $<

$(LIB): $(O)/share/psvg.o
# Two folders may have an object of the same name: appended, not replaced.
$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) qcs $@ $^

define link
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(PP_LDFLAGS) $(HARDEN_LD) $(LDFLAGS) -o $@ $^ -Wl,--as-needed $(DEP_LIBS)
endef

$(BIN)/%: $(O)/bin/%.o $(O)/bin/cli.o $(LIB)
	$(link)

$(O)/t/unit/%: $(O)/t/unit/%.o $(LIB)
	$(link)

# A libFuzzer program has its main from the compiler.
$(O)/t/fuzz/%: $(O)/t/fuzz/%.o $(O)/t/fuzz/$(if $(FUZZER),guided/defaults,replay).o $(LIB)
	$(link)

$(MEASURE): $(O)/t/bench/measure.o
	$(link)

# What t/failures.t has the filters load, so that calls of theirs fail. Without sanitizers.
$(SHIM): t/shim.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -Wall -Wextra $(CPPFLAGS) $(CFLAGS) -fPIC -shared \
		-fvisibility=hidden -o $@ $< -ldl

# The installing step comes in a make of its own: this one has asked pkg-config already.
deps:
	@t/deps build test

demo:
	@t/deps build
	+@$(PARALLEL) all
	@BIN=$(BIN) t/demo

test:
	@t/deps build test
	+@$(PARALLEL) check

check: all $(UNITS) fuzz-replay $(MEASURE) $(SHIM)
	@BIN=$(BIN) UNIT=$(O)/t/unit FUZZ=$(O)/t/fuzz MEASURE=$(MEASURE) SHIM=$(SHIM) PROVE=$(PROVE) JOBS=$(JOBS) \
		ROOM='$(ROOM)' KIND='$(KIND)' t/run $(TESTS)

# Each test many times on a busy machine: make flaky ROUNDS=30 KIND='live tree'
flaky: all $(UNITS) fuzz-replay $(MEASURE) $(SHIM)
	@BIN=$(BIN) UNIT=$(O)/t/unit FUZZ=$(O)/t/fuzz MEASURE=$(MEASURE) SHIM=$(SHIM) \
		ROOM='$(ROOM)' KIND='$(KIND)' t/flaky $(or $(ROUNDS),30) $(TESTS)

check-all:
	@t/check-all

test-arch:
	@JOBS=$(JOBS) TESTS='$(if $(filter-out file,$(origin TESTS)),$(TESTS))' t/arch '$(ARCH)' $(if $(DIR),$(call quote,$(DIR)))

unit: $(UNITS)

fuzz-replay: $(FUZZERS)

fuzz:
	+@$(PARALLEL) O=build-fuzz FUZZER=1 fuzz-replay

fuzz-all: fuzz
	@JOBS=$(JOBS) t/fuzz/guided/all build-fuzz $(or $(MINUTES),10) $(ENTRIES)

lint lint-all: all
	@ALL=$(filter lint-all,$@) CC='$(CC)' BIN=$(BIN) OBJ=$(O) CPPFLAGS='-Ilib -Ibin $(DEP_CFLAGS)' JOBS=$(JOBS) t/lint

bench: all $(MEASURE)
	@BIN=$(BIN) MEASURE=$(MEASURE) t/bench/run
	@BIN=$(BIN) MEASURE=$(MEASURE) t/bench/recorder || [ $$? = 2 ]
	@BIN=$(BIN) MEASURE=$(MEASURE) t/bench/probe || [ $$? = 2 ]
	@BIN=$(BIN) MEASURE=$(MEASURE) t/bench/live || [ $$? = 2 ]
	@BIN=$(BIN) MEASURE=$(MEASURE) t/bench/inlines || [ $$? = 2 ]
	@BIN=$(BIN) t/bench/ftrace || [ $$? = 2 ]
	@BIN=$(BIN) MEASURE=$(MEASURE) t/bench/folded || [ $$? = 2 ]

compare: all
	@BIN=$(BIN) REF=$(or $(REF),HEAD^) N=$(or $(N),5) t/bench/compare

# Quoted for the shell: these come from the user and may hold blanks.
quote      = '$(subst ','\'',$(1))'
TO_BIN     = $(call quote,$(DESTDIR)$(BINDIR))
TO_DATA    = $(call quote,$(DESTDIR)$(DATADIR))
TO_RECIPES = $(call quote,$(DESTDIR)$(DATADIR)/recipes)
TO_CI      = $(call quote,$(DESTDIR)$(DATADIR)/ci)
TO_TRIALS  = $(call quote,$(DESTDIR)$(DATADIR)/examples)
TO_MAN     = $(call quote,$(DESTDIR)$(MANDIR))
TO_COMPLETE = $(call quote,$(DESTDIR)$(DATADIR)/complete)
TO_BASH    = $(call quote,$(DESTDIR)$(BASHDIR))
TO_ZSH     = $(call quote,$(DESTDIR)$(ZSHDIR))
TO_FISH    = $(call quote,$(DESTDIR)$(FISHDIR))

# bash and fish look for a file with the name of the program.
install: all $(SHELLS:%=$(O)/complete/%)
	$(INSTALL) -d $(TO_BIN) $(TO_RECIPES) $(TO_CI) $(TO_TRIALS) $(TO_COMPLETE) $(TO_BASH) $(TO_ZSH) $(TO_FISH)
	$(INSTALL) -m 755 $(PROGS:%=$(BIN)/%) $(TO_BIN)
	$(INSTALL) -m 644 $(SHARE) $(TO_DATA)
	$(INSTALL) -m 755 $(filter-out %.sh,$(RECIPES)) $(TO_RECIPES)
	$(INSTALL) -m 644 $(filter %.sh,$(RECIPES)) $(TO_RECIPES)
	$(INSTALL) -m 644 $(CI) $(TO_CI)
	$(INSTALL) -m 644 $(TRIALS) $(TO_TRIALS)
	$(INSTALL) -m 755 share/complete/candidates $(TO_COMPLETE)
	$(INSTALL) -m 644 $(O)/complete/bash $(TO_BASH)/perfpipe
	$(INSTALL) -m 644 $(O)/complete/zsh $(TO_ZSH)/_perfpipe
	$(INSTALL) -m 644 $(O)/complete/fish $(TO_FISH)/perfpipe.fish
	for f in $(filter-out perfpipe,$(PROGS)); do \
		ln -sf perfpipe $(TO_BASH)/"$$f" && ln -sf perfpipe.fish $(TO_FISH)/"$$f".fish || exit 1; \
	done
	for f in $(MAN); do \
		$(INSTALL) -D -m 644 "$$f" $(TO_MAN)/man"$${f##*.}/$${f##*/}" || exit 1; \
	done

# What others have put into our folders stays, and then they do, too.
uninstall:
	for f in $(PROGS); do rm -f $(TO_BIN)/"$$f" $(TO_BASH)/"$$f" $(TO_FISH)/"$$f".fish; done
	for f in $(SHARE:share/%=%) $(RECIPES:share/%=%) $(CI:share/%=%) $(TRIALS:share/%=%) \
		complete/candidates; do \
		rm -f $(TO_DATA)/"$$f"; done
	for f in $(MAN); do rm -f $(TO_MAN)/man"$${f##*.}/$${f##*/}"; done
	rm -f $(TO_ZSH)/_perfpipe
	-@rmdir $(TO_RECIPES) $(TO_CI) $(TO_TRIALS) $(TO_COMPLETE) $(TO_DATA) 2>/dev/null || :

dist:
	@mkdir -p $(O)
	@packaging/dist $(O)/perfpipe-$(VERSION).tar.gz

deb rpm: dist
	@packaging/$@ $(O)/perfpipe-$(VERSION).tar.gz $(O)/$@

clean:
	rm -rf build build-* $(PROGS:%=bin/%)

# Not whatever lies in $(O): packages are built there, in a tree of their own, and a .d can be a program in D.
-include $(patsubst %.c,$(O)/%.d,$(LIB_SRC) $(wildcard bin/*.c t/unit/*.c t/fuzz/*.c t/fuzz/guided/*.c t/bench/*.c))

.PHONY: all packages deps demo test check flaky check-all test-arch unit fuzz-replay fuzz fuzz-all lint lint-all bench \
	compare install uninstall dist deb rpm clean
.SECONDARY:

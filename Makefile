# perfpipe: build, test, install.
#
#   make            the filters, in bin/ (or O=DIR: everything below DIR)
#   make demo       install what is missing, build, record this machine and draw cpu.svg
#   make test       install what is missing, build, run every test
#   make bench      measure beside the installed peers
#   make lint       formatting, static analysis, man pages
#   SAN=1 COVERAGE=1 WERROR=1 CC=clang PREFIX=/usr/local DESTDIR=

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

CC       ?= gcc
ifeq ($(origin CC),default)
CC       := gcc
endif
PKG_CONFIG ?= pkg-config
PREFIX   ?= /usr/local
O        ?= build$(if $(SAN),-san)$(if $(COVERAGE),-cov)
OPT      ?= -O2
PACKAGES := libelf libdw zlib libzstd libtraceevent libxxhash

CFLAGS   ?= $(OPT) -g
PP_CFLAGS := -std=c11 -D_GNU_SOURCE -Ilib -Ibin -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wvla -fno-strict-aliasing -fno-common
PP_LDFLAGS :=
ifdef WERROR
PP_CFLAGS += -Werror
endif
ifdef SAN
PP_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
PP_LDFLAGS += -fsanitize=address,undefined
endif
ifdef COVERAGE
PP_CFLAGS += --coverage -O0
PP_LDFLAGS += --coverage
endif
DEP_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
DEP_LIBS   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -liberty -lm

PROGS    := $(patsubst bin/%.c,%,$(filter-out bin/cli.c,$(wildcard bin/*.c)))
LIB_SRC  := $(wildcard lib/*/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$(O)/%.o)
LIB      := $(O)/libperfpipe.a
# In the plain build the programs lie in bin/, where the README's commands look for them.
BIN      := $(if $(filter build,$(O)),bin,$(O)/bin)

all: $(PROGS:%=$(BIN)/%)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(PP_CFLAGS) $(DEP_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BIN)/%: $(O)/bin/%.o $(O)/bin/cli.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(PP_LDFLAGS) $(LDFLAGS) -o $@ $^ $(DEP_LIBS)

-include $(shell find $(O) -name '*.d' 2>/dev/null)

clean:
	rm -rf build build-* $(PROGS:%=bin/%)

.PHONY: all clean
.SECONDARY:

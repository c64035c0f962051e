# Records two builds of a program in turn, compares them, and fails if the new one is slower.
#
#	make -f pdiff.mk BASE='old/prog input' NEW='new/prog input' [N=5] [HZ=999] [DIR=profiles]
#
#	gate	(default) record and compare; exit 2 of make if something regressed
#	record	only record: DIR/base-1.folded ... DIR/new-N.folded, in place of those of a run before
#	compare	only compare what is there: DIR/pdiff.txt, .md, .json, .xml
#	noise	learn from DIR/base-*.folded how runs vary: DIR/noise.tsv
#
# Both are recorded one after another, N times, so that changes on the machine affect both.

N   ?= 5
HZ  ?= 999
DIR ?= profiles
RECORD ?= pcap-perf -F $(HZ) -g -e cpu-clock
PDIFF  ?= pdiff
runs   := $(shell seq 1 $(N))

.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: gate record clear compare noise

gate: record
	+$(MAKE) -f $(firstword $(MAKEFILE_LIST)) compare

record: clear $(foreach i,$(runs),$(DIR)/base-$(i).folded $(DIR)/new-$(i).folded)

# Nothing else shows that a program has changed.
clear:
	@rm -f $(DIR)/base-*.folded $(DIR)/new-*.folded

# The statuses of all steps count: a recording that was cut off does not count.
define recording
	@mkdir -p $(DIR)
	$(RECORD) -o $@.data -- $(1) >/dev/null
	pdecode $@.data >$@.events && psym $@.events >$@.names && pfold -c $@.names >$@
	@rm -f $@.data $@.events $@.names
endef

$(DIR)/base-%.folded: clear
	$(call recording,$(BASE))

$(DIR)/new-%.folded: clear
	$(call recording,$(NEW))

compare:
	$(PDIFF) --markdown $(DIR)/base-*.folded -- $(DIR)/new-*.folded >$(DIR)/pdiff.md
	$(PDIFF) --json $(DIR)/base-*.folded -- $(DIR)/new-*.folded >$(DIR)/pdiff.json
	$(PDIFF) --junit $(DIR)/base-*.folded -- $(DIR)/new-*.folded >$(DIR)/pdiff.xml
	$(PDIFF) --gate $(DIR)/base-*.folded -- $(DIR)/new-*.folded >$(DIR)/pdiff.txt; \
		status=$$?; cat $(DIR)/pdiff.txt; exit $$status

noise:
	$(PDIFF) --learn-noise $(DIR)/base-*.folded >$(DIR)/noise.tsv

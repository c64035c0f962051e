/* Events of CPU cores by their names: with which PMU they mean the same on every kind of core. */
#include "event/core_pmu.h"

#include "tap.h"

#include <string.h>

static const char *name_of(const void *ctx, uint32_t i, size_t *len)
{
	const char *const *names = ctx;

	*len = names[i] ? strlen(names[i]) : 0;
	return names[i];
}

int main(void)
{
	static const struct {
		const char *name, *base, *pmu; /* base NULL: it is no such event */
	} rows[] = {
		{"cpu_core/cycles/P", "cycles:P", "cpu_core"},
		{"cpu_atom/cycles/", "cycles", "cpu_atom"},
		{"cpu_atom/cycles/:u", "cycles:u", "cpu_atom"},
		{"cpu_atom/cycles:ppp/", "cycles:ppp", "cpu_atom"},
		{"cpu_lowpower/INST_RETIRED.ANY/u", "INST_RETIRED.ANY:u", "cpu_lowpower"},
		{"armv8_cortex_a53/cpu_cycles/", "cpu_cycles", "armv8_cortex_a53"},
		{"apple_icestorm_pmu/cycles/u", "cycles:u", "apple_icestorm_pmu"},
		{"cpu_core/cycles,period=1000/u", "cpu/cycles,period=1000/u", "cpu_core"},
		{"cpu_core/event=0x3c,umask=0x0/"},
		{"cpu_core/r1c2/"},
		{"cpu_core/config=0x3c/"},
		{"cpu_core//"},
		{"cpu_core/cycles"},
		{"cpu/cycles/"},
		{"cpu_"},
		{"uncore_imc_0/cas_count_read/"},
		{"arm_spe_0/branch_filter=1/"},
		{"armada/x/"},
		{"cycles:P"},
		{"sched:sched_switch"},
		{"/cycles/"},
		{""},
	};
	static const struct {
		const char *name, *base;
	} terms[] = {
		{"cpu-clock/freq=499/", "cpu-clock"},
		{"cpu-clock/freq=499/u", "cpu-clock:u"},
		{"cpu-clock/freq=499/:u", "cpu-clock:u"},
		{"page-faults/period=1,call-graph=fp/", "page-faults"},
		{"sched:sched_switch/call-graph=fp/", "sched:sched_switch"},
		{"cpu/event=0x3c,freq=99/"},
		{"cpu/cycles/"},
		{"cpu-clock"},
		{"cpu-clock/freq=499"},
		{"/freq=1/"},
		{""},
	};
	static const struct {
		const char *pattern, *name;
		bool yes;
	} fits[] = {
		{"cpu-clock", "cpu-clock/freq=499/", true},
		{"cpu-clock*", "cpu-clock/freq=499/", true},
		{"*499*", "cpu-clock/freq=499/", true},
		{"cpu-clock:u", "cpu-clock/freq=499/u", true},
		{"cpu-clock/freq=499/", "cpu-clock/freq=499/", true},
		{"cpu-clock", "cpu-clock/freq=499/u", false},
		{"cycles", "cpu_core/cycles/", true},
		{"cpu_core/cycles/", "cpu_atom/cycles/", false},
		{"task-clock", "cpu-clock/freq=499/", false},
	};
	static const struct {
		const char *names[3]; /* the first of which is asked about */
		const char *is;	      /* NULL: the whole one */
	} shown[] = {
		{{"cpu-clock/freq=499/u", "faults", NULL}, "cpu-clock:u"},
		{{"cpu-clock/freq=499/u", "faults", "cpu-clock/freq=499/"}, "cpu-clock:u"},
		{{"cpu-clock/freq=499/", "cpu-clock/freq=99/", "faults"}, NULL},
		{{"cpu-clock/freq=499/", "faults", "cpu-clock"}, NULL},
		{{"cpu-clock/freq=499/", "cpu-clock/freq=499/", NULL}, "cpu-clock"},
		{{"cycles/freq=9/P", "cpu_core/cycles/P", NULL}, NULL},
		{{"faults", NULL, NULL}, NULL},
		{{"cpu-clock/freq=499/ #2", NULL, NULL}, NULL},
	};
	static const struct {
		const char *want, *name;
		bool yes;
	} same[] = {
		{"cpu-clock", "cpu-clock/freq=499/", true},
		{"cpu-clock/freq=499/", "cpu-clock", true},
		{"cpu-clock/freq=499/", "cpu-clock/freq=99/", false},
		{"faults", "faults", true},
		{"cpu-*", "cpu-clock", false},
	};
	char big[CORE_EVENT_MAX + 20] = "cpu_core/";
	struct core_event e;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *name = rows[i].name, *base = rows[i].base;
		bool is = core_event(name, strlen(name), &e);

		ok(is == (base != NULL), "\"%s\": %s", name, base ? "is one" : "is none");
		if (!base || !is)
			continue;
		is_str(e.name, base, "%s without its PMU", name);
		ok(e.len == strlen(base) && e.pmu_len == strlen(rows[i].pmu) &&
			   !memcmp(e.pmu, rows[i].pmu, e.pmu_len),
		   "which is %s", rows[i].pmu);
	}
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		const char *name = terms[i].name, *base = terms[i].base;
		bool is = event_without_terms(name, strlen(name), &e);

		ok(is == (base != NULL), "\"%s\": terms to leave out: %s", name,
		   base ? "yes" : "no");
		if (base && is)
			is_str(e.name, base, "\"%s\" without them", name);
	}
	for (size_t i = 0; i < sizeof(fits) / sizeof(*fits); i++)
		ok(event_fits(fits[i].pattern, strlen(fits[i].pattern), fits[i].name,
			      strlen(fits[i].name)) == fits[i].yes,
		   "'%s' %s \"%s\"", fits[i].pattern, fits[i].yes ? "fits" : "does not fit",
		   fits[i].name);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		const struct event_names all = {name_of, shown[i].names, 3};
		const char *name = shown[i].names[0], *is = shown[i].is;
		bool cut = event_short_name(name, strlen(name), &all, &e);

		is_str(cut ? e.name : "whole", is ? is : "whole", "row %zu: \"%s\" beside others",
		       i, name);
	}
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		ok(event_same(same[i].want, strlen(same[i].want), same[i].name,
			      strlen(same[i].name)) == same[i].yes,
		   "\"%s\" and \"%s\" are %s", same[i].want, same[i].name,
		   same[i].yes ? "the same" : "two");
	memset(big + 9, 'x', sizeof(big) - 11);
	big[sizeof(big) - 2] = '/';
	ok(!core_event(big, strlen(big), &e), "a name that is too long");
	return done();
}

/*
 * Memory accesses that PMUs sample with their address, where the data came from, and how long it
 * took: which events that are, by sysfs alone.
 *
 * Intel names them: mem-loads, whose threshold is the term ldlat, and mem-stores. From Sapphire
 * Rapids on, loads are counted only in a group that mem-loads-aux leads, which is there then.
 * Machines with several kinds of cores have a PMU of each. AMD samples all operations by ibs_op.
 * On Arm it is arm_spe, whose trace is not made of samples.
 */
#include "base/err.h"
#include "pevent/parts.h"

#include <stdio.h>
#include <string.h>

struct find {
	unsigned kinds, ldlat;
	struct buf *loads, *stores, *all;
	bool spe;
};

static bool has_term(const struct pmu *p, const char *term)
{
	struct buf text = BUF_INIT;
	char file[80];
	bool yes;

	snprintf(file, sizeof(file), "format/%.64s", term);
	yes = !pmu_text(p, file, &text);
	buf_release(&text);
	return yes;
}

static void add_loads(const struct find *f, const struct pmu *p)
{
	bool aux = pmu_has_event(p, "mem-loads-aux");
	struct buf *b = f->loads;

	buf_adds(b, b->len ? "," : "");
	if (aux)
		buf_addf(b, "{%s/mem-loads-aux/,", p->name);
	buf_addf(b, "%s/mem-loads", p->name);
	if (has_term(p, "ldlat"))
		buf_addf(b, ",ldlat=%u", f->ldlat ? f->ldlat : PEVENT_LDLAT);
	buf_adds(b, aux ? "/}:P" : "/P");
}

static int on_pmu(void *ctx, const struct pmu *p)
{
	struct find *f = ctx;

	if (f->kinds & PEVENT_LOADS && pmu_has_event(p, "mem-loads"))
		add_loads(f, p);
	if (f->kinds & PEVENT_STORES && pmu_has_event(p, "mem-stores"))
		buf_addf(f->stores, "%s%s/mem-stores/P", f->stores->len ? "," : "", p->name);
	if (!strcmp(p->name, "ibs_op") && f->ldlat && has_term(p, "ldlat"))
		buf_addf(f->all, "ibs_op/ldlat=%u/", f->ldlat);
	else if (!strcmp(p->name, "ibs_op"))
		buf_adds(f->all, "ibs_op//");
	f->spe |= !strncmp(p->name, "arm_spe_", 8);
	return 0;
}

int pevents_memory(const struct pevents *e, unsigned kinds, unsigned ldlat, struct buf *words,
		   struct buf *why)
{
	struct buf loads = BUF_INIT, stores = BUF_INIT, all = BUF_INIT;
	struct find f = {
		.kinds = kinds, .ldlat = ldlat, .loads = &loads, .stores = &stores, .all = &all};
	int rc = pmu_each(e, "*", on_pmu, &f);

	buf_join(words, &loads);
	buf_adds(words, loads.len && stores.len ? "," : "");
	buf_join(words, &stores);
	/* It cannot be told to take loads or stores alone. */
	if (!words->len)
		buf_join(words, &all);
	rc = rc == PP_ENOENT ? 0 : rc;
	if (!rc && !words->len) {
		buf_adds(why, f.spe ? "memory accesses are traced by arm_spe here, which cannot be "
				      "recorded; perf mem record can"
				    : "no PMU here samples memory accesses (mem-loads, mem-stores, "
				      "ibs_op), as in most virtual machines");
		rc = PP_ENOENT;
	}
	buf_release(&loads);
	buf_release(&stores);
	buf_release(&all);
	return rc ? rc : words->err;
}

/* What is known about a recording, and what is found to be wrong with it. */
#include "perfdata/info.h"

#include "base/err.h"

#include <stdlib.h>

void perf_info_init(struct perf_info *p, struct diag *d, const char *name)
{
	*p = (struct perf_info){.d = d, .name = name, .id_pos = -1};
}

static void facts_release(struct perf_facts *f)
{
	intern_release(&f->pmu_names);
	map64_release(&f->pmu_by_type);
	perf_btf_free(f->btf);
	intern_release(&f->build_id_paths);
	free(f->build_ids);
}

void perf_info_release(struct perf_info *p)
{
	for (uint32_t i = 0; i < p->nattrs; i++)
		perf_attr_release(&p->attrs[i]);
	free(p->attrs);
	map64_release(&p->by_id);
	perf_tracing_free(p->tracing);
	facts_release(&p->facts);
}

void perf_damage(struct perf_info *p, int err, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vwarn(p->d, p->name, offset, fmt, ap);
	va_end(ap);
	if (!p->damage)
		p->damage = err;
}

const char *perf_pmu_name(const struct perf_info *p, uint32_t type)
{
	const uint32_t *id = map64_get(&p->facts.pmu_by_type, type);

	return id ? intern_get(&p->facts.pmu_names, *id, NULL) : NULL;
}

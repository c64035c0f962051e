/* The trace buffers that events come from: each has its own threads, and its own losses. */
#include "interval/engine.h"

#include "base/array.h"

#include <stdlib.h>

int engine_domain(struct engine *en, uint32_t source, const char *buffer, size_t len,
		  uint32_t *domain)
{
	uint32_t name;

	if (!len && en->main_domain[1] && en->main_domain[0] == source) {
		*domain = en->main_domain[1] - 1;
		return 0;
	}
	if (engine_text(en, buffer, len, &name))
		return PP_ENOMEM;
	for (*domain = 0; *domain < en->ndomains; ++*domain)
		if (en->domains[*domain].source == source && en->domains[*domain].buffer == name)
			break;
	if (*domain == en->ndomains) {
		struct lat_domain *v;

		/* As many recordings as nobody has: the last ones are taken for one. */
		if (en->ndomains == LAT_DOMAINS_MAX) {
			*domain = LAT_DOMAINS_MAX - 1;
			return 0;
		}
		v = realloc(en->domains, (en->ndomains + 1) * sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		en->domains = v;
		v[en->ndomains++] = (struct lat_domain){.source = source, .buffer = name};
	}
	if (!len) {
		en->main_domain[0] = source;
		en->main_domain[1] = *domain + 1;
	}
	return 0;
}

int engine_lost(struct engine *en, const struct ps_record *rec)
{
	const struct ps_lost *lost = &rec->lost;
	uint64_t number = ++en->losses;

	/* Hardware trace data is none of the events. */
	if (lost->kind == 4)
		return 0;
	for (uint32_t i = 0; i < en->ndomains; i++) {
		struct lat_domain *d = &en->domains[i];
		uint64_t *v;

		if (d->source != rec->source)
			continue;
		d->lost = number;
		if (lost->cpu >= LAT_CPUS_MAX) {
			d->lost_all = number;
			continue;
		}
		v = array_widen(d->cpu_lost, &d->ncpus, lost->cpu, 16, sizeof(*v));
		if (!v)
			return PP_ENOMEM;
		d->cpu_lost = v;
		d->cpu_lost[lost->cpu] = number;
	}
	return 0;
}

void engine_forget_domains(struct engine *en)
{
	for (uint32_t i = 0; i < en->ndomains; i++)
		free(en->domains[i].cpu_lost);
	en->ndomains = 0;
	en->main_domain[1] = 0;
}

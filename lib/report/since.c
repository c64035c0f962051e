/* What was counted by a moment: a period is what came after it. */
#include "base/err.h"
#include "report/parts.h"

#include <stdlib.h>
#include <string.h>

int report_since(struct report_since *x, const struct report *r)
{
	uint32_t n = fold_nodes(r->tree), name;
	struct report_since now = {.n = n, .nevents = r->nevents, .nplaces = r->nplace_counts};

	now.weights = calloc((size_t)n + 1, sizeof(*now.weights));
	now.samples = calloc((size_t)n + 1, sizeof(*now.samples));
	now.events = calloc((size_t)now.nevents + 1, sizeof(*now.events));
	now.places = calloc((size_t)now.nplaces + 1, sizeof(*now.places));
	if (!now.weights || !now.samples || !now.events || !now.places) {
		report_since_release(&now);
		return PP_ENOMEM;
	}
	for (uint32_t k = 1; k < n; k++)
		(void)fold_node(r->tree, k, &name, &now.weights[k]);
	for (uint32_t k = 0; k < n && k < r->counts.n; k++)
		now.samples[k] = weights_get(&r->counts, k);
	if (now.nevents)
		memcpy(now.events, r->events, now.nevents * sizeof(*now.events));
	if (now.nplaces)
		memcpy(now.places, r->place_counts, now.nplaces * sizeof(*now.places));
	report_since_release(x);
	*x = now;
	return 0;
}

void report_since_release(struct report_since *x)
{
	free(x->weights);
	free(x->samples);
	free(x->events);
	free(x->places);
	*x = (struct report_since){0};
}

void report_since_events(struct result *s)
{
	for (uint32_t i = 0; i < s->since->nevents; i++) {
		const struct report_event *before = &s->since->events[i];
		struct report_event *e = &s->events[i];

		e->samples -= before->samples;
		e->weight -= before->weight;
		e->told -= before->told;
		e->bare -= before->bare;
		for (int k = 0; k < PS_END_MAX; k++) {
			e->ended[k] -= before->ended[k];
			e->ended_weight[k] -= before->ended_weight[k];
		}
	}
}

/* The page of a timeline: one HTML file with its data compressed in it. */
#include "draw/timeline_parts.h"

#include "base/err.h"
#include "draw/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int add_about(const struct timeline *t, const struct timeline_opts *opts, struct out *o)
{
	struct buf b = BUF_INIT;
	const char *text = buf_str(&t->texts);
	int rc;

	buf_adds(&b, "{\"title\":");
	buf_add_json(&b, opts->title ? opts->title : "Timeline",
		     strlen(opts->title ? opts->title : "Timeline"));
	buf_adds(&b, ",\"from\":");
	buf_add_json(&b, buf_str(&t->from), t->from.len);
	buf_adds(&b, ",\"unit\":");
	buf_add_json(&b, buf_str(&t->unit), t->unit.len);
	buf_addf(&b,
		 ",\"n\":%" PRIu64 ",\"base\":\"%" PRIu64 "\",\"first\":%" PRId64
		 ",\"last\":%" PRId64 ",\"marks\":%" PRIu64 ",\"steps\":%" PRIu64
		 ",\"slice\":%u,\"partial\":%s,\"kinds\":[",
		 t->account.intervals + t->account.open, t->base, (int64_t)(t->first - t->base),
		 (int64_t)(t->last - t->base), t->account.marks, t->account.steps, TIMELINE_SLICE,
		 t->account.partial ? "true" : "false");
	for (int i = 0; i < TIMELINE_KINDS_MAX; i++) {
		buf_adds(&b, i ? "," : "");
		buf_add_json(&b, t->kinds[i], strlen(t->kinds[i]));
	}
	buf_adds(&b, "],\"texts\":[\"\"");
	for (uint32_t i = 0; i < t->ntexts; i++) {
		buf_addc(&b, ',');
		buf_add_json(&b, text, strlen(text));
		text += strlen(text) + 1;
	}
	/* tid, pid, number of the name, buffer */
	buf_adds(&b, "],\"threads\":[[0,0,0,0]");
	for (uint32_t i = 1; i <= t->nthreads; i++)
		buf_addf(&b, ",[%u,%lld,%u,%u]", t->threads[i].tid,
			 t->threads[i].pid == UINT32_MAX ? -1ll : (long long)t->threads[i].pid,
			 t->threads[i].name, t->threads[i].domain);
	buf_addf(&b, "],\"losses\":[%s],\"events\":[%s]}", buf_str(&t->losses),
		 buf_str(&t->events));
	rc = page_json(o, "about", &b);
	buf_release(&b);
	return rc;
}

int timeline_page(struct timeline *t, const struct timeline_opts *opts, struct out *o)
{
	static const char *const ids[] = {"who",  "kind",  "gap",   "dur",
					  "name", "waker", "marks", "steps"};
	const struct page page = {
		.title = opts->title ? opts->title : "Timeline",
		.subtitle = opts->subtitle,
		.notes = opts->notes,
		.script = draw_timeline_script,
		.script_sha256 = draw_timeline_script_sha256,
		.style = draw_timeline_style,
		.style_sha256 = draw_timeline_style_sha256,
		.instead = "psvg --timeline=svg",
	};
	int rc;

	if (!(t->account.intervals + t->account.open))
		return PP_END;
	page_begin(&page, o);
	rc = add_about(t, opts, o);
	for (int i = 0; i < NCOLUMNS && !rc; i++)
		rc = page_column(o, ids[i], &t->columns[i]);
	if (!rc)
		rc = timeline_slice(t);
	for (uint32_t i = 0; i < t->nslices && !rc; i++) {
		char id[32];

		snprintf(id, sizeof(id), "fields%u", i);
		rc = page_packed(o, id, &t->slices[i]);
	}
	page_end(&page, o);
	return rc ? rc : o->err;
}

/* Probes that are wanted for the time of a recording, in the words of the command line. */
#include "record/probes.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int probe_words_add(struct probe_words *w, const char *text, enum probe_of of, struct buf *why)
{
	if (w->n == PROBE_WORDS_MAX) {
		buf_addf(why, "more than %d definitions of probes", PROBE_WORDS_MAX);
		return PP_EUSAGE;
	}
	if (!text[strspn(text, " \t\n")]) {
		buf_adds(why, "the definition of a probe is empty");
		return PP_EUSAGE;
	}
	w->v[w->n++] = (struct probe_word){.text = text, .of = of, .file = w->file};
	w->last = true;
	return 0;
}

void probe_words_file(struct probe_words *w, const char *file)
{
	for (unsigned i = 0; !w->file && i < w->n; i++)
		w->v[i].file = file;
	w->file = file;
}

int probe_words_filter(struct probe_words *w, const char *expr, struct buf *why)
{
	struct probe_word *last = w->n ? &w->v[w->n - 1] : NULL;
	struct buf both = BUF_INIT;

	if (!w->last || !last)
		return PP_END;
	if (last->filter)
		buf_addf(&both, "(%s) && (%s)", last->filter, expr);
	else
		buf_adds(&both, expr);
	if (!both.err) {
		free(last->filter);
		last->filter = strdup(buf_str(&both));
	}
	buf_release(&both);
	if (!both.err && last->filter)
		return 0;
	buf_adds(why, pp_strerror(PP_ENOMEM));
	return PP_ENOMEM;
}

void probe_words_release(struct probe_words *w)
{
	for (unsigned i = 0; i < w->n; i++)
		free(w->v[i].filter);
	*w = (struct probe_words){0};
}

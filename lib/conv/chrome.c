/* What all of Chrome's trace events have, and names of threads. */
#include "conv/chrome.h"

#include "base/err.h"
#include "base/json.h"

void chrome_us(struct buf *b, uint64_t ns)
{
	buf_add_u64(b, ns / 1000, 0, ' ');
	if (!(ns % 1000))
		return;
	buf_addc(b, '.');
	buf_add_u64(b, ns % 1000, 3, '0');
}

void chrome_event(struct chrome *w, char ph, const char *cat, uint32_t pid, uint32_t tid,
		  uint64_t ns)
{
	struct buf *b = &w->b;

	buf_adds(b, w->events++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	buf_addc(b, ph);
	buf_addc(b, '"');
	json_text(b, "cat", cat, strlen(cat));
	json_num(b, "pid", pid == PS_NONE ? 0 : pid);
	json_num(b, "tid", tid == PS_NONE ? 0 : tid);
	json_key(b, "ts");
	chrome_us(b, ns);
}

int chrome_end(struct chrome *w)
{
	buf_addc(&w->b, '}');
	return conv_flush(w->c, &w->b, CONV_BLOCK);
}

int chrome_name(struct chrome *w, const char *what, uint32_t pid, uint32_t tid, struct ps_str name)
{
	chrome_event(w, 'M', "__metadata", pid, tid, 0);
	json_text(&w->b, "name", what, strlen(what));
	json_key(&w->b, "args");
	buf_addc(&w->b, '{');
	json_text(&w->b, "name", name.p, name.len);
	buf_addc(&w->b, '}');
	return chrome_end(w);
}

int chrome_thread(struct chrome *w, uint32_t thread)
{
	struct prof *p = w->c->p;
	const struct prof_thread *t = prof_thread_of(p, thread);
	uint32_t tid = chrome_tid(t, thread);
	uint32_t *named = map64_put(&w->named, (uint64_t)t->pid << 32 | tid, NULL);
	struct ps_str process = prof_process(p, t);
	int rc;

	if (!named)
		return PP_ENOMEM;
	if (*named == t->comm && t->comm)
		return 0;
	*named = t->comm;
	rc = chrome_name(w, "thread_name", t->pid, tid, prof_str(p, t->comm));
	return rc || t->pid == PS_NONE ? rc : chrome_name(w, "process_name", t->pid, tid, process);
}

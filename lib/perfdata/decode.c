/* A perf.data from its beginning to its end, and what there is to say about it then. */
#include "perfdata/parts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>

void perf_damage(struct perf *p, int err, int64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vwarn(p->d, p->name, offset, fmt, ap);
	va_end(ap);
	if (!p->damage)
		p->damage = err;
}

/* What was passed over, each kind once. */
static void say_passed_over(struct perf *p)
{
	static const struct {
		unsigned type;
		const char *name;
	} kinds[] = {
		{PERF_REC_SCHEDSTAT_CPU, "schedstat_cpu"},
		{PERF_REC_SCHEDSTAT_DOMAIN, "schedstat_domain"},
		{PERF_REC_AUXTRACE_ERROR, "auxtrace_error"},
	};
	uint64_t unknown = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t n = p->counts[kinds[i].type];

		if (n)
			diag_say(p->d, p->name, "%" PRIu64 " %s record%s passed over", n,
				 kinds[i].name, n == 1 ? "" : "s");
	}
	if (p->counts[PERF_REC_AUXTRACE])
		diag_say(p->d, p->name,
			 "%" PRIu64 " bytes of hardware trace data in %" PRIu64
			 " record%s passed over",
			 p->aux_bytes, p->counts[PERF_REC_AUXTRACE],
			 p->counts[PERF_REC_AUXTRACE] == 1 ? "" : "s");
	for (unsigned t = PERF_REC_SCHEDSTAT_DOMAIN + 1; t < 256; t++)
		unknown += p->counts[t];
	for (unsigned t = PERF_REC_CALLCHAIN_DEFERRED + 1; t < PERF_REC_USER_START; t++)
		unknown += p->counts[t];
	unknown += p->counts[0];
	if (unknown)
		diag_say(p->d, p->name, "%" PRIu64 " records of unknown types passed over",
			 unknown);
}

/* The records of the recording by type, as `perf report --stats` counts them. */
static void say_types(struct perf *p)
{
	static const char *const names[] = {
#define R(name, number, text) [number] = (text),
		PERF_RECORD_TYPES(R)
#undef R
	};
	struct buf b = BUF_INIT;
	uint64_t total = 0;

	for (size_t i = 0; i < sizeof(p->counts) / sizeof(p->counts[0]); i++) {
		if (!p->counts[i])
			continue;
		total += p->counts[i];
		buf_adds(&b, b.len ? ", " : ": ");
		buf_add_u64(&b, p->counts[i], 0, ' ');
		if (i < sizeof(names) / sizeof(names[0]) && names[i])
			buf_addf(&b, " %s", names[i]);
		else
			buf_addf(&b, " of type %zu", i);
	}
	diag_say(p->d, p->name, "%" PRIu64 " records read%s", total, buf_str(&b));
	buf_release(&b);
}

static void say_account(struct perf *p)
{
	if (p->stats)
		say_types(p);
	say_passed_over(p);
	if (p->order.late)
		diag_say(p->d, p->name, "%" PRIu64 " records came too late to be put in time order",
			 p->order.late);
	if (p->lost)
		diag_say(p->d, p->name, "the recorder lost %" PRIu64 " event%s", p->lost,
			 p->lost == 1 ? "" : "s");
	if (p->aux_cut)
		diag_say(p->d, p->name, "hardware trace data were cut off %" PRIu64 " time%s",
			 p->aux_cut, p->aux_cut == 1 ? "" : "s");
	if (p->undeferred)
		diag_say(p->d, p->name,
			 "%" PRIu64 " samples lack their user call chain: it was recorded too late",
			 p->undeferred);
	if (p->untimed)
		diag_say(p->d, p->name, "%" PRIu64 " samples have no time", p->untimed);
}

/* How the reading of records ended, as a code for the caller. */
static int finish(struct perf *p, int rc)
{
	bool sized = !p->pipe && p->data_size;
	int flushed;

	if (rc == PP_ECUT)
		perf_damage(p, PP_ECUT, (int64_t)src_tell(p->src),
			    "the input ends within a record");
	else if (rc == PP_END && sized && p->left)
		perf_damage(p, PP_ECUT, (int64_t)src_tell(p->src),
			    "the input is cut off: %" PRIu64 " of %" PRIu64
			    " bytes of records are missing",
			    p->left, p->data_size);
	else if (rc == PP_END && !p->pipe && !p->data_size)
		perf_damage(
			p, PP_ECUT, -1,
			"the recording was never finished: names of events and machine are missing");
	else if (rc == PP_END && p->pipe && !p->nattrs)
		perf_damage(p, PP_ECUT, (int64_t)src_tell(p->src),
			    "the input is cut off: no event follows the file header");
	else if (rc == PP_END && p->mark_announced && !p->mark_seen)
		perf_damage(
			p, PP_ECUT, (int64_t)src_tell(p->src),
			"the input is cut off: the end mark that pcap-perf writes last is missing");
	else if (rc == PP_ELIMIT || pp_is_io(rc))
		perf_damage(p, rc, (int64_t)src_tell(p->src), "%s", pp_strerror(rc));
	if (!p->announced && perf_announce(p))
		return p->w->err;
	flushed = order_flush(&p->order);
	if (p->w->err)
		return p->w->err;
	if (flushed || rc == PP_ENOMEM)
		return flushed ? flushed : rc;
	if (p->view) {
		rc = perf_tell_end(p);
		return rc ? rc : p->damage;
	}
	if (perf_attr_write_all(p))
		return p->w->err ? p->w->err : PP_ENOMEM;
	say_account(p);
	return p->damage;
}

/*
 * Whether the byte order is not this machine's. The magic of version 2 is a number; in version 1, where
 * it is a text, the size of the header tells: it is a small number.
 */
static bool is_swapped(const struct perf *p, const uint8_t *first16)
{
	struct cursor c = cursor_make(first16 + 8, 8, false);

	if (p->version == 1)
		return get_u64(&c) > UINT32_MAX;
	return (memcmp(first16, PERF_MAGIC2, 8) != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static int begin(struct perf *p)
{
	uint8_t first[PERF_PIPE_HEADER_SIZE];
	struct cursor c;
	int rc = src_read_all(p->src, first, sizeof(first)), told = 0;

	if (rc) {
		diag_error(p->d, p->name, -1, "the file header is cut off");
		return PP_ECUT;
	}
	p->version = memcmp(first, PERF_MAGIC1, 8) != 0 ? 2 : 1;
	p->swap = is_swapped(p, first);
	p->big_endian = p->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c = cursor_make(first + 8, 8, p->swap);
	p->pipe = get_u64(&c) == PERF_PIPE_HEADER_SIZE;
	p->left = UINT64_MAX;
	if (p->pipe)
		return p->view ? perf_tell_file(p) : 0;
	rc = src_unread(p->src, first, sizeof(first));
	if (!rc)
		rc = src_spool(p->src, p->d);
	if (!rc)
		rc = perf_read_file_header(p, first);
	/* What a damaged header can still tell, --header prints. */
	if (!rc || (p->view && p->data_offset))
		told = perf_read_features(p);
	if (!rc)
		rc = told;
	else if (p->view && p->view->what == PERF_DESCRIBE_HEADER)
		perf_tell_end(p);
	if (rc)
		return rc;
	rc = p->view ? 0 : perf_read_kallsyms(p);
	if (rc)
		return rc;
	perf_attr_layout(p);
	if (p->data_size)
		p->left = p->data_size;
	return src_seek(p->src, p->data_offset);
}

static void release(struct perf *p)
{
	for (uint32_t i = 0; i < p->nattrs; i++)
		perf_attr_release(&p->attrs[i]);
	free(p->attrs);
	map64_release(&p->by_id);
	intern_release(&p->strings);
	intern_release(&p->dsos);
	intern_release(&p->build_id_paths);
	free(p->build_ids);
	hashids_release(&p->chains);
	perf_threads_release(&p->threads);
	perf_counters_release(&p->counters);
	perf_facts_release(&p->facts);
	free(p->deferred);
	map64_release(&p->deferred_by_key);
	buf_release(&p->merged);
	perf_tracing_free(p->tracing);
	block_unref(p->cur);
	order_release(&p->order);
	perf_inflate_free(p->inflate);
	buf_release(&p->inflate_out);
	buf_release(&p->inflate_tail);
	free(p);
}

int perf_decode_view(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		     struct ps_end *account, struct perf_view *view, bool stats)
{
	struct perf *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return PP_ENOMEM;
	p->src = s;
	p->w = w;
	p->d = d;
	p->name = src_name(s);
	p->source = source;
	p->account = account;
	p->view = view;
	p->stats = stats;
	p->id_pos = -1;
	p->chains = (struct hashids){.max_ids = PERF_CHAIN_IDS, .max_bytes = PERF_CHAIN_BYTES};
	order_init(&p->order, perf_deliver_ahead, p);
	rc = begin(p);
	if (!rc)
		rc = finish(p, perf_read_parts(p));
	release(p);
	return rc;
}

int perf_decode(struct src *s, uint32_t source, struct swriter *w, struct diag *d,
		struct ps_end *account, bool stats)
{
	return perf_decode_view(s, source, w, d, account, NULL, stats);
}

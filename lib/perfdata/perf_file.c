/* A recording from its beginning to its end, and what is wrong with the end. */
#include "perfdata/perf_file.h"

#include <inttypes.h>

void perf_reader_init(struct perf_reader *r, struct src *s, struct diag *d, struct blocks *blocks)
{
	*r = (struct perf_reader){.in = &r->first};
	r->first = (struct perf_bytes){
		.src = s, .left = UINT64_MAX, .blocks = blocks, .d = d, .name = src_name(s)};
	perf_info_init(&r->info, d, src_name(s));
}

void perf_reader_release(struct perf_reader *r)
{
	perf_bytes_release(&r->first);
	perf_info_release(&r->info);
	buf_release(&r->split);
	buf_release(&r->init_map);
}

/*
 * Whether the byte order is not this machine's. The magic of version 2 is a number; in version 1,
 * where it is a text, the size of the header shows the order: it is a small number.
 */
static bool is_swapped(int version, const uint8_t *first16)
{
	struct cursor c = cursor_make(first16 + 8, 8, false);

	if (version == 1)
		return get_u64(&c) > UINT32_MAX;
	return (memcmp(first16, PERF_MAGIC2, 8) != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

int perf_reader_open(struct perf_reader *r)
{
	uint8_t first[PERF_PIPE_HEADER_SIZE];
	struct perf_info *p = &r->info;
	struct src *s = r->first.src;
	struct cursor c;
	int rc = src_read_all(s, first, sizeof(first));

	if (rc) {
		diag_error(p->d, p->name, -1, "%s",
			   pp_is_io(rc) ? pp_strerror(rc) : "the file header is cut off");
		return pp_is_io(rc) ? rc : PP_ECUT;
	}
	p->version = memcmp(first, PERF_MAGIC1, 8) != 0 ? 2 : 1;
	p->swap = is_swapped(p->version, first);
	p->big_endian = p->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c = cursor_make(first + 8, 8, p->swap);
	p->pipe = get_u64(&c) == PERF_PIPE_HEADER_SIZE;
	if (p->pipe)
		return 0;
	rc = src_unread(s, first, sizeof(first));
	if (!rc)
		rc = src_spool(s, p->d);
	return rc ? rc : perf_read_file_header(r, first);
}

int perf_reader_header(struct perf_reader *r, bool anyway)
{
	int rc, told = 0;

	if (r->info.pipe)
		return 0;
	rc = perf_read_events(r);
	if (!rc || (anyway && r->info.data_offset))
		told = perf_read_features(r);
	if (rc || told)
		return rc ? rc : told;
	perf_attr_layout(&r->info);
	if (r->info.data_size)
		r->first.left = r->info.data_size;
	return src_seek(r->first.src, r->info.data_offset);
}

int perf_reader_records(struct perf_reader *r)
{
	int rc = perf_read_init_map(r);

	return rc ? rc : perf_read_parts(r);
}

/* What a regular end of the input means. */
static void ended(struct perf_reader *r)
{
	struct perf_info *p = &r->info;
	int64_t at = (int64_t)src_tell(r->first.src);

	if (!p->pipe && p->data_size && r->first.left)
		perf_damage(p, PP_ECUT, at,
			    "the input is cut off: %" PRIu64 " of %" PRIu64
			    " bytes of records are missing",
			    r->first.left, p->data_size);
	else if (!p->pipe && !p->data_size)
		perf_damage(p, PP_ECUT, -1,
			    "the recording was never finished: names of events and "
			    "machine are missing");
	else if (p->pipe && !p->nattrs)
		perf_damage(p, PP_ECUT, at,
			    "the input is cut off: no event follows the file header");
	else if (r->mark_announced && !r->mark_seen)
		perf_damage(
			p, PP_ECUT, at,
			"the input is cut off: the end mark that pcap-perf writes last is missing");
}

int perf_reader_ended(struct perf_reader *r, int rc)
{
	int64_t at = (int64_t)src_tell(r->first.src);

	/* It was the sink's, such as that of the output. */
	if (r->stopped && rc == r->stopped)
		return rc;
	/* What is missing at the end is yet to come, or came when the records were done. */
	if (src_stopped(r->first.src) && (rc == PP_END || rc == PP_ECUT))
		return 0;
	if (rc == PP_END && src_follows(r->first.src) && !r->info.pipe && !r->info.data_size)
		return 0;
	if (rc == PP_END)
		ended(r);
	else if (rc == PP_ECUT)
		perf_damage(&r->info, rc, at, "the input ends within a record");
	else if (rc == PP_ELIMIT || pp_is_io(rc))
		perf_damage(&r->info, rc, at, "%s", pp_strerror(rc));
	else if (rc != PP_ECORRUPT) /* which has been reported */
		return rc;
	return 0;
}

/* Event streams: intervals of all kinds, whose starts have to be accounted for whatever comes. */
#include "base/err.h"
#include "interval/interval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *ctx, const struct lat *l, const struct interval *iv)
{
	size_t n;

	(void)lat_name(l, iv->who.comm, &n);
	*(uint64_t *)ctx += n;
	return 0;
}

/* The same with their stacks, to a stream that nobody reads. */
static int drop(void *ctx, uint8_t *bytes, size_t n)
{
	(void)ctx, (void)bytes, (void)n;
	return 0;
}

static int write_point(void *ctx, const struct lat *l, const struct interval *iv)
{
	uint32_t chain, stack;
	int rc = lat_point_write(l, ctx, iv->source, &iv->start, &chain, &stack);

	return rc ? rc : lat_point_write(l, ctx, iv->source, &iv->end, &chain, &stack);
}

/* The starts of each kind are the sum of what became of them. */
static void check(const struct lat *l)
{
	const uint64_t *count;
	const char *name;

	for (unsigned i = 0; (count = lat_account(l, i, &name)); i++) {
		uint64_t sum = 0;

		for (int c = LAT_INTERVALS; c < LAT_NO_START; c++)
			sum += count[c];
		if (sum != count[LAT_STARTS])
			__builtin_trap();
	}
}

static void run(const uint8_t *data, size_t size, const struct lat_opts *o)
{
	struct buf why = BUF_INIT;
	struct sreader *r = NULL;
	const struct ps_record *rec;
	struct lat *l;
	struct src *s;
	int rc = lat_new(&l, o, NULL, &why);

	if (!rc && !src_from_mem(&s, data, size, "fuzz") && !sreader_new(&r, s, LAT_KEEP, NULL)) {
		while (!rc && !sreader_next(r, &rec)) {
			rc = lat_bound(l);
			if (!rc)
				rc = lat_record(l, r, rec);
		}
		if (!lat_finish(l))
			check(l);
	}
	sreader_free(r);
	lat_free(l);
	buf_release(&why);
}

/* With room for few stacks, so that they are swept. */
static void run_points(const uint8_t *data, size_t size)
{
	struct swriter w;
	struct out out;
	struct lat_opts o = {.points = true,
			     .stacks_max = 16,
			     .unmatched = true,
			     .sink = write_point,
			     .sink_ctx = &w};

	if (out_init_fn(&out, drop, NULL))
		return;
	swriter_init(&w, &out);
	swriter_header(&w);
	run(data, size, &o);
	out_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sum = 0;
	uint32_t turn = 0;
	struct lat_opts tables = {.by = "comm,state,waker,stack,key", .window = LAT_WINDOW_AUTO};
	struct lat_opts open = {.unmatched = true};
	struct lat_opts threads = {.threads = true};
	struct lat_opts pair = {.pair = {.starts = {"t:a:key if key > 0", "sched_wakeup:pid"},
					 .ends = {"b:key", "sched_switch:next_pid"},
					 .nstarts = 2,
					 .nends = 2,
					 .restart = PAIR_NEST},
				.sink = take,
				.sink_ctx = &sum};

	/* One of them for each input, so that turning bits reaches all in the time of one. */
	for (size_t i = 0; i < size; i++)
		turn += data[i];
	switch (turn % 5) {
	case 0: run(data, size, &tables); break;
	case 1: run(data, size, &open); break;
	case 2: run(data, size, &threads); break;
	case 3: run(data, size, &pair); break;
	default: run_points(data, size);
	}
	return 0;
}

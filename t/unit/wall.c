/* The histories of threads, from streams that are made here: what text recordings cannot have. */
#include "stream_make.h"
#include "wall/histories.h"
#include "wall/wall.h"

#define SWITCH 1
#define WAKING 2
#define PARENT 10
#define CHILD  20

static struct made m;

static void begin(void)
{
	made_begin(&m);
	made_field(&m, 0, 4, "prev_pid");
	made_field(&m, 4, 4, "next_pid");
	made_field(&m, 8, 8, "prev_state");
	made_event(&m, SWITCH, "sched:sched_switch", MADE_SWITCH_FORMAT);
	made_field(&m, 0, 4, "pid");
	made_event(&m, WAKING, "sched:sched_waking", "");
}

static void sample(uint32_t ev, uint64_t time, uint32_t tid, const void *payload, size_t len)
{
	struct ps_sample s = {.event = ev,
			      .cpu = 0,
			      .time = time,
			      .pid = tid,
			      .tid = tid,
			      .flags = PS_MARK_PASS,
			      .fields = PS_HAS(payload),
			      .payload = ps_str(payload, len)};

	swriter_sample(&m.w, 1, &s);
}

static void put_switch(uint64_t time, uint32_t prev, uint64_t state, uint32_t next)
{
	uint8_t payload[16];

	memcpy(payload, &prev, 4);
	memcpy(payload + 4, &next, 4);
	memcpy(payload + 8, &state, 8);
	sample(SWITCH, time, prev, payload, sizeof(payload));
}

static void put_waking(uint64_t time, uint32_t by, uint32_t tid)
{
	sample(WAKING, time, by, &tid, sizeof(tid));
}

/* "tid:state begin-end by tid" for each segment. */
static int on_segment(void *ctx, struct wall *w, const struct wall_segment *s)
{
	static const char letters[] = "?RWB";

	buf_addf(ctx, "%d:%c %d-%d", (int)w->threads[s->thread].tid, letters[s->state],
		 (int)s->begin, (int)s->end);
	if (s->wake.thread)
		buf_addf(ctx, " by %d%s", (int)w->threads[s->wake.thread].tid,
			 wall_is_ours(w, &w->threads[s->wake.thread]) ? "" : ", which is none");
	buf_adds(ctx, "; ");
	return 0;
}

static void run(struct buf *text)
{
	struct wall w = {.segment = on_segment, .ctx = text};
	const struct lat_opts names = {0};
	const struct wall_opts o = {.spans = &names};
	const struct ps_record *rec;
	struct sreader *r;

	made_end(&m, 0);
	r = made_reader(&m, WALL_KEEP);
	if (wall_engine_init(&w, &o, NULL))
		abort();
	while (!sreader_next(r, &rec))
		if (wall_engine_record(&w, r, rec))
			abort();
	if (wall_engine_end(&w))
		abort();
	wall_engine_release(&w);
	sreader_free(r);
	made_free(&m);
}

/* A process is preempted after it has written its exit record; then it ends its parent's wait. */
static void preempted_in_exit(void)
{
	struct buf text = BUF_INIT;

	begin();
	swriter_put(&m.w, PS_COMM, 1,
		    &(struct ps_comm){.cpu = 0, .pid = PARENT, .tid = PARENT, .flags = 1});
	put_waking(1000, PARENT, 99);
	swriter_put(&m.w, PS_FORK, 1,
		    &(struct ps_fork){.time = 2000,
				      .cpu = 0,
				      .pid = CHILD,
				      .tid = CHILD,
				      .ppid = PARENT,
				      .ptid = PARENT});
	put_switch(3000, PARENT, 1, CHILD);
	swriter_put(&m.w, PS_EXIT, 1,
		    &(struct ps_exit){.time = 4000,
				      .cpu = 0,
				      .pid = CHILD,
				      .tid = CHILD,
				      .ppid = PARENT,
				      .ptid = PARENT});
	put_switch(5000, CHILD, 0, 0);
	put_switch(6000, 0, 0, CHILD);
	put_waking(7000, CHILD, PARENT);
	put_switch(8000, CHILD, 16, PARENT);
	put_switch(9000, PARENT, 16, 0);
	run(&text);
	is_str(buf_str(&text),
	       "10:R 1000-3000; 20:W 2000-3000; 20:R 3000-5000; 20:W 5000-6000; "
	       "10:B 3000-7000 by 20; 20:R 6000-8000; 10:W 7000-8000; 10:R 8000-9000; ",
	       "a process that is preempted in its exit");
	buf_release(&text);
}

int main(void)
{
	preempted_in_exit();
	return done();
}

/*
 * Several event streams as one, in time order.
 *
 *	struct smerge *m;
 *	smerge_new(&m, &writer, NULL, diag);
 *	smerge_add(m, reader_of_a, "a.data", 0);
 *	smerge_add(m, reader_of_b, "b.data", 0);
 *	rc = smerge_run(m);
 *	smerge_account(m, &end);
 *	smerge_free(m);
 *
 * Records with a time come in its order; of equal times the stream that was added first comes
 * first.
 * Records without a time keep their place in their stream: they come before what follows them
 * there, and a record that is earlier than the one before it in its own stream comes directly after
 * it.
 *
 * Each recording keeps a source id of its own, so that processes of two machines do not mix.
 * Entries of dictionaries are written when they are first needed and get new ids; when too many are
 * live, the ids of call chains and stacks begin again, so that memory is bounded in those who read
 * the result.
 *
 * Times of different clocks cannot be compared: what is known of a recording's clock (SOURCE.clock,
 * the META records wall_offset, hostname, time_shift) is checked, and a warning given, or, when a
 * clock is asked for, the times are converted.
 */
#ifndef PP_MERGE_MERGE_H
#define PP_MERGE_MERGE_H

#include "stream/stream.h"

/* What the readers have to keep. */
#define SMERGE_KEEP	   (SREADER_DSOS | SREADER_CHAINS | SREADER_SYMBOLS | SREADER_HELPERS)
#define SMERGE_SOURCES_MAX 65535      /* recordings: their ids have 16 bits */
#define SMERGE_LIVE_IDS	   (1u << 18) /* call chains or stacks; beyond, the ids begin again */
#define SMERGE_LIVE_BYTES  (64u << 20)

struct smerge;

/*
 * Writes to w, which must outlive it. clock: name of the clock that all times are to be of, as
 * SOURCE.clock has it ("realtime": the time of day), or NULL: as they are.
 */
int smerge_new(struct smerge **m, struct swriter *w, const char *clock, struct diag *d);
void smerge_free(struct smerge *m); /* NULL is fine; frees the readers */

/*
 * Adds a stream, whose reader it takes over (also when this fails). offset: ns, added to its times.
 */
int smerge_add(struct smerge *m, struct sreader *r, const char *name, int64_t offset);

/*
 * Everything. 0; PP_EUSAGE: times cannot be converted to the clock, which has been reported;
 * PP_ENOMEM, PP_ELIMIT, or the error of the writer. How the streams ended is in the account.
 */
int smerge_run(struct smerge *m);

/*
 * Adds lost and missing events up; status: that of the worst stream, and how many of them failed.
 */
void smerge_account(const struct smerge *m, struct ps_end *end, uint32_t *failed);

#endif

/*
 * A source of bytes: a file, a pipe, or a layer over another source (decompression).
 *
 *	struct src *s;
 *	rc = src_open(&s, "perf.data", d);	("-" is stdin)
 *	rc = src_read(s, buf, sizeof(buf), &got);	(0 and got 0: end of input)
 *	src_free(s);
 *
 * Reading is sequential; src_pread reads anywhere in a seekable source. A source that cannot seek
 * can be made to by src_spool, which copies it to an unlinked temporary file.
 */
#ifndef PP_BASE_SRC_H
#define PP_BASE_SRC_H

#include "base/diag.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct src;

/* Opens a file or, for "-", stdin. Reports errors to d. Directories give PP_EUNSUPPORTED. */
int src_open(struct src **s, const char *name, struct diag *d);

/* The same for a file that the user did not name: nothing but a regular file is opened. */
int src_open_file(struct src **s, const char *name, struct diag *d);

/* Takes over a descriptor. */
int src_from_fd(struct src **s, int fd, const char *name);

/* A source over len bytes of memory, which must outlive it; seekable. For tests and fuzzers. */
int src_from_mem(struct src **s, const void *bytes, size_t len, const char *name);

/* A layer over another source: reads as src_read does, and frees the source below it. */
struct src_layer {
	int (*read)(void *ctx, void *buf, size_t n, size_t *got);
	void (*free)(void *ctx);
	void *ctx;
};

/* A source that cannot seek, over a layer, which it frees (also when this fails). */
int src_from_layer(struct src **s, struct src_layer layer, const char *name);

void src_free(struct src *s); /* NULL is fine */

const char *src_name(const struct src *s);
bool src_seekable(const struct src *s);

/* Size in bytes of a seekable source; 0 otherwise. */
uint64_t src_size(const struct src *s);

/* When a file was changed, in seconds since 1970; 0 for anything but a file. */
int64_t src_mtime(const struct src *s);

/* Bytes read in sequence so far. */
uint64_t src_tell(const struct src *s);

/* Up to n bytes in sequence; *got is 0 only at the end. 0, a code of pp_errno, or of a layer. */
int src_read(struct src *s, void *buf, size_t n, size_t *got);

/*
 * What to do when reading pauses: a filter passes on what it has. fn is called before a read that
 * would have to wait, when nothing has arrived for SRC_PAUSE_MS, and before any read when
 * SRC_HOLD_MS
 * have passed since it was last called. That costs a system call for each read, none for what lies
 * in it. Nothing pauses in files and memory. A layer over the source needs no such call of its own.
 *
 * fn returns after how many ms it wants to be called again, if nothing has come by then; -1: never;
 * SRC_PAUSE_END: reading ends there, as if the input did.
 */
#define SRC_PAUSE_MS  10
#define SRC_HOLD_MS   100
#define SRC_PAUSE_END (-2)
typedef int src_pause_fn(void *ctx);
void src_on_pause(struct src *s, src_pause_fn *fn, void *ctx);

/*
 * Exactly n bytes in sequence: 0, PP_END (nothing was left), PP_ECUT (less than n), or as src_read.
 */
int src_read_all(struct src *s, void *buf, size_t n);

/*
 * What a decoder holds back, until more follows: fn gives it out before that, when nothing
 * has arrived. Replaces one that was set before.
 */
void src_before_pause(struct src *s, void (*fn)(void *ctx), void *ctx);

/*
 * Makes a file one that still grows: at its end, src_read waits for more, until *stop is set, by a
 * signal handler, or the file is cut shorter, or src_unfollow says that it is whole. What else can
 * be read is not a file, and is unchanged.
 */
#define SRC_FOLLOW_MS 50 /* how often it looks */
void src_follow(struct src *s, const volatile sig_atomic_t *stop);
void src_unfollow(struct src *s);
bool src_follows(const struct src *s);

/* Whether reading ended by *stop: what is missing then is yet to come. */
bool src_stopped(const struct src *s);

/* Gives n bytes back, which the following reads return first (for magic numbers). n <= 4096. */
int src_unread(struct src *s, const void *buf, size_t n);

/*
 * Up to n <= 4096 bytes that remain to be read; *got is less at the end of the input only. 0, or as
 * src_read.
 */
int src_peek(struct src *s, void *buf, size_t n, size_t *got);

/* Exactly n bytes at an absolute offset of a seekable source: 0, PP_ECUT, or a code of pp_errno. */
int src_pread(struct src *s, void *buf, size_t n, uint64_t offset);

/* Goes to an absolute offset of a seekable source. */
int src_seek(struct src *s, uint64_t offset);

/* Bytes of a file where they lie: up to n of what is next, which is read thereby. */
struct src_window {
	uint8_t *bytes; /* may be changed, which the file is not */
	size_t len;
	void *map; /* for munmap(2), with `mapped` */
	size_t mapped;
};

/*
 * False: they have to be read. If the file is cut short afterwards, whoever looks at the bytes gets
 * a SIGBUS.
 */
bool src_window(struct src *s, size_t n, struct src_window *w);

/*
 * Makes a source seekable: copies what is left of it to an unlinked file in TMPDIR or /tmp. A
 * source that ends with PP_ECUT is copied up to there.
 */
int src_spool(struct src *s, struct diag *d);

/*
 * What is left of a source as src_size bytes of memory, which live as long as it. A file is copied
 * first, as by src_spool, so that nobody can change it or cut it short.
 */
int src_map(struct src *s, struct diag *d, const uint8_t **bytes);

#endif

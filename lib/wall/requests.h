/*
 * Private to lib/wall: what devices were asked for and what kernel threads were given, of
 * recordings that have these events: a wait that an interrupt ends was for a request of a disk or
 * a network, if one was done just before on that CPU, and a worker does what another thread gave
 * it.
 *
 *	c->request = ...			(wall_on_done: block_rq_complete, netif_receive_skb)
 *	wake.request = wall_done_on(w, c);	(a wakeup)
 *	r = wall_request(w, wake.request);	(r->label: "8,0 W", "eth0"; NULL: none)
 *
 * The last 262144 are kept.
 */
#ifndef PP_WALL_REQUESTS_H
#define PP_WALL_REQUESTS_H

#include "wall/wait_kinds.h"

struct wall_request {
	uint32_t number;     /* of it; 0: there is none */
	uint8_t kind;	     /* WALL_KIND_DISK, NETWORK: done; WORK: queued */
	uint32_t label;	     /* text: what is known of the device */
	uint32_t n;	     /* sectors, or bytes */
	uint64_t at, sector; /* at: when */
	struct wall_wake by; /* WORK: who queued it */
};

/* NULL: it is none, or too long ago. */
const struct wall_request *wall_request(const struct wall *w, uint32_t number);

/* A request was done on a CPU. 0 or PP_ENOMEM, as for all. */
int wall_on_done(struct wall *w, const struct wall_seen *v, struct wall_cpu *c);
/* Work was queued; its number when it begins. */
int wall_on_queued(struct wall *w, const struct wall_seen *v, const struct wall_wake *by);
uint32_t wall_on_begun(struct wall *w, const struct wall_seen *v);
/* The number of the request that was done just now; 0: there was none. */
uint32_t wall_done_on(const struct wall *w, const struct wall_cpu *c);

/* A new stream. */
void wall_requests_clear(struct wall *w);
void wall_requests_release(struct wall_requests *q);

#endif

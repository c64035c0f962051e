/* Modifiers of events: the letters after the last colon. */
#include "base/err.h"
#include "pevent/parts.h"

#define LETTERS "u k h G H I p P S D W e b"

/* The first of u, k and h excludes the other levels. */
static void only_level(struct pevent *ev)
{
	if (!ev->levels)
		ev->attr.exclude_user = ev->attr.exclude_kernel = ev->attr.exclude_hv = 1;
	ev->levels = true;
}

/* Likewise G and H. */
static void only_side(struct pevent *ev)
{
	if (!ev->levels_fixed_guest)
		ev->attr.exclude_guest = ev->attr.exclude_host = 1;
	ev->levels_fixed_guest = true;
}

static int bad(const char *letter, const char *what, struct buf *why)
{
	buf_adds(why, "event modifier '");
	buf_add_safe(why, letter, 1);
	buf_addf(why, "' %s", what);
	return PP_EUSAGE;
}

static int set_one(struct pevent *ev, const char *letter, struct buf *why)
{
	switch (*letter) {
	case 'u': only_level(ev), ev->attr.exclude_user = 0; break;
	case 'k': only_level(ev), ev->attr.exclude_kernel = 0; break;
	case 'h': only_level(ev), ev->attr.exclude_hv = 0; break;
	case 'G': only_side(ev), ev->attr.exclude_guest = 0; break;
	case 'H': only_side(ev), ev->attr.exclude_host = 0; break;
	case 'I': ev->attr.exclude_idle = 1; break;
	case 'S': ev->counted_too = true; break;
	case 'D': ev->attr.pinned = 1; break;
	case 'W': ev->weak = true; break;
	case 'e': ev->attr.exclusive = 1; break;
	case 'b': return bad(letter, "(counting by BPF) is not supported", why);
	case 'P':
		ev->precise_max = true;
		ev->attr.precise_ip = PEVENT_PRECISE_MAX;
		break;
	case 'p':
		if (ev->attr.precise_ip == PEVENT_PRECISE_MAX && !ev->precise_max)
			return bad(letter, "occurs more than three times", why);
		if (!ev->precise_max)
			ev->attr.precise_ip = (ev->attr.precise_ip + 1) & PEVENT_PRECISE_MAX;
		break;
	default: return bad(letter, "is not one of " LETTERS, why);
	}
	return 0;
}

int modifiers_set(struct pevent *ev, const char *mods, struct buf *why)
{
	int rc = 0;

	for (const char *p = mods; *p && !rc; p++)
		rc = set_one(ev, p, why);
	return rc;
}

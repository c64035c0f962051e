/*
 * Commands from another process while a recording runs (--control): lines, each answered by "ack".
 * The words are those of perf record.
 */
#include "base/err.h"
#include "record/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LINE_MAX_ 4096

static int bad(struct recorder *r, const char *what)
{
	diag_error(r->d, NULL, -1, "--control: %s: %s", what, r->c->control);
	return PP_EUSAGE;
}

/* "fd:3,4": descriptors that are open already. */
static int take_fds(struct recorder *r, const char *p)
{
	char *end;

	r->control = (int)strtol(p, &end, 10);
	if (end == p || r->control < 0)
		return bad(r, "not fd:N[,ACK]");
	if (*end == ',') {
		p = end + 1;
		r->ack = (int)strtol(p, &end, 10);
	}
	if (*end || end == p)
		return bad(r, "not fd:N[,ACK]");
	if (fcntl(r->control, F_GETFD) < 0 || (r->ack >= 0 && fcntl(r->ack, F_GETFD) < 0))
		return bad(r, "the descriptor is not open");
	return 0;
}

/* "fifo:PATH,ACK"; opened for both directions, so that nobody has to be there yet. */
static int open_fifos(struct recorder *r, const char *p)
{
	size_t len = strcspn(p, ",");
	char *name = strndup(p, len);

	if (!name)
		return PP_ENOMEM;
	r->control = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	free(name);
	if (r->control >= 0 && p[len])
		r->ack = open(p + len + 1, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (r->control < 0 || (p[len] && r->ack < 0))
		return bad(r, strerror(errno));
	return 0;
}

int control_open(struct recorder *r)
{
	const char *p = r->c->control;
	int flags, rc;

	if (!p)
		return 0;
	if (strncmp(p, "fd:", 3) == 0)
		rc = take_fds(r, p + 3);
	else if (strncmp(p, "fifo:", 5) == 0)
		rc = open_fifos(r, p + 5);
	else
		rc = bad(r, "neither fd: nor fifo:");
	flags = rc ? 0 : fcntl(r->control, F_GETFL);
	if (!rc && (flags < 0 || fcntl(r->control, F_SETFL, flags | O_NONBLOCK)))
		rc = os_error(r, "--control");
	return rc;
}

void control_close(struct recorder *r)
{
	if (r->control >= 0)
		close(r->control);
	if (r->ack >= 0)
		close(r->ack);
	r->control = r->ack = -1;
	buf_release(&r->line);
}

static void list_events(struct recorder *r)
{
	for (size_t i = 0; i < r->s.events->n; i++)
		diag_say(r->d, NULL, "%s", r->s.attrs[i].name);
}

/* One command; what is not known is reported, and not answered. */
static int obey(struct recorder *r, const char *line)
{
	int rc = 0;

	if (strncmp(line, "enable", 6) == 0 && (!line[6] || line[6] == ' '))
		session_enable(&r->s, true, line[6] ? line + 7 : NULL);
	else if (strncmp(line, "disable", 7) == 0 && (!line[7] || line[7] == ' '))
		session_enable(&r->s, false, line[7] ? line + 8 : NULL);
	else if (strcmp(line, "snapshot") == 0)
		r->snap = true;
	else if (strncmp(line, "evlist", 6) == 0)
		list_events(r);
	else if (strcmp(line, "stop") == 0)
		r->stop = true;
	else if (strcmp(line, "ping") != 0)
		rc = PP_EUSAGE;
	if (rc)
		diag_warn(r->d, NULL, -1,
			  "--control: not enable, disable, snapshot, evlist, ping or stop: %s",
			  line);
	/* perf ends its answer with a NUL byte. */
	else if (r->ack >= 0 && write(r->ack, "ack\n", 5) < 0)
		diag_warn(r->d, NULL, -1, "--control: cannot answer: %s", strerror(errno));
	return 0;
}

int control_take(struct recorder *r)
{
	char bytes[512];
	ssize_t n = -1;
	int rc = 0;

	while (!rc && (n = read(r->control, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n && !rc; i++) {
			if (bytes[i] && bytes[i] != '\n') {
				if (r->line.len < LINE_MAX_)
					buf_addc(&r->line, bytes[i]);
				continue;
			}
			if (r->line.len)
				rc = obey(r, buf_str(&r->line));
			buf_reset(&r->line);
		}
	}
	/* Nobody can send more: it would be reported for ever. */
	if (!rc && (n == 0 || (errno != EAGAIN && errno != EINTR)))
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->control, NULL);
	return rc;
}

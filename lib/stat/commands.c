/*
 * Commands that come by a pipe while counting goes on: enable, disable, ping, evlist, stop. Each is
 * a line, and is answered by "ack" where there is somebody to tell.
 */
#include "stat/parts.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 256

static int refuse(struct diag *d, const char *how)
{
	diag_error(d, NULL, -1, "--control: '%s' is neither fd:CTL[,ACK] nor fifo:CTL[,ACK]", how);
	return PP_EUSAGE;
}

static bool descriptor(const char *s, char **end, int *fd)
{
	long v = strtol(s, end, 10);

	*fd = (int)v;
	return *end != s && v >= 0 && v <= INT32_MAX && fcntl(*fd, F_GETFD) >= 0;
}

static int open_descriptors(struct stat_control *k, const char *how, struct diag *d)
{
	char *end;

	if (!descriptor(how + 3, &end, &k->in) ||
	    (*end == ',' && !descriptor(end + 1, &end, &k->ack)) || *end) {
		k->in = k->ack = -1;
		return refuse(d, how);
	}
	if (fcntl(k->in, F_SETFL, fcntl(k->in, F_GETFL) | O_NONBLOCK) < 0)
		return refuse(d, how);
	return 0;
}

static int open_fifo(const char *name, struct diag *d, int *fd)
{
	/* For reading and writing, so that it neither waits nor ends. */
	*fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (*fd >= 0)
		return 0;
	diag_error(d, name, -1, "%s", strerror(errno));
	return PP_EIO;
}

int stat_control_open(struct stat_control *k, const char *how, struct diag *d)
{
	char *names, *ack;
	int rc;

	*k = (struct stat_control){-1, -1, false};
	if (!strncmp(how, "fd:", 3))
		return open_descriptors(k, how, d);
	if (strncmp(how, "fifo:", 5) != 0)
		return refuse(d, how);
	names = strdup(how + 5);
	if (!names)
		return PP_ENOMEM;
	ack = strchr(names, ',');
	if (ack)
		*ack++ = 0;
	k->own = true;
	rc = open_fifo(names, d, &k->in);
	if (!rc && ack)
		rc = open_fifo(ack, d, &k->ack);
	free(names);
	return rc;
}

static void list_events(const struct counting *s, struct diag *d)
{
	for (uint32_t i = 0; i < s->n_events; i++)
		diag_say(d, NULL, "%s", s->events[i].name);
}

/* One command. */
static bool obey(const char *line, struct counting *s, bool *stop)
{
	if (!strcmp(line, "enable"))
		stat_enable(s, true);
	else if (!strcmp(line, "disable"))
		stat_enable(s, false);
	else if (!strcmp(line, "stop"))
		*stop = true;
	else if (!strcmp(line, "evlist"))
		list_events(s, s->d);
	else if (strcmp(line, "ping") != 0)
		return false;
	return true;
}

int stat_control_take(struct stat_control *k, struct counting *s, bool *stop)
{
	char line[LINE_BYTES];
	ssize_t n = read(k->in, line, sizeof(line) - 1);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : PP_END;
	line[n] = 0;
	for (char *rest = line, *word; (word = strsep(&rest, "\n"));) {
		if (!*word)
			continue;
		if (!obey(word, s, stop))
			diag_warn(s->d, NULL, -1, "--control: there is no command '%s'", word);
		else if (k->ack >= 0 && write(k->ack, "ack\n", 4) != 4)
			diag_warn(s->d, NULL, -1, "--control: cannot answer: %s", strerror(errno));
	}
	return 0;
}

void stat_control_close(struct stat_control *k)
{
	if (k->own && k->in >= 0)
		close(k->in);
	if (k->own && k->ack >= 0)
		close(k->ack);
}

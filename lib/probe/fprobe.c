/* Probes of the kernel as fprobes. */
#include "probe/fprobe.h"

#include "base/err.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define README_MAX 65536 /* bytes of it that are read */

bool fprobe_known(const char *dir)
{
	char path[320];
	struct buf b = BUF_INIT;
	bool known = false;
	ssize_t n = 1;
	int fd;

	snprintf(path, sizeof(path), "%s/README", dir ? dir : "/sys/kernel/tracing");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (n > 0 && b.len < README_MAX && !buf_reserve(&b, 4096)) {
		n = read(fd, b.data + b.len, 4096);
		b.len += n > 0 ? (size_t)n : 0;
		b.data[b.len] = 0;
	}
	close(fd);
	/* Arguments by their number are what stands for registers. */
	known = b.len && strstr(buf_str(&b), "<func-name>[%return]") &&
		strstr(buf_str(&b), "$arg<N>");
	buf_release(&b);
	return known;
}

/* The number of the argument that a register has at the entry, on x86-64; 0: none. */
static int argument_in(const char *reg, size_t n)
{
	static const char *const order[] = {"di", "si", "dx", "cx", "r8", "r9"};

	for (int i = 0; i < 6; i++)
		if (strlen(order[i]) == n && !memcmp(order[i], reg, n))
			return i + 1;
	return 0;
}

/* The arguments of a line, with numbers for registers. NULL, or why they cannot be. */
static const char *convert(const char *args, bool returns, struct buf *out)
{
	size_t begin = out->len;

	while (*args) {
		size_t n = 1;
		int number;

		if (*args == ' ' || *args == '=')
			begin = out->len + 1;
		if (*args == '%') {
			while (isalnum((unsigned char)args[n]))
				n++;
			number = returns ? 0 : argument_in(args + 1, n - 1);
			if (!number)
				return "a register that is not an argument is recorded";
			buf_addf(out, "$arg%d", number);
		} else {
			buf_addc(out, *args);
		}
		if (out->len > begin + FETCH_TEXT_MAX)
			return "an argument's text would be too long for the kernel";
		args += n;
	}
	return NULL;
}

/* "p:GROUP/EVENT PLACE ARG..." as an fprobe. NULL, or why it cannot be. */
static const char *rewrite(const struct event *e, struct buf *out)
{
	const char *line = buf_str(&e->lines), *place = strchr(line, ' ');
	size_t n = place ? strcspn(place + 1, " \n") : 0;
	const char *why;

	if (!n || e->points != 1 || e->kind == 'f')
		return "it has several places";
	place++;
	if (memchr(place, '+', n) || memchr(place, ':', n) || isdigit((unsigned char)*place))
		return "only the beginning of the kernel's own functions can be";
	buf_addf(out, "f:%s/%s %.*s%s", e->group, e->name, (int)n, place,
		 e->kind == 'r' ? "%return" : "");
	why = convert(place + n, e->kind == 'r', out);
	return why;
}

int fprobe_use(struct definer *d)
{
	struct buf b = BUF_INIT;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < d->n; i++) {
		struct event *e = &d->v[i];
		const char *why;

		buf_reset(&b);
		why = rewrite(e, &b);
		rc = b.err;
		if (!rc && why) {
			diag_say(d->diag, NULL, "%s:%s stays a kprobe: %s", e->group, e->name, why);
			continue;
		}
		buf_reset(&e->lines);
		buf_add(&e->lines, b.data, b.len);
		e->kind = 'f';
		rc = rc ? rc : e->lines.err;
	}
	buf_release(&b);
	return rc;
}

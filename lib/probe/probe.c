/* pprobe: from its options to what it does. */
#include "probe/probe.h"

#include "base/err.h"
#include "base/out_end.h"
#include "inspect/find_binary.h"
#include "probe/blacklist.h"
#include "probe/define.h"
#include "probe/kernel_probes.h"
#include "probe/look.h"
#include "probe/registry.h"
#include "probe/vmlinux.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Probes of the kernel as fprobes, which ftrace serves: "f:GROUP/EVENT FUNC[%return] ARG...". They
 * cost less than kprobes, and are for the beginning and the return of functions only.
 *
 * Source: Documentation/trace/fprobetrace.rst of the kernel.
 */

#define README_MAX 65536 /* bytes of it that are read */

/* Whether the README of a tracefs mentions fprobes; dir NULL: where it is mounted. */
static bool fprobe_known(const char *dir)
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

/*
 * Makes fprobes ('f') of those events of d that can be: the others stay what they are, which is
 * noted. 0 or PP_ENOMEM.
 */
static int fprobe_use(struct definer *d)
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

struct run {
	const struct probe_opts *o;
	struct diag *d;
	struct binary *b;
	struct funcs funcs;
	const char *mine_file;
	struct added added;
};

static int status_of(int rc)
{
	return !rc ? PP_EXIT_OK : rc == PP_EUSAGE ? PP_EXIT_USAGE : PP_EXIT_FAIL;
}

static int print(const struct definer *df, struct diag *d)
{
	struct out out;
	int rc = out_init(&out, STDOUT_FILENO);

	for (uint32_t i = 0; !rc && i < df->n; i++)
		rc = out_add(&out, df->v[i].lines.data, df->v[i].lines.len);
	return out_end(&out, rc, d);
}

/* Fprobes are only taken where all kinds of probes are. */
static enum tracefs_list list_of(const struct event *e, enum tracefs_list list)
{
	return e->kind == 'f' ? TRACEFS_DYNAMIC : list;
}

/*
 * Makes all events of a command and prints them, or makes none. Signals wait until that is decided.
 */
static int enter(struct run *r, struct definer *df, const struct tracefs *t, enum tracefs_list list)
{
	sigset_t set, before;
	uint32_t done = 0;
	int rc = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &before);
	while (!rc && done < df->n) {
		rc = registry_add(t, list_of(&df->v[done], list), &df->v[done], r->mine_file,
				  &r->added, r->d);
		done += !rc;
	}
	if (!rc && r->added.refused && !r->added.made) {
		diag_error(r->d, NULL, -1, "the kernel accepted none of the probes");
		rc = PP_EUNSUPPORTED;
	}
	if (!rc)
		rc = print(df, r->d);
	while (rc && done-- > 0)
		if (df->v[done].points)
			registry_undo(t, list_of(&df->v[done], list), &df->v[done], r->mine_file,
				      r->d);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* What became of a command that makes probes: an exit status. */
static int made(const struct run *r, const struct definer *df, int rc)
{
	if (rc)
		return status_of(rc);
	return df->failed || r->added.refused || r->added.unnoted || (df->b && df->b->damaged)
		       ? PP_EXIT_PARTIAL
		       : PP_EXIT_OK;
}

static int take_names(const struct run *r, struct definer *df, const struct tracefs *t)
{
	int rc = definer_take_names(df, t);

	if (rc)
		diag_error(r->d, t->dir, -1, "its lists of probes cannot be read: %s",
			   pp_strerror(rc));
	return rc;
}

/* perf probe takes arguments as words of their own. */
static void hint_words(const struct run *r, char **names, int i, int rc)
{
	if (i && (rc == PP_ENOENT || rc == PP_EUSAGE) && !strpbrk(names[i], " \t"))
		diag_say(r->d, NULL, "arguments belong in the same word as their function: '%s %s'",
			 names[0], names[i]);
}

static int make(struct run *r, char **names, int n)
{
	struct definer df;
	struct tracefs t;
	bool reg = !r->o->dry_run;
	int rc = reg ? tracefs_open(&t, r->o->tracefs, r->d) : 0;

	if (rc)
		return PP_EXIT_FAIL;
	definer_init(&df, r->b, &r->funcs, r->d);
	df.group = r->o->group;
	df.no_copies = r->o->no_copies;
	df.each = r->o->each;
	if (reg)
		rc = take_names(r, &df, &t);
	for (int i = 0; !rc && i < n; i++) {
		rc = definer_add(&df, names[i]);
		hint_words(r, names, i, rc);
	}
	if (!rc)
		rc = reg ? enter(r, &df, &t, TRACEFS_UPROBES) : print(&df, r->d);
	for (uint32_t i = 0; !rc && reg && i < df.n; i++)
		if (df.v[i].points)
			diag_say(r->d, NULL, "made %s:%s%s", df.v[i].group, df.v[i].name,
				 df.v[i].points > 1 ? ", at several places" : "");
	rc = made(r, &df, rc);
	definer_release(&df);
	return rc;
}

static int look(struct run *r, char **names, int n)
{
	struct look l = {.b = r->b,
			 .funcs = &r->funcs,
			 .diag = r->d,
			 .form = r->o->form,
			 .externs = r->o->externs};
	const char *pattern = n ? names[0] : NULL;

	if (n > 1) {
		diag_error(r->d, NULL, -1, "%s: one pattern is enough", names[1]);
		return PP_EXIT_USAGE;
	}
	switch (r->o->action) {
	case PROBE_FUNCTIONS: return look_functions(&l, pattern);
	case PROBE_LINES: return look_lines(&l, r->o->what);
	case PROBE_VARIABLES: return look_variables(&l, r->o->what);
	default: return look_markers(&l, pattern);
	}
}

static int with_binary(struct run *r, char **names, int n)
{
	char path[BINARY_PATH_MAX];
	int rc = binary_path(r->o->binary, r->o->pid, path, r->d);

	if (!rc)
		rc = binary_open(&r->b, path, r->d);
	if (!rc) {
		rc = funcs_load(&r->funcs, r->b);
		if (rc)
			diag_error(r->d, path, -1, "%s", pp_strerror(rc));
	}
	if (rc)
		rc = status_of(rc);
	else
		rc = r->o->action == PROBE_MAKE ? make(r, names, n) : look(r, names, n);
	funcs_release(&r->funcs);
	binary_close(r->b);
	return rc;
}

/* The running kernel's own list says nothing of another kernel. */
static int forbid(const struct run *r, const struct probed_kernel *k, struct definer *df)
{
	const struct probe_opts *o = r->o;

	if (!o->blacklist && (o->btf || o->kallsyms))
		return 0;
	return blacklist_apply(o->blacklist, buf_str(&k->symbols), df);
}

static int use_fprobes(struct run *r, struct definer *df)
{
	if (fprobe_known(r->o->tracefs))
		return fprobe_use(df);
	diag_say(r->d, NULL, "this kernel's README does not mention fprobes: kprobes are used");
	return 0;
}

static int make_kernel(struct run *r, struct probed_kernel *k, struct vmlinux *v, char **names,
		       int n)
{
	struct definer df;
	struct tracefs t;
	bool reg = !r->o->dry_run;
	int rc = reg ? tracefs_open(&t, r->o->tracefs, r->d) : 0;

	if (rc)
		return PP_EXIT_FAIL;
	if (reg && !tracefs_has(&t, TRACEFS_KPROBES)) {
		diag_error(r->d, t.dir, -1, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
		return PP_EXIT_FAIL;
	}
	definer_init(&df, v->b, &v->funcs, r->d);
	df.group = r->o->group;
	df.no_copies = r->o->no_copies;
	df.each = r->o->each;
	if (reg)
		rc = take_names(r, &df, &t);
	for (int i = 0; !rc && i < n; i++) {
		rc = vmlinux_has(v, names[i]) ? definer_add(&df, names[i])
					      : kernel_define(k, &df, names[i]);
		hint_words(r, names, i, rc);
	}
	if (!rc)
		rc = forbid(r, k, &df);
	if (!rc && r->o->fprobe)
		rc = use_fprobes(r, &df);
	if (!rc)
		rc = reg ? enter(r, &df, &t, TRACEFS_KPROBES) : print(&df, r->d);
	rc = made(r, &df, rc);
	definer_release(&df);
	return rc;
}

/* By the image with debug information, where that describes what is asked for. */
static int look_vmlinux(struct run *r, struct vmlinux *v, char **names, int n)
{
	int status;

	r->b = v->b;
	r->funcs = v->funcs;
	status = look(r, names, n);
	r->b = NULL;
	return status;
}

static int look_kernel(struct run *r, struct probed_kernel *k, struct vmlinux *v, char **names,
		       int n)
{
	switch (r->o->action) {
	case PROBE_FUNCTIONS:
		if (r->o->vmlinux)
			return look_vmlinux(r, v, names, n);
		return kernel_functions(k, n ? names[0] : NULL, r->o->verbose, r->o->form);
	case PROBE_VARIABLES:
		if (vmlinux_has(v, r->o->what))
			return look_vmlinux(r, v, names, n);
		return kernel_variables(k, r->o->what, r->o->form);
	case PROBE_MEMBERS: return kernel_members(k, r->o->what, r->o->form);
	case PROBE_LINES:
		if (v->b)
			return look_vmlinux(r, v, names, n);
		diag_error(r->d, NULL, -1,
			   "kernel lines are known only from its image with debug information: "
			   "--vmlinux FILE");
		return PP_EXIT_FAIL;
	default: diag_error(r->d, NULL, -1, "the kernel has no markers"); return PP_EXIT_USAGE;
	}
}

static int with_kernel(struct run *r, char **names, int n)
{
	struct vmlinux v = {0};
	struct probed_kernel k;
	int status = PP_EXIT_FAIL;
	bool other = r->o->btf || r->o->kallsyms; /* it is not about the running kernel */

	if (!kernel_open(&k, r->o->btf, r->o->kallsyms, r->d) &&
	    ((other && !r->o->vmlinux) || !vmlinux_open(&v, r->o->vmlinux, r->d)))
		status = r->o->action == PROBE_MAKE ? make_kernel(r, &k, &v, names, n)
						    : look_kernel(r, &k, &v, names, n);
	vmlinux_close(&v);
	kernel_close(&k);
	if (status > PP_EXIT_PARTIAL && !r->o->kernel)
		diag_say(r->d, NULL,
			 "that was searched for in the kernel; -x FILE or -p PID names a program");
	return status;
}

static int existing(struct run *r, char **names, int n)
{
	struct tracefs t;

	if (tracefs_open(&t, r->o->tracefs, r->d))
		return PP_EXIT_FAIL;
	if (r->o->action == PROBE_LIST)
		return registry_list(&t, names, n, r->o->form, r->mine_file, r->d);
	return registry_delete(&t, names, n, r->o->all_mine, r->mine_file, r->d);
}

/* Options that say something of the kernel, of which a program is not asked. */
static const char *kernel_only(const struct probe_opts *o)
{
	return o->kernel		    ? "-k"
	       : o->action == PROBE_MEMBERS ? "--type"
	       : o->btf			    ? "--btf"
	       : o->kallsyms		    ? "--kallsyms"
	       : o->vmlinux		    ? "--vmlinux"
	       : o->blacklist		    ? "--blacklist"
	       : o->fprobe		    ? "--fprobe"
					    : NULL;
}

int probe_run(const struct probe_opts *o, char **names, int n, struct diag *d)
{
	struct run r = {.o = o, .d = d, .mine_file = o->mine_file ? o->mine_file : MINE_FILE};
	bool program = o->binary || o->pid;

	if (program && kernel_only(o)) {
		diag_error(d, NULL, -1, "%s is about the kernel, %s about a program: give only one",
			   kernel_only(o), o->binary ? "-x" : "-p");
		return PP_EXIT_USAGE;
	}
	if (o->action == PROBE_MAKE && !n) {
		diag_error(d, NULL, -1,
			   "what is to be probed is missing: a definition; -F lists functions");
		return PP_EXIT_USAGE;
	}
	if (o->action == PROBE_LIST || o->action == PROBE_DELETE)
		return existing(&r, names, n);
	/* As with perf probe, the kernel is meant where nothing else is named. */
	return program ? with_binary(&r, names, n) : with_kernel(&r, names, n);
}

/* The table of --missing. */
#include "resolve/resolve_parts.h"

#include "base/err.h"
#include "symbol/package.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_UPS_MAX 64 /* packages that are looked for; each costs some milliseconds */

/* Puts a row of a DSO, or of none, into the table. */
static int put_row(struct resolver *r, struct missing_row row, const struct rdso *d,
		   const char *tried)
{
	if (r->lacks.nrows == r->lacks.rows_cap) {
		uint32_t cap = r->lacks.rows_cap ? r->lacks.rows_cap * 2 : 64;
		struct missing_row *v = realloc(r->lacks.rows, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		r->lacks.rows = v;
		r->lacks.rows_cap = cap;
	}
	row.path = strdup(d ? d->path : "");
	row.tried = strdup(tried);
	if (!row.path || !row.tried) {
		free(row.path);
		free(row.tried);
		return PP_ENOMEM;
	}
	if (d) {
		row.id = d->id;
		row.flags = d->flags;
	}
	r->lacks.rows[r->lacks.nrows++] = row;
	return 0;
}

static int add_row(struct resolver *r, const struct missing_pair *p)
{
	const struct rdso *d = p->dso ? r->dsos.v[p->dso - 1] : NULL;
	struct missing_row row = {.reason = p->reason, .samples = p->samples, .frames = p->frames};

	return p->samples ? put_row(r, row, d, d ? buf_str(&d->tried) : "") : 0;
}

int resolve_missing_keep(struct resolver *r)
{
	struct missing_row inlines = {.inlines = true};
	int rc = 0;

	missing_sum(&r->lacks.missing);
	for (uint32_t i = 0; i < r->lacks.missing.npairs && !rc; i++)
		rc = add_row(r, &r->lacks.missing.pairs[i]);
	for (uint32_t i = 0; i < r->dsos.n && !rc; i++) {
		struct rdso *d = r->dsos.v[i];

		if (d->unread.len)
			rc = put_row(r, inlines, d, buf_str(&d->unread));
		buf_reset(&d->unread);
	}
	r->lacks.missing.npairs = 0;
	map64_clear(&r->lacks.missing.by_key);
	return rc;
}

void resolve_missing_release(struct resolver *r)
{
	for (uint32_t i = 0; i < r->lacks.nrows; i++) {
		free(r->lacks.rows[i].path);
		free(r->lacks.rows[i].tried);
	}
	free(r->lacks.rows);
	missing_release(&r->lacks.missing);
}

static int by_samples(const void *a, const void *b)
{
	const struct missing_row *x = a, *y = b;
	int c;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	c = strcmp(x->path, y->path);
	return c ? c : (int)x->reason - (int)y->reason;
}

/* What brings the symbols of a file: the package with its debug files, if its own is known. */
static void help_file(struct buf *b, const struct missing_row *row, uint32_t *look_ups)
{
	char name[PACKAGE_NAME_MAX];

	if ((*look_ups)++ < LOOK_UPS_MAX && !package_of(row->path, name))
		buf_addf(b, "apt: %s%s, or ", name, !strcmp(name, "libc6") ? "-dbg" : "-dbgsym");
	if (row->id.len)
		buf_adds(b, "--debuginfod, or ");
	buf_adds(b, "--debug-dir");
}

static void help(struct buf *b, const struct missing_row *row, uint32_t *look_ups)
{
	if (row->inlines) {
		buf_adds(b, "the .dwo files in their place; code built without -gsplit-dwarf "
			    "needs none");
		return;
	}
	switch (row->reason) {
	case PS_REASON_NO_MAPPING:
		buf_adds(b, "build with -fno-omit-frame-pointer: the call chain went wrong");
		break;
	case PS_REASON_NO_CONTEXT:
		buf_adds(b, "start the recording before the process, or record all of it (LOST "
			    "records?); code that a command ran before its exec is the recorder's");
		break;
	case PS_REASON_NO_FILE:
	case PS_REASON_BUILD_ID:
	case PS_REASON_NOT_ELF:
	case PS_REASON_CORRUPT:
		buf_addf(b, "--symfs with the recorded machine's file%s",
			 row->id.len ? ", or --debuginfod; psym --bundle there keeps it"
				     : "; psym --bundle there keeps it");
		break;
	case PS_REASON_UNPROVEN:
		buf_adds(b, "--symfs with the recorded machine's file, or --trust-host if it was "
			    "recorded here");
		break;
	case PS_REASON_REPLACED:
		buf_adds(b, "--symfs with the original file, --force if it is the same; "
			    "psym --bundle in time keeps it");
		break;
	case PS_REASON_NO_ACCESS: buf_adds(b, "the permission to read it"); break;
	case PS_REASON_STRIPPED:
	case PS_REASON_DYNAMIC: help_file(b, row, look_ups); break;
	case PS_REASON_NO_KALLSYMS:
		buf_adds(b, "--kallsyms or --vmlinux of the recorded machine");
		break;
	case PS_REASON_NO_MODULE:
		buf_adds(b, "--symfs with /lib/modules of the recorded machine, or --kallsyms");
		break;
	case PS_REASON_RESTRICTED:
		buf_adds(b,
			 "root, or sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or "
			 "--kallsyms");
		break;
	case PS_REASON_JIT:
	case PS_REASON_JIT_GAP:
		buf_adds(b, "run it again with a perf map: node --perf-basic-prof, "
			    "python3 -X perf, java -XX:+UnlockDiagnosticVMOptions "
			    "-XX:+DumpPerfMapAtExit, or with a jitdump");
		break;
	case PS_REASON_JIT_OWNER:
		buf_adds(b, "--symfs / if you trust it, or its owner's or root's psym");
		break;
	case PS_REASON_GUEST:
		buf_adds(b, "--guest-kallsyms for its kernel, or record inside the guest");
		break;
	default: buf_adds(b, "nothing known"); break;
	}
}

static void add_lines(struct buf *b, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		buf_adds(b, "                   tried ");
		buf_add_safe(b, lines, n);
		buf_addc(b, '\n');
		lines += n + (lines[n] == '\n');
	}
}

static void add_row_text(struct buf *b, const struct missing_row *row, uint64_t samples,
			 uint32_t *look_ups)
{
	char hex[BUILD_ID_HEX_MAX];

	if (row->inlines)
		buf_addf(b, "%10s %6s  ", "-", "-");
	else
		buf_addf(b, "%10" PRIu64 " %6.2f  ", row->samples,
			 samples ? 100.0 * (double)row->samples / (double)samples : 0.0);
	if (row->path[0])
		buf_add_safe(b, row->path, strlen(row->path));
	else
		buf_adds(b, "-");
	buf_addf(b, "  %s\n                   %s\n",
		 row->id.len ? build_id_hex(&row->id, hex) : "-",
		 row->inlines
			 ? "split debug information was not found: inlined functions may be missing"
			 : ps_reason(row->reason));
	add_lines(b, row->tried);
	buf_adds(b, "                   helps ");
	help(b, row, look_ups);
	buf_addc(b, '\n');
}

int resolver_missing(struct resolver *r, struct buf *text, uint32_t *rows)
{
	uint32_t look_ups = 0;
	int rc = resolve_missing_keep(r);

	*rows = r->lacks.nrows;
	if (rc)
		return rc;
	if (r->lacks.nrows)
		qsort(r->lacks.rows, r->lacks.nrows, sizeof(*r->lacks.rows), by_samples);
	buf_adds(text, "   SAMPLES      %  FILE  BUILD-ID\n");
	for (uint32_t i = 0; i < r->lacks.nrows; i++)
		add_row_text(text, &r->lacks.rows[i], r->stats.samples, &look_ups);
	return text->err;
}

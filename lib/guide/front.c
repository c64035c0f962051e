/* The texts of perfpipe. */
#include "guide/front.h"

#include "base/err.h"
#include "base/opt.h"
#include "event/field.h"
#include "guide/doctor.h"
#include "guide/facts.h"
#include "guide/questions.h"
#include "guide/share.h"

#include <capstone/capstone.h>
#include <elfutils/libdwfl.h>
#include <lzma.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#ifndef PP_TRACEEVENT
#define PP_TRACEEVENT "unknown" /* the Makefile asks pkg-config; the library does not tell */
#endif

void front_welcome(struct buf *b)
{
	buf_adds(b, "perfpipe: filters for performance analysis of Linux recordings. "
		    "What do you want to know?\n");
	questions_print(b);
	buf_adds(
		b,
		"\n"
		"  perfpipe RECORDING   what a perf.data or trace.dat contains, and what it answers\n"
		"  perfpipe doctor      what this machine lets you record, and what changes that\n"
		"  perfpipe recipes     scripts for more questions: perfpipe run RECIPE\n"
		"  man perfpipe         what the filters are, and what they have in common\n");
}

int front_recording(const char *file, bool tsv, struct buf *b, struct diag *d)
{
	struct facts f;
	int status = facts_read(&f, file, d);

	if (status != PP_EXIT_FAIL) {
		if (!tsv) {
			buf_add_safe(b, file, strlen(file));
			buf_adds(b, ":\n");
		}
		facts_print(&f, tsv, b);
		questions_answer(&f, tsv, b);
	}
	facts_release(&f);
	return status;
}

int front_recipes(bool tsv, struct buf *b, struct buf *why)
{
	struct buf all = BUF_INIT;
	int rc = share_recipes(&all, why);

	if (tsv) {
		buf_join(b, &all);
	} else if (!rc) {
		buf_adds(
			b,
			"perfpipe run RECIPE [SECONDS|FILE]; perfpipe run RECIPE --help shows more\n\n");
		for (const char *s = buf_str(&all); *s; s += strcspn(s, "\n") + 1) {
			size_t name = strcspn(s, "\t"), line = strcspn(s, "\n");

			buf_addf(b, "  %-15.*s %.*s\n", (int)name, s, (int)(line - name - 1),
				 s + name + 1);
		}
		buf_inherit(b, &all);
	}
	buf_release(&all);
	return rc;
}

void front_fields(bool tsv, struct buf *b)
{
	static const struct {
		const char *name, *what;
	} fields[] = {
#define F(id, type, name, what) {name, what},
		FIELDS(F)
#undef F
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		buf_addf(b, tsv ? "%s\t%s\n" : "%-16s %s\n", fields[i].name, fields[i].what);
}

void front_features(struct buf *b)
{
	int major, minor;

	cs_version(&major, &minor);
	buf_addf(b, "zlib\t%s\tgzip\n", zlibVersion());
	buf_addf(b, "zstd\t%s\tcompressed recordings\n", ZSTD_versionString());
	buf_addf(b, "liblzma\t%s\tkernel modules, xz\n", lzma_version_string());
	buf_addf(b, "elfutils\t%s\tsymbols, debug information\n", dwfl_version(NULL));
	buf_addf(b, "xxhash\t%u.%u.%u\thashes\n", XXH_versionNumber() / 10000,
		 XXH_versionNumber() / 100 % 100, XXH_versionNumber() % 100);
	buf_addf(b, "capstone\t%d.%d\tmachine code: preport --annotate, probes\n", major, minor);
#ifdef PP_CURSES
	buf_adds(b, "curses\tyes\tpreport --view\n");
#else
	buf_adds(b, "curses\tno\tpreport --view\n");
#endif
	buf_addf(b, "libtraceevent\t%s\ttext of events\n", PP_TRACEEVENT);
	doctor_print(DOCTOR_FEATURES, b);
}

void front_version(bool features, struct buf *b)
{
	buf_addf(b, "perfpipe %s\n", pp_version);
	if (features)
		front_features(b);
}

/* Knows the formats that are no event streams by their first bytes. */
#include "stream/foreign.h"

#include <string.h>

static const struct ps_foreign formats[] = {
	{"PERFILE2", 8, "a perf.data recording", true, false, NULL},
	{"2ELIFREP", 8, "a perf.data recording", true, false, NULL},
	{"PERFFILE", 8, "a perf.data recording", true, false, NULL},
	{"ELIFFREP", 8, "a perf.data recording", true, false, NULL},
	{"\x17\x08\x44tracing", 10, "a trace.dat recording", true, false, NULL},
	{"\x1f\x8b", 2, "compressed by gzip", false, true, "decompress it first"},
	{"\x28\xb5\x2f\xfd", 4, "compressed by zstd", false, true, "decompress it first"},
	{"\xfd"
	 "7zXZ",
	 6, "compressed by xz", false, true, "decompress it first"},
	{"#PPTABLE1", 9, "a table", false, false, "psvg draws it"},
	{"<?xml", 5, "a picture (SVG) or other XML", false, false, "a browser shows it"},
	{"<svg", 4, "a picture (SVG)", false, false, "a browser shows it"},
	{"<!DOCTYPE", 9, "a page (HTML)", false, false, "a browser shows it"},
	{"<html", 5, "a page (HTML)", false, false, "a browser shows it"},
	{"\x7f"
	 "ELF",
	 4, "a program or library", false, false, "record it with pcap-perf or perf"},
};

const struct ps_foreign *ps_foreign(const void *bytes, size_t n)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (n >= formats[i].len && !memcmp(bytes, formats[i].magic, formats[i].len))
			return &formats[i];
	return NULL;
}

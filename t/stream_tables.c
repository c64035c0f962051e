/*
 * Prints the tables of lib/stream/records.h, one line each, for t/stream-page.t:
 *
 *	RECORD number NAME | FIELD RECORD kind name | SAMPLE bit kind name | REASON number text
 */
#include "stream/stream.h"

#include <inttypes.h>
#include <stdio.h>

static const char *record;

static void field(const char *kind, const char *name)
{
	printf("FIELD %s %s %s\n", record, kind, name);
}

int main(void)
{
#define F(kind, name, what) field(#kind, #name);
#define R(NAME, number, text, what) \
	record = #NAME; \
	printf("RECORD %d %s %s\n", number, #NAME, text); \
	PS_FIELDS_##NAME(F)
/* Its fixed part is a struct of the codec, not a table. */
#define PS_FIELDS_SAMPLE(G) \
	G(u32, event, "") \
	G(u32, cpu, "") \
	G(u64, time, "") \
	G(u32, pid, "") \
	G(u32, tid, "") \
	G(u32, comm, "") \
	G(u32, flags, "") \
	G(u64, fields, "")
	PS_RECORDS(R)
	record = "EVENT_FIELD";
	printf("RECORD - EVENT_FIELD -\n");
	PS_FIELDS_EVENT_FIELD(F)
#define S(bit, kind, name, what) printf("SAMPLE %d %s %s\n", bit, #kind, #name);
	PS_SAMPLE_FIELDS(S)
#define W(NAME, number, text) printf("REASON %d %s\n", number, text);
	PS_REASONS(W)
#define H(NAME, number, text) printf("HOW %d %s\n", number, text);
	PS_ENDS(H)
	printf("LIMIT %" PRIu32 " bytes of a record\n", (uint32_t)PS_RECORD_MAX);
	printf("LIMIT %" PRIu32 " ids of a dictionary\n", (uint32_t)PS_ID_MAX);
	printf("LIMIT %" PRIu32 " bytes of a dictionary\n", (uint32_t)PS_DICT_BYTES);
	printf("VERSION %d\n", PS_VERSION);
	return 0;
}

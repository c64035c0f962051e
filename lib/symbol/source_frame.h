/*
 * A place in a source: what the DWARF of a file, or a jitdump file, says about an address. Texts
 * belong to whoever fills it in, and live as long as that.
 */
#ifndef PP_SYMBOL_SOURCE_FRAME_H
#define PP_SYMBOL_SOURCE_FRAME_H

#include <stdint.h>

struct source_frame {
	const char *function;  /* as the linker knows it, else as the source has it; NULL unknown */
	const char *file;      /* with its directory; NULL unknown */
	uint32_t line, column; /* 0 unknown; that of the call, if the frame before is inlined */
};

#endif

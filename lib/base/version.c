/* The version, which the Makefile takes from the newest heading of CHANGELOG.md. */
#include "base/opt.h"

#ifndef PP_VERSION
#define PP_VERSION "unknown"
#endif

const char pp_version[] = PP_VERSION;

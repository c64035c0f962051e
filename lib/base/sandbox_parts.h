/* The two halves of a sandbox. Private to base/. */
#ifndef PP_BASE_SANDBOX_PARTS_H
#define PP_BASE_SANDBOX_PARTS_H

#include "base/sandbox.h"

/* The leak checker attaches itself as a debugger in the end, and reports start a symbolizer. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* Denies system calls; `landlock` checks the files that are opened. Whether it is in force. */
bool sandbox_calls(const struct sandbox *s, bool landlock);

#endif

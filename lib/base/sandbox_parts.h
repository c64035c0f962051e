/* The two halves of a sandbox. Private to base/. */
#ifndef PP_BASE_SANDBOX_PARTS_H
#define PP_BASE_SANDBOX_PARTS_H

#include <stdbool.h>

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

/* Denies system calls but those to start programs, and to make files. Whether that is in force. */
bool sandbox_calls(bool programs, bool files);

#endif

/*
 * TAP for the unit tests: each t/unit/NAME.c is a program that prints it; t/unit.t runs them all.
 *
 *	int main(void)
 *	{
 *		plan(3);
 *		ok(buf.len == 3, "length");
 *		is_int(rc, PP_ECUT, "row %d: cut off", i);
 *		is_str(buf_str(&buf), "abc", "text");
 *		return done();
 *	}
 *
 * The name of a test is a format with arguments, as in printf. plan() may be left out: done() then
 * prints the number. All return whether the test passed.
 */
#ifndef PP_UNIT_TAP_H
#define PP_UNIT_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_plan, tap_run, tap_failed;

__attribute__((unused)) static inline void plan(int n)
{
	tap_plan = n;
	printf("1..%d\n", n);
}

/* Says the number of tests if there was no plan. Returns the exit status for main. */
__attribute__((unused)) static inline int done(void)
{
	if (!tap_plan)
		plan(tap_run);
	if (tap_plan != tap_run)
		printf("# planned %d tests, ran %d\n", tap_plan, tap_run);
	return tap_failed || tap_plan != tap_run || fflush(stdout) ? 1 : 0;
}

__attribute__((format(printf, 4, 0))) static inline bool tap_result(bool pass, const char *file,
								    int line, const char *fmt,
								    va_list ap)
{
	printf("%sok %d - ", pass ? "" : "not ", ++tap_run);
	vprintf(fmt, ap);
	printf("\n");
	if (!pass) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout); /* what was tested last is to be seen after a crash */
	return pass;
}

__attribute__((unused, format(printf, 4, 5))) static inline bool tap_ok(bool pass, const char *file,
									int line, const char *fmt,
									...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_result(pass, file, line, fmt, ap);
	va_end(ap);
	return pass;
}

__attribute__((unused, format(printf, 5, 6))) static inline bool tap_int(int64_t got, int64_t want,
									 const char *file, int line,
									 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!tap_result(got == want, file, line, fmt, ap))
		printf("# got %" PRId64 ", wanted %" PRId64 "\n", got, want);
	va_end(ap);
	return got == want;
}

__attribute__((unused, format(printf, 5, 6))) static inline bool tap_u64(uint64_t got,
									 uint64_t want,
									 const char *file, int line,
									 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!tap_result(got == want, file, line, fmt, ap))
		printf("# got %#" PRIx64 ", wanted %#" PRIx64 "\n", got, want);
	va_end(ap);
	return got == want;
}

/* A multi-line text must not look like TAP. */
__attribute__((unused)) static inline void tap_text(const char *what, const char *s, size_t n)
{
	printf("# %s: \"", what);
	for (size_t i = 0; s && i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < ' ' || c == '"' || c == '\\' || c >= 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	printf("\"%s\n", s ? "" : " (NULL)");
}

__attribute__((unused, format(printf, 7, 8))) static inline bool tap_mem(
	const void *got, size_t got_len, const void *want, size_t want_len, const char *file,
	int line, const char *fmt, ...)
{
	bool same = !got == !want && got_len == want_len &&
		    (!got_len || memcmp(got, want, got_len) == 0);
	va_list ap;

	va_start(ap, fmt);
	if (!tap_result(same, file, line, fmt, ap)) {
		tap_text("got   ", got, got_len);
		tap_text("wanted", want, want_len);
	}
	va_end(ap);
	return same;
}

static inline size_t tap_len(const char *s)
{
	return s ? strlen(s) : 0;
}

#define ok(cond, ...)	       tap_ok((cond) ? true : false, __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) tap_int((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_u64(got, want, ...) tap_u64((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_mem(got, got_len, want, want_len, ...) \
	tap_mem((got), (got_len), (want), (want_len), __FILE__, __LINE__, __VA_ARGS__)

/* NULL equals only NULL. Both texts are evaluated once. */
#define is_str(got, want, ...) tap_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((unused, format(printf, 5, 6))) static inline bool tap_str(const char *got,
									 const char *want,
									 const char *file, int line,
									 const char *fmt, ...)
{
	bool same = !got == !want && (!got || strcmp(got, want) == 0);
	va_list ap;

	va_start(ap, fmt);
	if (!tap_result(same, file, line, fmt, ap)) {
		tap_text("got   ", got, tap_len(got));
		tap_text("wanted", want, tap_len(want));
	}
	va_end(ap);
	return same;
}

#endif

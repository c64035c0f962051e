/* The screen and the keys of --view, by ncurses where perfpipe was built with it. */
#include "base/err.h"
#include "report/view.h"

#ifndef PP_CURSES
int report_view(const struct result *s)
{
	diag_error(
		s->r->d, NULL, -1,
		"--view: built without ncursesw (on Debian: libncurses-dev, then make clean all)");
	return PP_EXIT_FAIL;
}
#else
#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <term.h>
#include <wchar.h>
#include <wctype.h>

#define WANTED_MAX 120 /* bytes of what is searched for */
#define SHIFT	   8   /* columns of a step to the side */

enum { PLAIN, HOT, WARM };

/* What is looked at: the lines of a view, or those of a text. */
struct screen {
	struct view *view; /* NULL: a text */
	const struct buf *text;
	const char *title; /* of a text */
	size_t *begins;	   /* where its lines begin */
	uint32_t n, at, top;
	uint32_t left; /* columns that are beyond the left border */
	struct buf line;
	char *wanted; /* WANTED_MAX + 1 bytes, of all screens */
	const char *message;
	int rc;
};

static int page_rows(void)
{
	return LINES > 3 ? LINES - 2 : 1;
}

static uint32_t count(const struct screen *s)
{
	return s->view ? s->view->n : s->n;
}

/* A line's text in s->line. */
static void read_line(struct screen *s, uint32_t i, double *share)
{
	*share = 0;
	buf_reset(&s->line);
	if (s->view) {
		int rc = view_text(s->view, i, &s->line, share);

		s->rc = s->rc ? s->rc : rc;
		return;
	}
	buf_add(&s->line, s->text->data + s->begins[i],
		strcspn((const char *)s->text->data + s->begins[i], "\n"));
}

/* As much of a text as fits; characters that the locale does not have become question marks. */
static void put(int row, const char *text, uint32_t left)
{
	mbstate_t state = {0};
	int column = -(int)left;
	size_t n = strlen(text);

	move(row, 0);
	while (n) {
		wchar_t c[2] = {0, 0};
		size_t len = mbrtowc(c, text, n, &state);
		int w;

		if (len == (size_t)-1 || len == (size_t)-2 || !len) {
			memset(&state, 0, sizeof(state));
			len = 1;
			c[0] = (*text & 0xc0) == 0x80 ? 0 : L'?';
		}
		text += len;
		n -= len;
		w = c[0] ? wcwidth(c[0]) : 0;
		if (w <= 0)
			continue;
		if (column >= 0 && column + w > COLS)
			break;
		if (column >= 0)
			addwstr(c);
		column += w;
	}
	if (column < COLS)
		clrtoeol();
}

static attr_t colour_of(double share)
{
	if (!has_colors() || share < 0.5)
		return 0;
	return (attr_t)(share >= 5 ? COLOR_PAIR(HOT) : COLOR_PAIR(WARM));
}

static void draw(struct screen *s)
{
	uint32_t rows = (uint32_t)page_rows(), n = count(s);
	double share;

	s->at = s->at < n ? s->at : n ? n - 1 : 0;
	if (s->at < s->top)
		s->top = s->at;
	if (s->at >= s->top + rows)
		s->top = s->at - rows + 1;
	buf_reset(&s->line);
	if (s->view)
		view_title(s->view, &s->line);
	else
		buf_adds(&s->line, s->title);
	attron(A_BOLD);
	put(0, buf_str(&s->line), s->left);
	attroff(A_BOLD);
	for (uint32_t i = 0; i < rows; i++) {
		attr_t look;

		move((int)i + 1, 0);
		clrtoeol();
		if (s->top + i >= n)
			continue;
		read_line(s, s->top + i, &share);
		look = s->top + i == s->at ? A_REVERSE : colour_of(share);
		attron(look);
		put((int)i + 1, buf_str(&s->line), s->left);
		attroff(look);
	}
	buf_reset(&s->line);
	buf_addf(&s->line, "%u/%u  %s", n ? s->at + 1 : 0, n,
		 s->message ? s->message : "h help, q quit");
	put(LINES - 1, buf_str(&s->line), 0);
	s->message = NULL;
	move(s->at >= s->top ? (int)(s->at - s->top) + 1 : 1, 0);
	refresh();
}

/* ---- searching ---- */

/* Whether a text has another one in it, whatever their case. */
static bool contains(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

/* To a line that was found; if it is not on the screen, lines before and after it come with it. */
static void go_to(struct screen *s, uint32_t at)
{
	uint32_t rows = (uint32_t)page_rows();

	s->at = at;
	if (at < s->top || at >= s->top + rows)
		s->top = at > rows / 3 ? at - rows / 3 : 0;
}

static void find(struct screen *s, bool back)
{
	uint32_t n = count(s), at = s->at;
	double share;

	if (!*s->wanted) {
		s->message = "nothing to search for: / asks";
		return;
	}
	for (uint32_t i = 0; i < n && !s->rc; i++) {
		at = back ? (at ? at : n) - 1 : at + 1 < n ? at + 1 : 0;
		read_line(s, at, &share);
		if (contains(buf_str(&s->line), s->wanted)) {
			go_to(s, at);
			return;
		}
	}
	s->message = "not found in the open lines";
}

/* Asks for a text on the last line. False: given up. */
static bool ask(struct screen *s)
{
	char text[WANTED_MAX + 1] = "";
	size_t n = 0;

	for (;;) {
		char line[WANTED_MAX + 2];
		int key;

		snprintf(line, sizeof(line), "/%s", text);
		put(LINES - 1, line, 0);
		refresh();
		key = getch();
		if (key == '\n' || key == '\r' || key == KEY_ENTER)
			break;
		if (key == 27 || key == 3 || (key == ERR && errno != EINTR))
			return false;
		if (key == KEY_BACKSPACE || key == 127 || key == 8) {
			while (n && (text[n - 1] & 0xc0) == 0x80)
				n--;
			n -= n > 0;
		} else if (key >= 32 && key < 256 && n < WANTED_MAX) {
			text[n++] = (char)key;
		}
		text[n] = 0;
	}
	if (n)
		memcpy(s->wanted, text, n + 1);
	return true;
}

/* ---- keys ---- */

static void move_by(struct screen *s, int64_t by)
{
	int64_t at = (int64_t)s->at + by, last = (int64_t)count(s) - 1;

	s->at = (uint32_t)(at < 0 ? 0 : at > last ? (last < 0 ? 0 : last) : at);
}

/* Keys that all screens have. False: it is none. */
static bool common_key(struct screen *s, int key)
{
	switch (key) {
	case KEY_DOWN:
	case 'j': move_by(s, 1); return true;
	case KEY_UP:
	case 'k': move_by(s, -1); return true;
	case KEY_NPAGE:
	case ' ': move_by(s, page_rows()); return true;
	case KEY_PPAGE:
	case 'b': move_by(s, -page_rows()); return true;
	case KEY_HOME:
	case 'g': s->at = 0; return true;
	case KEY_END:
	case 'G': move_by(s, UINT32_MAX); return true;
	case '>': s->left += s->left < 10000 ? SHIFT : 0; return true;
	case '<': s->left -= s->left < SHIFT ? s->left : SHIFT; return true;
	case '/':
		if (ask(s))
			find(s, false);
		return true;
	case 'n': find(s, false); return true;
	case 'N': find(s, true); return true;
	case KEY_RESIZE:
	case 12: clearok(stdscr, TRUE); return true;
	default: return false;
	}
}

/* A text to look through. */
static void show_text(struct screen *from, const char *title, const struct buf *text)
{
	struct screen s = {.text = text, .title = title, .wanted = from->wanted};
	size_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->data[i] == '\n';
	s.begins = calloc(n + 1, sizeof(*s.begins));
	if (!s.begins) {
		from->rc = PP_ENOMEM;
		return;
	}
	for (size_t i = 0, begin = 0; i < text->len; i++)
		if (text->data[i] == '\n') {
			s.begins[s.n++] = begin;
			begin = i + 1;
		}
	for (;;) {
		int key;

		draw(&s);
		key = getch();
		if (key == 'q' || key == 27 || key == 3 || key == KEY_LEFT ||
		    (key == ERR && errno != EINTR))
			break;
		(void)common_key(&s, key);
	}
	from->rc = from->rc ? from->rc : s.line.err;
	buf_release(&s.line);
	free(s.begins);
}

static int take_bytes(void *ctx, uint8_t *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_add(b, bytes, n);
	return b->err;
}

/* The function under the cursor: callers, callees, source lines, instructions. */
static void show_function(struct screen *s)
{
	const struct call *c = view_call(s->view, s->at);
	struct buf text = BUF_INIT, title = BUF_INIT;
	struct out out;
	int rc;

	if (!c) {
		s->message = "there is no function in this line";
		return;
	}
	rc = out_init_fn(&out, take_bytes, &text);
	if (!rc) {
		rc = report_write_function(s->view->s, s->view->v[s->at].event, c, &out);
		rc = rc ? rc : out_flush(&out);
		out_release(&out);
	}
	report_call_name(s->view->s->r, c, &title);
	/* Messages on the same terminal may have been written meanwhile. */
	clearok(stdscr, TRUE);
	if (rc || title.err)
		s->rc = rc ? rc : title.err;
	else
		show_text(s, buf_str(&title), &text);
	buf_release(&text);
	buf_release(&title);
}

static void show_help(struct screen *s)
{
	static const char *const help =
		"arrows, j k       a line down or up\n"
		"PgDn PgUp, space b  a page\n"
		"Home End, g G     to the first and the last line\n"
		"Enter, +, right   open and close everything below the line\n"
		"-, left           close it, or go to the line that it is below\n"
		"e c               open and close everything below the line\n"
		"E C               open and close all lines\n"
		"t                 functions with their callers; calls starting at the root\n"
		"a                 the function: callers, callees, source, instructions\n"
		"/ n N             search, next, previous\n"
		"< >               move left and right\n"
		"h ?               this help\n"
		"q, Esc            back, and finally quit\n";
	struct buf text = BUF_INIT;

	buf_adds(&text, help);
	show_text(s, "keys", &text);
	buf_release(&text);
}

static void open_line(struct screen *s, bool all)
{
	int rc = view_open(s->view, s->at, all);

	if (rc == PP_ELIMIT)
		s->message = "too many lines: not all are open";
	else
		s->rc = rc;
	if (!rc && !all && !s->view->v[s->at].open)
		s->message = "nothing is below it, or nothing large enough: --min-share";
}

static void open_everything(struct screen *s)
{
	uint32_t line = s->at;

	while (s->view->v[line].depth)
		line = view_parent(s->view, line);
	for (s->at = 0; s->at < s->view->n && !s->rc && !s->message; s->at++)
		if (!s->view->v[s->at].depth)
			open_line(s, true);
	s->at = line;
}

/* Closes all rows, or branches of the root. */
static void close_everything(struct screen *s)
{
	while (s->view->v[s->at].depth > 1)
		s->at = view_parent(s->view, s->at);
	for (uint32_t i = s->view->n; i-- > 0;)
		if (s->view->v[i].depth == 1) {
			uint32_t n = s->view->n;

			view_close(s->view, i);
			s->at -= i < s->at ? n - s->view->n : 0;
		}
}

/* The other kind of view. */
static void turn(struct screen *s)
{
	struct view other;

	s->rc = view_make(&other, s->view->s, !s->view->roots);
	if (s->rc)
		return;
	view_release(s->view);
	*s->view = other;
	s->at = 1;
	s->top = 0;
}

/* False: it ends. */
static bool view_key(struct screen *s, int key)
{
	const struct view_line *l = &s->view->v[s->at];

	switch (key) {
	case 'q':
	case 27:
	case 3: return false;
	case '\n':
	case '\r':
	case KEY_ENTER:
	case '+':
	case KEY_RIGHT:
		if (!l->open)
			open_line(s, false);
		else if (key != KEY_RIGHT)
			view_close(s->view, s->at);
		break;
	case '-':
	case KEY_LEFT:
		if (l->open)
			view_close(s->view, s->at);
		else
			s->at = view_parent(s->view, s->at);
		break;
	case 'e': open_line(s, true); break;
	case 'c': view_close(s->view, s->at); break;
	case 'E': open_everything(s); break;
	case 'C': close_everything(s); break;
	case 't': turn(s); break;
	case 'a': show_function(s); break;
	case 'h':
	case '?':
	case KEY_F(1): show_help(s); break;
	default: (void)common_key(s, key);
	}
	return true;
}

static void set_up(void)
{
	const char *no = getenv("NO_COLOR");

	raw();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	if (!has_colors() || (no && *no))
		return;
	start_color();
	use_default_colors();
	init_pair(HOT, COLOR_RED, -1);
	init_pair(WARM, COLOR_GREEN, -1);
}

static int loop(struct screen *s)
{
	set_up();
	do {
		int key;

		draw(s);
		if (s->rc || s->line.err)
			break;
		key = getch();
		if (key == ERR && errno != EINTR)
			break;
		if (key != ERR && !view_key(s, key))
			break;
	} while (!s->rc);
	endwin();
	return s->rc ? s->rc : s->line.err;
}

/* What is wrong with the terminal, or NULL. Asked first, as newterm leaks memory when it fails. */
static const char *terminal_problem(FILE *tty)
{
	const char *move_to;
	int known;

	if (setupterm(NULL, fileno(tty), &known) == ERR)
		return "is not known";
	move_to = tigetstr("cup");
	move_to = move_to && move_to != (char *)-1 ? NULL : "cannot move its cursor";
	del_curterm(cur_term);
	return move_to;
}

static int run(const struct result *s, FILE *tty)
{
	const char *term = getenv("TERM");
	char wanted[WANTED_MAX + 1] = "";
	struct view v;
	struct screen screen = {.view = &v, .wanted = wanted, .at = 1};
	int rc = view_make(&v, s, s->r->o.tree == REPORT_CALLER);
	const char *problem = terminal_problem(tty);
	SCREEN *scr = NULL;

	if (rc) {
		diag_error(s->r->d, NULL, -1, "--view: %s", pp_strerror(rc));
		return PP_EXIT_FAIL;
	}
	if (!problem) {
		scr = newterm(NULL, tty, tty);
		problem = scr ? NULL : "cannot be used";
	}
	if (problem) {
		diag_error(s->r->d, NULL, -1, "--view: the terminal %s (TERM is %s)", problem,
			   term && *term ? term : "not set");
		view_release(&v);
		return PP_EXIT_FAIL;
	}
	rc = loop(&screen);
	delscreen(scr);
	buf_release(&screen.line);
	view_release(&v);
	if (rc)
		diag_error(s->r->d, NULL, -1, "--view: %s", pp_strerror(rc));
	return rc ? PP_EXIT_FAIL : PP_EXIT_OK;
}

int report_view(const struct result *s)
{
	/* Not stdin and stdout, which may be pipes. */
	FILE *tty = fopen("/dev/tty", "r+e");
	int status;

	if (!tty) {
		diag_error(s->r->d, NULL, -1, "--view needs a terminal: /dev/tty: %s",
			   strerror(errno));
		return PP_EXIT_FAIL;
	}
	status = run(s, tty);
	fclose(tty);
	return status;
}
#endif

/* The screen and the keys of --view, by ncurses where perfpipe was built with it. */
#include "base/err.h"
#include "report/view.h"

#ifndef PP_CURSES
int report_screen_open(struct report_screen **s, struct report *r)
{
	*s = NULL;
	diag_error(
		r->d, NULL, -1,
		"--view: built without ncursesw (on Debian: libncurses-dev, then make clean all)");
	return PP_EUNSUPPORTED;
}

void report_screen_close(struct report_screen *s)
{
	(void)s;
}

int report_screen_show(struct report_screen *s, const struct report_since *since)
{
	(void)s;
	(void)since;
	return PP_END;
}

void report_screen_since(struct report_screen *s, const struct report_since *since)
{
	(void)s;
	(void)since;
}

int report_screen_keys(struct report_screen *s, int ms)
{
	(void)s;
	(void)ms;
	return PP_END;
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
	const struct report_screen *of; /* of a view: the rest of it */
	int rc;
};

/* A view with all that it is made of. */
struct report_screen {
	struct report *r;
	FILE *tty;
	SCREEN *scr;
	struct screen screen;
	struct view view;
	struct result result;
	const struct report_since *since; /* what is shown came since; NULL: everything */
	struct report_filter filter;
	char wanted[WANTED_MAX + 1];
	bool any;   /* something is shown */
	bool drawn; /* and it is on the terminal */
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

/* What is left out, for the last line. */
static void add_filter(const struct report_screen *v, struct buf *b)
{
	const struct report_filter *f = &v->filter;
	size_t len;
	const char *text;

	buf_adds(b, "  only");
	if (f->event != REPORT_NONE) {
		buf_adds(b, " event ");
		report_event_name(v->r, f->event, b);
	}
	if (f->comm) {
		text = report_text_get(v->r, f->comm, &len);
		buf_adds(b, " thread ");
		buf_add_safe(b, text, len);
	}
	if (f->dso) {
		text = report_text_get(v->r, f->dso, &len);
		buf_adds(b, " file ");
		buf_add_safe(b, text, len);
	}
	if (*f->sym) {
		buf_adds(b, " functions with ");
		buf_add_safe(b, f->sym, strlen(f->sym));
	}
	buf_adds(b, f->of_all ? "; % of all" : "; % of that");
	buf_adds(b, "; z: the whole");
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
	if (s->of && s->of->filter.on)
		add_filter(s->of, &s->line);
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

/* Asks for a text of at most WANTED_MAX bytes on the last line. False: given up. */
static bool ask(const char *prompt, char *to)
{
	char text[WANTED_MAX + 1] = "";
	size_t n = 0;

	for (;;) {
		char line[WANTED_MAX + 32];
		int key;

		snprintf(line, sizeof(line), "%s%s", prompt, text);
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
		memcpy(to, text, n + 1);
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
		timeout(-1);
		if (ask("/", s->wanted))
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
	timeout(-1);
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

/* The function under the cursor: callers, callees, source lines, instructions. */
static void show_function(struct screen *s)
{
	const struct report_call *c = view_call(s->view, s->at);
	struct buf text = BUF_INIT, title = BUF_INIT;
	struct out out;
	int rc;

	if (!c) {
		s->message = "there is no function in this line";
		return;
	}
	rc = out_init_buf(&out, &text);
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
		"O C               open and close all lines\n"
		"r                 functions with their callers; calls starting at the root\n"
		"t d E             only the thread, the file, the event of the line\n"
		"s                 only functions with a text in their name, which is asked for\n"
		"z                 the whole again\n"
		"%                 percentages are of what is left, or of all\n"
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

/* ---- what is shown ---- */

static void drop(struct report_screen *v)
{
	if (!v->any)
		return;
	view_release(&v->view);
	result_release(&v->result);
	v->any = false;
}

/* Made anew: what is open stays so where it is there, unless it is turned. 0 or an error. */
static int remake(struct report_screen *v, bool roots)
{
	bool follow = v->any && roots == v->view.roots;
	uint32_t at = follow ? v->screen.at : 1;
	struct result result;
	struct view view = {0};
	int rc = result_make(&result, v->r, v->since, &v->filter);

	if (!rc)
		rc = view_make(&view, &result, roots);
	if (!rc && follow) {
		rc = view_follow(&view, &v->view, &at);
		if (rc)
			view_release(&view);
	}
	if (rc) {
		result_release(&result);
		return rc;
	}
	drop(v);
	v->result = result;
	v->view = view;
	v->view.s = &v->result;
	v->any = true;
	v->drawn = false;
	v->screen.at = at;
	v->screen.top = follow ? v->screen.top : 0;
	return 0;
}

static void refilter(struct report_screen *v)
{
	struct report_filter *f = &v->filter;

	f->on = f->event != REPORT_NONE || f->comm || f->dso || *f->sym;
	v->screen.rc = remake(v, v->view.roots);
	if (!v->screen.rc && !v->view.n)
		v->screen.message = "nothing is left";
}

/* Only what a line is about. */
static void zoom(struct report_screen *v, int key)
{
	struct screen *s = &v->screen;
	uint32_t *part = key == 't' ? &v->filter.comm : &v->filter.dso, text;

	if (key == 'E') {
		v->filter.event = v->view.v[s->at].event;
		refilter(v);
		return;
	}
	text = key == 't' ? view_comm(&v->view, s->at) : view_dso(&v->view, s->at);
	if (!text) {
		s->message = key == 't' ? "there is no thread in this line"
					: "there is no file in this line";
		return;
	}
	*part = text;
	refilter(v);
}

/* Keys that change what is shown; there may be no line. False: it is none. */
static bool filter_key(struct report_screen *v, int key)
{
	struct report_filter none = {.event = REPORT_NONE, .of_all = v->filter.of_all};

	switch (key) {
	case 's':
		timeout(-1);
		if (ask("only functions with: ", v->filter.sym))
			refilter(v);
		return true;
	case 'z':
		v->filter = none;
		refilter(v);
		return true;
	case '%':
		v->filter.of_all = !v->filter.of_all;
		refilter(v);
		return true;
	case 't':
	case 'd':
	case 'E':
		if (v->view.n)
			zoom(v, key);
		return true;
	default: return false;
	}
}

/* Keys of the line under the cursor. */
static void line_key(struct report_screen *v, int key)
{
	struct screen *s = &v->screen;
	const struct view_line *l = &s->view->v[s->at];

	switch (key) {
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
	case 'O': open_everything(s); break;
	case 'C': close_everything(s); break;
	case 'a': show_function(s); break;
	default: (void)common_key(s, key);
	}
}

/* False: it ends. */
static bool view_key(struct report_screen *v, int key)
{
	switch (key) {
	case 'q':
	case 27:
	case 3: return false;
	case 'h':
	case '?':
	case KEY_F(1): show_help(&v->screen); return true;
	}
	if (!v->any)
		return true;
	if (key == 'r')
		v->screen.rc = remake(v, !v->view.roots);
	else if (!filter_key(v, key) && v->view.n)
		line_key(v, key);
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

/* The terminal. 0 or PP_EUNSUPPORTED, which was reported. */
static int take_terminal(struct report_screen *v)
{
	const char *term = getenv("TERM"), *problem;

	/* Not stdin and stdout, which may be pipes. */
	v->tty = fopen("/dev/tty", "r+e");
	if (!v->tty) {
		diag_error(v->r->d, NULL, -1, "--view needs a terminal: /dev/tty: %s",
			   strerror(errno));
		return PP_EUNSUPPORTED;
	}
	problem = terminal_problem(v->tty);
	if (!problem) {
		v->scr = newterm(NULL, v->tty, v->tty);
		problem = v->scr ? NULL : "cannot be used";
	}
	if (!problem)
		return 0;
	diag_error(v->r->d, NULL, -1, "--view: the terminal %s (TERM is %s)", problem,
		   term && *term ? term : "not set");
	return PP_EUNSUPPORTED;
}

int report_screen_open(struct report_screen **out, struct report *r)
{
	struct report_screen *v = calloc(1, sizeof(*v));
	int rc;

	*out = v;
	if (!v)
		return PP_ENOMEM;
	v->r = r;
	v->filter.event = REPORT_NONE;
	v->screen = (struct screen){.view = &v->view, .wanted = v->wanted, .of = v};
	rc = take_terminal(v);
	if (!rc) {
		set_up();
		return 0;
	}
	report_screen_close(v);
	*out = NULL;
	return rc;
}

void report_screen_close(struct report_screen *v)
{
	if (!v)
		return;
	if (v->scr) {
		endwin();
		delscreen(v->scr);
	}
	if (v->tty)
		fclose(v->tty);
	drop(v);
	buf_release(&v->screen.line);
	free(v);
}

void report_screen_since(struct report_screen *v, const struct report_since *since)
{
	v->since = since;
}

int report_screen_show(struct report_screen *v, const struct report_since *since)
{
	v->since = since;
	return remake(v, v->any ? v->view.roots : v->r->o.tree == REPORT_CALLER);
}

int report_screen_keys(struct report_screen *v, int ms)
{
	struct screen *s = &v->screen;

	for (;;) {
		int key;

		if (!v->drawn && v->any)
			draw(s);
		else if (!v->drawn)
			put(0, "nothing has come yet; q quit", 0);
		v->drawn = true;
		if (s->rc || s->line.err)
			return s->rc ? s->rc : s->line.err;
		timeout(ms);
		key = getch();
		if (key == ERR && ms >= 0)
			return 0;
		if (key == ERR && errno != EINTR)
			return PP_END;
		if (key != ERR && !view_key(v, key))
			return PP_END;
		v->drawn = false;
	}
}
#endif

int report_view(struct report *r)
{
	struct report_screen *v;
	int rc = report_screen_open(&v, r);

	if (rc)
		return PP_EXIT_FAIL;
	rc = report_screen_show(v, NULL);
	while (!rc)
		rc = report_screen_keys(v, -1);
	report_screen_close(v);
	if (rc == PP_ENOENT) {
		diag_error(r->d, NULL, -1, "--sort: there is no column %s", r->o.sort);
		return PP_EXIT_USAGE;
	}
	if (rc != PP_END)
		diag_error(r->d, NULL, -1, "--view: %s", pp_strerror(rc));
	return rc == PP_END ? PP_EXIT_OK : PP_EXIT_FAIL;
}

/*
 * Runs a command on a terminal of its own, types keys, and prints what its screen shows: for tests
 * of what is for people at a terminal.
 *
 *	pty ROWSxCOLUMNS KEYS COMMAND [ARGUMENT]...
 *
 * The terminal is a vt100, or what PTY_TERM says. KEYS are typed as they are, but wait until the
 * command has been silent for a while before and after those in <>: up, down, left, right, enter and esc;
 * <shot> prints the screen, <size RxC> gives the terminal another size, <await TEXT> waits until a line of
 * the screen has TEXT, for a minute at most. The screen is printed at
 * the end, too. A line that is shown in reverse has a ">" before it, others a blank. The command's
 * standard input and error are those of pty itself; its standard output is the terminal.
 *
 * Exit: that of the command; 125: it did not end; 126: it could not be run.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 200

static char cell[MOST][MOST][5]; /* a character of UTF-8 each */
static char reverse[MOST][MOST];
static int rows, columns, row, column, saved_row, saved_column, inverse;
static int top, bottom; /* the lines that scroll */
static int wide;	/* bytes of a character that are missing */

static void clear(int from_row, int from_column, int to_row, int to_column)
{
	for (int r = from_row; r <= to_row && r < MOST; r++)
		for (int c = r == from_row ? from_column : 0;
		     c < MOST && (r < to_row || c <= to_column); c++) {
			strcpy(cell[r][c], " ");
			reverse[r][c] = 0;
		}
}

/* Lines of the region move: down from its first line, or up to it. */
static void scroll(int down)
{
	int to = down ? bottom : top, from = down ? top : bottom, step = down ? -1 : 1;

	for (int r = to; r != from; r += step) {
		memcpy(cell[r], cell[r + step], sizeof(cell[r]));
		memcpy(reverse[r], reverse[r + step], sizeof(reverse[r]));
	}
	clear(from, 0, from, MOST - 1);
}

static void next_line(void)
{
	if (row == bottom)
		scroll(0);
	else
		row += row + 1 < rows;
}

static void put(unsigned char c)
{
	char *at = column > 0 ? cell[row][column - 1] : cell[row][0];

	if ((c & 0xc0) == 0x80 && wide > 0) {
		size_t n = strlen(at);

		at[n] = (char)c;
		at[n + 1] = 0;
		wide--;
		return;
	}
	wide = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
	if (column >= columns) {
		column = 0;
		next_line();
	}
	cell[row][column][0] = (char)c;
	cell[row][column][1] = 0;
	reverse[row][column++] = (char)inverse;
}

/* An escape sequence that is complete: its parameters and its last character. */
static void obey(const char *text, char last)
{
	int a = atoi(text), b = strchr(text, ';') ? atoi(strchr(text, ';') + 1) : 0;

	switch (last) {
	case 'H':
		row = a ? a - 1 : 0;
		column = b ? b - 1 : 0;
		break;
	case 'A': row -= a ? a : 1; break;
	case 'B': row += a ? a : 1; break;
	case 'C': column += a ? a : 1; break;
	case 'D': column -= a ? a : 1; break;
	case 'J': clear(a == 0 ? row : 0, a == 0 ? column : 0, MOST - 1, MOST - 1); break;
	case 'K': clear(row, a == 1 ? 0 : column, row, a == 1 ? column : MOST - 1); break;
	case 'r':
		top = a > 0 && a <= rows ? a - 1 : 0;
		bottom = b > top && b <= rows ? b - 1 : rows - 1;
		row = column = 0;
		break;
	case 'm':
		for (const char *p = text; p; p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL)
			inverse = atoi(p) == 7 ? 1 : atoi(p) == 0 ? 0 : inverse;
		break;
	default: break;
	}
	row = row < 0 ? 0 : row >= rows ? rows - 1 : row;
	column = column < 0 ? 0 : column > columns ? columns : column;
}

/* Sequences of two characters. */
static void escape(unsigned char c)
{
	switch (c) {
	case '7':
		saved_row = row;
		saved_column = column;
		break;
	case '8':
		row = saved_row;
		column = saved_column;
		break;
	case 'D': next_line(); break;
	case 'M':
		if (row == top)
			scroll(1);
		else
			row -= row > 0;
		break;
	default: break;
	}
}

static void show(const char *bytes, ssize_t n)
{
	static char text[64];
	static int in; /* an escape sequence: 1 after ESC, 2 in parameters, 3 one character more */

	for (ssize_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];
		size_t len = strlen(text);

		if (in == 1) {
			in = c == '[' ? 2 : c == '(' || c == ')' ? 3 : 0;
			*text = 0;
			escape(c);
		} else if (in == 3) {
			in = 0;
		} else if (in == 2 && c >= 0x40) {
			obey(text, (char)c);
			in = 0;
		} else if (in == 2 && len + 1 < sizeof(text)) {
			text[len] = (char)c;
			text[len + 1] = 0;
		} else if (c == 27) {
			in = 1;
		} else if (c == '\r') {
			column = 0;
		} else if (c == '\n') {
			next_line();
		} else if (c == '\b') {
			column -= column > 0;
		} else if (c == '\t') {
			column = column / 8 * 8 + 8;
		} else if (c >= 32) {
			put(c);
		}
	}
}

static void print_screen(void)
{
	for (int r = 0; r < rows; r++) {
		int end = columns, marked = 0;

		while (end && !strcmp(cell[r][end - 1], " ") && !reverse[r][end - 1])
			end--;
		for (int c = 0; c < end; c++)
			marked |= reverse[r][c];
		putchar(marked ? '>' : ' ');
		for (int c = 0; c < end; c++)
			fputs(cell[r][c], stdout);
		putchar('\n');
	}
	puts("--");
	fflush(stdout);
}

/* Reads until nothing has come for a while. 0: the command has ended. */
static int settle(int fd, int wait)
{
	char bytes[4096];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	while (poll(&p, 1, wait) > 0) {
		n = read(fd, bytes, sizeof(bytes));
		if (n <= 0)
			return 0;
		show(bytes, n);
		wait = 70;
	}
	return 1;
}

static void resize(int fd, const char *size)
{
	struct winsize w = {0};

	if (sscanf(size, "%dx%d", &rows, &columns) != 2 || rows < 1 || columns < 1 || rows > MOST ||
	    columns > MOST)
		exit(64);
	top = 0;
	bottom = rows - 1;
	w.ws_row = (unsigned short)rows;
	w.ws_col = (unsigned short)columns;
	ioctl(fd, TIOCSWINSZ, &w);
}

static int on_screen(const char *text, size_t n)
{
	for (int r = 0; r < rows; r++) {
		char line[MOST * 5] = "";

		for (int c = 0; c < columns; c++)
			strcat(line, cell[r][c]);
		if (memmem(line, strlen(line), text, n))
			return 1;
	}
	return 0;
}

/* Types a key, or does what is to be done. */
static void type(int fd, const char *key, size_t n)
{
	static const struct {
		const char *name, *bytes;
	} keys[] = {{"up", "\033OA"}, {"down", "\033OB"}, {"right", "\033OC"}, {"left", "\033OD"},
		    {"enter", "\r"},  {"esc", "\033"},	  {NULL, NULL}};

	if (n == 4 && !memcmp(key, "shot", 4))
		print_screen();
	else if (n > 5 && !memcmp(key, "size ", 5))
		resize(fd, key + 5);
	else if (n > 6 && !memcmp(key, "await ", 6))
		for (int i = 0; i < 600 && !on_screen(key + 6, n - 6) && settle(fd, 100); i++)
			;
	for (int i = 0; keys[i].name; i++)
		if (strlen(keys[i].name) == n && !memcmp(keys[i].name, key, n) &&
		    write(fd, keys[i].bytes, strlen(keys[i].bytes)) < 0)
			return;
}

int main(int argc, char **argv)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY), status = 0;
	pid_t pid;

	if (argc < 4 || fd < 0 || grantpt(fd) || unlockpt(fd))
		return 126;
	resize(fd, argv[1]);
	clear(0, 0, MOST - 1, MOST - 1);
	pid = fork();
	if (pid < 0)
		return 126;
	if (!pid) {
		int tty;

		setsid();
		tty = open(ptsname(fd), O_RDWR);
		if (tty < 0 || dup2(tty, 1) < 0)
			_exit(126);
		close(fd);
		setenv("TERM", getenv("PTY_TERM") ? getenv("PTY_TERM") : "vt100", 1);
		execvp(argv[3], argv + 3);
		_exit(126);
	}
	settle(fd, 5000);
	for (const char *k = argv[2]; *k;) {
		const char *end = *k == '<' ? strchr(k, '>') : NULL;
		size_t n = strcspn(k, "<");

		if (end)
			type(fd, k + 1, (size_t)(end - k) - 1);
		else if (write(fd, k, n) < 0)
			break;
		if (!settle(fd, 150))
			break;
		k = end ? end + 1 : k + n;
	}
	for (int i = 0; i < 100 && settle(fd, 100); i++)
		if (waitpid(pid, &status, WNOHANG) == pid) {
			print_screen();
			return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
		}
	print_screen();
	if (waitpid(pid, &status, WNOHANG) != pid) {
		usleep(200000);
		if (waitpid(pid, &status, WNOHANG) != pid) {
			kill(pid, SIGKILL);
			return 125;
		}
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

/*
 * Runs a fuzz entry (LLVMFuzzerTestOneInput, t/fuzz/NAME.c) over files, without a fuzzer.
 *
 *	build/t/fuzz/NAME [--cut MAX [--most M]] [--flip N SEED] [--seconds S] FILE|DIRECTORY...
 *
 * Each file is given whole; with --cut also every prefix of it up to MAX bytes, or with --most
 * every k-th of them, so that they are M at most over all files together; with --flip also N
 * times (over all files together) with one to four bits turned, but with --seconds no longer than
 * that. Flip number i depends on SEED + i only, so that `--flip 1 SEED+i FILE` repeats it.
 *
 * The bytes end at a page that cannot be read: reading past the end of the input crashes even in
 * a build without sanitizers. Exit: 0, 1 for a bad return value of the entry, 2 cannot read, 64
 * usage; a crash or an input that takes more CPU time than TIMEOUT is named on stderr and ends
 * by signal.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define INPUT_MAX (64u << 20) /* bytes of one file */
#define FILES_MAX 65536
#define TIMEOUT	  20 /* seconds of CPU time for one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	char *name;
	uint8_t *data;
	size_t size;
};

static struct input *inputs;
static size_t ninputs;
static uint8_t *area; /* area_size bytes, then a page without access */
static size_t area_size;
static uint64_t runs;
static char now[PATH_MAX + 64]; /* what is being run, for the signal handler */

static void fatal(int sig)
{
	static const char crash[] = "replay: crash in ", slow[] = "replay: too slow: ";
	bool alarmed = sig == SIGPROF;

	if (write(STDERR_FILENO, alarmed ? slow : crash,
		  alarmed ? sizeof(slow) - 1 : sizeof(crash) - 1) < 0 ||
	    write(STDERR_FILENO, now, strlen(now)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
		_exit(2);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void die(const char *name, const char *what)
{
	fprintf(stderr, "replay: %s: %s\n", name, what);
	exit(2);
}

static void set_handlers(void)
{
	signal(SIGPROF, fatal);
	signal(SIGABRT, fatal);
#ifndef __SANITIZE_ADDRESS__
	/* The sanitizer's own report says more. */
	signal(SIGSEGV, fatal);
	signal(SIGBUS, fatal);
	signal(SIGFPE, fatal);
	signal(SIGILL, fatal);
#endif
}

static void read_file(const char *name, size_t size)
{
	struct input *in = &inputs[ninputs];
	FILE *f = fopen(name, "rb");

	if (!f)
		die(name, strerror(errno));
	if (ninputs == FILES_MAX || size > INPUT_MAX)
		die(name, "too many or too long files");
	in->name = strdup(name);
	in->data = malloc(size + 1);
	if (!in->name || !in->data)
		die(name, "out of memory");
	in->size = fread(in->data, 1, size, f);
	if (in->size != size || ferror(f))
		die(name, "cannot be read");
	fclose(f);
	ninputs++;
	if (size > area_size)
		area_size = size;
}

static void add(const char *name)
{
	struct dirent **list;
	struct stat st;
	int n;

	if (stat(name, &st))
		die(name, strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		read_file(name, (size_t)st.st_size);
		return;
	}
	n = scandir(name, &list, NULL, alphasort);
	if (n < 0)
		die(name, strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		if (list[i]->d_name[0] != '.') {
			if (snprintf(path, sizeof(path), "%s/%s", name, list[i]->d_name) >=
			    (int)sizeof(path))
				die(name, "path is too long");
			add(path);
		}
		free(list[i]);
	}
	free(list);
}

static void make_area(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	area_size = (area_size + page) / page * page;
	area = mmap(NULL, area_size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (area == MAP_FAILED || mprotect(area + area_size, page, PROT_NONE))
		die("memory", strerror(errno));
}

/* Runs the entry over the `size` bytes that end at the end of the area. */
static void run(size_t size)
{
	int rc;

	setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = TIMEOUT}, NULL);
	rc = LLVMFuzzerTestOneInput(area + area_size - size, size);
	runs++;
	if (rc != 0 && rc != -1) {
		fprintf(stderr, "replay: returned %d for %s\n", rc, now);
		exit(1);
	}
}

static void run_prefix(const struct input *in, size_t size)
{
	snprintf(now, sizeof(now), "%s, first %zu of %zu bytes", in->name, size, in->size);
	if (size)
		memcpy(area + area_size - size, in->data, size);
	run(size);
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void run_flip(const struct input *in, uint64_t seed)
{
	uint8_t *p = area + area_size - in->size;
	uint64_t state = seed;
	unsigned bits = 1 + (unsigned)(next_random(&state) % 8 == 0 ? next_random(&state) % 4 : 0);

	if (!in->size)
		return;
	snprintf(now, sizeof(now), "--flip 1 %" PRIu64 " %s", seed, in->name);
	memcpy(p, in->data, in->size);
	while (bits--) {
		uint64_t bit = next_random(&state) % ((uint64_t)in->size * 8);

		p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	run(in->size);
}

static void run_prefixes(size_t cut, size_t most)
{
	size_t all = 0, seen = 0, step;

	for (size_t k = 0; k < ninputs; k++)
		all += inputs[k].size < cut ? inputs[k].size : cut;
	step = most && all > most ? (all + most - 1) / most : 1;
	for (size_t k = 0; k < ninputs; k++) {
		for (size_t n = 0; n < inputs[k].size && n < cut; n++)
			if (seen++ % step == 0)
				run_prefix(&inputs[k], n);
		run_prefix(&inputs[k], inputs[k].size);
	}
}

static uint64_t number(const char *s)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = s ? strtoull(s, &end, 0) : 0;
	if (!s || errno || *end || s[0] < '0' || s[0] > '9') {
		fprintf(stderr, "usage: replay [--cut MAX [--most M]] [--flip N SEED] "
				"[--seconds S] FILE|DIRECTORY...\n");
		exit(64);
	}
	return v;
}

int main(int argc, char **argv)
{
	uint64_t flips = 0, seed = 0, seconds = 0;
	time_t until;
	size_t cut = 0, most = 0;
	int i = 1;

	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--cut")) {
			cut = number(argv[++i]);
		} else if (!strcmp(argv[i], "--most")) {
			most = number(argv[++i]);
		} else if (!strcmp(argv[i], "--flip")) {
			flips = number(argv[++i]);
			seed = number(argv[++i]);
		} else if (!strcmp(argv[i], "--seconds")) {
			seconds = number(argv[++i]);
		} else {
			number(NULL);
		}
	}
	inputs = calloc(FILES_MAX, sizeof(*inputs));
	if (!inputs)
		die("memory", strerror(errno));
	for (; i < argc; i++)
		add(argv[i]);
	if (!ninputs)
		die("arguments", "no input files");
	make_area();
	set_handlers();
	run_prefixes(cut, most);
	until = time(NULL) + (time_t)seconds;
	for (uint64_t k = 0; k < flips && (!seconds || time(NULL) < until); k++)
		run_flip(&inputs[k % ninputs], seed + k);
	printf("%" PRIu64 " inputs from %zu files\n", runs, ninputs);
	for (size_t k = 0; k < ninputs; k++) {
		free(inputs[k].name);
		free(inputs[k].data);
	}
	free(inputs);
	return 0;
}

/*
 * Makes recordings of a made-up program as folded text, for tests of pdiff.
 *
 *	profile_make SEED FUNCTIONS SAMPLES ICC RUNS PREFIX [FUNCTION FACTOR]
 *
 * Function i (from 0 on) has a share in proportion to (i + 1)^-1.1. A run has SAMPLES samples, 20 %
 * more or less; the shares vary from run to run by a Dirichlet distribution of intraclass correlation
 * ICC (0: not at all). FUNCTION's share is multiplied by FACTOR first. The same seed gives the same
 * files, PREFIX1 to PREFIXn, everywhere.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state[4];

/* splitmix64 fills the state, xoshiro256+ draws (Blackman and Vigna; public domain algorithms). */
static void seed(uint64_t s)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = s += 0x9e3779b97f4a7c15u;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		state[i] = z ^ z >> 31;
	}
}

static double uniform(void)
{
	uint64_t r = state[0] + state[3], t = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= t;
	state[3] = state[3] << 45 | state[3] >> 19;
	return (double)(r >> 11) * 0x1p-53;
}

static double normal(void)
{
	double u = uniform();

	return sqrt(-2 * log(u > 0 ? u : 0x1p-53)) * cos(2 * M_PI * uniform());
}

/* Marsaglia and Tsang's method; below 1 by a step up. */
static double gamma_of(double a)
{
	double d, c;

	if (a < 1)
		return gamma_of(a + 1) * pow(uniform() + 0x1p-54, 1 / a);
	d = a - 1. / 3;
	c = 1 / sqrt(9 * d);
	for (;;) {
		double x = normal(), v = 1 + c * x;

		v = v * v * v;
		if (v > 0 && log(uniform() + 0x1p-54) < x * x / 2 + d - d * v + d * log(v))
			return d * v;
	}
}

static void scale(double *v, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += v[i];
	for (unsigned i = 0; i < n; i++)
		v[i] /= sum;
}

static void draw(const double *share, unsigned n, unsigned samples, unsigned *count)
{
	for (unsigned k = 0; k < samples; k++) {
		double u = uniform();
		unsigned i = 0;

		while (i + 1 < n && u >= share[i])
			u -= share[i++];
		count[i]++;
	}
}

static int write_run(const char *prefix, unsigned run, const unsigned *count, unsigned n)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s%u", prefix, run);
	f = fopen(name, "w");
	if (!f)
		return 1;
	for (unsigned i = 0; i < n; i++)
		if (count[i])
			fprintf(f, "prog;main;f%u %u\n", i, count[i]);
	return fclose(f);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 6 ? (unsigned)atoi(argv[2]) : 0;
	double samples = n ? atof(argv[3]) : 0, icc = n ? atof(argv[4]) : 0;
	double *share = calloc(n + 1, sizeof(*share)), *now = calloc(n + 1, sizeof(*now));
	unsigned *count = calloc(n + 1, sizeof(*count));
	int rc = 0;

	if (!n || !share || !now || !count)
		return 64;
	seed(strtoull(argv[1], NULL, 10));
	for (unsigned i = 0; i < n; i++)
		share[i] = pow(i + 1, -1.1);
	scale(share, n);
	if (argc > 8)
		share[(unsigned)atoi(argv[7]) % n] *= atof(argv[8]);
	scale(share, n);
	for (unsigned run = 1; run <= (unsigned)atoi(argv[5]) && !rc; run++) {
		for (unsigned i = 0; i < n; i++) {
			now[i] = icc > 0 ? gamma_of(share[i] * (1 / icc - 1)) : share[i];
			count[i] = 0;
		}
		scale(now, n);
		draw(now, n, (unsigned)(samples * (.8 + .4 * uniform())), count);
		rc = write_run(argv[6], run, count, n);
	}
	free(share);
	free(now);
	free(count);
	return rc ? 2 : 0;
}

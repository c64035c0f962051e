/* Structures of all shapes, for t/pprobe-types.t: the compiler writes their types as BTF, and tells where members are. */
struct inner {
	int a;
	unsigned int low : 3;
	int high : 5;
};

struct pair {
	long first;
	int second, third;
};

typedef struct pair pair_t;

struct outer {
	char name[16];
	union {
		long whole;
		struct {
			short part, other;
		};
	};
	struct inner in, many[3];
	struct outer *next;
	int (*call)(struct outer *o, const char *text);
	unsigned long long big : 40;
	signed char tiny;
	short list[4];
	int grid[2][2]; /* gcc 12 has the sizes of others in the wrong order */
	_Bool yes;
	enum { ON, OFF } mode;
	char *const *texts;
	unsigned char rest[];
};

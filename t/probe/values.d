// What t/pprobe-languages.t probes; each call prints what a probe is to record.
import core.stdc.stdio;

struct Item {
	int id;
	string name;
}

class Store {
	int base = 5;

	pragma(inline, false) int save(int n, string key, int[] list, Item* it) {
		fprintf(stderr, "save n=%d len=%d first=%d id=%d base=%d\n", n, cast(int) key.length, list[0],
			it.id, base);
		fprintf(stderr, "save__return retval=%d\n", n + base + key[0]);
		return n + base + key[0];
	}
}

pragma(inline, false) T twice(T)(T a) {
	fprintf(stderr, "twice a=%d\n", a);
	return cast(T)(a * 2);
}

void main() {
	auto store = new Store;
	auto it = Item(9, "x");

	foreach (i; 0 .. 6) {
		store.base++;
		it.id = i * 7;
		store.save(twice(i), "abc"[0 .. 1 + i % 3], [i - 3, 2, 3], &it);
	}
}

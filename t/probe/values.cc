/*
 * For t/pprobe.t: each call prints the values that a probe is to record, in the form of the trace
 * file of tracefs.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

namespace ns {

static int counter = 5;

template <class T> struct Box {
	T v;
	KEEP T get(int add)
	{
		std::fprintf(stderr, "ns_Box_get v=%ld add=%d\n", (long)v, add);
		counter += (int)v;
		return v + add;
	}
};

struct Base {
	int id = 3;
	virtual ~Base() {}
};

struct Derived : Base {
	std::string name;
	std::vector<int> v;

	explicit Derived(const char *n) : name(n), v{10, 20, 30} {}
	KEEP ~Derived() override { counter++; }
	KEEP bool operator==(int o) const
	{
		std::fprintf(stderr, "operator o=%d id=%d\n", o, id);
		counter++;
		return id == o;
	}
};

enum class Kind : unsigned char { A = 1, B = 7 };

KEEP int values(const std::string &s, std::string_view sv, const std::vector<int> &v, Derived &d,
		Kind k, std::unique_ptr<int> up)
{
	std::fprintf(stderr,
		     "ns_values s=\"%s\" sv=\"%s\" len=%lu v=%d name=\"%s\" last=%d k=%d up=%d id=%d "
		     "counter=%d\n",
		     s.c_str(), sv.data(), (unsigned long)s.size(), v[1], d.name.c_str(), d.v[2], (int)k,
		     *up, d.id, counter);
	counter++;
	return (int)s.size() + counter;
}

KEEP int over(int x)
{
	counter += x;
	return x;
}

KEEP int over(const char *x)
{
	counter += *x;
	return 1;
}

KEEP std::string make(int n)
{
	std::string s = std::string((size_t)n, 'x') + "end, long enough to lie elsewhere";

	std::fprintf(stderr, "make__return retval=\"%s\"\n", s.c_str());
	return s;
}

KEEP int thrower(int n)
{
	std::fprintf(stderr, "thrower n=%d\n", n);
	if (n & 1)
		throw std::runtime_error("odd");
	std::fprintf(stderr, "thrower__return retval=%d\n", n + counter);
	return n + counter;
}

}

int main(int argc, char **argv)
{
	int n = argc > 1 ? std::atoi(argv[1]) : 2, t = 0;

	for (int i = 0; i < n; i++) {
		ns::Derived d(i & 1 ? "odd one, long enough for the heap" : "even");
		ns::Box<long> b{i * 100};
		std::vector<int> v{i, i + 1, i + 2};

		t += ns::values("str" + std::to_string(i), "view", v, d, i & 1 ? ns::Kind::A : ns::Kind::B,
				std::make_unique<int>(i * 7));
		t += (int)b.get(i) + (d == i) + ns::over(i) + ns::over("s");
		t += (int)ns::make(i).size();
		try {
			t += ns::thrower(i);
		} catch (const std::exception &) {
			t++;
		}
	}
	return t == 12345;
}

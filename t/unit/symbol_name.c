/* The parts of demangled names: parameters, brackets, the signs of operators, arrows. */
#include "symbol/demangled_name.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* Of C++, what c++filt and c++filt -p print of one symbol. */
static void test_shorten(void)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{"f", "f"},
		{"f(int, char)", "f"},
		{"foo<(E)0>::bar(int)", "foo<(E)0>::bar"},
		{"foo<(E)0>::bar", "foo<(E)0>::bar"},
		{"main::{lambda(int)#1}::operator()(int) const",
		 "main::{lambda(int)#1}::operator()"},
		{"f()::{lambda(char)#2}::operator()", "f()::{lambda(char)#2}::operator()"},
		{"G::operator()()", "G::operator()"},
		{"G::operator()", "G::operator()"},
		{"std::function<void (int)>::operator()(int) const",
		 "std::function<void (int)>::operator()"},
		{"std::function<void (int)>::function", "std::function<void (int)>::function"},
		{"A::operator->() const", "A::operator->"},
		{"A::operator->*(int)", "A::operator->*"},
		{"A::operator!() const", "A::operator!"},
		{"A::operator,(A)", "A::operator,"},
		{"void operator<< <int>(A, int)", "operator<< <int>"},
		{"void operator< <int>(A, int)", "operator< <int>"},
		{"void* operator+<long>(A, long)", "operator+<long>"},
		{"operator new(unsigned long, A)", "operator new"},
		{"operator new[](unsigned long)", "operator new[]"},
		{"operator\"\" _km(unsigned long long)", "operator\"\" _km"},
		{"A::operator unsigned long<unsigned long>() const",
		 "A::operator unsigned long<unsigned long>"},
		{"A::operator void (*)(int)() const", "A::operator void (*)(int)"},
		{"A::operator void (*)(int)", "A::operator void (*)(int)"},
		{"A::operator void (*)()()", "A::operator void (*)()"},
		{"A::operator void (*)()", "A::operator void (*)()"},
		{"A::operator int (B::*)(int) const() const", "A::operator int (B::*)(int) const"},
		{"A::operator decltype(nullptr)() const", "A::operator decltype(nullptr)"},
		{"A::operator decltype(nullptr)", "A::operator decltype(nullptr)"},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"a::(anonymous namespace)::f", "a::(anonymous namespace)::f"},
		{"void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>"},
		{"arr()::a", "arr()::a"},
		{"S<3>::m() const &::L::q(int) const", "S<3>::m() const &::L::q"},
		{"int S<3>::m() const &::{lambda(auto:1)#1}::operator()<int>(int) const",
		 "S<3>::m() const &::{lambda(auto:1)#1}::operator()<int>"},
		{"auto g<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
		 "g<int>(int)::{lambda(auto:1)#1}::operator()<int>"},
		{"decltype ({parm#1}<<(2)) g<int>(int)", "g<int>"},
		{"S<(1)<(2)> h<1, 2>(S<1>, S<2>)", "h<1, 2>"},
		{"S<(1)>>(2)> h<1, 2>(S<1>, S<2>)", "h<1, 2>"},
		{"S<((1)>(2))> h<1, 2>(S<1>, S<2>)", "h<1, 2>"},
		{"int (*A::f<int>(int))(char)", "A::f<int>"},
		{"int (&arr<int>(int)) [3]", "arr<int>"},
		{"int (A::*m<int>(int))(int) const", "m<int>"},
		{"int (*(*m<int>(int))(int))(char)", "m<int>"},
		{"f[abi:cxx11](int)", "f[abi:cxx11]"},
		{"f(int) [clone .part.0] [clone .cold]", "f"},
		{"f(int) (.cold)", "f"},
		{"f(int)@plt", "f@plt"},
		{"f(int) volatile &&", "f"},
		{"non-virtual thunk to A::f(int)", "non-virtual thunk to A::f(int)"},
		{"transaction clone for A::f(char const*) [clone .cold]",
		 "transaction clone for A::f(char const*)"},
		{"guard variable for f(int)::x", "guard variable for f(int)::x"},
		{"typeinfo for void (A)", "typeinfo for void (A)"},
		/* LLVM's */
		{"A<B<void ()>>::f(int)", "A<B<void ()>>::f"},
		{"f()::'lambda'(int)::operator()(int) const", "f()::'lambda'(int)::operator()"},
		/* Rust */
		{"<(A, B) as core::fmt::Debug>::fmt", "<(A, B) as core::fmt::Debug>::fmt"},
		{"<fn(A) -> B as T>::f", "<fn(A) -> B as T>::f"},
		{"main::{{closure}}", "main::{{closure}}"},
		{"core::ptr::drop_in_place::<(alloc::string::String, i32)>",
		 "core::ptr::drop_in_place::<(alloc::string::String, i32)>"},
		{"a::f::<'('>", "a::f::<'('>"},
		{"<<T as A>::B as C>::d", "<<T as A>::B as C>::d"},
		/* Go */
		{"net/http.(*Client).Do", "net/http.(*Client).Do"},
		{"main.(*T[go.shape.func(int)]).m.func1", "main.(*T[go.shape.func(int)]).m.func1"},
		{"main.F[func(int) string]", "main.F[func(int) string]"},
		{"type:.eq.struct { F func(int); X int }",
		 "type:.eq.struct { F func(int); X int }"},
		{"go.(*struct { sync.Mutex; f func() }).Lock",
		 "go.(*struct { sync.Mutex; f func() }).Lock"},
		/* D */
		{"l.Worker!(ulong).Worker.leaf(ulong)", "l.Worker!(ulong).Worker.leaf"},
		{"l.main().f(int)", "l.main().f"},
		/* Objective-C */
		{"-[NSObject(Category) f:g:]", "-[NSObject(Category) f:g:]"},
		/* Virtual machines: Java's may be cut off. */
		{"Lorg/a/B;.f(I[J)V", "Lorg/a/B;.f"},
		{"La/B;.<init>([La/C;II)[La/D;", "La/B;.<init>"},
		{"La/B;.f(La/C;I)La/chann", "La/B;.f"},
		{"La/B;.f([La/Ch", "La/B;.f"},
		{"void java.util.A.f(java.lang.Object[], int)", "void java.util.A.f"},
		{"instance void [mscorlib] A.B::C(int32)[OptimizedTier1]",
		 "instance void [mscorlib] A.B::C"},
		{"LazyCompile:~(anonymous) /a.js:1", "LazyCompile:~(anonymous) /a.js:1"},
		{"py::f:/tmp/a (copy)/b.py", "py::f:/tmp/a (copy)/b.py"},
		/* What is no name */
		{"", ""},
		{"(x)", "(x)"},
		{"(anonymous", "(anonymous"},
		{"[x (deleted)]", "[x (deleted)]"},
		{"f<(E", "f<(E"},
		{"f)", "f)"},
		{"a)(b", "a)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t n = strlen(rows[i].name);
		/* Of its own, for the sanitizers. */
		char *s = malloc(n + 1);

		if (!s)
			abort();
		memcpy(s, rows[i].name, n);
		n = name_shorten(s, n);
		s[n] = 0;
		is_str(s, rows[i].want, "%s", rows[i].name);
		free(s);
	}
}

/* Functions that were inlined, with '|' between them. */
static void test_list(void)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{"", ""},
		{"f", "f|"},
		{"f->g->h", "f|g|h|"},
		{"f->->g", "f||g|"},
		{"f->", "f|"},
		{"->", ""},
		{"A::operator->", "A::operator->|"},
		{"A::operator->->g", "A::operator->|g|"},
		{"A::operator->*->B::operator->()", "A::operator->*|B::operator->()|"},
		{"f<decltype (x->y)>->g", "f<decltype (x->y)>|g|"},
		{"<fn(A) -> B as T>::f", "<fn(A) -> B as T>::f|"},
		{"La/B;.f([I)V->g", "La/B;.f([I)V|g|"},
		{"La/B;.f()[I->g", "La/B;.f()[I|g|"},
		{"f<(E->g", "f<(E|g|"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *s = rows[i].name, *part;
		struct name_list l = name_list(s, name_without_arrows(s, strlen(s)));
		char got[100];
		size_t len, n = 0;

		while (name_list_next(&l, &part, &len)) {
			memcpy(got + n, part, len);
			n += len;
			got[n++] = '|';
		}
		got[n] = 0;
		is_str(got, rows[i].want, "functions of %s", s);
	}
}

/* However deep, the time is that of a walk or a few. */
static void test_deep(void)
{
	static const char brackets[] = "(<[{*";
	size_t n = 1 << 20, parts = 0, len;
	struct name_list l;
	const char *part;
	char *s = malloc(n);

	if (!s)
		abort();
	for (size_t i = 0; i < n; i++)
		s[i] = brackets[i % 5];
	ok(name_shorten(s, n) == n, "a megabyte of brackets stays");
	for (size_t i = 0; i < n; i++)
		s[i] = " (*x"[i % 4];
	ok(name_shorten(s, n) <= n, "declarators in each other");
	for (size_t i = 0; i < n; i++)
		s[i] = "<->"[i % 3];
	l = name_list(s, n);
	while (name_list_next(&l, &part, &len))
		parts++;
	is_u64(parts, n / 3 + 1, "arrows in brackets that nothing closes");
	free(s);
}

int main(void)
{
	test_shorten();
	test_list();
	test_deep();
	return done();
}

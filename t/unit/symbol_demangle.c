/* Demangled names of C++, D, Rust and OCaml. */
#include "symbol/demangle.h"

#include "tap.h"

#include <stdlib.h>
#include <time.h>

/*
 * What c++filt -p prints for C++, c++filt -s dlang for D; for Rust, the path that the compiler
 * encoded (RFC 2603); for OCaml what perf script prints.
 */
static const struct {
	const char *in, *out;
} names[] = {
	{"main", "main"},
	{"", ""},
	{"_", "_"},
	{"__libc_start_main", "__libc_start_main"},
	{"_Z", "_Z"},
	{"_Znot mangled", "_Znot mangled"},
	{"_ZN3foo3barEv", "foo::bar"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"},
	{"_ZN3fooC1Ei", "foo::foo"},
	{"_ZN3fooplERKS_", "foo::operator+"},
	{"_ZN3foo3barEv.cold", "foo::bar"},
	{"_ZN3foo3barEv@plt", "foo::bar@plt"},
	{"_ZN3foo3barEv@@VERS_1", "foo::bar@@VERS_1"},
	{"puts@plt", "puts@plt"},
	{"_ZTV3foo", "vtable for foo"},
	{"_GLOBAL__sub_I_main.cc", "_GLOBAL__sub_I_main.cc"},
	{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	{"_ZN51_$LT$alloc..string..String$u20$as$u20$core..fmt$GT$3fmt17h0123456789abcdefE",
	 "<alloc::string::String as core::fmt>::fmt"},
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	{"_Dmain", "D main"},
	{"_D8demangle4testFiZv", "demangle.test(int)"},
	{"_D8demangle9__T4testZv", "demangle.test!()"},
	{"_D", "_D"},
	{"_Dnot mangled", "_Dnot mangled"},
	{"camlStdlib__List__fold_left_275", "Stdlib.List.fold_left_275"},
	{"camlL__entry", "L.entry"},
	{"camlStdlib__$2b$2f_12", "Stdlib.+/_12"},
	{"camlL__a$00b$1bc$2", "L.a$00b$1bc$2"},
	{"caml_main", "caml_main"},
	{"caml", "caml"},
};

static void test_names(void)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		is_str(demangle(names[i].in, &b), names[i].out, "%s", names[i].in);
	ok(demangle("main", &b) != buf_str(&b), "a plain name is given back as it is");
	buf_release(&b);
}

/* By the tables of GHC's manual on symbol names. */
static void test_ghc(void)
{
	static const struct {
		const char *in, *out;
	} ghc[] = {
		{"Main_zdwleaf_info", "Main.$wleaf"},
		{"base_GHCziBase_map_info", "base:GHC.Base.map"},
		{"ghczmprim_GHCziTypes_Izh_con_info", "ghc-prim:GHC.Types.I#"},
		{"base_GHCziList_zdwznzn_closure", "base:GHC.List.$w!!"},
		{"ghczmprim_GHCziTuple_Z2T_con_info", "ghc-prim:GHC.Tuple.(,)"},
		{"Main_zcZCz2cU_entry", "Main.^:,"},
		{"rKx_info", "rKx"},
		{"stg_ap_p_fast", "stg_ap_p_fast"},
		{"main", "main"},
		{"get_cpu_info", "get_cpu_info"},
		{"_info", "_info"},
		{"Main_z_info", "Main.z"},
		{"Main_Z999T_info", "Main.Z999T"},
	};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof(ghc) / sizeof(*ghc); i++)
		is_str(demangle_ghc(ghc[i].in, &b), ghc[i].out, "%s", ghc[i].in);
	buf_release(&b);
}

/* f(A<S0,S0>, A<S2,S2>, ...): each parameter names the one before twice. */
static void test_hostile(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct buf name = BUF_INIT, b = BUF_INIT;
	clock_t before = clock();

	buf_adds(&name, "_Z1fI1A");
	buf_adds(&name, "1BIS0_S0_E");
	for (int i = 1; i < 36; i++)
		buf_addf(&name, "S1_IS%c_S%c_E", digits[i], digits[i]);
	buf_adds(&name, "Evv");
	demangle(buf_str(&name), &b);
	ok(b.len <= DEMANGLE_MAX_OUT, "names that grow without end are given up");
	buf_reset(&name);
	buf_adds(&name, "_Z1f");
	buf_fill(&name, 'P', 900);
	buf_adds(&name, "i");
	demangle(buf_str(&name), &b);
	buf_reset(&name);
	buf_adds(&name, "_Z1f");
	buf_fill(&name, 'P', 2 * DEMANGLE_MAX_IN);
	is_str(demangle(buf_str(&name), &b), buf_str(&name), "a name that is too long stays");
	buf_reset(&name);
	buf_adds(&name, "_D1fF");
	for (int i = 0; i < 60; i++)
		buf_adds(&name, "B2QbQd");
	buf_adds(&name, "Zv");
	is_str(demangle(buf_str(&name), &b), buf_str(&name), "so does D with many references");
	ok(clock() - before < 5 * CLOCKS_PER_SEC, "in bounded time");
	buf_release(&name);
	buf_release(&b);
}

int main(void)
{
	test_names();
	test_ghc();
	test_hostile();
	return done();
}

/* What a perf.data says about itself. */
#include "input/perf.h"

#include "base/err.h"

int perf_describe(struct src *s, enum input_view view, struct out *o, struct diag *d)
{
	(void)view;
	(void)o;
	diag_error(d, src_name(s), -1, "not supported for perf.data");
	return PP_EUNSUPPORTED;
}

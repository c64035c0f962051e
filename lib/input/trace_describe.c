/* What a trace.dat says about itself. */
#include "input/trace.h"

#include "base/err.h"

int trace_describe(struct src *s, enum input_view view, struct out *o, struct diag *d)
{
	(void)view;
	(void)o;
	diag_error(d, src_name(s), -1, "not supported for trace.dat");
	return PP_EUNSUPPORTED;
}

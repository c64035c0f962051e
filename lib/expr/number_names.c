/* Names of numbers that the stream knows: functions at addresses, paths of cgroups. */
#include "expr/parts.h"

#include <stdlib.h>

bool expr_has_names(const struct expr *x, const struct field *f)
{
	switch (f->id) {
	case FIELD_CGROUP:
	case FIELD_IP: return true;
	case FIELD_ADDR: return x->symbols.name;
	case FIELD_PAYLOAD: return x->symbols.name && f->address;
	default: return false;
	}
}

/* ---- cgroups ---- */

struct cgroup_key {
	uint64_t id, source;
};

int expr_see_cgroup(struct expr *x, const struct ps_record *rec)
{
	struct cgroup_key key = {rec->cgroup.id, rec->source};
	uint32_t id, path;
	int rc;

	if (x->cgroups.n >= EXPR_CGROUPS_MAX || x->cgroup_paths.n >= EXPR_CGROUPS_MAX)
		return 0;
	rc = intern_add(&x->cgroups, &key, sizeof(key), &id, NULL);
	if (!rc)
		rc = intern_add(&x->cgroup_paths, rec->cgroup.path.p, rec->cgroup.path.len, &path,
				NULL);
	if (rc)
		return rc;
	if (id >= x->cgroup_cap) {
		uint32_t cap = x->cgroup_cap ? 2 * x->cgroup_cap : 64;
		uint32_t *v = realloc(x->cgroup_path, cap * sizeof(*v));

		if (!v)
			return PP_ENOMEM;
		x->cgroup_path = v;
		x->cgroup_cap = cap;
	}
	x->cgroup_path[id] = path;
	return 0;
}

void expr_forget_cgroups(struct expr *x)
{
	intern_release(&x->cgroups);
	intern_release(&x->cgroup_paths);
	x->cgroups = x->cgroup_paths = (struct intern)INTERN_INIT;
	free(x->cgroup_path);
	x->cgroup_path = NULL;
	x->cgroup_cap = 0;
}

const char *expr_cgroup_path(const struct expr *x, uint32_t source, uint64_t id, size_t *len)
{
	struct cgroup_key key = {id, source};
	uint32_t at = intern_find(&x->cgroups, &key, sizeof(key));

	return at ? intern_get(&x->cgroup_paths, x->cgroup_path[at], len) : NULL;
}

/* ---- names ---- */

void expr_name(struct expr *x, const struct field *f, struct expr_node *word,
	       const struct sreader *r, const struct ps_record *rec, struct qval *v)
{
	static const char unknown[] = "[unknown]";
	const struct field sym = {.id = FIELD_SYM};
	const char *name = NULL;
	size_t len = 0;
	uint64_t num;

	if (!field_get(f, r, rec, v))
		return;
	word->asked = true;
	num = v->num;
	/* What psym has found covers more than the kernel. */
	if (f->id == FIELD_IP && field_get(&sym, r, rec, v)) {
		word->answered = true;
		return;
	}
	if (f->id == FIELD_CGROUP)
		name = expr_cgroup_path(x, rec->source, num, &len);
	else if (x->symbols.name)
		name = x->symbols.name(x->symbols.ctx, rec->source, num, &len);
	word->answered = word->answered || name;
	*v = (struct qval){.kind = QV_STR,
			   .s = name ? name : unknown,
			   .len = name ? len : sizeof(unknown) - 1};
}

/* Finds the folder of the recipes, lists and starts them and the candidates beside it. */
#include "guide/share.h"

#include "base/err.h"
#include "base/opt.h"
#include "pevent/sysfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PURPOSE	    "\npurpose='"
#define RECIPE_MAX  (1u << 20)
#define COMMON_PART "recipe.sh"
#define CANDIDATES  "../complete/candidates"

/* Beside this program in the source, or where it is installed; also of one built elsewhere. */
static const char *const places[] = {"/../share/perfpipe/recipes", "/../share/recipes",
				     "/../../share/recipes"};

/* The folder that this program lies in. */
static int own_folder(char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	dir[n > 0 ? n : 0] = 0;
	slash = strrchr(dir, '/');
	if (!slash)
		return PP_ENOENT;
	*slash = 0;
	return 0;
}

static int find(char dir[PATH_MAX], struct buf *why)
{
	char own[PATH_MAX - 64], path[PATH_MAX], real[PATH_MAX];

	if (!own_folder(path) && strlen(path) < sizeof(own)) {
		memcpy(own, path, strlen(path) + 1);
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			snprintf(path, sizeof(path), "%s%s/" COMMON_PART, own, places[i]);
			if (!realpath(path, real))
				continue;
			*strrchr(real, '/') = 0;
			memcpy(dir, real, strlen(real) + 1);
			/* For the recipes: a build elsewhere has its programs elsewhere. */
			return setenv("BINDIR", own, 0) ? PP_ENOMEM : 0;
		}
	}
	buf_adds(why, "the recipes are not installed beside this program (share/perfpipe/recipes)");
	return PP_ENOENT;
}

/* What a recipe is for: the line purpose='...' in it. */
static void add_recipe(struct buf *b, const char *dir, const char *name)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	const char *at;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path) ||
	    access(path, X_OK) || sysfile_read(path, RECIPE_MAX, &text)) {
		buf_release(&text);
		return;
	}
	at = strstr(buf_str(&text), PURPOSE);
	if (at) {
		at += sizeof(PURPOSE) - 1;
		buf_addf(b, "%s\t", name);
		buf_add_safe(b, at, strcspn(at, "'\n"));
		buf_addc(b, '\n');
	}
	buf_release(&text);
}

int share_recipes(struct buf *b, struct buf *why)
{
	struct sysnames names = {0};
	char dir[PATH_MAX];
	int rc = find(dir, why);

	if (rc)
		return rc;
	rc = sysnames_read(&names, dir, "*");
	for (size_t i = 0; !rc && i < names.n; i++)
		add_recipe(b, dir, names.v[i]);
	sysnames_release(&names);
	if (rc)
		buf_addf(why, "%s: %s", dir, pp_strerror(rc));
	return rc;
}

/* There is no such recipe: which one is near? */
static int not_there(const char *recipe, const char *dir, struct buf *why)
{
	struct sysnames names = {0};
	const char *near = NULL;

	if (!sysnames_read(&names, dir, "[!.]*"))
		near = opt_nearest(recipe, (const char *const *)names.v, names.n);
	buf_adds(why, "there is no recipe ");
	buf_add_safe(why, recipe, strlen(recipe));
	if (near && strcmp(near, COMMON_PART) != 0)
		buf_addf(why, "; did you mean %s?", near);
	else
		buf_adds(why, "; perfpipe recipes lists them");
	sysnames_release(&names);
	return PP_EUSAGE;
}

/* In the place of this program. */
static int start(char *path, char **argv, struct buf *why)
{
	argv[0] = path;
	execv(path, argv);
	buf_addf(why, "%s: %s", path, strerror(errno));
	return pp_errno(errno);
}

int share_run(const char *recipe, char **argv, struct buf *why)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int rc = find(dir, why);

	if (rc)
		return rc;
	if (strchr(recipe, '/') || !strcmp(recipe, COMMON_PART) ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", dir, recipe) >= sizeof(path) ||
	    access(path, F_OK))
		return not_there(recipe, dir, why);
	return start(path, argv, why);
}

int share_complete(char **argv, struct buf *why)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int rc = find(dir, why);

	if (rc)
		return rc;
	if ((size_t)snprintf(path, sizeof(path), "%s/" CANDIDATES, dir) >= sizeof(path))
		return PP_ENOENT;
	return start(path, argv, why);
}

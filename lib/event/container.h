/*
 * The container that a cgroup belongs to, by its path.
 *
 *	if (container_of_path("/system.slice/docker-0123....scope", len, &id, &id_len))
 *		printf("%.*s", (int)id_len, id);
 *
 * Container managers name the cgroup by the container: Docker, containerd, CRI-O and Podman by an
 * id of 64 hexadecimal digits, of which the first twelve are shown as their own tools do; LXC and
 * systemd-nspawn by its name ("/lxc.payload.web", "/machine.slice/machine-web.scope"). Of
 * containers in containers the innermost counts.
 */
#ifndef PP_EVENT_CONTAINER_H
#define PP_EVENT_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

/* The path need not be terminated. *id lies in it. False: it belongs to no container. */
bool container_of_path(const char *path, size_t len, const char **id, size_t *id_len);

#endif

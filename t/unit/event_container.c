/* Containers by the paths of their cgroups, as their managers name them. */
#include "event/container.h"

#include "tap.h"

#define ID "9c2281e2be090123456789abcdef0123456789abcdef0123456789abcdef0123"

static const struct {
	const char *path, *id;
} cases[] = {
	{"/", NULL},
	{"", NULL},
	{"/docker", NULL},
	{"/docker/" ID, "9c2281e2be09"},
	{"/system.slice/docker-" ID ".scope", "9c2281e2be09"},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
	 "9c2281e2be09"},
	{"/machine.slice/libpod-conmon-" ID ".scope", NULL},
	{"/kubepods/burstable/pod12345678-1234-1234-1234-123456789abc/" ID, "9c2281e2be09"},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
	 "cri-containerd-" ID ".scope",
	 "9c2281e2be09"},
	{"/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" ID, "9c2281e2be09"},
	{"/kubepods.slice/crio-" ID "/docker/a" ID, "9c2281e2be09"},
	{"/docker/" ID "/docker/ffff81e2be090123456789abcdef0123456789abcdef0123456789abcdef0123",
	 "ffff81e2be09"},
	{"/docker/9C2281E2BE090123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123", NULL},
	{"/docker/9c2281e2be09", NULL},
	{"/user.slice/user-1000.slice/session-3.scope", NULL},
	{"/lxc/web", "web"},
	{"/lxc", NULL},
	{"/lxc/", NULL},
	{"/lxc.payload.web/init.scope", "web"},
	{"/lxc.monitor.web", NULL},
	{"/machine.slice/machine-web.scope/payload", "web"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *id = "";
		size_t len = 0;
		bool any = container_of_path(cases[i].path, strlen(cases[i].path), &id, &len);
		bool right =
			any == (cases[i].id != NULL) &&
			(!any || (len == strlen(cases[i].id) && !memcmp(id, cases[i].id, len)));

		ok(right, "%s", cases[i].path);
	}
	return done();
}

/*
 * Whose probes they are: a recorder makes its probes in a group of its own, whose name says which
 * process it is, so that somebody else can remove what it left behind when it was killed.
 *
 *	rc = owner_group(group);			"pcap_1234_567890_f0000000"
 *	if (owner_gone("pcap_1234_567890_f0000000"))
 *		... its recorder has ended ...
 *
 * The parts are the process id, the time at which the process started (field 22 of /proc/PID/stat,
 * see proc(5)), and the inode of the PID namespace, the only one in which the id has a meaning.
 */
#ifndef PP_INPLACE_OWNER_H
#define PP_INPLACE_OWNER_H

#include <stdbool.h>

#define OWNER_GROUP_MAX 63 /* characters, by the kernel */
#define OWNER_PREFIX	"pcap_"

/* The group of this process. 0 or a code of pp_errno. */
int owner_group(char group[OWNER_GROUP_MAX + 1]);

/* Whether a group is that of a recorder that has exited; false if that is not known. */
bool owner_gone(const char *group);

#endif

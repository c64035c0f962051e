/* The names of system calls of x86, arm, and the architectures with the generic table. */
#include "event/syscall_names.h"

#include <string.h>

/*
 * Numbers from 424 on are the same on all machines. What is below is in the kernel's
 * arch/.../syscall*.tbl and include/uapi/asm-generic/unistd.h.
 */
#define SHARED 424

/* clang-format off */
static const char *const shared[] = {
	[0] = "pidfd_send_signal", [1] = "io_uring_setup", [2] = "io_uring_enter",
	[3] = "io_uring_register", [4] = "open_tree", [5] = "move_mount", [6] = "fsopen",
	[7] = "fsconfig", [8] = "fsmount", [9] = "fspick", [10] = "pidfd_open", [11] = "clone3",
	[12] = "close_range", [13] = "openat2", [14] = "pidfd_getfd", [15] = "faccessat2",
	[16] = "process_madvise", [17] = "epoll_pwait2", [18] = "mount_setattr",
	[19] = "quotactl_fd", [20] = "landlock_create_ruleset", [21] = "landlock_add_rule",
	[22] = "landlock_restrict_self", [23] = "memfd_secret", [24] = "process_mrelease",
	[25] = "futex_waitv", [26] = "set_mempolicy_home_node", [27] = "cachestat",
	[28] = "fchmodat2", [29] = "map_shadow_stack", [30] = "futex_wake", [31] = "futex_wait",
	[32] = "futex_requeue", [33] = "statmount", [34] = "listmount", [35] = "lsm_get_self_attr",
	[36] = "lsm_set_self_attr", [37] = "lsm_list_modules", [38] = "mseal", [39] = "setxattrat",
	[40] = "getxattrat", [41] = "listxattrat", [42] = "removexattrat", [43] = "open_tree_attr",
	[44] = "file_getattr", [45] = "file_setattr",
};

/* S(NAME, numbers of x86-64, i386, arm and the generic table; -1: it does not have the call). */
#define CALLS(S) \
	S(_llseek, -1, 140, 140, -1) S(_newselect, -1, 142, 142, -1) \
	S(_sysctl, 156, 149, 149, -1) S(accept, 43, -1, 285, 202) S(accept4, 288, 364, 366, 242) \
	S(access, 21, 33, 33, -1) S(acct, 163, 51, 51, 89) S(add_key, 248, 286, 309, 217) \
	S(adjtimex, 159, 124, 124, 171) S(afs_syscall, 183, 137, -1, -1) S(alarm, 37, 27, -1, -1) \
	S(arch_prctl, 158, 384, -1, -1) S(arm_fadvise64_64, -1, -1, 270, -1) \
	S(arm_sync_file_range, -1, -1, 341, -1) S(bdflush, -1, 134, 134, -1) \
	S(bind, 49, 361, 282, 200) S(bpf, 321, 357, 386, 280) S(break, -1, 17, -1, -1) \
	S(brk, 12, 45, 45, 214) S(capget, 125, 184, 184, 90) S(capset, 126, 185, 185, 91) \
	S(chdir, 80, 12, 12, 49) S(chmod, 90, 15, 15, -1) S(chown, 92, 182, 182, -1) \
	S(chown32, -1, 212, 212, -1) S(chroot, 161, 61, 61, 51) \
	S(clock_adjtime, 305, 343, 372, 266) S(clock_adjtime64, -1, 405, 405, 405) \
	S(clock_getres, 229, 266, 264, 114) S(clock_getres_time64, -1, 406, 406, 406) \
	S(clock_gettime, 228, 265, 263, 113) S(clock_gettime64, -1, 403, 403, 403) \
	S(clock_nanosleep, 230, 267, 265, 115) S(clock_nanosleep_time64, -1, 407, 407, 407) \
	S(clock_settime, 227, 264, 262, 112) S(clock_settime64, -1, 404, 404, 404) \
	S(clone, 56, 120, 120, 220) S(close, 3, 6, 6, 57) S(connect, 42, 362, 283, 203) \
	S(copy_file_range, 326, 377, 391, 285) S(creat, 85, 8, 8, -1) \
	S(create_module, 174, 127, -1, -1) S(delete_module, 176, 129, 129, 106) \
	S(dup, 32, 41, 41, 23) S(dup2, 33, 63, 63, -1) S(dup3, 292, 330, 358, 24) \
	S(epoll_create, 213, 254, 250, -1) S(epoll_create1, 291, 329, 357, 20) \
	S(epoll_ctl, 233, 255, 251, 21) S(epoll_ctl_old, 214, -1, -1, -1) \
	S(epoll_pwait, 281, 319, 346, 22) S(epoll_wait, 232, 256, 252, -1) \
	S(epoll_wait_old, 215, -1, -1, -1) S(eventfd, 284, 323, 351, -1) \
	S(eventfd2, 290, 328, 356, 19) S(execve, 59, 11, 11, 221) S(execveat, 322, 358, 387, 281) \
	S(exit, 60, 1, 1, 93) S(exit_group, 231, 252, 248, 94) S(faccessat, 269, 307, 334, 48) \
	S(fadvise64, 221, 250, -1, 223) S(fadvise64_64, -1, 272, -1, -1) \
	S(fallocate, 285, 324, 352, 47) S(fanotify_init, 300, 338, 367, 262) \
	S(fanotify_mark, 301, 339, 368, 263) S(fchdir, 81, 133, 133, 50) \
	S(fchmod, 91, 94, 94, 52) S(fchmodat, 268, 306, 333, 53) S(fchown, 93, 95, 95, 55) \
	S(fchown32, -1, 207, 207, -1) S(fchownat, 260, 298, 325, 54) S(fcntl, 72, 55, 55, 25) \
	S(fcntl64, -1, 221, 221, -1) S(fdatasync, 75, 148, 148, 83) \
	S(fgetxattr, 193, 231, 231, 10) S(finit_module, 313, 350, 379, 273) \
	S(flistxattr, 196, 234, 234, 13) S(flock, 73, 143, 143, 32) S(fork, 57, 2, 2, -1) \
	S(fremovexattr, 199, 237, 237, 16) S(fsetxattr, 190, 228, 228, 7) \
	S(fstat, 5, 108, 108, 80) S(fstat64, -1, 197, 197, -1) S(fstatat64, -1, 300, 327, -1) \
	S(fstatfs, 138, 100, 100, 44) S(fstatfs64, -1, 269, 267, -1) S(fsync, 74, 118, 118, 82) \
	S(ftime, -1, 35, -1, -1) S(ftruncate, 77, 93, 93, 46) S(ftruncate64, -1, 194, 194, -1) \
	S(futex, 202, 240, 240, 98) S(futex_time64, -1, 422, 422, 422) \
	S(futimesat, 261, 299, 326, -1) S(get_kernel_syms, 177, 130, -1, -1) \
	S(get_mempolicy, 239, 275, 320, 236) S(get_robust_list, 274, 312, 339, 100) \
	S(get_thread_area, 211, 244, -1, -1) S(getcpu, 309, 318, 345, 168) \
	S(getcwd, 79, 183, 183, 17) S(getdents, 78, 141, 141, -1) \
	S(getdents64, 217, 220, 217, 61) S(getegid, 108, 50, 50, 177) \
	S(getegid32, -1, 202, 202, -1) S(geteuid, 107, 49, 49, 175) \
	S(geteuid32, -1, 201, 201, -1) S(getgid, 104, 47, 47, 176) S(getgid32, -1, 200, 200, -1) \
	S(getgroups, 115, 80, 80, 158) S(getgroups32, -1, 205, 205, -1) \
	S(getitimer, 36, 105, 105, 102) S(getpeername, 52, 368, 287, 205) \
	S(getpgid, 121, 132, 132, 155) S(getpgrp, 111, 65, 65, -1) S(getpid, 39, 20, 20, 172) \
	S(getpmsg, 181, 188, -1, -1) S(getppid, 110, 64, 64, 173) \
	S(getpriority, 140, 96, 96, 141) S(getrandom, 318, 355, 384, 278) \
	S(getresgid, 120, 171, 171, 150) S(getresgid32, -1, 211, 211, -1) \
	S(getresuid, 118, 165, 165, 148) S(getresuid32, -1, 209, 209, -1) \
	S(getrlimit, 97, 76, -1, 163) S(getrusage, 98, 77, 77, 165) S(getsid, 124, 147, 147, 156) \
	S(getsockname, 51, 367, 286, 204) S(getsockopt, 55, 365, 295, 209) \
	S(gettid, 186, 224, 224, 178) S(gettimeofday, 96, 78, 78, 169) \
	S(getuid, 102, 24, 24, 174) S(getuid32, -1, 199, 199, -1) S(getxattr, 191, 229, 229, 8) \
	S(gtty, -1, 32, -1, -1) S(idle, -1, 112, -1, -1) S(init_module, 175, 128, 128, 105) \
	S(inotify_add_watch, 254, 292, 317, 27) S(inotify_init, 253, 291, 316, -1) \
	S(inotify_init1, 294, 332, 360, 26) S(inotify_rm_watch, 255, 293, 318, 28) \
	S(io_cancel, 210, 249, 247, 3) S(io_destroy, 207, 246, 244, 1) \
	S(io_getevents, 208, 247, 245, 4) S(io_pgetevents, 333, 385, 399, 292) \
	S(io_pgetevents_time64, -1, 416, 416, 416) S(io_setup, 206, 245, 243, 0) \
	S(io_submit, 209, 248, 246, 2) S(ioctl, 16, 54, 54, 29) S(ioperm, 173, 101, -1, -1) \
	S(iopl, 172, 110, -1, -1) S(ioprio_get, 252, 290, 315, 31) \
	S(ioprio_set, 251, 289, 314, 30) S(ipc, -1, 117, -1, -1) S(kcmp, 312, 349, 378, 272) \
	S(kexec_file_load, 320, -1, 401, 294) S(kexec_load, 246, 283, 347, 104) \
	S(keyctl, 250, 288, 311, 219) S(kill, 62, 37, 37, 129) S(lchown, 94, 16, 16, -1) \
	S(lchown32, -1, 198, 198, -1) S(lgetxattr, 192, 230, 230, 9) S(link, 86, 9, 9, -1) \
	S(linkat, 265, 303, 330, 37) S(listen, 50, 363, 284, 201) S(listxattr, 194, 232, 232, 11) \
	S(llistxattr, 195, 233, 233, 12) S(lock, -1, 53, -1, -1) \
	S(lookup_dcookie, 212, 253, 249, 18) S(lremovexattr, 198, 236, 236, 15) \
	S(lseek, 8, 19, 19, 62) S(lsetxattr, 189, 227, 227, 6) S(lstat, 6, 107, 107, -1) \
	S(lstat64, -1, 196, 196, -1) S(madvise, 28, 219, 220, 233) S(mbind, 237, 274, 319, 235) \
	S(membarrier, 324, 375, 389, 283) S(memfd_create, 319, 356, 385, 279) \
	S(migrate_pages, 256, 294, 400, 238) S(mincore, 27, 218, 219, 232) \
	S(mkdir, 83, 39, 39, -1) S(mkdirat, 258, 296, 323, 34) S(mknod, 133, 14, 14, -1) \
	S(mknodat, 259, 297, 324, 33) S(mlock, 149, 150, 150, 228) S(mlock2, 325, 376, 390, 284) \
	S(mlockall, 151, 152, 152, 230) S(mmap, 9, 90, -1, 222) S(mmap2, -1, 192, 192, -1) \
	S(modify_ldt, 154, 123, -1, -1) S(mount, 165, 21, 21, 40) \
	S(move_pages, 279, 317, 344, 239) S(mprotect, 10, 125, 125, 226) S(mpx, -1, 56, -1, -1) \
	S(mq_getsetattr, 245, 282, 279, 185) S(mq_notify, 244, 281, 278, 184) \
	S(mq_open, 240, 277, 274, 180) S(mq_timedreceive, 243, 280, 277, 183) \
	S(mq_timedreceive_time64, -1, 419, 419, 419) S(mq_timedsend, 242, 279, 276, 182) \
	S(mq_timedsend_time64, -1, 418, 418, 418) S(mq_unlink, 241, 278, 275, 181) \
	S(mremap, 25, 163, 163, 216) S(msgctl, 71, 402, 304, 187) S(msgget, 68, 399, 303, 186) \
	S(msgrcv, 70, 401, 302, 188) S(msgsnd, 69, 400, 301, 189) S(msync, 26, 144, 144, 227) \
	S(munlock, 150, 151, 151, 229) S(munlockall, 152, 153, 153, 231) \
	S(munmap, 11, 91, 91, 215) S(name_to_handle_at, 303, 341, 370, 264) \
	S(nanosleep, 35, 162, 162, 101) S(newfstatat, 262, -1, -1, 79) \
	S(nfsservctl, 180, 169, 169, 42) S(nice, -1, 34, 34, -1) S(oldfstat, -1, 28, -1, -1) \
	S(oldlstat, -1, 84, -1, -1) S(oldolduname, -1, 59, -1, -1) S(oldstat, -1, 18, -1, -1) \
	S(olduname, -1, 109, -1, -1) S(open, 2, 5, 5, -1) \
	S(open_by_handle_at, 304, 342, 371, 265) S(openat, 257, 295, 322, 56) \
	S(pause, 34, 29, 29, -1) S(pciconfig_iobase, -1, -1, 271, -1) \
	S(pciconfig_read, -1, -1, 272, -1) S(pciconfig_write, -1, -1, 273, -1) \
	S(perf_event_open, 298, 336, 364, 241) S(personality, 135, 136, 136, 92) \
	S(pipe, 22, 42, 42, -1) S(pipe2, 293, 331, 359, 59) S(pivot_root, 155, 217, 218, 41) \
	S(pkey_alloc, 330, 381, 395, 289) S(pkey_free, 331, 382, 396, 290) \
	S(pkey_mprotect, 329, 380, 394, 288) S(poll, 7, 168, 168, -1) S(ppoll, 271, 309, 336, 73) \
	S(ppoll_time64, -1, 414, 414, 414) S(prctl, 157, 172, 172, 167) \
	S(pread64, 17, 180, 180, 67) S(preadv, 295, 333, 361, 69) S(preadv2, 327, 378, 392, 286) \
	S(prlimit64, 302, 340, 369, 261) S(process_vm_readv, 310, 347, 376, 270) \
	S(process_vm_writev, 311, 348, 377, 271) S(prof, -1, 44, -1, -1) \
	S(profil, -1, 98, -1, -1) S(pselect6, 270, 308, 335, 72) \
	S(pselect6_time64, -1, 413, 413, 413) S(ptrace, 101, 26, 26, 117) \
	S(putpmsg, 182, 189, -1, -1) S(pwrite64, 18, 181, 181, 68) S(pwritev, 296, 334, 362, 70) \
	S(pwritev2, 328, 379, 393, 287) S(query_module, 178, 167, -1, -1) \
	S(quotactl, 179, 131, 131, 60) S(read, 0, 3, 3, 63) S(readahead, 187, 225, 225, 213) \
	S(readdir, -1, 89, -1, -1) S(readlink, 89, 85, 85, -1) S(readlinkat, 267, 305, 332, 78) \
	S(readv, 19, 145, 145, 65) S(reboot, 169, 88, 88, 142) S(recv, -1, -1, 291, -1) \
	S(recvfrom, 45, 371, 292, 207) S(recvmmsg, 299, 337, 365, 243) \
	S(recvmmsg_time64, -1, 417, 417, 417) S(recvmsg, 47, 372, 297, 212) \
	S(remap_file_pages, 216, 257, 253, 234) S(removexattr, 197, 235, 235, 14) \
	S(rename, 82, 38, 38, -1) S(renameat, 264, 302, 329, 38) S(renameat2, 316, 353, 382, 276) \
	S(request_key, 249, 287, 310, 218) S(restart_syscall, 219, 0, 0, 128) \
	S(rmdir, 84, 40, 40, -1) S(rseq, 334, 386, 398, 293) S(rt_sigaction, 13, 174, 174, 134) \
	S(rt_sigpending, 127, 176, 176, 136) S(rt_sigprocmask, 14, 175, 175, 135) \
	S(rt_sigqueueinfo, 129, 178, 178, 138) S(rt_sigreturn, 15, 173, 173, 139) \
	S(rt_sigsuspend, 130, 179, 179, 133) S(rt_sigtimedwait, 128, 177, 177, 137) \
	S(rt_sigtimedwait_time64, -1, 421, 421, 421) S(rt_tgsigqueueinfo, 297, 335, 363, 240) \
	S(sched_get_priority_max, 146, 159, 159, 125) \
	S(sched_get_priority_min, 147, 160, 160, 126) S(sched_getaffinity, 204, 242, 242, 123) \
	S(sched_getattr, 315, 352, 381, 275) S(sched_getparam, 143, 155, 155, 121) \
	S(sched_getscheduler, 145, 157, 157, 120) S(sched_rr_get_interval, 148, 161, 161, 127) \
	S(sched_rr_get_interval_time64, -1, 423, 423, 423) \
	S(sched_setaffinity, 203, 241, 241, 122) S(sched_setattr, 314, 351, 380, 274) \
	S(sched_setparam, 142, 154, 154, 118) S(sched_setscheduler, 144, 156, 156, 119) \
	S(sched_yield, 24, 158, 158, 124) S(seccomp, 317, 354, 383, 277) \
	S(security, 185, -1, -1, -1) S(select, 23, 82, -1, -1) S(semctl, 66, 394, 300, 191) \
	S(semget, 64, 393, 299, 190) S(semop, 65, -1, 298, 193) S(semtimedop, 220, -1, 312, 192) \
	S(semtimedop_time64, -1, 420, 420, 420) S(send, -1, -1, 289, -1) \
	S(sendfile, 40, 187, 187, 71) S(sendfile64, -1, 239, 239, -1) \
	S(sendmmsg, 307, 345, 374, 269) S(sendmsg, 46, 370, 296, 211) \
	S(sendto, 44, 369, 290, 206) S(set_mempolicy, 238, 276, 321, 237) \
	S(set_robust_list, 273, 311, 338, 99) S(set_thread_area, 205, 243, -1, -1) \
	S(set_tid_address, 218, 258, 256, 96) S(setdomainname, 171, 121, 121, 162) \
	S(setfsgid, 123, 139, 139, 152) S(setfsgid32, -1, 216, 216, -1) \
	S(setfsuid, 122, 138, 138, 151) S(setfsuid32, -1, 215, 215, -1) \
	S(setgid, 106, 46, 46, 144) S(setgid32, -1, 214, 214, -1) S(setgroups, 116, 81, 81, 159) \
	S(setgroups32, -1, 206, 206, -1) S(sethostname, 170, 74, 74, 161) \
	S(setitimer, 38, 104, 104, 103) S(setns, 308, 346, 375, 268) S(setpgid, 109, 57, 57, 154) \
	S(setpriority, 141, 97, 97, 140) S(setregid, 114, 71, 71, 143) \
	S(setregid32, -1, 204, 204, -1) S(setresgid, 119, 170, 170, 149) \
	S(setresgid32, -1, 210, 210, -1) S(setresuid, 117, 164, 164, 147) \
	S(setresuid32, -1, 208, 208, -1) S(setreuid, 113, 70, 70, 145) \
	S(setreuid32, -1, 203, 203, -1) S(setrlimit, 160, 75, 75, 164) \
	S(setsid, 112, 66, 66, 157) S(setsockopt, 54, 366, 294, 208) \
	S(settimeofday, 164, 79, 79, 170) S(setuid, 105, 23, 23, 146) \
	S(setuid32, -1, 213, 213, -1) S(setxattr, 188, 226, 226, 5) S(sgetmask, -1, 68, -1, -1) \
	S(shmat, 30, 397, 305, 196) S(shmctl, 31, 396, 308, 195) S(shmdt, 67, 398, 306, 197) \
	S(shmget, 29, 395, 307, 194) S(shutdown, 48, 373, 293, 210) S(sigaction, -1, 67, 67, -1) \
	S(sigaltstack, 131, 186, 186, 132) S(signal, -1, 48, -1, -1) \
	S(signalfd, 282, 321, 349, -1) S(signalfd4, 289, 327, 355, 74) \
	S(sigpending, -1, 73, 73, -1) S(sigprocmask, -1, 126, 126, -1) \
	S(sigreturn, -1, 119, 119, -1) S(sigsuspend, -1, 72, 72, -1) S(socket, 41, 359, 281, 198) \
	S(socketcall, -1, 102, -1, -1) S(socketpair, 53, 360, 288, 199) \
	S(splice, 275, 313, 340, 76) S(ssetmask, -1, 69, -1, -1) S(stat, 4, 106, 106, -1) \
	S(stat64, -1, 195, 195, -1) S(statfs, 137, 99, 99, 43) S(statfs64, -1, 268, 266, -1) \
	S(statx, 332, 383, 397, 291) S(stime, -1, 25, -1, -1) S(stty, -1, 31, -1, -1) \
	S(swapoff, 168, 115, 115, 225) S(swapon, 167, 87, 87, 224) S(symlink, 88, 83, 83, -1) \
	S(symlinkat, 266, 304, 331, 36) S(sync, 162, 36, 36, 81) \
	S(sync_file_range, 277, 314, -1, -1) S(sync_file_range2, -1, -1, -1, 84) \
	S(syncfs, 306, 344, 373, 267) S(sysfs, 139, 135, 135, -1) S(sysinfo, 99, 116, 116, 179) \
	S(syslog, 103, 103, 103, 116) S(tee, 276, 315, 342, 77) S(tgkill, 234, 270, 268, 131) \
	S(time, 201, 13, -1, -1) S(timer_create, 222, 259, 257, 107) \
	S(timer_delete, 226, 263, 261, 111) S(timer_getoverrun, 225, 262, 260, 109) \
	S(timer_gettime, 224, 261, 259, 108) S(timer_gettime64, -1, 408, 408, 408) \
	S(timer_settime, 223, 260, 258, 110) S(timer_settime64, -1, 409, 409, 409) \
	S(timerfd_create, 283, 322, 350, 85) S(timerfd_gettime, 287, 326, 354, 87) \
	S(timerfd_gettime64, -1, 410, 410, 410) S(timerfd_settime, 286, 325, 353, 86) \
	S(timerfd_settime64, -1, 411, 411, 411) S(times, 100, 43, 43, 153) \
	S(tkill, 200, 238, 238, 130) S(truncate, 76, 92, 92, 45) S(truncate64, -1, 193, 193, -1) \
	S(tuxcall, 184, -1, -1, -1) S(ugetrlimit, -1, 191, 191, -1) S(ulimit, -1, 58, -1, -1) \
	S(umask, 95, 60, 60, 166) S(umount, -1, 22, -1, -1) S(umount2, 166, 52, 52, 39) \
	S(uname, 63, 122, 122, 160) S(unlink, 87, 10, 10, -1) S(unlinkat, 263, 301, 328, 35) \
	S(unshare, 272, 310, 337, 97) S(uselib, 134, 86, 86, -1) \
	S(userfaultfd, 323, 374, 388, 282) S(ustat, 136, 62, 62, -1) S(utime, 132, 30, -1, -1) \
	S(utimensat, 280, 320, 348, 88) S(utimensat_time64, -1, 412, 412, 412) \
	S(utimes, 235, 271, 269, -1) S(vfork, 58, 190, 190, -1) S(vhangup, 153, 111, 111, 58) \
	S(vm86, -1, 166, -1, -1) S(vm86old, -1, 113, -1, -1) S(vmsplice, 278, 316, 343, 75) \
	S(vserver, 236, 273, 313, -1) S(wait4, 61, 114, 114, 260) S(waitid, 247, 284, 280, 95) \
	S(waitpid, -1, 7, -1, -1) S(write, 1, 4, 4, 64) S(writev, 20, 146, 146, 66)

/* Calls of arm's own, from 0x0f0000 on. */
#define ARM_OWN 0x0f0000
static const char *const arm_own[] = {
	[1] = "breakpoint", [2] = "cacheflush", [3] = "usr26", [4] = "usr32", [5] = "set_tls",
	[6] = "get_tls",
};
/* clang-format on */

enum {
#define S(name, x86, i386, arm, generic) ROW_##name,
	CALLS(S)
#undef S
};

/* The names by number; those of calls that a machine does not have come after all numbers. */
#define AT(number, name) [(number) < 0 ? SHARED + ROW_##name : (number)] = #name
static const char *const x86_64_names[] = {
#define S(name, x86, i386, arm, generic) AT(x86, name),
	CALLS(S)
#undef S
};
static const char *const i386_names[] = {
#define S(name, x86, i386, arm, generic) AT(i386, name),
	CALLS(S)
#undef S
};
static const char *const arm_names[] = {
#define S(name, x86, i386, arm, generic) AT(arm, name),
	CALLS(S)
#undef S
};
static const char *const generic_names[] = {
#define S(name, x86, i386, arm, generic) AT(generic, name),
	CALLS(S)
#undef S
};

static const struct {
	const char *arch; /* as uname -m has it */
	const char *const *names;
} machines[] = {
	{"x86_64", x86_64_names},	{"i386", i386_names},
	{"i486", i386_names},		{"i586", i386_names},
	{"i686", i386_names},		{"aarch64", generic_names},
	{"arm64", generic_names},	{"riscv64", generic_names},
	{"loongarch64", generic_names}, {"arm", arm_names},
	{"armv6l", arm_names},		{"armv7l", arm_names},
	{"armv8l", arm_names},		{"", NULL},
};

const char *syscall_name(const char *arch, uint64_t number)
{
	size_t m = 0;

	while (*machines[m].arch && strcmp(machines[m].arch, arch) != 0)
		m++;
	if (!*machines[m].arch)
		return NULL;
	if (machines[m].names == arm_names && number >= ARM_OWN)
		return number - ARM_OWN < sizeof(arm_own) / sizeof(arm_own[0])
			       ? arm_own[number - ARM_OWN]
			       : NULL;
	if (number >= SHARED)
		return number - SHARED < sizeof(shared) / sizeof(shared[0])
			       ? shared[number - SHARED]
			       : NULL;
	return machines[m].names[number];
}

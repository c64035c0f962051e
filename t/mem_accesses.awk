# Memory accesses of two processes for t/mem_make.c: all kinds of them, on few cache lines, some of which are
# used much more than others.

# Park and Miller's generator, which stays below 2^53 and so gives the same numbers everywhere.
function random(n) {
	state = state * 16807 % 2147483647
	return int(state / 256) % n
}

# The bits of perf_mem_data_src; awk has no shifts.
function bits(op, level, snoop, tlb, lock, block) {
	return op + level * 32 + snoop * 524288 + lock * 16777216 + tlb * 67108864 + block * 1099511627776
}

BEGIN {
	state = 7
	# Operation, level, snoop: what hardware writes together, and a few oddities.
	n = split("2:10:2 2:18:2 2:34:2 2:66:4 2:66:16 2:1026:16 2:1026:4 2:2050:16 2:130:8 2:258:2 2:514:4 2:4098:1 " \
		"2:8194:1 2:68:2 4:10:1 4:12:1 4:1:1 2:1028:16 2:34:16 2:68:16", kinds, " ")
	ntlb = split("10 26 34 20 1", tlbs, " ")
	nblock = split("0 1 2 4", blocks, " ")
	print "comm 100 writer"
	print "comm 200 reader"
	for (pid = 100; pid <= 200; pid += 100) {
		print "code", pid, "0x400000 0x10000 0 /none/prog"
		print "map", pid, "0x7f0000000000 0x100000 0 /dev/shm/data"
	}
	for (i = 0; i < 3000; i++) {
		split(kinds[1 + random(n)], k, ":")
		pid = 100 + 100 * random(2)
		at = 64 * int(random(6) * random(7) * random(3) / 2) + 8 * random(8)
		printf "access %d %d %d 0x%x 0x7f000%07x 0x1%07x %d %.0f\n", pid, pid + random(3), random(16), \
			4194304 + 16 * random(20), at, at, 5 + random(600), \
			bits(k[1], k[2], k[3], tlbs[1 + random(ntlb)], random(3), blocks[1 + random(nblock)])
	}
}

#!/bin/sh
# psym on samples of virtual machines: the kernel of a guest has symbols if the user gives them.
. "${0%/*}/lib.sh"
CC=${CC:-gcc}
need "$CC"

# A recording with samples of the host's kernel, the kernel of a guest (a leaf, a stack with nothing but
# markers, a module), and its user space. The guest's kernel was moved by 0x100000.
cat >record.c <<'EOF_C'
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GUEST_KERNEL ((uint64_t)-2176)
#define USER	     ((uint64_t)-512)

static void put(const void *p, size_t n)
{
	fwrite(p, 1, n, stdout);
}

static void put64(uint64_t v)
{
	put(&v, 8);
}

static void head(uint32_t type, uint16_t misc, size_t body)
{
	uint16_t size = (uint16_t)(8 + body);

	put(&type, 4);
	put(&misc, 2);
	put(&size, 2);
}

static void sample(uint16_t misc, uint64_t ip, uint64_t n, const uint64_t *chain)
{
	static uint64_t time = 1000;
	uint32_t ids[2] = {42, 42};

	head(9, misc, 8 + 8 + 8 + 8 + 8 * n);
	put64(ip);
	put(ids, 8);
	put64(time += 1000);
	put64(n);
	put(chain, 8 * n);
}

/* A mapping in the guest's kernel; the name has 40 bytes. */
static void mapping(uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	uint32_t ids[2] = {42, 42};

	head(1, 4, 8 + 24 + 40);
	put(ids, 8);
	put64(start);
	put64(len);
	put64(pgoff);
	put(name, 40);
}

int main(void)
{
	char name[40] = "[guest.kernel.kallsyms]_text", module[40] = "[floppy]", comm[16] = "qemu";
	uint64_t chain[] = {GUEST_KERNEL, 0xffffffff81101010, 0xffffffff81100020};
	uint64_t none[] = {USER};
	uint32_t pid[2] = {42, 42};
	uint64_t attr[14] = {1 | (uint64_t)112 << 32, 0, 1000, 1 | 2 | 4 | 32};
	const size_t data = 104 + 128, n = 7 * (8 + 32) + 8 * 4;

	put("PERFILE2", 8);
	put64(104);
	put64(128);
	put64(104);
	put64(128);
	put64(data);
	put64(8 + 8 + 16 + 2 * (8 + 32 + 40) + n);
	for (int i = 0; i < 6; i++)
		put64(0);
	put(attr, 112);
	put64(0);
	put64(0);
	head(3, 2, 8 + 16);
	put(pid, 8);
	put(comm, 16);
	mapping(0xffffffff81100000, 0x1000000, 0xffffffff81100000, name);
	/* perf takes the last module that a guest lists for one that reaches to the end of memory. */
	mapping(0, UINT64_MAX, 0, module);
	sample(4, 0xffffffff81101010, 0, NULL);
	sample(4, 0xffffffff81101018, 1, none);
	sample(4, 0xffffffff81101010, 3, chain);
	sample(4, 0xffffffffc0000010, 0, NULL);
	sample(5, 0x401000, 0, NULL);
	sample(4, 0xffffffff90000000, 0, NULL);
	/* The host has other code at the same address. */
	sample(1, 0xffffffff81101010, 0, NULL);
	return 0;
}
EOF_C
"$CC" -o record record.c || bail "$CC cannot build the program"
./record >guest.data
cat >kallsyms <<'EOF_K'
ffffffff81000000 T _text
ffffffff81000000 T startup
ffffffff81001000 T guest_work
ffffffff81002000 T guest_end
ffffffffc0000000 t module_work	[ext4]
ffffffffc0001000 t module_end	[ext4]
EOF_K
"$BIN/pdecode" guest.data >guest.ps 2>decode.err
is "$(wc -c <decode.err)" 0 'the recording is whole'

fields() {
	run "$BIN/psym" "$@" -t -F ip,sym,dso guest.ps
}
fields
is "$status" 0 'without symbols of the guest'
unlike "$OUT" 'guest_work|startup|\[guest' 'its addresses have no names'
like "$OUT" 'ffffffff81101010 .*\(\[kernel\.kallsyms\]\)' 'what is mapped in the guest says nothing of the host'
run "$BIN/psym" --missing guest.ps
like "$OUT" 'inside a virtual machine whose symbols are not known' 'and a reason'
like "$OUT" 'helps --guest-kallsyms' 'and what would help'

fields --guest-kallsyms kallsyms
is "$status" 0 '--guest-kallsyms'
is "$(grep -c ' guest_work (\[guest\.kernel\.kallsyms\])' "$OUT")" 3 'names of the guest, where its kernel was moved to'
like "$OUT" 'ffffffff81100020 startup' 'also of what called'
unlike "$OUT" 'module_work' 'where its modules are is not known then'
sed 's/^ffffffff810/ffffffff811/' kallsyms >same
fields --guest-kallsyms same
is "$(grep -c ' guest_work (\[guest\.kernel\.kallsyms\])' "$OUT")" 3 'of the boot that was recorded'
like "$OUT" 'ffffffffc0000010 module_work \(\[ext4\]\)' 'they have names'
run "$BIN/psym" --guest-kallsyms kallsyms --missing guest.ps
like "$OUT" 'inside a virtual machine' 'user space of the guest stays without names'
like "$OUT" '\[guest\.kernel\.kallsyms\]' 'and so does an address that its kernel does not have'

run "$BIN/psym" --guest-kallsyms none -b guest.ps
is "$status" 2 'a file that is named and is not there is a failure'
like "$ERR" '^psym: none: ' 'and is named'
printf 'this is no kallsyms\n' >bad
run "$BIN/psym" --guest-kallsyms bad --guest-vmlinux bad -t guest.ps
is "$status" 2 'and so is a damaged one'
like "$ERR" '^psym: bad: ' 'which is reported'
unlike "$OUT" 'guest_work' 'there are no names then'
run "$BIN/psym" --guest-kallsyms
is "$status" 64 'the option takes a file'

# An image of the kernel, with source lines.
cat >kernel.c <<'EOF_C'
void guest_work(void);
void guest_work(void)
{
	__asm__ volatile(".rept 64\n nop\n .endr");
}
__attribute__((section(".head.text"))) void startup(void);
__attribute__((section(".head.text"))) void startup(void)
{
	__asm__ volatile(".globl _text\n _text: .rept 64\n nop\n .endr");
}
EOF_C
if "$CC" -g -O1 -mcmodel=kernel -fno-pie -no-pie -nostdlib -static -Wl,-e,startup \
	-Wl,--section-start=.head.text=0xffffffff81000000 -Wl,-Ttext=0xffffffff81001000 \
	-Wl,-z,max-page-size=4096 -o vmlinux kernel.c 2>cc.err; then
	run "$BIN/psym" --guest-vmlinux vmlinux --srcline -t -F ip,sym,srcline guest.ps
	like "$OUT" ' guest_work$' '--guest-vmlinux'
	like "$OUT" 'kernel\.c:4$' 'has source lines'
else
	skip 2 "$CC cannot build a kernel image"
fi
done_testing

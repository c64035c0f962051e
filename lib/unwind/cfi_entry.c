/* The entries of .eh_frame and .debug_frame: CIEs and FDEs. */
#include "unwind/cfi_parts.h"

#include "base/err.h"
#include "dwarf/leb.h"

/* Where an entry is, and what its second word says. */
struct head {
	uint64_t at, body, end; /* offsets in the section */
	uint64_t id, id_at;
	bool wide, cie;
};

static int read_head(struct cfi_section *s, uint64_t at, struct head *h)
{
	uint64_t left = at < s->size ? s->size - at : 0, len;
	const uint8_t *p = cfi_bytes(s, at, left < 20 ? left : 20);
	struct cursor c = cursor_make(p, p ? (left < 20 ? left : 20) : 0, s->swap);

	if (!p || left < 4)
		return PP_ECORRUPT;
	len = get_u32(&c);
	if (!len && !s->debug)
		return PP_END;
	h->at = at;
	h->wide = len == UINT32_MAX;
	if (h->wide)
		len = get_u64(&c);
	h->id_at = at + (uint64_t)(c.p - p);
	if (c.bad || len > s->size - h->id_at || len < (h->wide ? 8 : 4))
		return PP_ECORRUPT;
	/* Only .debug_frame has wide ids. */
	h->id = h->wide && s->debug ? get_u64(&c) : get_u32(&c);
	h->body = at + (uint64_t)(c.p - p);
	h->end = h->id_at + len;
	h->cie = s->debug ? h->id == (h->wide ? UINT64_MAX : UINT32_MAX) : !h->id;
	return c.bad || h->body > h->end ? PP_ECORRUPT : 0;
}

int cfi_next_entry(struct cfi_section *s, uint64_t *at, bool *fde)
{
	struct head h;
	int rc;

	if (*at >= s->size)
		return PP_END;
	/*
	 * An entry of no bytes ends .eh_frame; the sections that were linked into one can have
	 * some.
	 */
	if (s->size - *at >= 4) {
		const uint8_t *p = cfi_bytes(s, *at, 4);

		*fde = false;
		if (p && !(p[0] | p[1] | p[2] | p[3])) {
			*at += 4;
			return 0;
		}
	}
	rc = read_head(s, *at, &h);
	if (rc)
		return rc;
	*fde = !h.cie;
	*at = h.end;
	return 0;
}

uint64_t cfi_pointer(struct cursor *c, uint8_t encoding, uint8_t width, uint64_t pcrel,
		     uint64_t datarel)
{
	uint64_t v = 0;

	switch (encoding & 0x0f) {
	case 0x00: v = width == 4 ? get_u32(c) : get_u64(c); break;
	case 0x01: v = get_uleb(c); break;
	case 0x02: v = get_u16(c); break;
	case 0x03: v = get_u32(c); break;
	case 0x04:
	case 0x0c: v = get_u64(c); break;
	case 0x09: v = (uint64_t)get_sleb(c); break;
	case 0x0a: v = (uint64_t)(int16_t)get_u16(c); break;
	case 0x0b: v = (uint64_t)(int32_t)get_u32(c); break;
	default: c->bad = true;
	}
	switch (encoding & 0x70) {
	case 0x00: break;
	case 0x10: v += pcrel; break;
	case 0x30: v += datarel; break;
	default: c->bad = true;
	}
	return width == 4 ? (uint32_t)v : v;
}

/* What the letters of an augmentation say; the data that belong to them come next. */
static int read_augmentation(struct cfi_section *s, struct cursor *c, const char *text, size_t n,
			     struct cfi_cie *cie, const uint8_t *start)
{
	struct cursor data;
	uint64_t vaddr = s->vaddr + cie->at;

	cie->encoding = 0;
	if (n && text[0] != 'z')
		return PP_EUNSUPPORTED;
	if (!n)
		return 0;
	cie->augmented = true;
	data = cursor_sub(c, get_uleb(c));
	for (size_t i = 1; i < n && !data.bad; i++) {
		uint8_t encoding;

		switch (text[i]) {
		case 'R': cie->encoding = get_u8(&data); break;
		case 'P':
			encoding = get_u8(&data);
			cfi_pointer(&data, encoding & 0x7f, cie->width,
				    vaddr + (uint64_t)(data.p - start), 0);
			break;
		case 'L': get_u8(&data); break;
		case 'S': cie->signal = true; break;
		case 'B': /* return addresses are signed with another key */
		case 'G': break;
		default: return 0; /* what follows is not known, nor needed */
		}
	}
	return data.bad || c->bad ? PP_ECORRUPT : 0;
}

static int read_cie(struct cfi_section *s, uint64_t at, struct cfi_cie *cie)
{
	const uint8_t *p, *text;
	struct head h;
	struct cursor c;
	uint8_t version;
	size_t n;
	int rc = read_head(s, at, &h);

	if (rc || !h.cie)
		return PP_ECORRUPT;
	p = cfi_bytes(s, h.at, h.end - h.at);
	if (!p)
		return PP_ECORRUPT;
	c = cursor_make(p + (h.body - h.at), h.end - h.body, s->swap);
	*cie = (struct cfi_cie){.at = at, .width = s->width};
	version = get_u8(&c);
	text = c.p;
	n = strnlen((const char *)text, cursor_left(&c));
	cursor_skip(&c, n + 1);
	if (version != 1 && version != 3 && version != 4)
		return PP_EUNSUPPORTED;
	if (version == 4) {
		cie->width = get_u8(&c);
		if (get_u8(&c) || (cie->width != 4 && cie->width != 8))
			return PP_EUNSUPPORTED;
	}
	cie->code_align = get_uleb(&c);
	cie->data_align = get_sleb(&c);
	cie->ra = version == 1 ? get_u8(&c) : get_uleb(&c);
	rc = read_augmentation(s, &c, (const char *)text, n, cie, p);
	cie->run = c;
	return rc ? rc : c.bad ? PP_ECORRUPT : 0;
}

int cfi_fde_at(struct cfi_section *s, uint64_t at, struct cfi_fde *fde)
{
	struct head h;
	struct cursor c;
	const uint8_t *p;
	uint64_t cie_at, vaddr;
	int rc = read_head(s, at, &h);

	if (rc)
		return rc == PP_END ? PP_ENOENT : rc;
	if (h.cie)
		return PP_ENOENT;
	cie_at = s->debug ? h.id : h.id_at - h.id;
	if (!s->debug && h.id > h.id_at)
		return PP_ECORRUPT;
	rc = cie_at >= s->size ? PP_ECORRUPT : read_cie(s, cie_at, &fde->cie);
	p = rc ? NULL : cfi_bytes(s, h.at, h.end - h.at);
	if (rc || !p)
		return rc ? rc : PP_ECORRUPT;
	c = cursor_make(p + (h.body - h.at), h.end - h.body, s->swap);
	vaddr = s->vaddr + h.body;
	fde->start = cfi_pointer(&c, fde->cie.encoding, fde->cie.width, vaddr, 0);
	fde->len = cfi_pointer(&c, fde->cie.encoding & 0x0f, fde->cie.width, 0, 0);
	if (fde->cie.augmented)
		cursor_skip(&c, get_uleb(&c));
	fde->run = c;
	fde->run_vaddr = s->vaddr + h.at + (uint64_t)(c.p - p);
	return c.bad ? PP_ECORRUPT : 0;
}

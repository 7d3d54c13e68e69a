package wire

import "bytes"

// maxPattern is how many bytes of a value a Pattern remembers. Longer ones are parsed each time.
const maxPattern = 2 << 10

// Pattern recognizes a value that is written exactly like an earlier one, except for one object in it, the gap. All that
// was found in the earlier value outside of the gap then holds for this one as well. The zero value recognizes nothing.
type Pattern struct {
	before, after []byte // the gap; nothing is known if before is empty
	kept          span   // from the start of the gap, or from its end if it is behind it
}

// span is a range of bytes.
type span struct{ start, end int }

// Learn remembers a value. The gap is one of the objects in it; kept is another part of it, or absent. It forgets the
// value before, even if this one cannot be remembered.
func (p *Pattern) Learn(value, gap, kept Payload) {
	p.before, p.after, p.kept = p.before[:0], p.after[:0], span{}
	if !gap.isObjectIn(value) || (value.end-value.start)-(gap.end-gap.start) > maxPattern {
		return
	}
	p.before = append(p.before, value.buf[value.start:gap.start]...)
	p.after = append(p.after, value.buf[gap.end:value.end]...)
	switch {
	case kept.IsAbsent():
	case kept.start >= gap.end:
		p.kept = span{kept.start - gap.end, kept.end - gap.end}
	default:
		p.kept = span{kept.start - gap.start, kept.end - gap.start}
	}
}

func (p Payload) isObjectIn(value Payload) bool {
	return p.Kind() == "object" && &p.buf[0] == &value.buf[0] && p.start > value.start && p.end < value.end
}

// Match returns the gap and the kept part of a value that is written like the one that was learnt.
func (p *Pattern) Match(value Payload) (gap, kept Payload, ok bool) {
	start, end := value.start+len(p.before), value.end-len(p.after)
	if len(p.before) == 0 || start >= end || value.buf[start] != '{' ||
		!bytes.Equal(value.buf[value.start:start], p.before) || !bytes.Equal(value.buf[end:value.end], p.after) {
		return gap, kept, false
	}
	// The object may end earlier, with other members between it and an end that looks the same.
	if skipContainer(value.buf[:value.end], start) != end {
		return gap, kept, false
	}
	switch {
	case p.kept.start < 0:
		kept = Payload{value.buf, start + p.kept.start, start + p.kept.end}
	case p.kept.end > 0:
		kept = Payload{value.buf, end + p.kept.start, end + p.kept.end}
	}
	return Payload{value.buf, start, end}, kept, true
}

package jsonc

import "slices"

// Merge changes a text as another was changed: what became of base in changed is done to
// now. ok is false where the two changes of base touch each other.
func Merge(base, changed, now []byte) (merged []byte, ok bool) {
	lines := splitLines(base)
	hunks := append(hunksOf(lines, splitLines(changed)), hunksOf(lines, splitLines(now))...)
	slices.SortStableFunc(hunks, func(a, b hunk) int { return a.from - b.from })
	var out []string
	done := 0
	for i, h := range hunks {
		if i > 0 && h.from <= done { // lines without one between them may belong together
			return nil, false
		}
		out = append(append(out, lines[done:h.from]...), h.lines...)
		done = h.to
	}
	out = append(out, lines[done:]...)
	for _, line := range out {
		merged = append(merged, line...)
	}
	return merged, true
}

// hunk is a range of lines with what comes in its place.
type hunk struct {
	from, to int
	lines    []string
}

func hunksOf(was, now []string) []hunk {
	var hunks []hunk
	last := -1 // the line behind the change before
	for _, s := range compare(was, now) {
		if s.kind == ' ' {
			continue
		}
		if last != s.was {
			hunks = append(hunks, hunk{from: s.was, to: s.was})
		}
		h := &hunks[len(hunks)-1]
		if last = s.was; s.kind == '-' {
			last++
			h.to = last
		} else {
			h.lines = append(h.lines, s.text)
		}
	}
	return hunks
}

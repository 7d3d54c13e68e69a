package journal

import (
	"strings"
	"testing"
)

func TestJournalIsBounded(t *testing.T) {
	for _, test := range []struct {
		length, lines, kept int
	}{{1, 3 * MaxLines, MaxLines}, {MaxLine, 10, MaxBytes / MaxLine}, {2 * MaxBytes, 9, MaxBytes/MaxLine - 1}} {
		var j Journal
		for range test.lines {
			j.Add(strings.Repeat("x", test.length))
		}
		kept, next, _ := j.Since(0)
		if len(kept) != test.kept || next != uint64(test.lines) {
			t.Errorf("of %d lines of %d bytes, %d are kept, the next is %d", test.lines, test.length, len(kept), next)
		}
		if rest, _, _ := j.Since(next - 1); len(rest) != 1 {
			t.Errorf("the last line is %v", rest)
		}
	}
}

func TestLongLineIsCut(t *testing.T) {
	var j Journal
	j.Add(strings.Repeat("x", MaxLine-1) + "ä")
	kept, _, _ := j.Since(0)
	if text := kept[0].Text; text != strings.Repeat("x", MaxLine-1)+"…" {
		t.Errorf("a line of %d bytes ends with %q", len(text), text[len(text)-10:])
	}
}

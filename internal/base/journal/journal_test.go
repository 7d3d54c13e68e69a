package journal

import (
	"strings"
	"testing"
)

func TestJournalIsBounded(t *testing.T) {
	for _, test := range []struct {
		length, lines, kept int
	}{{1, 3 * MaxLines, MaxLines}, {MaxBytes / 4, 10, 4}, {2 * MaxBytes, 3, 1}} {
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

package process

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStderrTail(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		name   string
		chunks []string
		max    int
		want   []string
	}{
		{"nothing", nil, 0, []string{}},
		{"lines", []string{"a\nb\r\n\nc\n"}, 0, []string{"a", "b", "", "c"}},
		{"last lines", []string{"a\nb\nc\n"}, 2, []string{"b", "c"}},
		{"unfinished", []string{"a\nb"}, 0, []string{"a", "b"}},
		{"in pieces", []string{"on", "e\ntw", "", "o\n"}, 0, []string{"one", "two"}},
		{"long", []string{long, "y", "z\nnext\n"}, 0, []string{long + "…", "next"}},
		{"just not too long", []string{long + "\n"}, 0, []string{long}},
		{"no UTF-8", []string{"a\xffb\n"}, 0, []string{"a\uFFFDb"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tail := newStderrTail(nil, nil)
			for _, chunk := range test.chunks {
				tail.consume([]byte(chunk))
			}
			if diff := cmp.Diff(test.want, tail.tail(test.max)); diff != "" {
				t.Errorf("tail (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStderrTailIsBounded(t *testing.T) {
	for _, line := range []string{"\n", "short\n", strings.Repeat("long", 1000) + "\n", strings.Repeat("x", 1<<16)} {
		tail := newStderrTail(nil, nil)
		for range 1 << 18 / len(line) {
			tail.consume([]byte(line))
		}
		kept := len(tail.partial)
		for _, l := range tail.lines {
			kept += len(l) + lineOverhead
		}
		if kept > maxTail || kept != tail.size+len(tail.partial) {
			t.Errorf("%d bytes are kept of lines of %d, counted %d", kept, len(line), tail.size)
		}
	}
}

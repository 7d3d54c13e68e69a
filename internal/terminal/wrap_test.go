package terminal

import (
	"bytes"
	"strconv"
	"testing"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		name, text    string
		width, column int
		want          string
	}{
		{"no limit", "one two three four five six", 0, 2, "one two three four five six"},
		{"fits", "one two three four five", 23, 0, "one two three four five"},
		{"does not", "one two three four five six", 23, 0, "one two three four five\nsix"},
		{"column", "one two three four five six", 25, 4, "one two three four\n    five six"},
		{"lines stay", "one\ntwo", 30, 2, "one\n  two"},
		{"long word", "see /a/path/that/is/longer/than/the/room for it", 24, 0, "see\n/a/path/that/is/longer/than/the/room\nfor it"},
		{"styles", "\x1b[31mone\x1b[0m two three four five", 23, 0, "\x1b[31mone\x1b[0m two three four five"},
		{"too narrow", "one two three four five", 22, 10, "one two three four five"},
		{"wide letters", "日本語日本語 日本語日本語", 24, 0, "日本語日本語\n日本語日本語"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			getenv := func(name string) string {
				if name == "COLUMNS" {
					return strconv.Itoa(test.width)
				}
				return ""
			}
			if got := New(&bytes.Buffer{}, nil, getenv).Wrap(test.text, test.column); got != test.want {
				t.Errorf("it becomes %q, not %q", got, test.want)
			}
		})
	}
}

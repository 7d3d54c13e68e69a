package tty

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
			if got := wide(test.width).Wrap(test.text, test.column); got != test.want {
				t.Errorf("it becomes %q, not %q", got, test.want)
			}
		})
	}
}

func TestWrapClauses(t *testing.T) {
	tests := []struct {
		name, text    string
		width, column int
		want          string
	}{
		{"no limit", "a, b, c", 0, 2, "a, b, c"},
		{"list", "One of these: alpha, beta, gamma, delta.", 24, 2, "One of these: alpha,\n  beta, gamma, delta."},
		{"command", "Then run: mcp-workbench lock --accept dev/shell/run", 24, 2, "Then run:\n  mcp-workbench lock --accept dev/shell/run"},
		{"lines stay", "One:\na b", 30, 4, "One:\n    a b"},
		{"no punctuation", "mcp-workbench lock --accept dev/shell/run", 24, 2, "mcp-workbench lock --accept dev/shell/run"},
		{"nothing", "", 24, 2, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := wide(test.width).WrapClauses(test.text, test.column); got != test.want {
				t.Errorf("it becomes %q, not %q", got, test.want)
			}
		})
	}
}

// wide is a screen with so many columns.
func wide(columns int) *Screen {
	return New(&bytes.Buffer{}, nil, func(name string) string {
		if name == "COLUMNS" {
			return strconv.Itoa(columns)
		}
		return ""
	})
}

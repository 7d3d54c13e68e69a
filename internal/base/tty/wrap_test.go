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

func TestWrapKeepsCommands(t *testing.T) {
	tests := []struct {
		name, text    string
		width, column int
		want          string
	}{
		{"no limit", "a, b, c", 0, 2, "a, b, c"},
		{"command", "Then run: mcp-workbench lock --accept dev/shell/run", 24, 2, "Then run:\n  mcp-workbench lock --accept dev/shell/run"},
		{"lines stay", "One:\na b", 30, 4, "One:\n    a b"},
		{"command alone", "mcp-workbench lock --accept dev/shell/run", 24, 2, "mcp-workbench lock --accept dev/shell/run"},
		{"quoted", "See 'mcp-workbench lock --help'. It is all there.", 24, 0, "See\n'mcp-workbench lock --help'.\nIt is all there."},
		{"in brackets", "code: a (explained by: mcp-workbench explain a) and so on", 26, 0, "code: a (explained by:\nmcp-workbench explain a)\nand so on"},
		{"sentence ends", "Run: mcp-workbench init --root . Then wait for a while.", 24, 0, "Run:\nmcp-workbench init --root . Then wait for a while."},
		{"clause ends", "Run mcp-workbench lock --all, and wait for a while.", 24, 0, "Run\nmcp-workbench lock --all,\nand wait for a while."},
		{"purpose", "Run mcp-workbench lock --all to see them all.", 24, 0, "Run\nmcp-workbench lock --all\nto see them all."},
		{"quoted argument", "Run: mcp-workbench --config '/a b, c/d.json' tools, and wait.", 24, 0, "Run:\nmcp-workbench --config '/a b, c/d.json' tools,\nand wait."},
		{"painted", "Run \x1b[36mmcp-workbench lock --all\x1b[0m or wait.", 24, 0, "Run\n\x1b[36mmcp-workbench lock --all\x1b[0m\nor wait."},
		{"no command", "mcp-workbench: the one thing that went wrong", 24, 2, "mcp-workbench: the one\n  thing that went wrong"},
		{"nothing", "", 24, 2, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := wide(test.width).Wrap(test.text, test.column); got != test.want {
				t.Errorf("it becomes %q, not %q", got, test.want)
			}
		})
	}
}

func TestWrapLines(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"no limit", "one\n  two three", 0, "one\n  two three"},
		{"first line is longer", "one two three four five six seven", 24, "one two three four five\n  six seven"},
		{"indented", "one\n  two three four five six seven", 24, "one\n  two three four five\n    six seven"},
		{"too narrow", "      one two three four five six", 24, "      one two three four five six"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := wide(test.width).WrapLines(test.text); got != test.want {
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

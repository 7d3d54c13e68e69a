package toolbox

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	tools := []string{"read_file", "read_files", "write_file", "list_directory", "search", "move_file", "Search_Files"}
	for _, test := range []struct {
		name       string
		wanted     string
		candidates []string
		limit      int
		want       []string
	}{
		{"a letter is wrong", "reed_file", tools, 3, []string{"read_file", "read_files"}},
		{"letters are swapped", "raed_file", tools, 1, []string{"read_file"}},
		{"a letter is missing", "serch", tools, 3, []string{"search"}},
		{"other case", "READ_FILE", tools, 1, []string{"read_file"}},
		{"exact ones first", "read_files", tools, 2, []string{"read_files", "read_file"}},
		{"part of a name", "directory", tools, 3, []string{"list_directory"}},
		{"part of several, in order", "search", tools, 3, []string{"search", "Search_Files"}},
		{"nothing like it", "delete_everything", tools, 3, nil},
		{"no candidates", "x", nil, 3, nil},
		{"no room", "read_file", tools, 0, nil},
		{"equal ones keep their order", "ab", []string{"abc", "abd", "abe"}, 2, []string{"abc", "abd"}},
		{"empty", "", tools, 3, nil},
		{"very long", strings.Repeat("x", 10_000), []string{strings.Repeat("x", 9_999), "x"}, 3, nil},
		{"part of a very long one", "tool", []string{strings.Repeat("x", 10_000) + "tool"}, 3, []string{strings.Repeat("x", 10_000) + "tool"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Nearest(test.wanted, test.candidates, test.limit); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ab", 1},
		{"abc", "abcd", 1},
		{"abc", "acb", 1},
		{"ab", "ba", 1},
		{"kitten", "sitting", 3},
		{"abcdef", "badcfe", 3},
		{"abc", "xyz", 3},
		{"ca", "abc", 3},
		{"direct", "driect", 1},
	} {
		if got := EditDistance(test.a, test.b); got != test.want {
			t.Errorf("%q to %q: %d, want %d", test.a, test.b, got, test.want)
		}
		if got := EditDistance(test.b, test.a); got != test.want {
			t.Errorf("%q to %q: %d, want %d", test.b, test.a, got, test.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		text string
		size int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"aü", 2, "a"},
		{"ü", 1, ""},
		{"", 0, ""},
	} {
		if got := Clip(test.text, test.size); got != test.want {
			t.Errorf("%q cut to %d bytes is %q", test.text, test.size, got)
		}
	}
}

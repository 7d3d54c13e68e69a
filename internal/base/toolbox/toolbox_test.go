package toolbox

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestFilter(t *testing.T) {
	var zero Filter
	for _, test := range []struct {
		name    string
		filter  Filter
		allowed []string
		refused []string
	}{
		{"zero value", zero, []string{"a", "", "*"}, nil},
		{"all", NewFilter([]string{"*"}), []string{"a", ""}, nil},
		{"all among others", NewFilter([]string{"a", "*"}), []string{"a", "b"}, nil},
		{"none", NewFilter([]string{}), nil, []string{"a", "", "*"}},
		{"no list", NewFilter(nil), nil, []string{"a"}},
		{"some", NewFilter([]string{"read_file", "x.y-z"}), []string{"read_file", "x.y-z"}, []string{"Read_File", "read", "read_file2", ""}},
		{"no patterns", NewFilter([]string{"read_*"}), []string{"read_*"}, []string{"read_file"}},
	} {
		for _, name := range test.allowed {
			if !test.filter.Allows(name) {
				t.Errorf("%s: %q is refused", test.name, name)
			}
		}
		for _, name := range test.refused {
			if test.filter.Allows(name) {
				t.Errorf("%s: %q is allowed", test.name, name)
			}
		}
	}
}

func TestFilterKeepsItsOwnList(t *testing.T) {
	names := []string{"a"}
	filter := NewFilter(names)
	names[0] = "b"
	if !filter.Allows("a") || filter.Allows("b") {
		t.Error("the filter changed with the list that it was made from")
	}
}

func TestError(t *testing.T) {
	for _, test := range []struct {
		err  *Error
		want string
	}{
		{&Error{Message: "It broke."}, "It broke."},
		{&Error{Message: "It broke.", Hint: "Mend it."}, "It broke.\nMend it."},
		{&Error{Message: "It broke.", Cause: fs.ErrNotExist}, "It broke."}, // the cause is for the log
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	wrapped := fmt.Errorf("while starting: %w", &Error{Message: "m", Hint: "Do this.", Cause: fs.ErrNotExist})
	if !errors.Is(wrapped, fs.ErrNotExist) {
		t.Error("the cause cannot be found")
	}
}

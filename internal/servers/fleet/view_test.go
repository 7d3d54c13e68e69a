package fleet

import (
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func boxes(names ...string) *config.Config {
	cfg := &config.Config{}
	for _, name := range names {
		cfg.Toolboxes = append(cfg.Toolboxes, config.Toolbox{Name: name})
	}
	return cfg
}

func TestViewShowsItsToolboxesInTheOrderOfTheFile(t *testing.T) {
	f := New(Options{Config: boxes("c", "b", "a")})
	for _, test := range []struct {
		names, want []string
	}{
		{nil, nil},
		{[]string{"b"}, []string{"b"}},
		{[]string{"a", "c"}, []string{"c", "a"}},
		{[]string{"a", "nope", "a"}, []string{"a"}},
		{[]string{"A"}, nil},
	} {
		view := f.View(test.names)
		var got []string
		for _, box := range view.Toolboxes() {
			got = append(got, box.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("the view of %q has %q, want %q", test.names, got, test.want)
		}
		for _, name := range []string{"a", "b", "c", "nope", ""} {
			if _, ok := view.Toolbox(name); ok != slices.Contains(test.want, name) {
				t.Errorf("the view of %q has toolbox %q: %t", test.names, name, ok)
			}
		}
	}
}

func TestViewFollowsTheFleet(t *testing.T) {
	f := New(Options{Config: boxes("a")})
	view := f.View([]string{"b"})
	if _, ok := view.Toolbox("b"); ok {
		t.Error("the view has a toolbox before the fleet has")
	}
	f.Apply(boxes("a", "b"))
	if _, ok := view.Toolbox("b"); !ok || len(view.Toolboxes()) != 1 {
		t.Error("the view does not have the toolbox that was added")
	}
}

func TestViewsOfTheSameToolboxesAreOne(t *testing.T) {
	f := New(Options{Config: boxes("a", "b")})
	ref := toolbox.Ref{Toolbox: "a", Server: "s", Name: "t"}
	f.View([]string{"a", "b"}).Names().Assign([]toolbox.Ref{ref})
	if _, ok := f.View([]string{"b", "a", "b"}).Names().Name(ref); !ok {
		t.Error("names were lost with the view that gave them")
	}
	for _, other := range [][]string{{"a"}, {"b"}, {"a\x00b"}, nil} {
		if _, ok := f.View(other).Names().Name(ref); ok {
			t.Errorf("the view of %q has the names of another", other)
		}
	}
	if _, ok := f.Names().Name(ref); ok {
		t.Error("the fleet has the names of a view")
	}
}

func TestRememberedViewsAreLimited(t *testing.T) {
	f := New(Options{Config: boxes()})
	for i := range maxViews + 10 {
		f.View([]string{string(rune('a' + i))})
	}
	if n := len(f.views.known); n != maxViews {
		t.Errorf("%d views are remembered", n)
	}
}

package toolbox

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNamesOfToolsThatAreOfferedTogether(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, test := range []struct {
		name    string
		offered []Ref
		want    []string
	}{
		{"none", nil, nil},
		{"their own", []Ref{{"t", "a", "x"}, {"t", "b", "y.z"}, {"t", "b", "größe"}}, []string{"x", "y.z", "größe"}},
		{"the first keeps its own", []Ref{{"t", "a", "x"}, {"t", "b", "x"}, {"t", "c", "x"}}, []string{"x", "b__x", "c__x"}},
		{"servers of one name", []Ref{{"t", "a", "x"}, {"u", "a", "x"}, {"v", "a", "x"}}, []string{"x", "a__x", "v__a__x"}},
		{
			"what we make up takes nobody's own name",
			[]Ref{{"t", "a", "x"}, {"t", "b", "x"}, {"t", "c", "b__x"}},
			[]string{"x", "t__b__x", "b__x"},
		},
		{
			"every form is taken",
			[]Ref{{"t", "a", "x"}, {"t", "a", "b__x"}, {"t", "a", "t__b__x"}, {"t", "a", "t__b__x_2"}, {"t", "b", "x"}},
			[]string{"x", "b__x", "t__b__x", "t__b__x_2", "t__b__x_3"},
		},
		{
			"a server whose name clients refuse",
			[]Ref{{"t", "a", "x"}, {"t", "my server", "x"}},
			[]string{"x", Ref{"t", "my server", "x"}.NativeName()},
		},
		{
			"too long with its server",
			[]Ref{{"t", "a", long}, {"t", "server", long}},
			[]string{long, Ref{"t", "server", long}.NativeName()},
		},
		{"the same tool twice", []Ref{{"t", "a", "x"}, {"t", "a", "x"}}, []string{"x", "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var names Names
			got := names.Assign(test.offered)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			for i, ref := range test.offered {
				if found, ok := names.Find(got[i]); !ok || found != ref {
					t.Errorf("%q leads to %v, want %v", got[i], found, ref)
				}
				if name, ok := names.Name(ref); !ok || name != got[i] {
					t.Errorf("%v is %q, want %q", ref, name, got[i])
				}
			}
		})
	}
}

func TestNamesStay(t *testing.T) {
	var names Names
	early, late := Ref{"t", "b", "x"}, Ref{"t", "a", "x"}
	names.Assign([]Ref{early})
	// The one that is first in the file comes up second.
	if got := names.Assign([]Ref{late, early}); got[0] != "a__x" || got[1] != "x" {
		t.Errorf("the names are %q", got)
	}
	// One that is gone keeps its name.
	if got := names.Assign([]Ref{late}); got[0] != "a__x" {
		t.Errorf("the name became %q", got[0])
	}
	if ref, ok := names.Find("x"); !ok || ref != early {
		t.Errorf("the name that was held leads to %v", ref)
	}
}

// Whatever servers come and go in whatever order: no two tools share a name, and none
// changes it.
func TestNamesNeverMeanAnother(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "a__a", "b__a", "a__b__a", "a b", strings.Repeat("a", 62)}
	var all []Ref
	for _, box := range parts[:3] {
		for _, server := range parts {
			for _, name := range parts {
				all = append(all, Ref{box, server, name})
			}
		}
	}
	var names Names
	given, owner := make(map[Ref]string), make(map[string]Ref)
	for range 200 {
		var offered []Ref
		for _, ref := range all {
			if random.IntN(4) == 0 {
				offered = append(offered, ref)
			}
		}
		for i, name := range names.Assign(offered) {
			ref := offered[i]
			if before, ok := given[ref]; ok && before != name {
				t.Fatalf("%v was %q and is %q", ref, before, name)
			}
			if other, ok := owner[name]; ok && other != ref {
				t.Fatalf("%q is %v and was %v", name, ref, other)
			}
			if len(name) > nativeLimit {
				t.Fatalf("%v is %q, which is too long", ref, name)
			}
			given[ref], owner[name] = name, ref
		}
	}
}

func TestHeldNamesAreLimited(t *testing.T) {
	var names Names
	kept := Ref{"t", "a", "kept"}
	for i := range maxHeldNames + 2 {
		names.Assign([]Ref{kept, {"t", "a", fmt.Sprint(i)}})
	}
	if n := len(names.names); n > maxHeldNames || n != len(names.refs) {
		t.Errorf("%d names of %d tools are held", len(names.refs), n)
	}
	if name, ok := names.Name(kept); !ok || name != "kept" {
		t.Error("a tool that is offered lost its name")
	}
}

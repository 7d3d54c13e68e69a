package catalog

import (
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Nothing is known of a tool that a policy denies: neither that there is one nor what is wrong with it.
func TestDeniedToolIsHidden(t *testing.T) {
	now := snapshot(t, toolbox.Filter{}, `{"name":"a","inputSchema":{}}`, `{"name":"drop"}`, `{"name":"b"}`, `{"name":"drop"}`, `{"name":"dr\u200bop"}`)
	baseline := NewBaseline("", nil)
	baseline.Compare("s", Hash{1}, snapshot(t, toolbox.Filter{}, `{"name":"drop","title":"other"}`), plainly)
	now, _ = baseline.Compare("s", Hash{1}, now, plainly)
	if len(now.Warnings) != 5 {
		t.Fatalf("warnings %q", now.Warnings)
	}
	restrictions := &Restrictions{Denies: func(_ string, ref toolbox.Ref, _ Tool) bool { return toolbox.Pattern("t/s/dr*op").Matches(ref) }}
	under := now.Under(restrictions, "t", "s")
	if !slices.Equal(under.Names(), []string{"a", "b"}) || !slices.Equal(under.Denied, []string{"drop"}) {
		t.Errorf("offered are %q, denied %q", under.Names(), under.Denied)
	}
	if _, ok := under.Find("drop"); ok {
		t.Error("it is found")
	}
	if tool, ok := under.Find("b"); !ok || tool.Name != "b" {
		t.Errorf("b is %v", tool)
	}
	if want := []string{"Tool 'b' of server 'fs' has no input schema; it is offered as taking any object"}; !slices.Equal(under.Warnings, want) {
		t.Errorf("warnings %q", under.Warnings)
	}
	if tool, ok := under.DeniedTool("drop"); !ok || tool.Name != "drop" {
		t.Errorf("the denied tool is %v", tool)
	}
	if other := now.Under(restrictions, "t", "other"); len(other.Tools) != len(now.Tools) || len(other.Denied) != 0 {
		t.Error("a server without such tools is restricted")
	}
	if again := under.Under(nil, "t", "s"); again != now {
		t.Error("the restriction stays")
	}
	// The lock says nothing of it either.
	locked := now.Under(&Restrictions{Lock: &Lock{}, Denies: restrictions.Denies}, "t", "s")
	if _, withheld := locked.Withheld("drop"); withheld || locked.WithheldTools() != 2 || len(locked.Denied) != 1 {
		t.Errorf("withheld are %d tools: %q", locked.WithheldTools(), locked.Warnings)
	}
	if again := locked.Under(nil, "t", "s"); again != now {
		t.Error("the restrictions stay")
	}
}

// Each caller that the rules name has a view of its own, and the others share one.
func TestCallersSeeWhatIsNotDeniedToThem(t *testing.T) {
	whole := snapshot(t, toolbox.Filter{}, `{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true}}`, `{"name":"b","inputSchema":{}}`, `{"name":"c","inputSchema":{}}`)
	restrictions := &Restrictions{
		Callers: []string{"stdio", "token:ci", "token:same"},
		Denies: func(caller string, ref toolbox.Ref, tool Tool) bool {
			return ref.Name == "c" || caller == "token:ci" && !tool.Hints().ReadOnly || caller == "stdio" && ref.Name == "a"
		},
	}
	others := whole.Under(restrictions, "t", "s")
	for _, test := range []struct {
		caller       string
		seen, denied []string
	}{
		{"", []string{"a", "b"}, []string{"c"}},
		{"terminal", []string{"a", "b"}, []string{"c"}},
		{"token:same", []string{"a", "b"}, []string{"c"}},
		{"token:ci", []string{"a"}, []string{"b", "c"}},
		{"stdio", []string{"b"}, []string{"a", "c"}},
	} {
		view := others.For(test.caller)
		if !slices.Equal(view.Names(), test.seen) || !slices.Equal(view.Denied, test.denied) {
			t.Errorf("%q sees %q, not %q", test.caller, view.Names(), view.Denied)
		}
		if again := view.For(test.caller); again != view || others.For(test.caller) != view {
			t.Errorf("the view of %q is made twice", test.caller)
		}
		if (view == others) != (len(test.denied) == 1) {
			t.Errorf("%q shares the view of others: %t", test.caller, view == others)
		}
		if view.For("terminal") != others {
			t.Errorf("the view of %q does not lead to the others", test.caller)
		}
		if _, ok := view.DeniedTool(test.seen[0]); ok {
			t.Errorf("%q is denied %q", test.caller, test.seen[0])
		}
	}
	if n := testing.AllocsPerRun(10, func() { others.For("token:ci"); others.For("http") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if whole.For("stdio") != whole || (*Snapshot)(nil).For("stdio") != nil {
		t.Error("what is not restricted has views")
	}
}

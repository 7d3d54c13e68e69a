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
	restrictions := &Restrictions{Denies: toolbox.Pattern("t/s/dr*op").Matches}
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
	if other := now.Under(restrictions, "t", "other"); other != now {
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

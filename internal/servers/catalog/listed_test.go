package catalog

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

func TestListedSaysWhyClientsDoNotGetATool(t *testing.T) {
	whole := snapshot(t, toolbox.Filter{}, `{"name":"a","inputSchema":{}}`, `{"name":"drop"}`, `{"name":"b"}`)
	if listed, ok := whole.Lookup("drop"); whole.Count() != 3 || !ok || listed.Denied || listed.Withheld != "" {
		t.Errorf("without restrictions: %d tools, %+v", whole.Count(), listed)
	}
	denies := func(_ string, ref toolbox.Ref, _ Tool) bool { return ref.Name == "drop" }
	under := whole.Under(&Restrictions{Denies: denies}, "t", "s")
	if under.Count() != 3 || under.At(0).Denied || !under.At(1).Denied || under.At(1).Withheld != "" || under.At(2).Name != "b" {
		t.Errorf("with a policy: %+v", []Listed{under.At(0), under.At(1), under.At(2)})
	}
	if warnings := under.WarningsAbout("drop"); len(warnings) != 1 {
		t.Errorf("a denied tool has the warnings %q", warnings)
	}
	locked := whole.Under(&Restrictions{Lock: &Lock{}, Denies: denies}, "t", "s")
	if tool, ok := locked.Lookup("b"); !ok || tool.Denied || !strings.Contains(tool.Withheld, "is not in "+toolbox.LockFile) {
		t.Errorf("with a lock: %+v", tool)
	}
	if tool, _ := locked.Lookup("drop"); !tool.Denied || tool.Withheld != "" {
		t.Errorf("denied, with a lock: %+v", tool)
	}
	if warnings := locked.WarningsAbout("b"); len(warnings) != 2 {
		t.Errorf("a withheld tool has the warnings %q", warnings)
	}
	var none *Snapshot
	if _, ok := none.Lookup("a"); ok || none.Count() != 0 {
		t.Error("a server that was never seen has tools")
	}
}

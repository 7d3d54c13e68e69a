package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

func TestHintsOfATool(t *testing.T) {
	for _, test := range []struct {
		annotations string
		want        Hints
	}{
		{`{}`, Hints{Destructive: true, OpenWorld: true}},
		{`null`, Hints{Destructive: true, OpenWorld: true}},
		{`{"readOnlyHint":true}`, Hints{ReadOnly: true, OpenWorld: true}},
		{`{"readOnlyHint":true,"destructiveHint":true}`, Hints{ReadOnly: true, OpenWorld: true}},
		{`{"readOnlyHint":"true","destructiveHint":0}`, Hints{Destructive: true, OpenWorld: true}},
		{`{"readOnlyHint":true,"readOnlyHint":false}`, Hints{Destructive: true, OpenWorld: true}},
		{`{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`, Hints{Idempotent: true}},
	} {
		tool := snapshot(t, toolbox.Filter{}, `{"name":"a","inputSchema":{},"annotations":`+test.annotations+`}`).Tools[0]
		if got := tool.Hints(); got != test.want {
			t.Errorf("%s: %+v", test.annotations, got)
		}
		if again, ok := parseHints(test.want.encode()); !ok || again != test.want {
			t.Errorf("%+v is read back as %+v", test.want, again)
		}
	}
	for _, text := range []string{"", "011", "01101", "01x1"} {
		if _, ok := parseHints(text); ok {
			t.Errorf("%q is read", text)
		}
	}
}

const (
	reader  = `{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true}}`
	said    = `{"name":"a","description":"New","inputSchema":{},"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false}}`
	changed = `{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`
)

// Hints count as they were first seen until a person accepts others, also in later runs.
func TestChangedHintsAreDoubted(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "definitions")
	key := Hash{1}
	var baseline *Baseline
	var last *Snapshot
	step := func(definition string, doubted bool) {
		t.Helper()
		last, _ = baseline.Compare("s", key, snapshot(t, toolbox.Filter{}, definition, `{"name":"b","inputSchema":{}}`), plainly)
		cold := NewBaseline(folder, nil).Doubt("s", key, snapshot(t, toolbox.Filter{}, definition))
		if last.Tools[0].HintsDoubted != doubted || cold.Tools[0].HintsDoubted != doubted || last.Tools[1].HintsDoubted {
			t.Fatalf("%s is doubted: %t, in the cache %t", definition, last.Tools[0].HintsDoubted, cold.Tools[0].HintsDoubted)
		}
		if (len(last.ChangedHints()) == 1) != doubted {
			t.Fatalf("%s: changes are %v", definition, last.ChangedHints())
		}
	}
	baseline = NewBaseline(folder, nil)
	step(reader, false)
	step(said, false)
	step(changed, true)
	step(changed, true)
	want := HintChange{"a", Hints{ReadOnly: true, OpenWorld: true}, Hints{ReadOnly: true}}
	if got := last.ChangedHints(); !slices.Equal(got, []HintChange{want}) {
		t.Errorf("changes are %+v", got)
	}
	step(reader, false)
	step(changed, true)
	baseline = NewBaseline(folder, nil)
	step(changed, true)
	step(`{"name":"other","inputSchema":{}}`, false)
	step(changed, true) // it was gone meanwhile

	// Accepted by another process, while this one goes on.
	if err := NewBaseline(folder, nil).Accept(key, last, []string{"a", "none"}); err != nil {
		t.Fatal(err)
	}
	if again := baseline.Doubt("s", key, last); again.Tools[0].HintsDoubted {
		t.Error("accepted hints are doubted")
	}
	step(changed, false)
	step(reader, true)
	if again := baseline.Doubt("s", key, last); again != last {
		t.Error("what did not change is made again")
	}
}

func TestHintsWithoutAFolderAndWithADamagedFile(t *testing.T) {
	key := Hash{1}
	baseline := NewBaseline("", nil)
	for _, step := range []struct {
		definition string
		doubted    bool
	}{{reader, false}, {changed, true}, {reader, false}} {
		if now, _ := baseline.Compare("s", key, snapshot(t, toolbox.Filter{}, step.definition), plainly); now.Tools[0].HintsDoubted != step.doubted {
			t.Errorf("%s is doubted: %t", step.definition, now.Tools[0].HintsDoubted)
		}
	}
	folder := t.TempDir()
	baseline = NewBaseline(folder, nil)
	path := baseline.hintStore.path(key)
	for _, damage := range []string{`{`, `{"version":0,"tools":{}}`, `{"version":1,"tools":{"x":"0000"}}`, `{"version":1,"tools":{"` + key.String() + `":"2"}}`, `{"version":1}`} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := NewBaseline(folder, nil).Accept(key, snapshot(t, toolbox.Filter{}, reader), []string{"a"}); err == nil {
			t.Errorf("%s is no error", damage)
		}
		if now, _ := NewBaseline(folder, nil).Compare("s", key, snapshot(t, toolbox.Filter{}, reader), plainly); now.Tools[0].HintsDoubted {
			t.Errorf("%s: what is seen for the first time is doubted", damage)
		}
		if now := NewBaseline(folder, nil).Doubt("s", key, snapshot(t, toolbox.Filter{}, changed)); !now.Tools[0].HintsDoubted {
			t.Errorf("%s: the file was not mended", damage)
		}
	}
}

// A lock that approves the definition accepts its hints, and only that definition.
func TestLockAcceptsHints(t *testing.T) {
	baseline := NewBaseline("", nil)
	baseline.Compare("s", Hash{1}, snapshot(t, toolbox.Filter{}, reader), plainly)
	now, _ := baseline.Compare("s", Hash{1}, snapshot(t, toolbox.Filter{}, changed), plainly)
	lock := &Lock{Servers: []LockedServer{{Toolbox: "t", Server: "s", Tools: []LockedTool{{"a", now.Tools[0].Record(plainly)}}}}}
	doubted := func(s *Snapshot) bool {
		return s.Under(&Restrictions{Lock: lock}, "t", "s").Tools[0].HintsDoubted
	}
	if !now.Tools[0].HintsDoubted || doubted(now) || len(now.Under(&Restrictions{Lock: lock}, "t", "s").ChangedHints()) > 0 {
		t.Error("the lock does not accept them")
	}
	if !doubted(now.WithoutTrust()) {
		t.Error("the lock makes hints count that are not trusted")
	}
	if lock.Free = []string{"t"}; !doubted(now) {
		t.Error("a lock accepts hints of a toolbox that it does not hold for")
	}
}

// A server cannot have its hints forgotten with many tools: those that cannot be remembered are doubted.
func TestHintsBeyondTheLimit(t *testing.T) {
	known := &knownHints{hints: make(map[Hash]Hints)}
	for i := range maxHints + 5 {
		known.set(Hash{byte(i), byte(i >> 8)}, Hints{})
	}
	first := known.order[0]
	known.offer(nil)
	if len(known.order) != maxHints || len(known.hints) != maxHints || known.order[0] != first {
		t.Errorf("%d are remembered", len(known.order))
	}
	if now := known.mark(snapshot(t, toolbox.Filter{}, reader)); !now.Tools[0].HintsDoubted {
		t.Error("hints count that nobody can compare")
	}
}

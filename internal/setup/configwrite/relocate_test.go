package configwrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

func TestRelocate(t *testing.T) {
	const file = `{
  "pinned": ["a/s/run", "a/x/run", "ab/s/run"],
  "policy": {"classes": {"a/s/*": "reads"}, "rules": [
    {"tools": "a/*", "then": "deny"}, {"tools": ["a/s/run", "*/s/stop", "a*", "${BOX:-a}/s/y"], "except": ["a/s/x"], "then": "ask"}
  ]},
  "toolboxes": {
    "a": {"description": "a/s/run", "mcpServers": {"s": {"command": "a/s/run"}, "x": {"command": "x"}}},
    "ab": {"description": "d", "mcpServers": {"z": {"command": "z"}}}
  }
}
`
	for _, test := range []struct {
		name     string
		from, to Entry
		replace  []string // pairs
		affected []string
	}{
		{
			"a toolbox",
			Entry{Toolbox: "a"},
			Entry{Toolbox: `n*`},
			[]string{
				`["a/s/run", "a/x/run"`, `["n*/s/run", "n*/x/run"`, `{"a/s/*"`, `{"n\\*/s/*"`, `"a/*"`, `"n\\*/*"`, `["a/s/run", "*/s`, `["n\\*/s/run", "*/s`,
				`["a/s/x"]`, `["n\\*/s/x"]`, `"a": {`, `"n*": {`,
			},
			[]string{"a*", "${BOX:-a}/s/y"},
		},
		{
			"a server",
			Entry{"a", "s"},
			Entry{"a", "t"},
			[]string{`["a/s/run", "a/x`, `["a/t/run", "a/x`, `{"a/s/*"`, `{"a/t/*"`, `["a/s/run", "*/s`, `["a/t/run", "*/s`, `["a/s/x"]`, `["a/t/x"]`, `"s": {`, `"t": {`},
			[]string{"*/s/stop", "${BOX:-a}/s/y"},
		},
		{
			"a server elsewhere",
			Entry{"a", "s"},
			Entry{"ab", "s"},
			[]string{
				`["a/s/run", "a/x`, `["ab/s/run", "a/x`, `{"a/s/*"`, `{"ab/s/*"`, `["a/s/run", "*/s`, `["ab/s/run", "*/s`, `["a/s/x"]`, `["ab/s/x"]`,
				`"s": {"command": "a/s/run"}, `, "", `{"command": "z"}`, `{"command": "z"}, "s": {"command": "a/s/run"}`,
			},
			[]string{"a/*", "${BOX:-a}/s/y"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			e, err := ReadEdit(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := Relocation{test.from, test.to}
			if err := e.Relocate(r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.NewReplacer(test.replace...).Replace(file), string(e.Next.Data)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.affected, e.Affected(r, test.from.Servers(e.Outline))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRelocateApproval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	r := Relocation{Entry{"a", "s"}, Entry{"b", "t"}}
	if isChanged, err := RelocateApproval(path, r); isChanged || err != nil {
		t.Errorf("without a lock: %v, %v", isChanged, err)
	}
	lock := filepath.Join(filepath.Dir(path), "workbench.lock")
	if err := os.WriteFile(lock, []byte(`{"version": 2, "toolboxes": {"a": {"s": {"tools": {}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if isChanged, err := RelocateApproval(path, r); !isChanged || err != nil {
		t.Errorf("%v, %v", isChanged, err)
	}
	data, err := os.ReadFile(lock)
	if want := `{"version": 2, "toolboxes": {"a": {}, "b": {"t": {"tools": {}}}}}`; err != nil || string(data) != want {
		t.Errorf("%v: %s", err, data)
	}
	if isChanged, err := RelocateApproval(path, r); isChanged || err != nil {
		t.Errorf("a second time: %v, %v", isChanged, err)
	}
}

// A lock of a newer format is not touched: its entries may be elsewhere.
func TestRelocateApprovalOfNewerFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	lock := filepath.Join(filepath.Dir(path), "workbench.lock")
	const content = `{"version": 99, "toolboxes": {"a": {"s": {"tools": {}}}}}`
	if err := os.WriteFile(lock, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if isChanged, err := RelocateApproval(path, Relocation{Entry{"a", "s"}, Entry{"a", "t"}}); isChanged || !stored.IsNewer(err) {
		t.Errorf("%v, %v", isChanged, err)
	}
	if data, err := os.ReadFile(lock); err != nil || string(data) != content {
		t.Errorf("%v: %s", err, data)
	}
}

package catalog

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func plain(text string) string { return text }

// offered makes the snapshot of a server with these definitions.
func offered(definitions ...string) *Snapshot {
	listing := Listing{
		ServerVersion: "1.2", Instructions: "Use it well", Capabilities: wire.Raw([]byte(`{"tools":{},"x": 1.0}`)),
	}
	for _, definition := range definitions {
		listing.Definitions = append(listing.Definitions, wire.Raw([]byte(definition)))
	}
	return NewSnapshot("s", listing, toolbox.Filter{})
}

func loggedCopies(folder string) (*Copies, *bytes.Buffer) {
	var log bytes.Buffer
	return NewCopies(folder, slog.New(slog.NewTextHandler(&log, nil))), &log
}

func TestCopiesKeepWhatWasOffered(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "definitions")
	c, log := loggedCopies(folder)
	if c.Load("s", Hash{1}, toolbox.Filter{}) != nil {
		t.Error("a server that was never seen is known")
	}
	now := offered(`{"name":"b", "inputSchema":{"x":1.00}}`, `{"name":"a",  "inputSchema":{}}`, `{"name":"c"}`)
	c.Save("s", Hash{1}, now, plain)
	next, _ := loggedCopies(folder)
	got := next.Load("s", Hash{1}, toolbox.Filter{})
	if got == nil || !got.Stored || now.Stored {
		t.Fatalf("what was kept is %+v", got)
	}
	if !slices.Equal(got.Names(), []string{"b", "a", "c"}) || got.ServerVersion != "1.2" || got.Instructions != "Use it well" ||
		string(got.Capabilities.Bytes()) != `{"tools":{},"x": 1.0}` || len(got.Warnings) != len(now.Warnings) {
		t.Errorf("what was kept is %+v", got)
	}
	for i, tool := range got.Tools {
		if string(tool.Definition.Bytes()) != string(now.Tools[i].Definition.Bytes()) {
			t.Errorf("%s is kept as %s", tool.Name, tool.Definition.Bytes())
		}
	}
	if filtered := next.Load("s", Hash{1}, toolbox.NewFilter([]string{"a"})); !slices.Equal(filtered.Names(), []string{"a"}) {
		t.Errorf("the filter leaves %q", filtered.Names())
	}
	if next.Load("s", Hash{2}, toolbox.Filter{}) != nil || log.Len() > 0 {
		t.Errorf("another server is known, or the log has %s", log)
	}
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	for path, want := range map[string]os.FileMode{folder: 0o700, c.store.path(Hash{1}): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode(), err, want)
		}
	}
}

func TestCopiesAreWrittenWhenTheyChange(t *testing.T) {
	folder := t.TempDir()
	c, _ := loggedCopies(folder)
	first := offered(`{"name":"a","inputSchema":{}}`)
	c.Save("s", Hash{1}, first, plain)
	if err := os.Remove(c.store.path(Hash{1})); err != nil {
		t.Fatal(err)
	}
	c.Save("s", Hash{1}, first, plain)
	if names := filesIn(t, folder); len(names) != 0 {
		t.Errorf("what did not change was written again: %q", names)
	}
	c.Save("s", Hash{1}, offered(), plain)
	if got := c.Load("s", Hash{1}, toolbox.Filter{}); got == nil || len(got.Tools) != 0 {
		t.Errorf("what changed is kept as %+v", got)
	}
}

func TestDamagedCopiesAreNotUsed(t *testing.T) {
	good, err := encodeCopy(offered(`{"name":"a","inputSchema":{}}`), plain)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(body string) string { return fmt.Sprintf("%s\n%s", Hash(sha256.Sum256([]byte(body))), body) }
	for name, content := range map[string]string{
		"empty":          "",
		"cut off":        string(good[:len(good)-5]),
		"changed":        strings.Replace(string(good), `"a"`, `"b"`, 1),
		"more behind it": string(good) + " ",
		"no hash":        "x\n{}",
		"no JSON":        signed("hello"),
		"no object":      signed("[]"),
		"other version":  signed(`{"version":2,"tools":[]}`),
		"too long":       signed(`{"version":1,"tools":[]}` + strings.Repeat(" ", maxCopy)),
	} {
		t.Run(name, func(t *testing.T) {
			c, log := loggedCopies(t.TempDir())
			if err := os.WriteFile(c.store.path(Hash{1}), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := c.Load("s", Hash{1}, toolbox.Filter{}); got != nil {
				t.Errorf("it is taken for %+v", got)
			}
			if !strings.Contains(log.String(), "could not read what the server offered before") || !strings.Contains(log.String(), "server=s") {
				t.Errorf("the log has %s", log)
			}
		})
	}
}

// Whoever writes a copy by hand gets nothing past the cleaning.
func TestCopiesAreCleanedAgain(t *testing.T) {
	c, _ := loggedCopies(t.TempDir())
	body := `{"version":1,"tools":[{"name":"a","title":"\u200b","inputSchema":null},{"name":"b\u200b"},{"inputSchema":{}},7]}`
	content := fmt.Sprintf("%s\n%s", Hash(sha256.Sum256([]byte(body))), body)
	if err := os.WriteFile(c.store.path(Hash{1}), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	got := c.Load("s", Hash{1}, toolbox.Filter{})
	if got == nil || !slices.Equal(got.Names(), []string{"a"}) || string(got.Tools[0].Definition.Bytes()) != `{"name":"a","title":"","inputSchema":{"type":"object"}}` {
		t.Errorf("it is taken for %+v", got)
	}
}

func TestCopiesHoldNoSecrets(t *testing.T) {
	mask := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	for name, tt := range map[string]struct {
		definition string
		kept       bool
	}{
		"a description":      {`{"name":"a","description":"has hunter2","inputSchema":{}}`, true},
		"an escaped default": {`{"name":"a","inputSchema":{"properties":{"x":{"default":["\u0068unter2"]}}}}`, true},
		"a name":             {`{"name":"hunter2","inputSchema":{}}`, false},
		"a key":              {`{"name":"a","inputSchema":{"properties":{"hunter2":{}}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, log := loggedCopies(t.TempDir())
			c.Save("s", Hash{1}, offered(`{"name":"before","inputSchema":{}}`), mask)
			c.Save("s", Hash{1}, offered(tt.definition), mask)
			data, err := os.ReadFile(c.store.path(Hash{1}))
			if (err == nil) != tt.kept || bytes.Contains(data, []byte("unter2")) {
				t.Errorf("the file holds %s (%v)", data, err)
			}
			if tt.kept == (log.Len() > 0) || strings.Contains(log.String(), "hunter2") {
				t.Errorf("the log has %s", log)
			}
		})
	}
}

func TestCopiesAreBounded(t *testing.T) {
	c, log := loggedCopies(t.TempDir())
	long := `{"name":"a","description":"` + strings.Repeat("x", maxCopy) + `","inputSchema":{}}`
	c.Save("s", Hash{1}, offered(long), plain)
	if names := filesIn(t, c.store.folder); len(names) != 0 || !strings.Contains(log.String(), "longer than") {
		t.Errorf("the files are %q, the log has %s", names, log)
	}
	said := log.Len()
	c.Save("s", Hash{1}, offered(long), plain)
	if log.Len() != said {
		t.Error("it is said again and again")
	}
	c.store.maxAll = 1000
	for i := range 20 {
		c.Save("s", Hash{byte(i)}, offered(`{"name":"a","inputSchema":{}}`), plain)
	}
	if names := filesIn(t, c.store.folder); len(names) == 0 || len(names) > 10 {
		t.Errorf("there are %d files", len(names))
	}
}

func TestCopiesLeaveHashesAlone(t *testing.T) {
	folder := t.TempDir()
	b, _ := logged(folder)
	compare(t, b, Hash{1}, described("a", "x"))
	c, _ := loggedCopies(folder)
	c.store.maxAll = 0
	c.Save("s", Hash{1}, offered(), plain)
	if names := filesIn(t, folder); !slices.Equal(names, []string{Hash{1}.String() + seenSuffix}) {
		t.Errorf("the files are %q", names)
	}
}

func TestCopiesWithoutAFolder(t *testing.T) {
	c := NewCopies("", nil)
	c.Save("s", Hash{1}, offered(), plain)
	if c.Load("s", Hash{1}, toolbox.Filter{}) != nil {
		t.Error("something was kept")
	}
}

// FuzzDecodeCopy checks that no file makes us fall over.
func FuzzDecodeCopy(f *testing.F) {
	f.Add([]byte(`{"version":1,"tools":[{"name":"a"}]}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		data := fmt.Appendf(nil, "%s\n%s", Hash(sha256.Sum256(body)), body)
		if listing, err := decodeCopy(data); err == nil {
			NewSnapshot("s", listing, toolbox.Filter{})
		}
	})
}

// BenchmarkCopiesLoad reads what fifty servers with twenty tools each offered.
func BenchmarkCopiesLoad(b *testing.B) {
	c, _ := loggedCopies(b.TempDir())
	var definitions []string
	for i := range 20 {
		definitions = append(definitions, fmt.Sprintf(`{"name":"tool_%d","description":"%s","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"%[2]s"}}}}`,
			i, strings.Repeat("words about it ", 20)))
	}
	for i := range 50 {
		c.Save("s", Hash{byte(i)}, offered(definitions...), plain)
	}
	for b.Loop() {
		for i := range 50 {
			if c.Load("s", Hash{byte(i)}, toolbox.Filter{}) == nil {
				b.Fatal("nothing was kept")
			}
		}
	}
}

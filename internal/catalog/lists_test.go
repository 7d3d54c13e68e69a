package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

func entries(raw ...string) (payloads []wire.Payload) {
	for _, text := range raw {
		payloads = append(payloads, wire.Raw([]byte(text)))
	}
	return payloads
}

func rendered(list *List) string {
	if list == nil {
		return "unknown"
	}
	var texts []string
	for _, entry := range list.Entries {
		texts = append(texts, string(entry.Bytes()))
	}
	return strings.Join(texts, " ")
}

func plainly(text string) string { return text }

func TestListsAreKept(t *testing.T) {
	folder := t.TempDir()
	key := Hash{1}
	kept := Lists{
		Prompts:   NewList(Prompts, entries(`{"name":"p", "n":1.0}`, `{"name":"q"}`), ""),
		Resources: NewList(Resources, nil, ""),
		Skills:    NewList(Skills, entries(`{"uri":"skill://x/SKILL.md"}`), ""),
	}
	NewCopies(folder, nil).SaveLists("s", key, kept, plainly)
	again := NewCopies(folder, nil).LoadLists("s", key)
	for _, kind := range ListKinds {
		if got, want := rendered(again[kind]), rendered(kept[kind]); got != want {
			t.Errorf("%s: got %s, want %s", kind.Method, got, want)
		}
	}
	if again[Templates] != nil {
		t.Error("what was never listed is known")
	}
	if lists := NewCopies(folder, nil).LoadLists("s", Hash{2}); lists != nil {
		t.Errorf("another server has %v", lists)
	}
	if snapshot := NewCopies(folder, nil).Load("s", key, toolbox.Filter{}); snapshot != nil {
		t.Error("the lists count as tools")
	}
}

func TestDamagedListsAreNotUsed(t *testing.T) {
	folder := t.TempDir()
	NewCopies(folder, nil).SaveLists("s", Hash{}, Lists{Prompts: NewList(Prompts, entries(`{"name":"p"}`), "")}, plainly)
	files, err := filepath.Glob(filepath.Join(folder, "*"+listsSuffix))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %v, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", string(whole[:len(whole)-3]), strings.Replace(string(whole), `"p"`, `"r"`, 1)} {
		if err := os.WriteFile(files[0], []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if lists := NewCopies(folder, nil).LoadLists("s", Hash{}); lists != nil {
			t.Errorf("%q is taken for %v", damaged, lists)
		}
	}
}

func TestKeptListsHoldNoSecret(t *testing.T) {
	mask := func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }
	folder := t.TempDir()
	lists := Lists{Prompts: NewList(Prompts, entries(`{"name":"p","description":"for hunter22"}`, `{"name":"hunter22"}`, `{"name":"q"}`), "")}
	NewCopies(folder, nil).SaveLists("s", Hash{}, lists, mask)
	if got, want := rendered(NewCopies(folder, nil).LoadLists("s", Hash{})[Prompts]), `{"name":"p","description":"for ***"} {"name":"q"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// In a key it cannot be masked, so that nothing is kept.
	NewCopies(folder, nil).SaveLists("s", Hash{}, Lists{Prompts: NewList(Prompts, entries(`{"name":"p","hunter22":1}`), "")}, mask)
	if lists := NewCopies(folder, nil).LoadLists("s", Hash{}); lists != nil {
		t.Errorf("kept %v", lists)
	}
}

func TestListsAreCleanedAndLimited(t *testing.T) {
	list := NewList(Prompts, entries(`{"name":"a\u200bb","description":"x\u200by","arguments":[{"name":"c\u200b","description":"\u202ez"}]}`), "")
	if got, want := rendered(list), `{"name":"a\u200bb","description":"xy","arguments":[{"name":"c\u200b","description":"z"}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	skill := `{"uri":"skill://x/SKILL.md","frontmatter":{"description":"x\u200by"},"description":"x\u200by"}`
	if got := rendered(NewList(Skills, entries(skill), "")); got != skill {
		t.Errorf("a skill is changed: %s", got)
	}
	var many []string
	for i := range maxListEntries + 1 {
		many = append(many, fmt.Sprintf(`{"name":"%d"}`, i))
	}
	if list := NewList(Prompts, entries(many...), ""); len(list.Entries) != maxListEntries || list.Cut == "" {
		t.Errorf("%d entries, cut off because %q", len(list.Entries), list.Cut)
	}
	large := `{"name":"` + strings.Repeat("x", maxListBytes/2) + `"}`
	if list := NewList(Prompts, entries(large, large), ""); len(list.Entries) != 1 || list.Cut == "" {
		t.Errorf("%d large entries, cut off because %q", len(list.Entries), list.Cut)
	}
}

func TestDeclaredLists(t *testing.T) {
	for _, test := range []struct {
		capabilities string
		want         string
	}{
		{`{}`, ""},
		{`{"prompts":{}}`, "prompts/list "},
		{`{"resources":{},"prompts":null}`, "resources/list resources/templates/list "},
		{`{"resources":false,"extensions":{"io.modelcontextprotocol/skills":{}}}`, "skills/list "},
	} {
		got := ""
		for _, kind := range ListKinds {
			if kind.IsDeclared(wire.Raw([]byte(test.capabilities))) {
				got += kind.Method + " "
			}
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.capabilities, got, test.want)
		}
	}
}

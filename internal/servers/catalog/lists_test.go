package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
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
		Prompts:   NewList("s", Prompts, entries(`{"name":"p", "n":1.0}`, `{"name":"q"}`), ""),
		Resources: NewList("s", Resources, nil, ""),
		Skills:    NewList("s", Skills, entries(`{"uri":"skill://x/SKILL.md"}`), ""),
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
	NewCopies(folder, nil).SaveLists("s", Hash{}, Lists{Prompts: NewList("s", Prompts, entries(`{"name":"p"}`), "")}, plainly)
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
	lists := Lists{Prompts: NewList("s", Prompts, entries(`{"name":"p","description":"for hunter22"}`, `{"name":"hunter22"}`, `{"name":"q"}`), "")}
	NewCopies(folder, nil).SaveLists("s", Hash{}, lists, mask)
	if got, want := rendered(NewCopies(folder, nil).LoadLists("s", Hash{})[Prompts]), `{"name":"p","description":"for ***"} {"name":"q"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// In a key it cannot be masked, so that nothing is kept.
	NewCopies(folder, nil).SaveLists("s", Hash{}, Lists{Prompts: NewList("s", Prompts, entries(`{"name":"p","hunter22":1}`), "")}, mask)
	if lists := NewCopies(folder, nil).LoadLists("s", Hash{}); lists != nil {
		t.Errorf("kept %v", lists)
	}
}

func TestListsAreCleanedAndLimited(t *testing.T) {
	list := NewList("s", Prompts, entries(`{"name":"ab","title":"\u200e","description":"x\u200by","arguments":[{"name":"c","description":"\u202ez"}],"Name":"x"}`), "")
	if got, want := rendered(list), `{"name":"ab","title":"","description":"xy","arguments":[{"name":"c","description":"z"}]}`; got != want || len(list.Warnings) != 2 {
		t.Errorf("got %s, want %s; %q", got, want, list.Warnings)
	}
	for _, test := range []struct {
		kind        *ListKind
		entry, want string
	}{
		{Prompts, `{"name":"a\u200bb"}`, "Prompt 'a<U+200B>b' of server 's' is withheld: its 'name' hides text: 'a<U+200B>b'"},
		{Prompts, `{"name":"a","arguments":[{"name":"c\u200b"}]}`, "Prompt 'a' of server 's' is withheld: its 'name' hides text: 'c<U+200B>'"},
		{Resources, `{"uri":"x:\u200b","name":"a"}`, "Resource 'x:<U+200B>' of server 's' is withheld: its 'uri' hides text: 'x:<U+200B>'"},
		{Resources, `{"uri":"x:","name":"a\ue000"}`, "Resource 'x:' of server 's' is withheld: its 'name' hides text: 'a<U+E000>'"},
		{Templates, `{"uriTemplate":"x:\u200b{y}","name":"a"}`, "Resource template 'x:<U+200B>{y}' of server 's' is withheld: its 'uriTemplate' hides text: 'x:<U+200B>{y}'"},
		{Skills, `{"uri":"skill://\u200bx"}`, "Skill 'skill://<U+200B>x' of server 's' is withheld: its 'uri' hides text: 'skill://<U+200B>x'"},
	} {
		if list := NewList("s", test.kind, entries(test.entry), ""); len(list.Entries) > 0 || !slices.Equal(list.Warnings, []string{test.want}) {
			t.Errorf("%s: %s, warnings %q", test.entry, rendered(list), list.Warnings)
		}
	}
	skill := `{"uri":"skill://x/SKILL.md","frontmatter":{"description":"x\u200by"},"description":"x\u200by"}`
	if got := rendered(NewList("s", Skills, entries(skill), "")); got != skill {
		t.Errorf("a skill is changed: %s", got)
	}
	var many []string
	for i := range maxListEntries + 1 {
		many = append(many, fmt.Sprintf(`{"name":"%d"}`, i))
	}
	if list := NewList("s", Prompts, entries(many...), ""); len(list.Entries) != maxListEntries || list.Cut == "" {
		t.Errorf("%d entries, cut off because %q", len(list.Entries), list.Cut)
	}
	large := `{"name":"` + strings.Repeat("x", maxListBytes/2) + `"}`
	if list := NewList("s", Prompts, entries(large, large), ""); len(list.Entries) != 1 || list.Cut == "" {
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

func TestCleanPage(t *testing.T) {
	clean := wire.Raw([]byte(`{ "prompts":[ {"name":"a", "n":1.0} ,{"name":"b"}],"nextCursor":"\u200b"}`))
	if got := CleanPage(Prompts, "s", clean); string(got.Bytes()) != string(clean.Bytes()) {
		t.Errorf("a clean page becomes %s", got.Bytes())
	}
	page := wire.Raw([]byte(`{ "prompts":[ {"name":"a", "title":"\u200b"} ,{"name":"b\u200b"},{"name":"c" }],"nextCursor":"x", "_meta":{}}`))
	if got, want := string(CleanPage(Prompts, "s", page).Bytes()), `{ "prompts":[{"name":"a", "title":""},{"name":"c" }],"nextCursor":"x", "_meta":{}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if odd := wire.Raw([]byte(`{"prompts":7}`)); string(CleanPage(Prompts, "s", odd).Bytes()) != `{"prompts":7}` {
		t.Error("an odd answer is changed")
	}
}

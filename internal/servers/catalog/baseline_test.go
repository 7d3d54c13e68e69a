package catalog

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// described is a definition that can change.
func described(name, description string) string {
	return `{"name":"` + name + `","description":"` + description + `","inputSchema":{"type":"object"}}`
}

func changedWarning(name string) string {
	return "Definition of tool '" + name + "' in server 'fs' changed"
}

// compare lets the baseline see a listing; it returns the warnings and the names that
// changed just now.
func compare(t testing.TB, b *Baseline, key Hash, definitions ...string) (warnings, changed []string) {
	t.Helper()
	got, changes := b.Compare("fs", key, snapshot(t, toolbox.Filter{}, definitions...), plainly)
	for _, change := range changes {
		if change.Before.Hash == change.After.Hash {
			t.Errorf("the change of %s goes from %s to the same", change.Tool, change.Before.Hash)
		}
		changed = append(changed, change.Tool)
	}
	return got.Warnings, changed
}

func TestBaseline(t *testing.T) {
	type reading struct {
		newRun      bool
		definitions []string
		warned      []string // names of tools
		changed     []string
	}
	one, two := described("a", "one"), described("a", "two")
	for _, test := range []struct {
		name     string
		readings []reading
	}{
		{"the same", []reading{
			{definitions: []string{one}},
			{definitions: []string{one}},
			{newRun: true, definitions: []string{one}},
		}},
		{"another description", []reading{
			{definitions: []string{one, named("b")}},
			{newRun: true, definitions: []string{two, named("b")}, warned: []string{"a"}, changed: []string{"a"}},
			{definitions: []string{two, named("b")}, warned: []string{"a"}},
			{newRun: true, definitions: []string{two, named("b")}},
		}},
		{"another schema", []reading{
			{definitions: []string{`{"name":"a","inputSchema":{"type":"object"}}`}},
			{newRun: true, definitions: []string{`{"name":"a","inputSchema":{"type":"object","required":["x"]}}`}, warned: []string{"a"}, changed: []string{"a"}},
		}},
		{"another annotation", []reading{
			{definitions: []string{`{"name":"a","annotations":{"readOnlyHint":false},"inputSchema":{}}`}},
			{definitions: []string{`{"name":"a","annotations":{"readOnlyHint":true},"inputSchema":{}}`}, warned: []string{"a"}, changed: []string{"a"}},
		}},
		{"white space alone", []reading{
			{definitions: []string{`{"name":"a","inputSchema":{}}`}},
			{newRun: true, definitions: []string{`{"name":"a", "inputSchema":{}}`}, warned: []string{"a"}, changed: []string{"a"}},
		}},
		{"there and back", []reading{
			{definitions: []string{one}},
			{definitions: []string{two}, warned: []string{"a"}, changed: []string{"a"}},
			{definitions: []string{one}, warned: []string{"a"}, changed: []string{"a"}},
			{definitions: []string{one}, warned: []string{"a"}},
			{newRun: true, definitions: []string{one}},
			{definitions: []string{two}, warned: []string{"a"}, changed: []string{"a"}},
			{newRun: true, definitions: []string{one}, warned: []string{"a"}, changed: []string{"a"}},
		}},
		{"new tools and other order", []reading{
			{definitions: []string{one, named("b")}},
			{definitions: []string{named("c"), named("b"), one}},
			{newRun: true, definitions: []string{one, named("d"), named("c"), named("b")}},
		}},
		{"a tool that vanished and came back", []reading{
			{definitions: []string{one, named("b")}},
			{newRun: true, definitions: []string{named("b")}},
			{newRun: true, definitions: nil},
			{newRun: true, definitions: []string{named("b"), one}},
		}},
		{"a tool that vanished and came back in another form", []reading{
			{definitions: []string{one, named("b")}},
			{newRun: true, definitions: []string{named("b")}},
			{newRun: true, definitions: []string{two, named("b")}, warned: []string{"a"}, changed: []string{"a"}},
			{definitions: []string{named("b")}}, // only what is offered is warned of
			{definitions: []string{two}, warned: []string{"a"}},
		}},
		{"several, in the order of the server", []reading{
			{definitions: []string{described("c", "1"), one, named("b")}},
			{definitions: []string{two, named("b"), described("c", "2")}, warned: []string{"a", "c"}, changed: []string{"a", "c"}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			b := NewBaseline(folder, nil)
			for i, r := range test.readings {
				if r.newRun {
					b = NewBaseline(folder, nil)
				}
				var want []string
				for _, name := range r.warned {
					want = append(want, changedWarning(name))
				}
				warnings, changed := compare(t, b, Hash{1}, r.definitions...)
				if !slices.Equal(warnings, want) || !slices.Equal(changed, r.changed) {
					t.Errorf("reading %d: warnings %q, want %q; changed %q, want %q", i+1, warnings, want, changed, r.changed)
				}
			}
		})
	}
}

func TestBaselineWithoutAFolderRemembersTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	b := NewBaseline("", nil)
	compare(t, b, Hash{1}, described("a", "one"))
	if warnings, _ := compare(t, b, Hash{1}, described("a", "two")); !slices.Equal(warnings, []string{changedWarning("a")}) {
		t.Errorf("warnings are %q", warnings)
	}
	if names := filesIn(t, "."); len(names) != 0 {
		t.Errorf("files were written: %q", names)
	}
}

func TestBaselineKeepsServersApart(t *testing.T) {
	b := NewBaseline(t.TempDir(), nil)
	compare(t, b, Hash{1}, described("a", "one"))
	if warnings, _ := compare(t, b, Hash{2}, described("a", "two")); warnings != nil {
		t.Errorf("another server's tool is compared: %q", warnings)
	}
}

// What toolFilters leave out is not looked at: it counts as vanished.
func TestBaselineComparesWhatIsOffered(t *testing.T) {
	b := NewBaseline(t.TempDir(), nil)
	compare(t, b, Hash{1}, described("a", "one"), named("b"))
	without := snapshot(t, toolbox.NewFilter([]string{"b"}), described("a", "two"), named("b"))
	if got, changes := b.Compare("fs", Hash{1}, without, plainly); got.Warnings != nil || changes != nil {
		t.Errorf("a tool that is not offered is warned of: %q", got.Warnings)
	}
	if warnings, _ := compare(t, b, Hash{1}, described("a", "two"), named("b")); !slices.Equal(warnings, []string{changedWarning("a")}) {
		t.Errorf("warnings are %q", warnings)
	}
}

func TestBaselineLeavesTheSnapshotAlone(t *testing.T) {
	b := NewBaseline("", nil)
	compare(t, b, Hash{1}, described("a", "one"))
	before := snapshot(t, toolbox.Filter{}, described("a", "two"), `{"name":""}`)
	after, _ := b.Compare("fs", Hash{1}, before, plainly)
	if len(before.Warnings) != 1 || len(after.Warnings) != 2 || after.Warnings[0] != changedWarning("a") {
		t.Errorf("warnings are %q before and %q after", before.Warnings, after.Warnings)
	}
	if tool, ok := after.Find("a"); !ok || tool.Name != "a" {
		t.Error("the tool is lost")
	}
}

// crowdOf makes sound definitions of distinct tools.
func crowdOf(n int, prefix, description string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = described(fmt.Sprint(prefix, i), description)
	}
	return list
}

func TestChangesAreWarnedOfWithinBounds(t *testing.T) {
	b := NewBaseline("", nil)
	faults := slices.Repeat([]string{`{"name":""}`}, 200)
	compare(t, b, Hash{1}, append(faults, crowdOf(200, "t", "one")...)...)
	warnings, changed := compare(t, b, Hash{1}, append(faults, crowdOf(200, "t", "two")...)...)
	if len(warnings) != 2*(maxWarnings+1) || len(changed) != 200 {
		t.Fatalf("%d warnings, %d changes", len(warnings), len(changed))
	}
	if warnings[0] != changedWarning("t0") || warnings[maxWarnings] != "There were more warnings of this kind" {
		t.Errorf("the changes are not told first: %q", warnings[:maxWarnings+1])
	}
}

func TestBaselineRemembersWithinBounds(t *testing.T) {
	b := NewBaseline(t.TempDir(), nil)
	compare(t, b, Hash{1}, described("old", "one"))
	all := append(crowdOf(maxOffered+500, "t", "one"), described("old", "one"))
	compare(t, b, Hash{1}, all...)
	if n := len(b.servers[Hash{1}].tools); n != maxOffered {
		t.Errorf("%d tools are remembered, want %d", n, maxOffered)
	}
	compare(t, b, Hash{1}, crowdOf(maxOffered, "u", "one")...)
	if n := len(b.servers[Hash{1}].tools); n != maxOffered+maxVanished {
		t.Errorf("%d tools are remembered, want %d", n, maxOffered+maxVanished)
	}
	data, err := os.ReadFile(b.store.path(Hash{1}))
	if err != nil {
		t.Fatal("the largest file cannot be read back: ", err)
	}
	if known, err := decode(data, stored.Definitions); err != nil || len(known.tools) != maxOffered+maxVanished {
		t.Errorf("%d tools in the file, %v", len(known.tools), err)
	}
	if warnings, _ := compare(t, b, Hash{1}, described("old", "two")); !slices.Equal(warnings, []string{changedWarning("old")}) {
		t.Errorf("a crowd of new tools hid the old one: %q", warnings)
	}
}

func TestTheLongestGoneIsForgotten(t *testing.T) {
	b := NewBaseline("", nil)
	compare(t, b, Hash{1}, named("first"))
	compare(t, b, Hash{1}, append(crowdOf(maxVanished-1, "t", ""), named("second"))...)
	compare(t, b, Hash{1})
	remembered := b.servers[Hash{1}].tools
	if len(remembered) != maxVanished {
		t.Fatalf("%d tools are remembered", len(remembered))
	}
	if warnings, _ := compare(t, b, Hash{1}, described("first", "x"), described("second", "x")); !slices.Equal(warnings, []string{changedWarning("second")}) {
		t.Errorf("warnings are %q", warnings)
	}
}

func TestBaselineConcurrently(t *testing.T) {
	folder := t.TempDir()
	var group sync.WaitGroup
	for run := range 4 { // workbenches with two servers each, which share their files
		b := NewBaseline(folder, nil)
		for key := range 2 {
			for range 2 { // an old instance may be read while the next one starts
				group.Go(func() {
					for i := range 25 {
						compare(t, b, Hash{byte(key)}, described("a", strings.Repeat("x", i)), named(fmt.Sprint("b", run, i)))
					}
				})
			}
		}
	}
	group.Wait()
	for key := range 2 {
		data, err := os.ReadFile(store{folder: folder, suffix: seenSuffix}.path(Hash{byte(key)}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(data, stored.Definitions); err != nil {
			t.Error("the file is torn: ", err)
		}
	}
	if names := filesIn(t, folder); len(names) != 4 { // with what was accepted
		t.Errorf("files are left: %q", names)
	}
}

// What version 1 remembered is compared with what is offered now, however that is cleaned now.
func TestBaselinesOfTheFirstVersionAreRead(t *testing.T) {
	for name, old := range ofTheFirstVersion {
		folder := t.TempDir()
		b := NewBaseline(folder, nil)
		content := fmt.Sprintf(`{"version":1,"tools":[{"name":"%x","definition":"%s"}]}`, sha256.Sum256([]byte(name)), old[1])
		if err := os.WriteFile(b.store.path(Hash{1}), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, changed := compare(t, b, Hash{1}, named("other")); changed != nil { // so that it is kept as one that vanished
			t.Errorf("changed are %q", changed)
		}
		b = NewBaseline(folder, nil)
		if _, changed := compare(t, b, Hash{1}, old[0]); changed != nil {
			t.Errorf("%s counts as changed", name)
		}
		changed := strings.Replace(old[0], `{"name"`, `{"x":1,"name"`, 1)
		if _, changed := compare(t, NewBaseline(folder, nil), Hash{1}, changed); !slices.Equal(changed, []string{name}) {
			t.Errorf("the change of %s goes unnoticed", name)
		}
	}
}

// What counts is what the server says, also where it is removed.
func TestBaselineComparesWhatTheServerSays(t *testing.T) {
	b := NewBaseline("", nil)
	compare(t, b, Hash{1}, described("a", "x\u200b"))
	if _, changed := compare(t, b, Hash{1}, described("a", "x\u200b\u200b")); !slices.Equal(changed, []string{"a"}) {
		t.Errorf("changed are %q", changed)
	}
}

func TestChangedInstructions(t *testing.T) {
	folder := t.TempDir()
	b := NewBaseline(folder, nil)
	for i, step := range []struct {
		newRun       bool
		instructions string
		warns, is    bool // a warning, a change
	}{
		{false, "one", false, false},
		{false, "one", false, false},
		{true, "two", true, true},
		{false, "two", true, false},
		{true, "two", false, false},
		{false, "", false, false}, // those of before stay remembered
		{true, "two", false, false},
		{false, "two\u200b", true, true},
		{false, "two", true, true},
	} {
		if step.newRun {
			b = NewBaseline(folder, nil)
		}
		got, changes := b.Compare("fs", Hash{1}, instructed(t, step.instructions, named("a")), plainly)
		warns := slices.Contains(got.Warnings, "Instructions of server 'fs' changed")
		if is := len(changes) == 1 && changes[0].Tool == ""; warns != step.warns || is != step.is {
			t.Errorf("step %d: warnings %q, changes %v", i+1, got.Warnings, changes)
		}
		if tool, _ := got.Find("a"); tool.Changed {
			t.Errorf("step %d: the tool counts as changed", i+1)
		}
	}
	b = NewBaseline("", nil)
	b.Compare("fs", Hash{1}, instructed(t, ""), plainly)
	if _, changes := b.Compare("fs", Hash{1}, instructed(t, "now it says something"), plainly); len(changes) != 1 {
		t.Error("instructions that were not there before go unnoticed")
	}
}

func TestChangedToolsAreMarked(t *testing.T) {
	b := NewBaseline("", nil)
	compare(t, b, Hash{1}, described("a", "one"), named("b"))
	before := snapshot(t, toolbox.Filter{}, described("a", "two"), named("b"))
	after, _ := b.Compare("fs", Hash{1}, before, plainly)
	if !after.Tools[0].Changed || after.Tools[1].Changed || before.Tools[0].Changed {
		t.Errorf("marked are %v", after.Tools)
	}
}

func TestBaselineKeepsWordsWithinBounds(t *testing.T) {
	folder := t.TempDir()
	long := strings.Repeat("x", maxStoredContent/2-100)
	definitions := []string{described("a", long), described("b", long), described("c", long)}
	compare(t, NewBaseline(folder, nil), Hash{1}, definitions...)
	if info, err := os.Stat((store{folder: folder, suffix: seenSuffix}).path(Hash{1})); err != nil || info.Size() > maxStoredContent+1000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	b, log := logged(folder)
	if _, changed := compare(t, b, Hash{1}, definitions[0], definitions[1], described("c", "y")); !slices.Equal(changed, []string{"c"}) || log.Len() > 0 {
		t.Errorf("changed are %q, the log has %q", changed, log)
	}
}

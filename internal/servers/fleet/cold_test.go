package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const coldSpec = `{"tools":[{"name":"a","description":"x\u200by","inputSchema":{}},{"name":"b","inputSchema":{}}]}`

// again makes a second fleet with the configuration and the files of a first one.
func (r *rig) again(t *testing.T, options Options) *rig {
	t.Helper()
	options.Config = r.table.Load().config
	options.Host = r.options.Host
	if options.Environ == nil {
		options.Environ = os.Environ()
	}
	second := &rig{folder: r.folder, Fleet: New(options)}
	second.box, _ = second.Toolbox("T")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := second.Stop(ctx); err != nil {
			t.Error("stop: ", err)
		}
	})
	return second
}

func TestOfferedIsKnownBeforeTheFirstStart(t *testing.T) {
	folder := t.TempDir()
	first := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Copies: catalog.NewCopies(folder, nil)})
	if first.server(t, "S").Offered() != nil {
		t.Error("a server that was never seen is known")
	}
	if err := call(t.Context(), first.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	if first.server(t, "S").Offered().Stored {
		t.Error("what a running server offers is said to be stored")
	}

	changed := make(chan string, 10)
	second := first.again(t, Options{
		Copies: catalog.NewCopies(folder, nil), ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox },
	})
	server := second.server(t, "S")
	cold := server.Offered()
	if cold == nil || !cold.Stored || !slices.Equal(cold.Names(), []string{"a", "b"}) || cold.ServerVersion != "1" {
		t.Fatalf("before the start, %+v is offered", cold)
	}
	if server.Offered() != cold {
		t.Error("asked again, it is another snapshot")
	}
	if status := server.Status(); status.Tools != 0 || status.State != Idle || second.starts(t, "S") != 1 {
		t.Errorf("asking for what is known did something: %+v", status)
	}
	lease, err := server.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	if lease.Tools.Stored || server.Offered() != lease.Tools || len(changed) != 0 {
		t.Errorf("after the start, %+v is offered; told %d times that it changed", server.Offered(), len(changed))
	}
}

// Fifty servers are known, and the use of one starts one process.
func TestOneOfManyKnownServersStarts(t *testing.T) {
	specs := make(map[string]string)
	for i := range 50 {
		specs[fmt.Sprintf("s%d", i)] = coldSpec
	}
	copies := catalog.NewCopies(t.TempDir(), nil)
	r := newRig(t, specs, nil, Options{Copies: copies})
	known := snapshotOf(t, coldSpec)
	for _, server := range r.box.Servers {
		copies.Save(server.Name(), server.copyKey(), known, strings.Clone)
	}
	for _, server := range r.box.Servers {
		if offered := server.Offered(); offered == nil || len(offered.Tools) != 2 {
			t.Errorf("%s is not known: %+v", server.Name(), offered)
		}
	}
	if err := call(t.Context(), r.server(t, "s7"), "a"); err != nil {
		t.Fatal(err)
	}
	starts := 0
	for name := range specs {
		starts += r.starts(t, name)
	}
	if starts != 1 || r.starts(t, "s7") != 1 {
		t.Errorf("%d processes were started", starts)
	}
}

// What was not asked for is not read: a workbench with many servers starts at once.
func TestCopiesAreReadWhenTheyAreNeeded(t *testing.T) {
	folder := t.TempDir()
	first := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Copies: catalog.NewCopies(folder, nil)})
	if err := call(t.Context(), first.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	second := first.again(t, Options{Copies: catalog.NewCopies(folder, nil)})
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %q, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if second.server(t, "S").Offered() != nil {
		t.Error("the copy was read when the fleet was made, or a damaged one is used")
	}
}

func TestAllClientsKnowWhatOneSaw(t *testing.T) {
	r := newRig(t, map[string]string{"S": coldSpec}, nil, Options{})
	if err := call(t.Context(), r.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	profile := NewClientProfile(ProfileOptions{Capabilities: []byte(`{"sampling":{}}`)})
	defer profile.Close()
	variant := r.server(t, "S").For(profile)
	if variant == r.server(t, "S") {
		t.Fatal("the profile has no session of its own")
	}
	if known := variant.Offered(); known == nil || !known.Stored || len(known.Tools) != 2 {
		t.Errorf("the other client knows %+v", known)
	}
}

func TestChangedCopyIsTold(t *testing.T) {
	folder := t.TempDir()
	first := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Copies: catalog.NewCopies(folder, nil)})
	if err := call(t.Context(), first.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(first.folder, "S.json"), []byte(`{"tools":[{"name":"c","inputSchema":{}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := make(chan string, 10)
	second := first.again(t, Options{
		Copies: catalog.NewCopies(folder, nil), ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox },
	})
	if err := call(t.Context(), second.server(t, "S"), "c"); err != nil {
		t.Fatal(err)
	}
	if <-changed != "T" || !slices.Equal(second.server(t, "S").Offered().Names(), []string{"c"}) {
		t.Errorf("%q is offered", second.server(t, "S").Offered().Names())
	}
	third := first.again(t, Options{Copies: catalog.NewCopies(folder, nil)})
	if names := third.server(t, "S").Offered().Names(); !slices.Equal(names, []string{"c"}) {
		t.Errorf("%q is kept", names)
	}
}

func TestCopyKeyTellsFiltersApart(t *testing.T) {
	keys := make(map[catalog.Hash]string)
	for name, filter := range map[string]toolbox.Filter{
		"all": {}, "none": toolbox.NewFilter([]string{}), "a": toolbox.NewFilter([]string{"a"}),
		"a, b": toolbox.NewFilter([]string{"a", "b"}), "joined": toolbox.NewFilter([]string{`a" "b`}), "a star": toolbox.NewFilter([]string{`"*"`}),
	} {
		s := &Server{definition: definition{toolbox: "t", config: config.Server{Name: "s", Command: "c", Filter: filter}}}
		if other, ok := keys[s.copyKey()]; ok {
			t.Errorf("%s and %s have one key", name, other)
		}
		keys[s.copyKey()] = name
	}
}

// lockedTools is what a lock holds if all tools are approved.
func lockedTools(snapshot *catalog.Snapshot) (tools []catalog.LockedTool) {
	for _, tool := range snapshot.Tools {
		tools = append(tools, catalog.LockedTool{Name: tool.Name, Record: tool.Record(func(text string) string { return text })})
	}
	return tools
}

func TestRestrictionsApplyToWhatRunsAndToWhatIsKept(t *testing.T) {
	lockFor := func(names ...string) *catalog.Restrictions {
		locked := catalog.LockedServer{Toolbox: "T", Server: "S"}
		for _, tool := range lockedTools(snapshotOf(t, coldSpec)) {
			if slices.Contains(names, tool.Name) {
				locked.Tools = append(locked.Tools, tool)
			}
		}
		return &catalog.Restrictions{Lock: &catalog.Lock{Servers: []catalog.LockedServer{locked}}}
	}
	denying := func(pattern toolbox.Pattern, other *catalog.Restrictions) *catalog.Restrictions {
		return &catalog.Restrictions{Lock: other.Lock, Denies: func(_ string, ref toolbox.Ref, _ catalog.Tool) bool { return pattern.Matches(ref) }}
	}
	folder := t.TempDir()
	r := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Copies: catalog.NewCopies(folder, nil), Restrictions: lockFor("a")})
	server := r.server(t, "S")
	lease, err := server.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lease.Release()
	second := r.again(t, Options{Copies: catalog.NewCopies(folder, nil), Restrictions: lockFor("b")})
	for _, step := range []struct {
		restrictions *catalog.Restrictions
		live, cold   string
	}{
		{lockFor("a"), "a", "a"},
		{lockFor("b"), "b", "b"},
		{lockFor(), "", ""},
		{&catalog.Restrictions{Lock: &catalog.Lock{}}, "", ""},
		{denying("T/S/a", lockFor("a", "b")), "b", "b"},
		{denying("*/a", &catalog.Restrictions{}), "b", "b"},
		{denying("T/*", &catalog.Restrictions{}), "", ""},
		{denying("U/*", &catalog.Restrictions{}), "a,b", "a,b"},
		{nil, "a,b", "a,b"},
	} {
		r.Restrict(step.restrictions)
		second.Restrict(step.restrictions)
		again, err := server.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again.Release()
		if got := strings.Join(again.Tools.Names(), ","); got != step.live || again.Tools != server.Offered() {
			t.Errorf("the running server offers %q, want %q", got, step.live)
		}
		if cold := second.server(t, "S").Offered(); strings.Join(cold.Names(), ",") != step.cold || !cold.Stored {
			t.Errorf("the server that never ran offers %q, want %q", cold.Names(), step.cold)
		}
		if server.Permits("unlisted") != (step.restrictions == nil) {
			t.Error("a tool that nobody approved may be used, or none")
		}
	}
}

// A definition that changes while the server runs is withheld at once.
func TestLockAppliesToARefresh(t *testing.T) {
	changed := make(chan string, 10)
	locked := catalog.LockedServer{Toolbox: "T", Server: "S", Tools: lockedTools(snapshotOf(t, changingSpec))}
	r := newRig(t, map[string]string{"S": changingSpec}, nil, Options{
		Restrictions: &catalog.Restrictions{Lock: &catalog.Lock{Servers: []catalog.LockedServer{locked}}}, ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox },
	})
	if err := call(t.Context(), r.server(t, "S"), "a"); err != nil {
		t.Fatal(err)
	}
	<-changed // came up
	<-changed
	lease, err := r.server(t, "S").Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	if len(lease.Tools.Tools) != 0 || len(r.server(t, "S").Offered().Tools) != 0 {
		t.Errorf("%q is offered", lease.Tools.Names())
	}
	if reason, ok := lease.Tools.Withheld("a"); !ok || !strings.Contains(reason, "is not as workbench.lock has it") {
		t.Errorf("it is withheld because it %q", reason)
	}
}

// snapshotOf returns what a fake with that spec offers.
func snapshotOf(t *testing.T, spec string) *catalog.Snapshot {
	t.Helper()
	r := newRig(t, map[string]string{"S": spec}, nil, Options{})
	lease, err := r.server(t, "S").Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	return lease.Tools
}

func TestPrefetch(t *testing.T) {
	folder := t.TempDir()
	r := newRig(t, map[string]string{"S": coldSpec, "bad": `{"start":[{"exit":1}]}`}, nil, Options{Copies: catalog.NewCopies(folder, nil)})
	r.Prefetch(r.Toolboxes())
	server := r.server(t, "S")
	eventually(t, "the end of the prefetched server", func() bool {
		status := server.Status()
		return status.Tools == 2 && status.State == Idle
	})
	if r.starts(t, "S") != 1 || len(server.Offered().Tools) != 2 {
		t.Errorf("%d starts, %+v", r.starts(t, "S"), server.Offered())
	}
	second := r.again(t, Options{Copies: catalog.NewCopies(folder, nil)})
	second.Prefetch(second.Toolboxes())
	eventually(t, "the try of the other server", func() bool { return second.server(t, "bad").Status().LastError != "" })
	if r.starts(t, "S") != 1 {
		t.Error("a server that is known was started")
	}
}

// A server that somebody uses meanwhile stays.
func TestPrefetchedServerInUseStays(t *testing.T) {
	r := newRig(t, map[string]string{"S": coldSpec}, nil, Options{})
	server := r.server(t, "S")
	lease, err := server.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := lease.instance
	if server.retireUnused(in) {
		t.Error("a server in use was stopped")
	}
	lease.Release()
	server.prefetch(t.Context())
	if server.retireUnused(in) {
		t.Error("a server that was used before was stopped")
	}
}

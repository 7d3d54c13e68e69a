package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const promisingSpec = `{"tools":[{"name":"a","inputSchema":{}}],"calls":{
	"a":[{"change":[{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true}}]},{"result":{}}]}}`

// What a person accepts in another process counts for a running server once the restrictions are set again, and for the
// next run.
func TestAcceptedHints(t *testing.T) {
	changed := make(chan string, 10)
	folder := t.TempDir()
	options := func() Options {
		return Options{Copies: catalog.NewCopies(folder, nil), Baseline: catalog.NewBaseline(folder, nil), ToolsChanged: func(toolbox string, _ Scope) { changed <- toolbox }}
	}
	r := newRig(t, map[string]string{"S": promisingSpec}, nil, options())
	server := r.server(t, "S")
	if err := call(t.Context(), server, "a"); err != nil {
		t.Fatal(err)
	}
	<-changed // came up
	<-changed
	isDoubted := func(s *Server) bool { return s.Offered().Tools[0].HintsDoubted && len(s.ChangedHints()) == 1 }
	other := r.again(t, options()).server(t, "S")
	if !isDoubted(server) || !isDoubted(other) {
		t.Fatalf("changed hints count: %+v, %+v", server.Offered().Tools, other.Offered().Tools)
	}
	if err := other.AcceptHints([]string{"a"}); err != nil {
		t.Fatal(err)
	}
	r.ReviewHints()
	lease := server.tryLease("")
	defer lease.Release()
	if lease.Tools.Tools[0].HintsDoubted || len(server.ChangedHints()) > 0 {
		t.Error("accepted hints do not count for the running server")
	}
	if next := r.again(t, options()).server(t, "S"); next.Offered().Tools[0].HintsDoubted {
		t.Error("accepted hints do not count in the next run")
	}
}

// A lease has the tools of its caller, and callers that see the same share it.
func TestLeasesByCaller(t *testing.T) {
	restrictions := &catalog.Restrictions{
		Callers: []string{"token:ci"},
		Denies: func(caller string, ref toolbox.Ref, _ catalog.Tool) bool {
			return caller == "token:ci" && ref.Name == "b"
		},
	}
	r := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Restrictions: restrictions})
	server := r.server(t, "S")
	as := func(caller string) *Lease {
		profile := NewClientProfile(ProfileOptions{Caller: caller})
		t.Cleanup(profile.Close)
		lease, err := server.LeaseFor(t.Context(), profile)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(lease.Release)
		if offered := server.OfferedFor(profile); offered != lease.Tools || server.Denies(profile, "b") != (caller == "token:ci") {
			t.Errorf("%s is offered %q, and leases %q", caller, offered.Names(), lease.Tools.Names())
		}
		return lease
	}
	ci, stdio := as("token:ci"), as(config.CallerStdio)
	if !slices.Equal(ci.Tools.Names(), []string{"a"}) || !slices.Equal(stdio.Tools.Names(), []string{"a", "b"}) {
		t.Errorf("the callers see %q and %q", ci.Tools.Names(), stdio.Tools.Names())
	}
	if as("token:ci") != ci || as(config.CallerHTTP) != stdio || r.starts(t, "S") != 1 {
		t.Error("leases of the same tools differ")
	}
}

func TestFolderOfAServer(t *testing.T) {
	here, there, configured := t.TempDir(), t.TempDir(), t.TempDir()
	r := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Folder: here})
	profile := NewClientProfile(ProfileOptions{Folder: there})
	defer profile.Close()
	server := r.server(t, "S")
	server.config.Dir = ""
	for _, test := range []struct {
		change func(*config.Server)
		of     *ClientProfile
		want   string
	}{
		{func(*config.Server) {}, nil, here},
		{func(*config.Server) {}, profile, there},
		{func(s *config.Server) { s.Dir = configured }, profile, configured},
		{func(s *config.Server) { s.URL = "https://example.com" }, profile, ""},
	} {
		test.change(&server.config)
		if got := server.Folder(test.of); got != test.want {
			t.Errorf("the folder is %q, want %q", got, test.want)
		}
	}
}

func TestNamedFoldersOfAServer(t *testing.T) {
	here, named, root := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(here, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, map[string]string{"S": coldSpec}, nil, Options{Folder: here})
	profile := NewClientProfile(ProfileOptions{Folder: here})
	defer profile.Close()
	profile.SetRoots([]byte(`[{"uri":"file://` + root + `"},{"uri":"https://example.com/"},7]`))
	server := r.server(t, "S")
	server.config.Dir = ""
	server.config.Args = []string{"--quiet", "sub", "absent", "--root=" + named, here}
	want := []string{filepath.Join(here, "sub"), named}
	if got := server.NamedFolders(profile); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	server.variants.rooted = true
	if got := server.NamedFolders(profile); !slices.Equal(got, append(want, root)) {
		t.Errorf("with roots: %q", got)
	}
	server.config.URL = "https://example.com"
	if got := server.NamedFolders(profile); got != nil {
		t.Errorf("remote: %q", got)
	}
}

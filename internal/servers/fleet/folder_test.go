package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func newMemberIn(t *testing.T, folder, capabilities string) *member {
	t.Helper()
	m := newMember(t, capabilities)
	m.ClientProfile = NewClientProfile(ProfileOptions{
		Capabilities: []byte(capabilities), Folder: folder,
		Ask:    func(q *downstream.Question) { m.asked <- q },
		Notice: func(*Server, wire.Message) {},
	})
	t.Cleanup(m.Close)
	return m
}

func TestServerRunsInTheFolderOfItsClients(t *testing.T) {
	inherits := func(s *config.Server) { s.InheritEnv.All = true }
	r := newRig(t, map[string]string{"S": askTools}, inherits, Options{})
	server := r.server(t, "S")
	here, there := t.TempDir(), t.TempDir()
	a, alike, other := newMemberIn(t, here, "{}"), newMemberIn(t, here, "{}"), newMemberIn(t, there, "{}")
	if server.For(a.ClientProfile) != server.For(alike.ClientProfile) {
		t.Error("clients in one folder do not share a session")
	}
	if server.For(a.ClientProfile) == server.For(other.ClientProfile) || server.For(a.ClientProfile) == server {
		t.Error("clients in different folders share a session")
	}
	<-a.begin(t, server, "hi")
	<-other.begin(t, server, "hi")
	log, err := os.ReadFile(filepath.Join(r.folder, "S.log"))
	for _, folder := range []string{here, there} {
		if err != nil || !strings.Contains(string(log), "cwd "+folder+"\n") {
			t.Errorf("no server ran in %s: %s, %v", folder, log, err)
		}
	}
	for _, variant := range []*Server{server.For(a.ClientProfile), server.For(other.ClientProfile)} {
		spec, _ := variant.spec(&variant.config)
		for _, entry := range spec.Env {
			if name, value, _ := strings.Cut(entry, "="); name == "PWD" && value != variant.folder {
				t.Errorf("the server in %s is told that it is in %s", variant.folder, value)
			}
		}
	}
}

func TestFolderThatMakesNoDifference(t *testing.T) {
	tests := []struct {
		name   string
		change func(*config.Server)
	}{
		{"its own folder", func(s *config.Server) { s.Dir = os.TempDir() }},
		{"remote", func(s *config.Server) { s.Command, s.URL = "", "http://127.0.0.1:1/mcp" }},
		{"built-in clock", func(s *config.Server) { s.Command, s.Builtin = "", "clock" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"S": askTools}, test.change, Options{})
			server := r.server(t, "S")
			a, b := newMemberIn(t, "/a", "{}"), newMemberIn(t, "/b", "{}")
			if server.For(a.ClientProfile) != server || server.For(b.ClientProfile) != server {
				t.Error("clients in different folders do not share it")
			}
		})
	}
	r := newRig(t, map[string]string{"S": askTools}, func(s *config.Server) { s.Command, s.Builtin = "", "files" }, Options{})
	if server := r.server(t, "S"); server.For(newMemberIn(t, "/a", "{}").ClientProfile) == server {
		t.Error("clients in different folders share the built-in server that reads files of them")
	}
}

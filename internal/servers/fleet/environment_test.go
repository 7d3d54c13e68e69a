package fleet

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// inEnvironment makes a client of a client with these variables besides ours; cfg is the
// configuration there, nil for ours.
func inEnvironment(t *testing.T, r *rig, cfg *config.Config, variables ...string) *member {
	t.Helper()
	e := r.NewEnvironment(append(slices.Clone(r.options.Environ), variables...), cfg, nil)
	t.Cleanup(e.Close)
	m := newMember(t, "")
	m.ClientProfile = NewClientProfile(ProfileOptions{Environment: e, Notice: m.options.Notice, Ask: m.options.Ask})
	t.Cleanup(m.Close)
	return m
}

// A server is shared by clients whose environments make no difference to it.
func TestEnvironmentThatMakesNoDifference(t *testing.T) {
	tests := []struct {
		name     string
		variable string
		inherit  config.InheritEnv
		shared   bool
	}{
		{"nothing", "", config.InheritEnv{}, true},
		{"variable that it does not get", "HELLO=1", config.InheritEnv{}, true},
		{"secret that it does not get", "UV_TOKEN=1", config.InheritEnv{}, true},
		{"variable of a terminal", "TERM=dumb", config.InheritEnv{}, true},
		{"session of the desktop", "XDG_SESSION_ID=2", config.InheritEnv{}, true},
		{"language", "LANG=de", config.InheritEnv{}, true},
		{"version manager", "NVM_BIN=/nvm", config.InheritEnv{}, true},
		{"PATH", "PATH=/nowhere:" + os.Getenv("PATH"), config.InheritEnv{}, true},
		{"variable that it gets", "TZ=Asia/Tokyo", config.InheritEnv{}, false},
		{"variable that it inherits", "AWS_REGION=x", config.InheritEnv{Patterns: []string{"AWS_*"}}, false},
		{"everything", "HELLO=1", config.InheritEnv{All: true}, false},
		{"terminal of one that inherits everything", "TERM=dumb", config.InheritEnv{All: true}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, map[string]string{"S": askTools}, func(s *config.Server) { s.InheritEnv = test.inherit }, Options{})
			server := r.server(t, "S")
			var variables []string
			name, _, isSet := strings.Cut(test.variable, "=")
			if isSet {
				variables = []string{test.variable}
			}
			used := server.For(inEnvironment(t, r, nil, variables...).ClientProfile)
			if (used == server) != test.shared {
				t.Errorf("it is shared: %t, want %t", used == server, test.shared)
			}
			if again := server.For(inEnvironment(t, r, nil, variables...).ClientProfile); again != used {
				t.Error("clients with the same environment do not share it")
			}
			if got := used.Status().For.Environment; !test.shared && !slices.Equal(got, []string{name}) {
				t.Errorf("the copy is said to be for other %q", got)
			}
		})
	}
}

// A command counts as the same program if it is the same file.
func TestEnvironmentWithAnotherProgram(t *testing.T) {
	same, other := t.TempDir(), t.TempDir()
	r := newRig(t, map[string]string{"S": askTools}, func(s *config.Server) {
		if err := os.Symlink(s.Command, filepath.Join(same, "serve")); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(s.Command)
		if err == nil {
			err = os.WriteFile(filepath.Join(other, "serve"), data, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Command = "serve"
		s.Dir = t.TempDir()
	}, Options{Environ: append(os.Environ(), "PATH="+same)})
	server := r.server(t, "S")
	if used := server.For(inEnvironment(t, r, nil, "PATH=/nowhere:"+same).ClientProfile); used != server {
		t.Error("clients that find the same file do not share it")
	}
	if used := server.For(inEnvironment(t, r, nil, "PATH=/nowhere").ClientProfile); used != server {
		t.Error("a client that would not find it does not share it")
	}
	m := inEnvironment(t, r, nil, "PATH="+other+":"+same)
	used := server.For(m.ClientProfile)
	if used == server {
		t.Fatal("clients that find different files share it")
	}
	if got := used.Status().For.Command; got != filepath.Join(other, "serve") {
		t.Errorf("the copy is said to be for %q", got)
	}
	spec, _ := used.spec(&used.config)
	if !slices.Contains(spec.Env, "PATH="+other+":"+same) {
		t.Errorf("its environment is %q", spec.Env)
	}
}

// What a variable of the configuration is for a client concerns the servers that name it.
func TestEnvironmentWithOtherVariables(t *testing.T) {
	var logged bytes.Buffer
	r := newRig(t, map[string]string{"A": askTools, "B": askTools}, nil, Options{Log: slog.New(slog.NewTextHandler(&logged, nil))})
	own := r.table.Load().config
	theirs := *own
	theirs.Secrets = []string{"hunter-two"}
	theirs.Toolboxes = []config.Toolbox{{Name: "T", Servers: slices.Clone(own.Toolboxes[0].Servers)}}
	for i := range theirs.Toolboxes[0].Servers {
		if s := &theirs.Toolboxes[0].Servers[i]; s.Name == "B" {
			s.Env = append(slices.Clone(s.Env), config.Variable{Name: "PASSWORD", Value: "hunter-two"})
		}
	}
	m := inEnvironment(t, r, &theirs)
	if a := r.server(t, "A"); a.For(m.ClientProfile) != a {
		t.Error("the server that names no variable is not shared")
	}
	b := r.server(t, "B")
	used := b.For(m.ClientProfile)
	if used == b || used.config.Env[len(used.config.Env)-1].Value != "hunter-two" {
		t.Fatalf("it is started with %v", used.config.Env)
	}
	if used.memory == b.memory {
		t.Error("what another definition offers is taken for its own")
	}
	if got := used.Status().For.Environment; !slices.Equal(got, []string{"PASSWORD"}) {
		t.Errorf("the copy is said to be for other %q", got)
	}
	if masked := r.masker.Load().Mask("hunter-two"); strings.Contains(masked, "hunter") {
		t.Error("a secret of a client is not masked")
	}
	// A fault may be that of one environment alone.
	broken := *own
	broken.Toolboxes = []config.Toolbox{{Name: "T", Servers: slices.Clone(own.Toolboxes[0].Servers)}}
	for i := range broken.Toolboxes[0].Servers {
		s := &broken.Toolboxes[0].Servers[i]
		*s = config.Server{Name: s.Name, Fault: &config.Error{Problems: []config.Problem{{Message: "not set"}}}}
	}
	r.Apply(&broken)
	r.box, _ = r.Toolbox("T")
	whole := inEnvironment(t, r, own)
	lease, err := r.server(t, "A").LeaseFor(t.Context(), whole.ClientProfile)
	if err != nil {
		t.Fatal(err)
	}
	lease.Release()
	if _, err := r.server(t, "A").LeaseFor(t.Context(), nil); err == nil {
		t.Error("the fault is gone")
	}
}

//go:build unix

package fleet

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// withForms returns the definition of a server as a file with these members would have it, besides those of the rig.
func withForms(t *testing.T, folder, members string) config.Server {
	t.Helper()
	cfg, err := config.Parse("f", []byte(`{"toolboxes": {"T": {"mcpServers": {"S": {`+members+`}}}}}`), config.ParseOptions{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	server := cfg.Toolboxes[0].Servers[0]
	if server.Fault != nil {
		t.Fatal(server.Fault)
	}
	return server
}

func writePrivate(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A server gets the value; what is stored and compared is the form, and other servers get nothing.
func TestSecretOfAServer(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "token")
	writePrivate(t, file, "hunter2-one\n")
	definition := withForms(t, folder, `"command": "x", "env": {"TOKEN": "<${file:token}>"}`)
	r := newRig(t, map[string]string{
		"S": `{"env": ["TOKEN"], "start": [{"stderr": "I have hunter2-one and hunter2-two"}], "tools": [{"name":"a","inputSchema":{}}]}`,
		"O": `{"env": ["TOKEN"]}`,
	}, func(s *config.Server) {
		if s.Name == "S" {
			s.Env, s.Deferred = definition.Env, definition.Deferred
		}
	}, Options{})
	server := r.server(t, "S")
	for name, want := range map[string]string{"S": "env TOKEN=<hunter2-one>", "O": "env TOKEN is not set"} {
		if err := call(t.Context(), r.server(t, name), "a"); err != nil && name == "S" {
			t.Fatal(err)
		}
		eventually(t, want, func() bool {
			log, _ := os.ReadFile(filepath.Join(r.folder, name+".log"))
			return strings.Contains(string(log), want)
		})
	}
	eventually(t, "the masked line", func() bool {
		return strings.Contains(strings.Join(server.Status().Stderr, "\n"), "I have "+secret.Mask+" and hunter2-two")
	})
	if got := server.config.Env[0].Value; got != "<${file:token}>" {
		t.Errorf("the definition has %q", got)
	}

	key := definitionKey("T", server.config)
	writePrivate(t, file, "hunter2-two\n")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new secret", func() bool {
		log, _ := os.ReadFile(filepath.Join(r.folder, "S.log"))
		return strings.Contains(string(log), "env TOKEN=<hunter2-two>")
	})
	if r.Mask("hunter2-one hunter2-two") != secret.Mask+" "+secret.Mask {
		t.Error("the secrets of the last two starts are not masked")
	}
	if definitionKey("T", server.config) != key {
		t.Error("another secret makes another definition")
	}
	r.Apply(r.changed(func(cfg *config.Config) { cfg.Toolboxes[0].Description = "new" }))
	if after, _ := r.Toolbox("T"); after.byName["S"] != server {
		t.Error("a reload replaced the server")
	}

	r.Apply(r.changed(func(cfg *config.Config) { cfg.Toolboxes = nil }))
	eventually(t, "the end of the mask", func() bool {
		r.Hide("another-secret") // makes the masker anew
		return r.Mask("hunter2-one") == "hunter2-one"
	})
}

// A form without a value fails its server alone, with the reason and what to do.
func TestMissingSecret(t *testing.T) {
	folder := t.TempDir()
	definition := withForms(t, folder, `"command": "x", "env": {"A": "${exec:sh -c 'echo hunter2hunter2; echo hunter3hunter3 >&2; exit 7'}"}`)
	r := newRig(t, map[string]string{"S": `{}`, "O": `{"tools": [{"name":"a","inputSchema":{}}]}`}, func(s *config.Server) {
		if s.Name == "S" {
			s.Env, s.Deferred = definition.Env, definition.Deferred
		}
	}, Options{})
	err := call(t.Context(), r.server(t, "S"), "a")
	if err == nil || !strings.Contains(err.Error(), "the secret ${exec:sh …} cannot be had: the command exited with code 7; run it in a terminal") || strings.Contains(err.Error(), "hunter") {
		t.Error(err)
	}
	if r.starts(t, "S") != 0 {
		t.Error("it was started")
	}
	if err := call(t.Context(), r.server(t, "O"), "a"); err != nil {
		t.Error(err)
	}
}

// A remote server gets the value in its headers. When it refuses a session, the next one has a new value.
func TestSecretOfARemoteServer(t *testing.T) {
	var wanted atomic.Value
	wanted.Store("token-number-1")
	serve := streamableHandler()
	web := newHub(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isEnd := r.Method == http.MethodDelete // of the session with the old token, which the library keeps otherwise
		if !isEnd && r.Header.Get("Authorization") != "Bearer "+wanted.Load().(string) || r.URL.Query().Get("key") != "from a file" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		serve.ServeHTTP(w, r)
	}))
	folder := t.TempDir()
	writePrivate(t, filepath.Join(folder, "token"), "token-number-1")
	writePrivate(t, filepath.Join(folder, "key"), "from%20a%20file\n")
	definition := withForms(t, folder, `"url": "`+web.URL+`?key=${file:key}", "headers": {"Authorization": "Bearer ${exec:sh -c 'printf . >> runs; cat token'}"}`)
	r, server := remoteRig(t, definition.URL, "", func(s *config.Server) {
		s.Headers, s.Deferred = definition.Headers, definition.Deferred
	}, Options{})
	runs := func() int {
		data, _ := os.ReadFile(filepath.Join(folder, "runs"))
		return len(data)
	}
	if err := call(t.Context(), server, "x"); err != nil {
		t.Fatal(err)
	}
	if server.Address() != web.URL+"?key=${file:key}" || r.Mask("token-number-1") != secret.Mask {
		t.Error(server.Address(), r.Mask("token-number-1"))
	}
	writePrivate(t, filepath.Join(folder, "token"), "token-number-2")
	wanted.Store("token-number-2")
	if err := call(t.Context(), server, "x"); err == nil || strings.Contains(err.Error(), "token-number") {
		t.Fatal(err)
	}
	eventually(t, "a call with the new token", func() bool { return call(t.Context(), server, "x") == nil })
	if n := runs(); n != 2 {
		t.Errorf("the command ran %d times", n)
	}
}

// What a command prints depends on the whole environment, so clients of another one do not share a server with it.
func TestSecretsInAnotherEnvironment(t *testing.T) {
	for name, test := range map[string]struct {
		form   string
		shared bool
	}{
		"command": {`${exec:sh -c 'echo $VAULT_TOKEN'}`, false},
		"keyring": {`${keyring:x}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			definition := withForms(t, t.TempDir(), `"command": "x", "env": {"TOKEN": "`+test.form+`"}`)
			r := newRig(t, map[string]string{"S": `{"env": ["TOKEN", "VAULT_TOKEN"]}`}, func(s *config.Server) {
				s.Env, s.Deferred = definition.Env, definition.Deferred
			}, Options{})
			server := r.server(t, "S")
			used := server.For(inEnvironment(t, r, nil, "VAULT_TOKEN=theirs-and-not-ours").ClientProfile)
			other := server.For(inEnvironment(t, r, nil, "VAULT_TOKEN=somebody-elses").ClientProfile)
			if (used == server) != test.shared || (used == other) != test.shared {
				t.Fatalf("shared: %t and %t", used == server, used == other)
			}
			if test.shared {
				return
			}
			if used.copyKey() == other.copyKey() {
				t.Error("both have one copy of the tools")
			}
			if _, err := used.Lease(t.Context()); err != nil {
				t.Fatal(err)
			}
			eventually(t, "their token", func() bool {
				log, _ := os.ReadFile(filepath.Join(r.folder, "S.log"))
				return strings.Contains(string(log), "env TOKEN=theirs-and-not-ours\n") && strings.Contains(string(log), "env VAULT_TOKEN is not set")
			})
		})
	}
}

// What is said of an address that does not answer names the host, which may be a secret.
func TestSecretInTheHost(t *testing.T) {
	folder := t.TempDir()
	writePrivate(t, filepath.Join(folder, "host"), "127.0.0.1")
	definition := withForms(t, folder, `"url": "http://${file:host}:1/mcp"`)
	_, server := remoteRig(t, definition.URL, "", func(s *config.Server) { s.Deferred = definition.Deferred }, Options{})
	err := call(t.Context(), server, "a")
	if err == nil || strings.Contains(err.Error(), "127.0.0.1") || !strings.Contains(err.Error(), "cannot connect to the server: ") {
		t.Error(err)
	}
}

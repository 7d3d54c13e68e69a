package clients

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Every client that has servers over HTTP gets an entry without a key of the other way, which is found again, replaced by a
// local one, and undone, also after the client sorted and reformatted the file.
func TestRemoteEntries(t *testing.T) {
	env := map[string]string{"HOME": "/home/me"}
	local := Entry{Name: "workbench", Command: "/opt/mcp-workbench", Args: []string{"--shared"}}
	for _, client := range All() {
		if client.remote == nil || client.Retired != "" {
			continue
		}
		t.Run(client.ID, func(t *testing.T) {
			file := client.Files(fake("linux", env))[0]
			if client.ID == "crush" {
				file = "/home/me/.config/crush/crush.json"
			}
			remote := Entry{Name: "workbench", Remote: &Remote{URL: "http://127.0.0.1:7420/mcp", Token: "hunter2hunter2"}}
			if client.RefersToVariables() {
				remote.Remote = &Remote{URL: remote.Remote.URL, Variable: "WB_TOKEN"}
			}
			put := func(data []byte, e Entry) []byte {
				t.Helper()
				after, err := client.Put(file, data, e)
				if err != nil {
					t.Fatal(err)
				}
				if _, names, err := client.RemoveWorkbench(file, after, "", false); err != nil || !slices.Equal(names, []string{"workbench"}) {
					t.Fatalf("found %q, %v in\n%s", names, err, after)
				}
				return after
			}
			written := put(nil, remote)
			for _, key := range []string{"command", "cmd", "args", "envs"} {
				if keysIn(t, client, file, written, key) {
					t.Errorf("'%s' is in an entry over HTTP:\n%s", key, written)
				}
			}
			if client.RefersToVariables() != bytes.Contains(written, []byte("WB_TOKEN")) {
				t.Errorf("the token is not referred to:\n%s", written)
			}
			if again := put(written, remote); !bytes.Equal(again, written) {
				t.Errorf("a second time:\n%s", again)
			}
			started := put(written, local)
			for _, key := range slices.Concat(addressKeys, []string{"headers", "http_headers", "bearer_token_env_var", "requestOptions"}) {
				if keysIn(t, client, file, started, key) {
					t.Errorf("'%s' is in the entry of a program:\n%s", key, started)
				}
			}
			if undone, err := client.Undo(file, written, started, append(started, '\n')); err != nil || !sameTree(t, file, undone.Data, written) {
				t.Errorf("%v: undone to\n%s", err, undone.Data)
			}
			rewritten := bytes.ReplaceAll(written, []byte("127.0.0.1"), []byte("localhost"))
			if undone, err := client.Undo(file, nil, written, rewritten); err != nil || undone.Data != nil || len(undone.Edited) != 1 {
				t.Errorf("%v, %q: undone to\n%s", err, undone.Edited, undone.Data)
			}
		})
	}
}

func keysIn(t *testing.T, client *Client, file string, data []byte, key string) bool {
	t.Helper()
	root, err := parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := find(root.at(client.servers), "workbench")
	_, isThere := entry.member(key)
	return isThere
}

func sameTree(t *testing.T, file string, a, b []byte) bool {
	t.Helper()
	first, err := parse(file, a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := parse(file, b)
	return err == nil && same(first, second)
}

// What a person added to the headers stays, and goes to the same host only.
func TestRemoteHeaders(t *testing.T) {
	client := ByID("cursor")
	had := `{"mcpServers": {"workbench": {"url": "https://a.example/mcp", "headers": {"X-MCP-Workbench": "cursor", "Authorization": "Bearer t0ken", "X-Team": "tools"}, "timeout": 5}}}`
	for _, test := range []struct {
		name       string
		remote     Remote
		has, lacks []string
	}{
		{"the same host", Remote{URL: "https://a.example/mcp/dev"}, []string{"/mcp/dev", "t0ken", "X-Team", "timeout"}, nil},
		{"a new token", Remote{URL: "https://a.example/mcp", Variable: "T"}, []string{"${env:T}", "X-Team"}, []string{"t0ken"}},
		{"another host", Remote{URL: "https://b.example/mcp"}, []string{"b.example", "timeout", "X-MCP-Workbench"}, []string{"t0ken", "X-Team"}},
		{"another scheme", Remote{URL: "http://a.example/mcp"}, nil, []string{"t0ken", "X-Team"}},
	} {
		after, err := client.Put("/f.json", []byte(had), Entry{Name: "workbench", Remote: &test.remote})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range test.has {
			if !strings.Contains(string(after), text) {
				t.Errorf("%s: %s is lost: %s", test.name, text, after)
			}
		}
		for _, text := range test.lacks {
			if strings.Contains(string(after), text) {
				t.Errorf("%s: %s is still there: %s", test.name, text, after)
			}
		}
	}
}

// Keys of clients for further credentials go to the same host only, too.
func TestRemoteCredentials(t *testing.T) {
	client := ByID("codex")
	had := `[mcp_servers.workbench]
url = "https://a.example/mcp"
env_http_headers = { "X-Team" = "TEAM_SECRET" }
http_headers = { "X-MCP-Workbench" = "codex" }
tool_timeout_sec = 5
`
	for address, stays := range map[string]bool{"https://a.example/mcp/dev": true, "https://b.example/mcp": false} {
		after, err := client.Put("/config.toml", []byte(had), Entry{Name: "workbench", Remote: &Remote{URL: address}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(after), "TEAM_SECRET") != stays || !strings.Contains(string(after), "tool_timeout_sec") {
			t.Errorf("%s:\n%s", address, after)
		}
	}
}

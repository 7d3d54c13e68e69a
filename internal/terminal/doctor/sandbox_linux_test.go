package doctor

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
)

// What is said of servers that fail in a sandbox.
func TestFixesOfSandboxes(t *testing.T) {
	if err := sandbox.Supported(); err != nil {
		t.Skip(err)
	}
	const without = "start it once without"
	for name, test := range map[string]struct{ script, sandbox, want, not string }{
		"killed":   {"kill -ABRT $$", `{"memory": "2GiB"}`, "sandbox.memory is 2 GiB", without},
		"memory":   {"echo Cannot allocate memory >&2; exit 1", `{"memory": "2GiB"}`, "it ran out of memory: sandbox.memory is 2 GiB", without},
		"silent":   {"exec sleep 60", `{"memory": "2GiB"}`, "sandbox.memory is 2 GiB", without},
		"no limit": {"kill -ABRT $$", `true`, without, "sandbox.memory"},
		"ended":    {"exit 0", `true`, "Run the same command", without},
		"several":  {"echo 'sh: 1: cannot create /tmp/a: Permission denied' >&2; echo 'dial tcp 192.0.2.1:443: socket: permission denied' >&2; exit 1", `{"network": false}`, "write; the sandbox refused 192.0.2.1:443; ", ". "},
	} {
		t.Run(name, func(t *testing.T) {
			found := examineAll(t, parse(t, `{"timeouts": {"connect": "1s"}, "toolboxes": {"a": {"mcpServers": {"x": {"command": "sh", "args": ["-c", `+
				quoted(test.script)+`], "sandbox": `+test.sandbox+`}}}}}`))
			if fix := found[0].Fix; !strings.Contains(fix, test.want) || strings.Contains(fix, test.not) {
				t.Errorf("%s; the advice is %q", found[0].Error, fix)
			}
		})
	}
}

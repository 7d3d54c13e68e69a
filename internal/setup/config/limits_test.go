package config

import (
	"strings"
	"testing"
)

func TestLimitsOfServers(t *testing.T) {
	for _, test := range []struct {
		name, server string
		want         int64
		problem      string
	}{
		{"none", `"command": "c"`, 0, ""},
		{"a size", `"command": "c", "limits": {"memory": "512MiB"}`, 512 << 20, ""},
		{"bytes", `"builtin": "clock", "limits": {"memory": 1048576}`, 1 << 20, ""},
		{"nothing", `"command": "c", "limits": {}`, 0, ""},
		{"too little", `"command": "c", "limits": {"memory": "1023KiB"}`, 0, "'limits.memory' must be a number of bytes or a size such as \"512MiB\", from 1MiB to 1024GiB"},
		{"too much", `"command": "c", "limits": {"memory": "1025GiB"}`, 0, "'limits.memory' must be"},
		{"another key", `"command": "c", "limits": {"cpu": 1}`, 0, "unknown key 'limits.cpu'"},
	} {
		cfg, err := Parse("c.json", []byte(`{"toolboxes": {"t": {"description": "d", "mcpServers": {"s": {`+test.server+`}}}}}`), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		server := cfg.Toolboxes[0].Servers[0]
		if fault := faultText(server); !strings.Contains(fault, test.problem) || test.problem == "" && fault != "" {
			t.Errorf("%s: fault %q, want %q", test.name, fault, test.problem)
		}
		if server.Limits.Memory != test.want {
			t.Errorf("%s: %d bytes", test.name, server.Limits.Memory)
		}
	}
	cfg, err := Parse("c.json", []byte(`{"toolboxes": {"t": {"description": "d", "mcpServers": {"s": {"url": "https://example.com", "limits": {"memory": "1GiB"}}}}}}`), ParseOptions{})
	if err != nil || len(cfg.Warnings) != 1 || !strings.Contains(cfg.Warnings[0].Message, "'limits' has no effect on a server with a 'url'") {
		t.Errorf("a remote server: %v, %v", cfg.Warnings, err)
	}
}

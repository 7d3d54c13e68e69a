//go:build unix

package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

// BenchmarkTools looks at 10,000 tools.
func BenchmarkTools(b *testing.B) {
	var tools []string
	for i := range 1000 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"Read the file number %d of a report and send it","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"%s"}}}}`, i, i, strings.Repeat("where it is ", 20)))
	}
	spec := `{"tools":[` + strings.Join(tools, ",") + `]}`
	box := config.Toolbox{Name: "T"}
	for i := range 10 {
		box.Servers = append(box.Servers, selfserver.New(b, b.TempDir(), fmt.Sprintf("S%d", i), spec))
	}
	a, err := New(Options{Config: &config.Config{MaxMessageSize: 64 << 20, Toolboxes: []config.Toolbox{box}}, Version: "1", StateDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = a.Stop(b.Context()) }()
	for _, known := range a.Known(b.Context(), KnownOptions{}) {
		if known.Err != nil {
			b.Fatal(known.Err)
		}
	}
	i := Inspector{App: a, Serving: "stdio"}
	for name, query := range map[string]control.ToolQuery{"page": {Offset: 5000, Limit: 500}, "search": {Query: "send the report", Limit: 100}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if page, err := i.Tools(query); err != nil || len(page.Tools) != query.Limit {
					b.Fatal(len(page.Tools), err)
				}
			}
		})
	}
	b.Run("toolboxes", func(b *testing.B) {
		for b.Loop() {
			i.Toolboxes()
		}
	})
}

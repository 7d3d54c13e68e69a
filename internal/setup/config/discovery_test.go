package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const discoveryBoxes = `"toolboxes":{"dev":{"description":"d","mcpServers":{"fs":{"command":"x"},"a/b":{"command":"x"}}}}}`

func TestDiscovery(t *testing.T) {
	for _, test := range []struct {
		keys string
		want Discovery
	}{
		{``, Discovery{ReadTool: true, Search: true}},
		{`"search":true,`, Discovery{ReadTool: true, Search: true}},
		{`"search":false,"results":{},`, Discovery{ReadTool: true}},
		{`"results":{"maxBytes":4096},`, Discovery{ReadTool: true, Search: true, MaxResultBytes: 4096}},
		{`"results":{"maxBytes":"32KiB"},`, Discovery{ReadTool: true, Search: true, MaxResultBytes: 32 << 10}},
		{
			`"pinned":["dev/fs/read","dev/a/b/c/d"],`,
			Discovery{ReadTool: true, Search: true, Pinned: []toolbox.Ref{
				{Toolbox: "dev", Server: "fs", Name: "read"}, {Toolbox: "dev", Server: "a/b", Name: "c/d"},
			}},
		},
	} {
		cfg, err := Parse("f", []byte(`{`+test.keys+discoveryBoxes), ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", test.keys, err)
			continue
		}
		if !reflect.DeepEqual(cfg.Discovery, test.want) {
			t.Errorf("%s is read as %+v", test.keys, cfg.Discovery)
		}
	}
}

func TestDiscoveryProblems(t *testing.T) {
	for keys, want := range map[string]string{
		`"search":"no",`:               "'search' must be true or false",
		`"results":{"maxBytes":4095},`: "'results.maxBytes' must be a number of bytes or a size",
		`"results":5,`:                 "'results' must be an object",
		`"pinned":["dev/fs"],`:         `'pinned[0]' must name a tool as "toolbox/server/tool"`,
		`"pinned":["/fs/x"],`:          `'pinned[0]' must name a tool as "toolbox/server/tool"`,
		`"pinned":["dev/fz/x"],`:       "did you mean 'dev/fs/x'?",
		`"pinned":["ops/db/x"],`:       "'pinned[0]' names no server that is configured",
		`"pinned":[5],`:                "'pinned[0]' must be a string",
	} {
		_, err := Parse("f", []byte(`{`+keys+discoveryBoxes), ParseOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q in it", keys, err, want)
		}
	}
}

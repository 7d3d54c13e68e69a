package downstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestMirrored(t *testing.T) {
	const schema = `{"properties":{"a":{"type":"string","x-mcp-header":"A"},` +
		`"n":{"properties":{"b":{"type":"integer","x-mcp-header":"B"}}},"c":{"type":"boolean","x-mcp-header":"C"}}}`
	for _, test := range []struct{ name, schema, arguments, want string }{
		{"all", schema, `{"a":"é","n":{"b":42.0},"c":true}`, `Mcp-Param-A=é Mcp-Param-B=42.0# Mcp-Param-C=true`},
		{"some", schema, `{"a":null,"n":7,"c":false}`, `Mcp-Param-C=false`},
		{"none", schema, ``, ``},
		{"nothing to mirror", `{"properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, ``},
		{"a wish that is not allowed", `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, `{"a":1}`, ``},
	} {
		var got []string
		for _, m := range Mirrors(wire.Raw([]byte(test.schema))) {
			if value, ok := m.Value(wire.Raw([]byte(test.arguments))); ok {
				got = append(got, fmt.Sprintf("%s=%s%s", m.Header, value, map[bool]string{true: "#"}[m.Numeric]))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %q, want %s", test.name, got, test.want)
		}
	}
}

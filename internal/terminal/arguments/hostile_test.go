package arguments

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// A server may send any definition, and the page checks what a person fills in against it while calls go on.
func TestHostileSchemaIsCheckedSoon(t *testing.T) {
	many := func(n int) string {
		var properties, required []string
		for i := range n {
			properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
			required = append(required, fmt.Sprintf(`"p%d"`, i))
		}
		return `{"properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`
	}
	for name, test := range map[string]struct{ schema, arguments string }{
		"many required":     {many(20_000), `{"q":1}`},
		"many alternatives": {`{"anyOf":[` + strings.Repeat(`{"$ref":"#/$defs/a"},`, 50_000) + `{}],"$defs":{"a":{}}}`, `{"q":1}`},
		"large pattern":     {`{"properties":{"a":{"pattern":"^(` + strings.Repeat("[a-z]?", 400) + `){1000}$"}}}`, `{"a":"` + strings.Repeat("a", 20_000) + `!"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema, err := wire.ParseValue([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan int, 1)
			go func() {
				problems, notes := Check([]byte(test.arguments), schema)
				ended <- len(strings.Join(append(problems, notes...), ""))
			}()
			select {
			case size := <-ended:
				if size > 64<<10 {
					t.Errorf("it says %d bytes", size)
				}
			case <-time.After(20 * time.Second): // without a bound they take minutes
				t.Error("it still checks")
			}
		})
	}
}

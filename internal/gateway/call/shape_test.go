package call

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestShape(t *testing.T) {
	for _, test := range []struct{ arguments, want string }{
		{``, ""},
		{`{}`, ""},
		{`{"path":"/etc/passwd!","depth":3,"all":true,"none":null}`, "path: string 12 B, depth: number, all: boolean, none: null"},
		{`{ "a" : "" , "b" : [1, 2] , "c" : {"k":"v"} }`, "a: string 0 B, b: array 6 B, c: object 9 B"},
		{`{"_meta":{"x":"y"},"uri":"a:b"}`, "uri: string 3 B"},
		{`[1,2]`, "array 5 B"},
		{`{"` + strings.Repeat("n", maxShapeName) + `":1}`, strings.Repeat("n", maxShapeName) + ": number"},
		{`{"` + strings.Repeat("n", maxShapeName+1) + `":1,"b":2}`, "…: number, b: number"},
		{`{"content":"` + strings.Repeat("x", maxShaped) + `"}`, "object 16398 B"},
	} {
		if got := shapeOf(wire.Raw([]byte(test.arguments))); got != test.want {
			t.Errorf("%.60s: got %q, want %q", test.arguments, got, test.want)
		}
	}
}

func TestShapeIsBounded(t *testing.T) {
	for count := range 60 {
		arguments := `{`
		for i := range count {
			if i > 0 {
				arguments += ","
			}
			arguments += `"` + strings.Repeat("é", i%45) + `":"value"`
		}
		got := shapeOf(wire.Raw([]byte(arguments + `}`)))
		if len(got) > maxShape || !utf8.ValidString(got) || strings.Contains(got, "value") {
			t.Errorf("%d members: %d bytes, %q", count, len(got), got)
		}
		if hasMore := strings.HasSuffix(got, ", …"); hasMore != (count > 7) {
			t.Errorf("%d members: %q says that there are more: %t", count, got, hasMore)
		}
	}
}

func TestShapeAllocatesOnce(t *testing.T) {
	arguments := wire.Raw([]byte(`{"path":"/etc/passwd","depth":3,"filter":{"a":[1,2,3]},"` + strings.Repeat("n", 100) + `":""}`))
	if found := testing.AllocsPerRun(1000, func() { shapeOf(arguments) }); found > 1 {
		t.Errorf("a shape has %v allocations", found)
	}
}

func BenchmarkShape(b *testing.B) {
	for name, text := range map[string]string{
		"short": `{"path":"/etc/passwd","depth":3}`,
		"long":  `{"path":"/etc/passwd","content":"` + strings.Repeat("a word\\n ", maxShaped/10) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			arguments := wire.Raw([]byte(text))
			for b.Loop() {
				shapeOf(arguments)
			}
		})
	}
}

package catalog

import (
	"fmt"
	"strings"
	"testing"
)

// schemaWith is the schema of an object with the property p.
func schemaWith(p string) string { return `{"properties":{"p":` + p + `}}` }

func TestSignature(t *testing.T) {
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d":{}`, i)
	}
	long := strings.Repeat("x", 1000)
	for _, test := range []struct{ name, schema, want string }{
		{"nothing", `{}`, ""},
		{"no schema", `null`, ""},
		{"no object", `true`, ""},
		{"required and not", `{"properties":{"path":{"type":"string"},"head":{"type":"number"}},"required":["path","other"]}`, "path: string, head?: number"},
		{"strange lists", `{"properties":[1],"required":"path"}`, ""},
		{"strange required", `{"properties":{"a":{}},"required":[1,null,"a"]}`, "a: any"},
		{"scalars", `{"properties":{"a":{"type":"integer"},"b":{"type":"boolean"},"c":{"type":"null"}}}`, "a?: number, b?: boolean, c?: null"},
		{"any", `{"properties":{"a":{},"b":true,"c":{"type":5},"d":null,"e":{"$ref":"#/x"}}}`, "a?: any, b?: any, c?: any, d?: any, e?: any"},
		{"type of no text", schemaWith(`{"type":[]}`), "p?: never"},
		{"several types", schemaWith(`{"type":["string","null"]}`), "p?: string | null"},
		{"several types that are one", schemaWith(`{"type":["integer","number"]}`), "p?: number"},
		{"arrays", schemaWith(`{"type":"array","items":{"type":"string"}}`), "p?: string[]"},
		{"arrays of anything", schemaWith(`{"type":"array"}`), "p?: any[]"},
		{"arrays of several", schemaWith(`{"type":"array","items":{"type":["string","number"]}}`), "p?: (string | number)[]"},
		{"arrays of arrays", schemaWith(`{"type":"array","items":{"type":"array","items":{"enum":[1,2]}}}`), "p?: ((1 | 2)[])[]"},
		{"const", schemaWith(`{"const":"a","type":"string"}`), `p?: "a"`},
		{"const of null", schemaWith(`{"const":null}`), `p?: null`},
		{"enum", schemaWith(`{"type":"string","enum":["a","b"]}`), `p?: "a" | "b"`},
		{"long enum", schemaWith(`{"enum":[1,2,3,4,5,6,7]}`), `p?: 1 | 2 | 3 | 4 | 5 | 6 | …`},
		{"just short enough", schemaWith(`{"enum":[1,2,3,4,5,6]}`), `p?: 1 | 2 | 3 | 4 | 5 | 6`},
		{"empty enum", schemaWith(`{"enum":[]}`), `p?: never`},
		{"strange enum", schemaWith(`{"enum":5,"type":"string"}`), `p?: string`},
		{"long constant", schemaWith(`{"const":"` + long + `"}`), `p?: "` + long[:39] + `…`},
		{"long constant, cut at a letter", schemaWith(`{"enum":["` + long[:38] + `éé"]}`), `p?: "` + long[:38] + `…`},
		{"anyOf", schemaWith(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), `p?: string | null`},
		{"oneOf", schemaWith(`{"oneOf":[{"type":"object"},{"const":1}]}`), `p?: object | 1`},
		{"objects", schemaWith(`{"type":"object","properties":{"q":{"type":"string"},"r":{}},"required":["r"]}`), `p?: {q?: string, r: any}`},
		{"objects without a type", schemaWith(`{"properties":{"q":{}}}`), `p?: {q?: any}`},
		{"objects without properties", schemaWith(`{"type":"object"}`), `p?: object`},
		{"objects with none", schemaWith(`{"type":"object","properties":{}}`), `p?: {}`},
		{"deep objects", schemaWith(schemaWith(schemaWith(schemaWith(schemaWith(`{}`))))), `p?: {p?: {p?: {p?: {…}}}}`},
		{"many parameters", `{"properties":{` + strings.Join(many, ",") + `}}`, paramsUpTo(20) + ", …"},
		{"just few enough", `{"properties":{` + strings.Join(many[:20], ",") + `}}`, paramsUpTo(20)},
		{"escaped names", `{"properties":{"\u0061\"b":{"type":"str\u0069ng"}},"required":["a\"b"]}`, `a"b: string`},
		{"what a terminal would act on", `{"properties":{"a\u001b[31m":{"type":"\u009bmx"},"b":{"enum":["` + "\u202e" + `"]}}}`, `a?: x, b?: ""`},
		{"deep arrays", schemaWith(strings.Repeat(`{"type":"array","items":`, 50) + `{}` + strings.Repeat("}", 50)), `p?: …` + strings.Repeat("[]", signatureLevels+1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool := Tool{Name: "read_file", Definition: payload(t, `{"name":"x","inputSchema":`+test.schema+`}`)}
			if got, want := tool.Signature(), "read_file("+test.want+")"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func paramsUpTo(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("p%d?: any", i))
	}
	return strings.Join(list, ", ")
}

// Each level lists its type several times: work must not multiply with the levels.
func TestSignatureOfAbsurdSchemas(t *testing.T) {
	for name, level := range map[string]string{
		"arrays":        `{"type":["array","array","\u0061rray","array","array","array"],"items":`,
		"objects":       `{"type":["object","object","array","object"],"properties":{"a":{},"b":{}},"items":`,
		"choices":       `{"anyOf":[{"type":"array"},{}],"items":`,
		"deep choices":  `{"anyOf":[`,
		"deep in turns": `{"type":["array","object"],"properties":{"a":{},"b":{}},"items":`,
	} {
		t.Run(name, func(t *testing.T) {
			closing := "}"
			if strings.HasSuffix(level, "[") {
				closing = "]}"
			}
			schema := schemaWith(strings.Repeat(level, 2000) + "{}" + strings.Repeat(closing, 2000))
			tool := Tool{Name: "x", Definition: payload(t, `{"inputSchema":`+schema+`}`)}
			if signature := tool.Signature(); len(signature) > 1000 { // or it never ends
				t.Errorf("%d bytes", len(signature))
			}
		})
	}
}

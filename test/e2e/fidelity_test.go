package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// This file is about bytes: what a server sends is what the client gets, and the other
// way round, however unusual it is.

// sample is one object of JSON as it is written on the wire.
type sample struct{ name, json string }

const largeSize = 5 << 20

// fidelitySamples serve as results and as arguments. They are objects, of which the
// wire has nothing else to say: no content has to make sense to be passed on.
var fidelitySamples = sync.OnceValue(func() []sample {
	return []sample{
		{"empty", `{}`},
		{"text", `{"content":[{"type":"text","text":"plain"}]}`},
		{"unknown", `{"content":[{"type":"hologram","depth":3,"x":null},{"type":"text"},{},null,7],"future":{"a":[],"b":{}},"_meta":{},"isError":null}`},
		{"malformed", `{"content":"no list","structuredContent":[1],"isError":"yes","_meta":0}`},
		{"numbers", `{"structuredContent":{"big":9007199254740993,"huge":123456789012345678901234567890,"neg":-9223372036854775809,` +
			`"one":1.0,"exp":1E+400,"zero":-0,"small":1.50e-7,"long":0.1000000000000000055511151231257827}}`},
		{"empties", `{"":"","content":[],"a":{},"b":[],"c":null,"d":[null,[],{}],"e":false,"f":0}`},
		{"order", `{"z":1,"content":[],"a":2,"isError":false,"_meta":{"z":1,"a":2,"10":3,"2":4},"M":0}`},
		{"whitespace", "{ \"content\" :\t[ ] ,  \"a\":\t{ \"b\" : 1 ,\"c\" :2 } , \"d\":[ 1 ,\t2 ]\t }"},
		{"lines", "{\r\"content\":\r[],\"a\":\"\\r\\n\" }"},
		{"unicode", "{\"content\":[{\"type\":\"text\",\"text\":\"\\u00e9é \\u0041A \\/ / \\ud83d\\ude00😀 \u2028\u2029\\u2028 \ufeff\u200b\u202e\U000e0041 \u007f\\u0000\\u001f\\b\\f\"}],\"cl\\u00e9\":\"\u00e9\"}"},
		{"surrogates", `{"content":[{"type":"text","text":"\ud800 \udc00x \uDBFF\uD83D\ude00 \udfff"}],"\ud800":1}`},
		{"duplicates", `{"content":[],"content":[{"type":"text","text":"second"}],"s":{"k":1,"k":2,"k":{"k":null,"k":[]}}}`},
		{"lookalikes", `{"id":5,"jsonrpc":"1.0","error":{"code":1},"result":{"result":{}},"method":"x","params":[],"name":"n","arguments":{"arguments":1}}`},
		{"markup", `{"content":[{"type":"text","text":"<b>&amp;</b> \"}],\\\"id\\\":1}\n"}]}`},
		{"deep", `{"a":` + strings.Repeat(`[{"a":`, 400) + `1` + strings.Repeat(`}]`, 400) + `}`},
		{"large", `{"content":[{"type":"text","text":"` + strings.Repeat(`0123456789 é \u00e9\n`, largeSize/22) + `"}]}`},
	}
})

// unusualDefinitions are tools as no one should write them.
var unusualDefinitions = []string{
	`{"inputSchema":{"type":"object","properties":{"b":{"const":9007199254740993},"a":{"default":1.0}},"required":[]},"name":"keys","icons":[],"zzz":{"future":true}}`,
	"{ \"name\" :\t\"spaces\" , \"inputSchema\" : { \"type\" : \"object\" } , \"description\":\"\" , \"_meta\" : null }",
	`{"name":"escapes","title":"\u00e9é \ud83d\ude00😀 \/","description":"lone \ud800 surrogate","inputSchema":{"type":"object","$comment":"<&> \u2028"}}`,
	`{"name":"doubles","inputSchema":{"type":"object","type":"object","properties":{"x":{},"x":{"type":"string"}}},"annotations":{"readOnlyHint":true,"readOnlyHint":false}}`,
	`{"name":"everything","title":null,"description":null,"annotations":{},"outputSchema":{"type":"object"},"execution":{"taskSupport":"optional"},"inputSchema":{}}`,
}

// pairing is how a client reaches the workbench, and the workbench the fake.
type pairing struct {
	above string // stdio, http
	below string // stdio, or as remoteFake has it: json, events, sse
}

func (p pairing) String() string { return p.above + "-" + p.below }

// allPairings are what matters for bytes; two of them will do where it is the way of
// calling that matters.
var (
	allPairings = []pairing{
		{"stdio", "stdio"},
		{"stdio", "json"},
		{"stdio", "events"},
		{"stdio", "sse"},
		{"http", "stdio"},
		{"http", "json"},
		{"http", "events"},
		{"http", "sse"},
	}
	twoPairings = []pairing{{"stdio", "stdio"}, {"http", "events"}}
)

func eachPairing(t *testing.T, name string, pairings []pairing, test func(t *testing.T, p pairing)) {
	t.Helper()
	for _, p := range pairings {
		t.Run(fmt.Sprintf("%s over %s", name, p), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// fake is the fake as the pairing wants it, seen by a tap.
func (p pairing) fake(t *testing.T, seen *tap) server {
	t.Helper()
	if p.below == "stdio" {
		return seen.around(fakeServer(""))
	}
	return remoteFake(t, p.below, seen)
}

// fidelityBench has the fake behind a tap.
func fidelityBench(t *testing.T, mode string, p pairing) (*rawClient, *tap) {
	t.Helper()
	seen := newTap(t)
	b := newBench(t, mode, box{"box", "", []server{p.fake(t, seen)}})
	b.overHTTP = p.above == "http"
	c := b.client(newest)
	c.open("box")
	return c, seen
}

// ways are how a tool of the fake is called in each mode, as raw parameters.
var ways = []struct {
	name, mode string
	params     func(tool, arguments string) string
}{
	{"use_tool", "proxy", func(tool, arguments string) string {
		return fmt.Sprintf(`{"name":"use_tool","arguments":%s}`, useArguments("box", "fake", tool, arguments))
	}},
	{"use_tool in another order", "proxy", func(tool, arguments string) string {
		return fmt.Sprintf(`{ "arguments" : { "arguments":%s , "tool":{"name":%q,"server":"fake","toolbox":"box"}}, "name" : "use_tool" }`, arguments, tool)
	}},
	{"native", "dynamic", func(tool, arguments string) string {
		return fmt.Sprintf(`{"name":"box__fake__%s","arguments":%s}`, tool, arguments)
	}},
}

func TestBytesOfResultsAndArguments(t *testing.T) {
	for i, way := range ways {
		pairings := allPairings
		if i > 0 {
			pairings = twoPairings
		}
		eachPairing(t, way.name, pairings, func(t *testing.T, pairing pairing) {
			c, p := fidelityBench(t, way.mode, pairing)
			for _, sample := range fidelitySamples() {
				// The one change: a message is one line, so that line ends between tokens become spaces.
				want := strings.ReplaceAll(sample.json, "\r", " ")
				got := string(c.request("tools/call", way.params(sample.name, sample.json)))
				if got != want {
					t.Errorf("result %s:\ngot  %s\nwant %s", sample.name, excerpt(got, want), excerpt(want, got))
				}
				if down := argumentsOf(t, p.findCall()); down != want {
					t.Errorf("arguments %s:\ngot  %s\nwant %s", sample.name, excerpt(down, want), excerpt(want, down))
				}
			}
		})
	}
}

// TestArgumentsThatAreNoObject: what stands for an object goes down as that object.
func TestArgumentsThatAreNoObject(t *testing.T) {
	for _, way := range ways {
		eachPairing(t, way.name, twoPairings, func(t *testing.T, pairing pairing) {
			c, p := fidelityBench(t, way.mode, pairing)
			for sent, want := range map[string]string{`null`: `{}`, `"{ \"b\":1.0,\"a\":\"\\u00e9\"}"`: `{ "b":1.0,"a":"\u00e9"}`} {
				c.request("tools/call", way.params("text", sent))
				if got := argumentsOf(t, p.findCall()); got != want {
					t.Errorf("%s became %s, want %s", sent, got, want)
				}
			}
		})
	}
}

// argumentsOf returns the raw arguments of a tools/call.
func argumentsOf(t *testing.T, call message) string {
	t.Helper()
	var params struct{ Arguments json.RawMessage }
	if err := json.Unmarshal(call.Params, &params); err != nil {
		t.Fatal(err)
	}
	return string(params.Arguments)
}

// excerpt is where a text begins to differ from another one.
func excerpt(text, other string) string {
	i := 0
	for i < len(text) && i < len(other) && text[i] == other[i] {
		i++
	}
	start := max(0, i-60)
	return fmt.Sprintf("(%d bytes, different from byte %d) …%q…", len(text), i, text[start:min(len(text), start+300)])
}

// TestBytesOfMeta: all of _meta goes down but for the progress token.
func TestBytesOfMeta(t *testing.T) {
	eachPairing(t, "meta", allPairings, func(t *testing.T, pairing pairing) {
		c, p := fidelityBench(t, "", pairing)
		const meta = `{ "z":1.0,"example.com/trace" : "\u00e9é", "a":{"a":9007199254740993,"a":null} }`
		c.request("tools/call", fmt.Sprintf(`{"_meta":%s,"name":"use_tool","arguments":%s}`, meta, useArguments("box", "fake", "text", "{}")))
		var params struct {
			Meta json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal(p.findCall().Params, &params); err != nil || string(params.Meta) != meta {
			t.Errorf("the server got %s, %v; want %s", params.Meta, err, meta)
		}
	})
}

func TestBytesOfDefinitions(t *testing.T) {
	eachPairing(t, "definitions", allPairings, func(t *testing.T, pairing pairing) {
		b := newBench(t, "", box{"box", "", []server{pairing.fake(t, newTap(t))}})
		b.overHTTP = pairing.above == "http"
		answer := b.client(newest).open("box")
		definitions := fakeDefinitions()
		if len(answer.Tools) != len(definitions) {
			t.Fatalf("%d tools, want %d; warnings: %q", len(answer.Tools), len(definitions), answer.Warnings)
		}
		for i, want := range definitions {
			// Our members follow the last one; space that was after it has no place to be.
			want = strings.TrimRight(strings.TrimSuffix(want, "}"), " \t") + "}"
			if got := withoutOrigin(t, answer.Tools[i], "box", "fake"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	})
}

package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// startUpstream starts a workbench whose client sends nonsense.
func startUpstream(t *testing.T, p pairing) *bench {
	t.Helper()
	b := startWith(t, p, rig.Options{Top: patientTimeouts, Boxes: map[string]box{"dev": {"s": {Role: "calls"}}}})
	b.Loosen()
	b.open(promptly)
	return b
}

func (b *bench) sends(line string) {
	b.t.Helper()
	if err := b.Send(line); err != nil {
		b.t.Fatalf("the workbench does not read any more: %v", err)
	}
}

func TestUpstream(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"not JSON":            "this is not JSON",
		"half JSON":           `{"jsonrpc":"2.0","id":900,"method":"tools/list`,
		"empty line":          "",
		"number":              "42",
		"string":              `"hello"`,
		"null":                "null",
		"not JSON-RPC":        `{"hello":"world"}`,
		"wrong version":       `{"jsonrpc":"1.0","id":901,"method":"ping"}`,
		"strange id":          `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`,
		"strange method":      `{"jsonrpc":"2.0","id":902,"method":5}`,
		"strange params":      `{"jsonrpc":"2.0","id":903,"method":"tools/call","params":"x"}`,
		"batch":               `[{"jsonrpc":"2.0","id":904,"method":"ping"},{"jsonrpc":"2.0","id":905,"method":"ping"}]`,
		"empty batch":         "[]",
		"invalid UTF-8":       "{\"jsonrpc\":\"2.0\",\"id\":906,\"method\":\"\xff\xfe\"}",
		"invalid UTF-8 in it": "{\"jsonrpc\":\"2.0\",\"id\":907,\"method\":\"ping\",\"params\":{\"x\":\"\xc3\x28\"}}",
		"deep nesting":        `{"jsonrpc":"2.0","id":908,"method":"ping","params":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}",
		"open nesting":        strings.Repeat(`{"a":`, 100000),
		"stray answer":        `{"jsonrpc":"2.0","id":909,"result":{}}`,
		"stray error":         `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"x"}}`,
		"NUL":                 "\x00\x00\x00",
	} {
		row(t, "83 "+name, func(t *testing.T, p pairing) {
			b := startUpstream(t, p)
			for range 3 {
				b.sends(line)
				b.works("s", "echo", sibling)
			}
		}, noServer)
	}
	row(t, "84 64 MiB request", testLargeRequest, noServer)
	row(t, "85 500 mutated requests", testMutated, noServer)
	row(t, "86 unknown method, bad arguments, unknown names", testUnknown, noServer)
	row(t, "87 use before open", func(t *testing.T, p pairing) {
		b := start(t, p, box{"s": {Role: "good"}})
		a := b.use("s", "echo", promptly)
		b.named(a, "dev", "Error executing tool: Toolbox 'dev' is not open")
		b.named(a, "dev", "open_toolbox")
		b.open(promptly)
		b.works("s", "echo", sibling)
	}, noServer)
	row(t, "87 call before initialize", testBeforeInitialize, noServer, aboveOnly(rig.Stdio, "over HTTP there is no session before; see row 89"))
	row(t, "87 one id twice", testOneIDTwice, noServer)
	row(t, "88 client stops reading", testStopsReading, noServer)
}

func testLargeRequest(t *testing.T, p pairing) {
	for _, size := range []int{60 << 20, 65 << 20} {
		b := startUpstream(t, p)
		b.sends(`{"jsonrpc":"2.0","id":900,"method":"ping","params":{"x":"` + strings.Repeat("x", size) + `"}}`)
		b.works("s", "echo", 20*time.Second)
	}
}

func testMutated(t *testing.T, p pairing) {
	b := startUpstream(t, p)
	random := rand.New(rand.NewPCG(1, 2)) // the same ones every time
	for i := range 500 {
		line := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":"m%d","method":"tools/call","params":{"name":"use_tool",`+
			`"arguments":{"tool":{"toolbox":"dev","server":"s","name":"echo"},"arguments":{"k":[1,2.5,null,"é"]}}}}`, i))
		for range 1 + random.IntN(4) {
			at := random.IntN(len(line))
			switch random.IntN(4) {
			case 0:
				line[at] = byte(random.IntN(256))
			case 1:
				line = append(line[:at], line[at+1:]...)
			case 2:
				line = append(line[:at:at], line[at/2:]...)
			default:
				line[at] = `{}[]",:\`[random.IntN(8)]
			}
		}
		b.sends(strings.ReplaceAll(string(line), "\n", " "))
	}
	b.works("s", "echo", promptly)
}

func testUnknown(t *testing.T, p pairing) {
	b := startUpstream(t, p)
	if a := b.wait(b.Begin("no/such/method", "{}"), promptly); a.Code != -32601 {
		t.Errorf("unknown method: %s", a.Line)
	}
	for params, word := range map[string]string{
		`{"name":"no_such_tool","arguments":{}}`:                                                              "no_such_tool",
		`{"name":"open_toolbox","arguments":{"toolbox":"nowhere"}}`:                                           "nowhere",
		`{"name":"open_toolbox","arguments":{"toolbox":5}}`:                                                   "toolbox",
		`{"name":"open_toolbox","arguments":{}}`:                                                              "toolbox",
		`{"name":"open_toolbox"}`:                                                                             "toolbox",
		`{"name":"use_tool","arguments":{"tool":"echo"}}`:                                                     "tool",
		`{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"nobody","name":"echo"}}}`:          "nobody",
		`{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"s","name":"nothing"}}}`:            "nothing",
		`{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"s","name":"echo"},"arguments":5}}`: "arguments",
	} {
		a := b.wait(b.Begin("tools/call", params), promptly)
		if !a.IsError || !strings.Contains(a.Text, word) {
			t.Errorf("%s: %s", params, a.Line)
		}
	}
	b.works("s", "echo", sibling)
}

func testBeforeInitialize(t *testing.T, _ pairing) {
	w, err := rig.Start(rig.Options{Binary: released.Binary(t), Dir: t.TempDir(), Top: shortTimeouts, Boxes: map[string]box{"dev": {"s": {Role: "good"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Discard)
	b := &bench{Workbench: w, t: t}
	t.Cleanup(b.finish)
	if a := b.wait(b.Open("dev"), promptly); a.Code != -32600 || !strings.Contains(a.Text, "before 'initialize'") {
		t.Errorf("answered %s", a.Line)
	}
	if _, err := b.Initialize("{}", promptly); err != nil {
		t.Fatal(err)
	}
	b.open(promptly)
	b.works("s", "echo", sibling)
}

// testOneIDTwice wants the second request refused while the first is under way, and the
// first answered.
func testOneIDTwice(t *testing.T, p pairing) {
	b := startUpstream(t, p)
	for _, id := range []string{`"same"`, "7777"} {
		request := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"use_tool","arguments":` +
			`{"tool":{"toolbox":"dev","server":"s","name":"one-second"},"arguments":{}}}}`
		refused, answered := b.Expect(id), b.Expect(id)
		b.sends(request)
		b.sends(request)
		if a := b.wait(refused, promptly); a.Code != -32600 || !strings.Contains(a.Text, "still in flight") {
			t.Errorf("answered %s", a.Line)
		}
		isText("one second later")(b, b.wait(answered, promptly))
	}
	for range 3 {
		b.works("s", "echo", sibling)
	}
}

func testStopsReading(t *testing.T, p pairing) {
	top := map[string]any{"timeouts": map[string]string{"connect": "20s", "call": "5m"}} // 400 MiB take long with the race detector
	b := startWith(t, p, rig.Options{Top: top, Boxes: map[string]box{"dev": {"s": {Role: "calls"}}}})
	b.open(promptly)
	b.Pause()
	var calls []*rig.Call
	for range 400 {
		calls = append(calls, b.Use("dev", "s", "MiB", "{}"))
	}
	// The pause lasts until what the workbench holds does not grow any more.
	last, still := 0, 0
	err := rig.Eventually(recovery, func() error {
		if now := b.Memory(); now > last {
			last, still = now, 0
		} else if still++; still > 25 {
			return nil
		}
		return fmt.Errorf("memory still grows: %d MiB", last>>20)
	})
	b.Resume()
	if err != nil {
		t.Error(err)
	}
	for _, call := range calls {
		if a := b.wait(call, 2*time.Minute); len(a.Text) != 1<<20 {
			t.Fatalf("answered %.300s", a.Line)
		}
	}
	b.works("s", "echo", sibling)
}

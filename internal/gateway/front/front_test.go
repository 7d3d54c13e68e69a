package front

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/selfserver"
)

func TestMain(m *testing.M) {
	mcptest.PlayRole(playEcho)
	selfserver.Main(m)
}

// newServer serves a configuration whose servers cannot be started.
func newServer(options Options) *Server {
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{
		{Name: "empty", Description: "Nothing in it"},
	}}})
	options.Surface = func(Audience) *metatool.Surface {
		return metatool.New(metatool.Options{Visible: servers, Mode: config.Dynamic})
	}
	options.Forwarder = func(Audience) *passthrough.Forwarder {
		return passthrough.New(passthrough.Options{Visible: servers, Mode: config.Dynamic, Log: slog.New(slog.DiscardHandler)})
	}
	options.Version = "1.2.3"
	return New(options)
}

// client connects a client in memory; stop closes its side and returns what Serve said.
func client(t *testing.T, server *Server) (_ *mcptest.Client, stop func() error) {
	t.Helper()
	in, fromClient := io.Pipe()
	toClient, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.ServeStdio(context.Background(), in, out, StdioOptions{}) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		fromClient.Close()
		return <-served
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error("serve: ", err)
		}
		toClient.Close()
	})
	return mcptest.NewClient(fromClient, toClient), stop
}

// next sends a line and returns the next one that comes back.
func next(t *testing.T, c *mcptest.Client, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	already := len(c.Received())
	if err := c.Send(line); err != nil {
		t.Fatal(err)
	}
	message, _, err := c.Await(ctx, already, func(mcptest.Message) bool { return true })
	if err != nil {
		t.Fatalf("no answer to %.200s: %v", line, err)
	}
	return string(message.Raw)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestInitializeAgreesOnARevision(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"1999-01-01": "2025-11-25", "": "2025-11-25",
	} {
		c, _ := client(t, newServer(Options{}))
		answer := next(t, c, fmt.Sprintf(initialize, asked))
		var decoded struct {
			Result struct {
				ProtocolVersion string
				ServerInfo      struct{ Name, Version string }
				Instructions    string
			}
		}
		if err := json.Unmarshal([]byte(answer), &decoded); err != nil {
			t.Fatal(err)
		}
		got := decoded.Result
		if got.ProtocolVersion != want || got.ServerInfo.Name != "mcp-workbench" || got.ServerInfo.Version != "1.2.3" || got.Instructions == "" {
			t.Errorf("asked for %q: the answer is %s", asked, answer)
		}
	}
}

func TestMessagesThatAreNoRequests(t *testing.T) {
	c, _ := client(t, newServer(Options{MaxMessage: 5000}))
	next(t, c, fmt.Sprintf(initialize, "2025-11-25"))
	long := strings.Repeat("x", 6000)
	for _, test := range []struct{ name, line, want string }{
		{"not JSON", `hello`, `"id":null,"error":{"code":-32700`},
		{"broken, with an id", `{"jsonrpc":"2.0","id":7,"method":"ping",}`, `"id":7,"error":{"code":-32700`},
		{"no JSON-RPC", `{"foo":1}`, `"id":null,"error":{"code":-32600`},
		{"no version", `{"id":3,"method":"ping"}`, `"id":3,"error":{"code":-32600`},
		{"a null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{"an id twice", `{"jsonrpc":"2.0","id":4,"id":5,"method":"ping"}`, `{"code":-32600`},
		{"a method in other letters", `{"jsonrpc":"2.0","id":6,"Method":"ping"}`, `"id":6,"error":{"code":-32600`},
		{"too long, id first", `{"jsonrpc":"2.0","id":8,"method":"ping","x":"` + long + `"}`, `"id":8,"error":{"code":-32600`},
		{"too long, id last", `{"method":"ping","x":"` + long + `","jsonrpc":"2.0","id":"nine"}`, `"id":"nine","error":{"code":-32600`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"id":null,"error":{"code":-32600`},
		{"an unknown method", `{"jsonrpc":"2.0","id":10,"method":"no/such"}`, `"id":10,"error":{"code":-32601`},
		{"a call without a name", `{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{}}`, `"id":11,"error":{"code":-32602`},
		{"an unknown cursor", `{"jsonrpc":"2.0","id":12,"method":"tools/list","params":{"cursor":"x"}}`, `"id":12,"error":{"code":-32602`},
		{"still serving", `{"jsonrpc":"2.0","id":"é\u00e9","method":"ping"}`, `{"jsonrpc":"2.0","id":"é\u00e9","result":{}}`},
	} {
		if got := next(t, c, test.line); !strings.Contains(got, test.want) {
			t.Errorf("%s: the answer is %s, want %s", test.name, got, test.want)
		}
	}
}

func TestBeforeInitialize(t *testing.T) {
	c, _ := client(t, newServer(Options{}))
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:      `-32600`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:      `-32600`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`: `-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:            `"result":{}`,
	} {
		if got := next(t, c, line); !strings.Contains(got, want) {
			t.Errorf("%s is answered with %s, want %s", line, got, want)
		}
	}
}

func TestBatches(t *testing.T) {
	c, _ := client(t, newServer(Options{}))
	next(t, c, fmt.Sprintf(initialize, "2025-03-26"))
	answer := next(t, c, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},5,{"jsonrpc":"2.0","id":"2","method":"nope"}]`)
	var answers []struct {
		ID    any
		Error *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(answer), &answers); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	codes := make(map[any]int)
	for _, a := range answers {
		codes[a.ID] = 0
		if a.Error != nil {
			codes[a.ID] = a.Error.Code
		}
	}
	if len(answers) != 3 || codes[1.0] != 0 || codes["2"] != -32601 || codes[nil] != -32600 {
		t.Errorf("the batch was answered with %s", answer)
	}
	if got := next(t, c, `[]`); !strings.Contains(got, "-32600") {
		t.Errorf("an empty batch was answered with %s", got)
	}
	if err := c.Send(`[{"jsonrpc":"2.0","method":"notifications/x"}]`); err != nil {
		t.Fatal(err)
	}
	if got := next(t, c, `{"jsonrpc":"2.0","id":9,"method":"ping"}`); !strings.Contains(got, `"id":9`) {
		t.Errorf("a batch of notifications was answered with %s", got)
	}
}

func TestOpenTellsThatTheListChangedBeforeItAnswers(t *testing.T) {
	c, _ := client(t, newServer(Options{}))
	next(t, c, fmt.Sprintf(initialize, "2025-11-25"))
	before := len(c.Received())
	answer, err := c.Request(t.Context(), "tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"empty"}}`)
	if err != nil || answer.Error != nil {
		t.Fatal(err, answer.Error)
	}
	got := c.Received()[before:]
	if len(got) != 2 || got[0].Method != "notifications/tools/list_changed" {
		t.Errorf("received %v, want a notice and then the answer", got)
	}
	if _, err = c.Request(t.Context(), "tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"empty"}}`); err != nil {
		t.Fatal(err)
	}
	if got := c.Received()[before:]; len(got) != 3 {
		t.Errorf("opening again, which changes nothing, was told: %v", got)
	}
}

// A client that neither reads nor goes away does not keep the workbench from ending.
func TestEndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, fromClient := io.Pipe()
		toClient, out := io.Pipe() // nobody reads
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- newServer(Options{}).ServeStdio(ctx, in, out, StdioOptions{}) }()
		if _, err := fmt.Fprintf(fromClient, initialize+"\n", "2025-11-25"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > answerTime+cancelTime+flushTime {
			t.Errorf("the end took %s", took)
		}
		toClient.Close()
	})
}

package front

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/passage"
	"github.com/mcp-workbench/mcp-workbench/internal/process"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// echoVariable makes the test binary play a server that answers every call at once.
const echoVariable = "FRONT_TEST_ECHO"

func echoServer() {
	reader := wire.NewReader(os.Stdin, 0)
	for {
		frame, err := reader.Next()
		if err != nil {
			return
		}
		message, err := wire.Parse(frame)
		if err != nil || !message.IsRequest() {
			continue
		}
		result := `{"content":[]}`
		switch string(message.Method) {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
		}
		_, _ = os.Stdout.Write(wire.Result(message.ID.Bytes(), []byte(result)))
	}
}

// BenchmarkUseTool is a whole call through pipes to a server process and back. Its
// allocations are those of the workbench: the client in it allocates nothing.
func BenchmarkUseTool(b *testing.B) {
	executable, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	host := process.NewHost(process.HostOptions{})
	servers := fleet.New(fleet.Options{Host: host, Environ: os.Environ(), Config: &config.Config{Toolboxes: []config.Toolbox{{
		Name: "T", Servers: []config.Server{{
			Name: "S", Command: executable, Env: []config.Variable{{Name: echoVariable, Value: "1"}},
			Timeouts: config.Timeouts{Connect: 10 * time.Second, Call: time.Minute},
		}},
	}}}})
	in, toServer, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	fromServer, out, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- New(Options{
			Surface: func(Audience) *metatool.Surface { return metatool.New(servers, config.Proxy) },
			Passage: func(Audience) *passage.Passage {
				return passage.New(servers, config.Proxy, slog.New(slog.DiscardHandler))
			},
		}).ServeStdio(context.Background(), in, out, Pipe{})
	}()
	answers := bufio.NewReader(fromServer)
	ask := func(line []byte) []byte {
		if _, err := toServer.Write(line); err != nil {
			b.Fatal(err)
		}
		answer, err := answers.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		return answer
	}
	ask([]byte(strings.ReplaceAll(initialize, "%s", "2025-11-25") + "\n"))
	ask([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_toolbox","arguments":{"toolbox":"T"}}}` + "\n"))
	call := []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"T","server":"S","name":"echo"},"arguments":{"text":"0123456789"}}}}` + "\n")
	want := []byte(`{"jsonrpc":"2.0","id":2,"result":{"content":[]}}` + "\n")
	b.ReportAllocs()
	for b.Loop() {
		if answer := ask(call); !bytes.Equal(answer, want) {
			b.Fatalf("the answer is %s", answer)
		}
	}
	b.StopTimer()
	toServer.Close()
	if err := <-served; err != nil {
		b.Error(err)
	}
	fromServer.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := servers.Stop(ctx); err != nil {
		b.Error(err)
	}
	if err := host.Close(ctx); err != nil {
		b.Error(err)
	}
}

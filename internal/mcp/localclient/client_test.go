package localclient

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve has a fake play the server. Its log is complete after Close.
func serve(t *testing.T, spec string, log io.Writer) func(context.Context, io.ReadCloser, io.WriteCloser) error {
	t.Helper()
	server, err := mcptest.Parse([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	server.Log = log
	return func(_ context.Context, in io.ReadCloser, out io.WriteCloser) error {
		defer out.Close()
		return server.Serve(in, out)
	}
}

func connect(t *testing.T, options Options) *Client {
	t.Helper()
	options.Name, options.Version = "test", "1"
	client, err := Connect(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestResultAsItCame(t *testing.T) {
	const result = `{"content":[],"big":12345678901234567890.10,"z":1,"a":[ 1 ]}`
	var heard []string
	client := connect(t, Options{
		Serve: serve(t, `{"tools":[{"name":"a"}],"calls":{"a":[
			{"progress":{"progress":1}}, {"progress":{"progress":2}},
			{"send":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"working"}}},
			{"result":`+result+`}]}}`, nil),
		Progress: func(params wire.Payload) { heard = append(heard, string(params.Member("progress").Bytes())) },
		Log:      func(params wire.Payload) { heard = append(heard, string(params.Member("data").Bytes())) },
	})
	got, err := client.Call(t.Context(), "a", []byte(`{}`))
	if err != nil || string(got.Bytes()) != result {
		t.Errorf("got %s, %v", got.Bytes(), err)
	}
	if want := `1 2 "working"`; strings.Join(heard, " ") != want {
		t.Errorf("before the result it heard %s, want %s", heard, want)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Call(t.Context(), "a", []byte(`{}`)); !errors.Is(err, errEnded) {
		t.Errorf("a call after the end: %v", err)
	}
}

func TestErrorIsKept(t *testing.T) {
	client := connect(t, Options{Serve: serve(t, `{"tools":[{"name":"a"}],"calls":{"a":[{"error":{"code":-32042,"message":"look","data":{"x":1}}}]}}`, nil)})
	defer client.Close()
	_, err := client.Call(t.Context(), "a", []byte(`{}`))
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Code != -32042 || failure.Message != "look" || string(failure.Data.Bytes()) != `{"x":1}` {
		t.Errorf("got %v", err)
	}
}

func TestCancelledCallIsToldToTheServer(t *testing.T) {
	var log strings.Builder
	started := make(chan struct{})
	client := connect(t, Options{
		Serve:    serve(t, `{"tools":[{"name":"a"}],"calls":{"a":[{"progress":{"progress":1}},{"wait":"cancelled"},{"answered":true}]}}`, &log),
		Progress: func(wire.Payload) { close(started) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	if _, err := client.Call(ctx, "a", []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `"method":"notifications/cancelled"`) {
		t.Errorf("the server was not told:\n%s", &log)
	}
}

func TestQuestionIsAnswered(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(context.Context, string, wire.Payload) ([]byte, error)
		want   string
	}{
		"with a result": {func(_ context.Context, method string, _ wire.Payload) ([]byte, error) {
			return []byte(`{"of":"` + method + `"}`), nil
		}, `"result":{"of":"roots/list"}`},
		"with an error": {func(context.Context, string, wire.Payload) ([]byte, error) {
			return nil, &Error{Code: -1, Message: "no"}
		}, `"error":{"code":-1,"message":"no"}`},
		"by nobody": {nil, `"error":{"code":-32601,`},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			client := connect(t, Options{Serve: serve(t, `{"tools":[{"name":"a"}],"calls":{"a":[{"ask":"roots/list"},{"result":{}}]}}`, &log), Answer: test.answer})
			if _, err := client.Call(t.Context(), "a", []byte(`{}`)); err != nil {
				t.Error(err)
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(log.String(), test.want) {
				t.Errorf("want %s in\n%s", test.want, &log)
			}
		})
	}
}

func TestQuestionIsWithdrawn(t *testing.T) {
	withdrawn := make(chan struct{})
	client := connect(t, Options{
		Serve: serve(t, `{"tools":[{"name":"a"}],"calls":{"a":[
			{"send":{"jsonrpc":"2.0","id":"q","method":"roots/list"}},
			{"send":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}},
			{"result":{}}]}}`, nil),
		Answer: func(ctx context.Context, _ string, _ wire.Payload) ([]byte, error) {
			<-ctx.Done()
			close(withdrawn)
			return nil, ctx.Err()
		},
	})
	if _, err := client.Call(t.Context(), "a", []byte(`{}`)); err != nil {
		t.Error(err)
	}
	<-withdrawn
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestServerThatEnds(t *testing.T) {
	_, err := Connect(t.Context(), Options{Serve: func(_ context.Context, in io.ReadCloser, out io.WriteCloser) error {
		return errors.Join(in.Close(), out.Close(), errors.New("no room"))
	}})
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("got %v", err)
	}
}

package mcptest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

// pair runs a server in memory and returns a client of it.
func pair(t *testing.T, spec string) (client *Client, log *record, ended chan error) {
	t.Helper()
	server, err := Parse([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	log = &record{}
	server.Log = log
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	ended = make(chan error, 1)
	go func() { ended <- server.Serve(serverIn, serverOut) }()
	t.Cleanup(func() { clientOut.Close() })
	return NewClient(clientOut, clientIn), log, ended
}

type record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

func TestBytesAreSentAsGiven(t *testing.T) {
	client, log, _ := pair(t, `{
		"pages": [[{ "name" : "a","x":1e400 }], [{"name":"b"}]],
		"calls": {"a": [{"result": { "z":1,  "a":12345678901234567890}}]}}`)
	if _, err := client.Initialize(t.Context(), "2025-06-18"); err != nil {
		t.Fatal(err)
	}
	page, err := client.Request(t.Context(), "tools/list", "")
	if want := `{"tools":[{ "name" : "a","x":1e400 }],"nextCursor":"page-1"}`; err != nil || string(page.Result) != want {
		t.Errorf("page = %s, %v; want %s", page.Result, err, want)
	}
	answer, err := client.Request(t.Context(), "tools/call", `{"name":"a","arguments":{ }}`)
	if want := `{ "z":1,  "a":12345678901234567890}`; err != nil || string(answer.Result) != want {
		t.Errorf("result = %s, %v; want %s", answer.Result, err, want)
	}
	if want := `recv {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":{ }}}`; !strings.Contains(log.String(), want) {
		t.Errorf("log lacks %s:\n%s", want, log)
	}
}

func TestStepsWaitForSignals(t *testing.T) {
	client, _, _ := pair(t, `{"calls": {
		"first":  [{"wait": "call second"}],
		"cancel": [{"wait": "cancelled"}, {"send": {"cancelled":"${id}"}}, {"answered": true}]}}`)
	first, err := client.Begin("tools/call", `{"name":"first"}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Request(t.Context(), "tools/call", `{"name":"second"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Response(t.Context(), first); err != nil {
		t.Error(err)
	}
	id, _ := client.Begin("tools/call", `{"name":"cancel"}`)
	_ = client.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	if _, _, err := client.Await(t.Context(), 0, func(m Message) bool { return string(m.Raw) == `{"cancelled":`+id+`}` }); err != nil {
		t.Error(err)
	}
}

func TestExitEndsServe(t *testing.T) {
	client, log, ended := pair(t, `{"calls": {"crash": [{"exit": 3}]}}`)
	if _, err := client.Begin("tools/call", `{"name":"crash"}`); err != nil {
		t.Fatal(err)
	}
	exit, ok := errors.AsType[*Exit](<-ended)
	if !ok || exit.Code != 3 {
		t.Errorf("Serve = %v; want exit 3", exit)
	}
	if !strings.HasSuffix(log.String(), "exit 3\n") {
		t.Errorf("log = %s", log)
	}
}

func TestRefusesToBreakLines(t *testing.T) {
	if _, err := Parse([]byte("{\"tools\": [{\n}]}")); err == nil {
		t.Error("a definition of two lines was accepted")
	}
}

func TestVersions(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"any", `{}`, `"protocolVersion":"2025-11-25"`},
		{"older", `{"versions":["2024-11-05"]}`, `"protocolVersion":"2024-11-05"`},
		{"refusing", `{"versions":["2024-11-05"],"refuse":true}`, `"data":{"supported":["2024-11-05"],"requested":"2025-11-25"}`},
		{"wrong", `{"answer":"1999-01-01"}`, `"protocolVersion":"1999-01-01"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, _, _ := pair(t, test.spec)
			answer, err := client.Initialize(t.Context(), "2025-11-25")
			if err != nil || !strings.Contains(string(answer.Raw), test.want) {
				t.Errorf("answer = %s, %v; want %s", answer.Raw, err, test.want)
			}
		})
	}
}

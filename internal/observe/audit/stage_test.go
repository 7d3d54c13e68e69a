package audit

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// testClient is a client with an address.
type testClient struct{ profile *fleet.ClientProfile }

func (testClient) Notify(string, []byte) error     { return nil }
func (testClient) TryNotify(string, []byte)        {}
func (testClient) Ask(*downstream.Question)        {}
func (c testClient) Profile() *fleet.ClientProfile { return c.profile }
func (testClient) RemoteAddress() string           { return "192.0.2.7:4711" }

// newCall returns a call of a tool.
func newCall(t testing.TB, arguments string) *call.Call {
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{Name: "S"}}}}}})
	t.Cleanup(func() { _ = servers.Stop(context.Background()) })
	box, _ := servers.Toolbox("T")
	server, _ := box.Server("S")
	profile := fleet.NewClientProfile(fleet.ProfileOptions{Name: "an agent\u202e", Caller: "token:ci"})
	t.Cleanup(profile.Close)
	return &call.Call{
		Server: server, Client: testClient{profile}, Method: "tools/call", Name: "x", Tool: wire.Raw([]byte(`{"name":"x"}`)), Hash: catalog.Hash{1, 2},
		Arguments: wire.Raw([]byte(arguments)), Meta: wire.Raw([]byte(`{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`)),
	}
}

func TestLinesOfACall(t *testing.T) {
	r := newRig(t)
	r.options.Mask = func(text string) string { return strings.ReplaceAll(text, "S3CRET", "[hidden]") }
	l := Open(r.options)
	stage := NewStage(l)
	c := newCall(t, `{"path":"a-value","key-with-S3CRET":1}`)
	c.Name = "x-S3CRET"
	stage.CallBegan(c, time.Now())
	if verdict := stage.Admit(c); verdict.Refusal != nil || verdict.Wait != nil {
		t.Errorf("the verdict is %+v", verdict)
	}
	c.Arguments, c.Meta = wire.Payload{}, wire.Payload{}
	stage.CallEnded(c, call.End{Status: call.StatusToolError, ErrorType: "tool_error", Took: 1500 * time.Microsecond, ResponseSize: 17})
	refused := newCall(t, `{"path":"a-value"}`)
	stage.CallBegan(refused, time.Now())
	stage.CallEnded(refused, call.End{Status: call.StatusRefused, ErrorType: "denied", Rule: "rule 'x', /c.json:2"})
	list := newCall(t, `{}`)
	list.Method = "tools/list"
	stage.CallBegan(list, time.Now())
	stage.Admit(list)
	stage.CallEnded(list, call.End{Status: call.StatusOK})
	r.close(l)
	report := r.good()
	text := r.text()
	for _, want := range []string{
		`"event":"call","outcome":"admitted","call":"` + l.writer + `-1","mcp.method.name":"tools/call","toolbox":"T","server":"S","gen_ai.tool.name":"x-[hidden]","definition":"0102`,
		`"caller":"token:ci","client":"an agent`, `"client.address":"192.0.2.7","client.port":4711`, `"trace_id":"0af7651916cd43dd8448eb211c80319c"`,
		`"arguments.keys":["path","key-with-[hidden]"],"arguments.bytes":38,"arguments.hmac":"`,
		`"event":"call","outcome":"tool_error","call":"` + l.writer + `-1"`, `"error.type":"tool_error","result.bytes":17,"ms":1.500`,
		`"event":"refused","outcome":"refused","call":"` + l.writer + `-2"`, `"error.type":"denied","rule":"rule 'x', /c.json:2"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	for _, secret := range []string{"a-value", "S3CRET", "tools/list", "\u202e"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in\n%s", secret, text)
		}
	}
	if report.Open != 0 || len(stage.open) != 0 {
		t.Errorf("%d calls are open in the log, %d in the stage", report.Open, len(stage.open))
	}
}

func TestRequiredCallsWait(t *testing.T) {
	r := newRig(t)
	r.options.Required = true
	var isBroken atomic.Bool
	r.options.open = func(path string, isNew bool) (file, error) {
		if isBroken.Load() {
			return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("no space left on device")}
		}
		return openFile(path, isNew)
	}
	l := Open(r.options)
	stage := NewStage(l)
	admit := func() (c *call.Call, refusal *call.Failure) {
		c = newCall(t, `{}`)
		stage.CallBegan(c, time.Now())
		return c, stage.Admit(c).Wait(context.Background())
	}
	c, refusal := admit()
	if refusal != nil || !strings.Contains(r.text(), `"outcome":"admitted"`) {
		t.Errorf("admitted before it was recorded: %v", refusal)
	}
	stage.CallEnded(c, call.End{Status: call.StatusOK})
	isBroken.Store(true)
	if err := os.Rename(r.options.Folder, r.options.Folder+"-moved"); err != nil {
		t.Fatal(err)
	}
	c, refusal = admit()
	if refusal == nil || !strings.Contains(refusal.Message, "cannot be recorded in the audit log") || !strings.Contains(refusal.Message, "no space left on device") {
		t.Errorf("the refusal is %v", refusal)
	}
	stage.CallEnded(c, call.End{Status: call.StatusRefused})
	if stage.Screen(c) == nil {
		t.Error("a server would be started for a call that cannot be recorded")
	}
	isBroken.Store(false)
	deadline := time.Now().Add(10 * time.Second)
	for stage.Screen(c) != nil && time.Now().Before(deadline) { // it is tried again by itself
		time.Sleep(10 * time.Millisecond)
	}
	if _, refusal = admit(); refusal != nil {
		t.Errorf("the log can be written again, but %v", refusal)
	}
	r.close(l)
}

// BenchmarkStage is what the log costs in the way of a call.
func BenchmarkStage(b *testing.B) {
	for name, isRequired := range map[string]bool{"background": false, "required": true} {
		b.Run(name, func(b *testing.B) {
			folder := b.TempDir()
			l := Open(Options{Folder: folder + "/log", Keys: folder + "/keys", Required: isRequired})
			stage := NewStage(l)
			c := newCall(b, `{"path":"a-value","depth":3}`)
			b.ReportAllocs()
			for b.Loop() {
				stage.CallBegan(c, time.Time{})
				if verdict := stage.Admit(c); verdict.Wait != nil {
					if refusal := verdict.Wait(context.Background()); refusal != nil {
						b.Fatal(refusal)
					}
				}
				stage.CallEnded(c, call.End{Status: call.StatusOK, Took: time.Millisecond, ResponseSize: 100})
			}
			b.StopTimer()
			_ = l.Close(context.Background())
		})
	}
}

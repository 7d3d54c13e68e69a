package downstream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// tapNotes is a tap that keeps what it is shown: its direction, and the method or the id.
type tapNotes struct {
	mu   sync.Mutex
	seen []string
}

func (l *tapNotes) add(side string, message []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal(message, &m)
	if m.Method == "" {
		m.Method = string(m.ID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, side+m.Method)
}

func (l *tapNotes) Sent(_ *Session, _ string, message []byte) { l.add(">", message) }

func (l *tapNotes) Received(_ *Session, message, _ []byte) { l.add("<", message) }

func (l *tapNotes) Skipped(_ *Session, size int64) { l.add("<", fmt.Appendf(nil, `{"id":"%d"}`, size)) }

func (l *tapNotes) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.seen, " ")
}

func TestATapSeesBothDirections(t *testing.T) {
	const spec = `{"tools":[{"name":"a","inputSchema":{}}]}`
	for name, connectTo := range map[string]func(t *testing.T, options Options) *Session{
		"stdio": func(t *testing.T, options Options) *Session {
			session, _ := connect(t, spec, options)
			return session
		},
		"streamable HTTP": func(t *testing.T, options Options) *Session {
			f := newWeb(t)
			f.session = "s"
			return f.mustConnect(options)
		},
	} {
		t.Run(name, func(t *testing.T) {
			taps, tap := &TapPoint{}, &tapNotes{}
			if !taps.Attach(tap) || taps.Attach(&tapNotes{}) {
				t.Error("there must be one tap at most")
			}
			session := connectTo(t, Options{Taps: taps, Opening: InitializeFirst})
			if _, _, err := session.ListTools(t.Context()); err != nil {
				t.Fatal(err)
			}
			session.Notify("notifications/x", nil)
			const want = ">initialize <1 >notifications/initialized >tools/list <2 >notifications/x"
			if got := tap.all(); got != want {
				t.Errorf("it saw %q\nwant     %q", got, want)
			}
			request, response := session.Handshake(7)
			if m, err := wire.Parse(wire.NewFrame(request)); err != nil || string(m.Method) != "initialize" || m.Params.Member("protocolVersion").IsAbsent() {
				t.Errorf("%s, %v", request, err)
			}
			if m, err := wire.Parse(wire.NewFrame(response)); err != nil || m.Result.Member("capabilities").IsAbsent() {
				t.Errorf("%s, %v", response, err)
			}
			taps.Detach(&tapNotes{}) // another one
			taps.Detach(tap)
			if _, _, err := session.ListTools(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := tap.all(); got != want {
				t.Errorf("it still saw %q", got)
			}
		})
	}
}

func TestATapSeesRefusalsAndEvents(t *testing.T) {
	f := newWeb(t)
	f.session = "s"
	f.call = func(w http.ResponseWriter, _ *http.Request, id string) {
		send := events(w)
		send("data: " + `{"jsonrpc":"2.0","method":"notifications/message","params":{}}` + "\n\n")
		send("data: " + `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` + "\n\n")
	}
	taps, tap := &TapPoint{}, &tapNotes{}
	session := f.mustConnect(Options{Taps: taps})
	taps.Attach(tap)
	got := make(waiter, 1)
	if _, err := session.CallTool(ToolCall{Name: "a"}, got); err != nil {
		t.Fatal(err)
	}
	if answered := <-got; answered.err != nil {
		t.Error(answered.err)
	}
	if seen := strings.Fields(tap.all()); len(seen) != 3 || !slices.Equal(seen[:2], []string{">tools/call", "<notifications/message"}) {
		t.Errorf("it saw %v", seen)
	}
}

// TestWithoutATapNothingIsAllocated holds the data path to what it promises.
func TestWithoutATapNothingIsAllocated(t *testing.T) {
	s := &Session{options: Options{Taps: &TapPoint{}}}
	message := []byte(`{}`)
	if n := testing.AllocsPerRun(100, func() {
		s.tapSent(message)
		s.tapReceived(message, 12345)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

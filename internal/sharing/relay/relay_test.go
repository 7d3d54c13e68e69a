package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipe is a connection in memory.
type pipe struct {
	io.Reader
	io.WriteCloser
	closeRead func() error
}

func (p *pipe) CloseWrite() error { return p.WriteCloser.Close() }
func (p *pipe) Close() error      { return errors.Join(p.WriteCloser.Close(), p.closeRead()) }

func newPipe() (near, far *pipe) {
	a, toA := io.Pipe()
	b, toB := io.Pipe()
	return &pipe{a, toB, a.Close}, &pipe{b, toA, b.Close}
}

// workbench plays one workbench after the other.
type workbench struct {
	// answer returns what a message gets, as lines; ok is false if the workbench dies of it.
	answer func(life int, message wire.Message) (lines []string, ok bool)

	mu      sync.Mutex
	lives   int
	got     map[int][]string // what each life received
	resumed []Resume
	tasks   sync.WaitGroup
}

func (w *workbench) dial(_ context.Context, resume Resume) (Conn, error) {
	near, far := newPipe()
	w.mu.Lock()
	w.lives++
	life := w.lives
	w.resumed = append(w.resumed, resume)
	w.mu.Unlock()
	w.tasks.Go(func() { w.live(life, far) })
	return near, nil
}

func (w *workbench) live(life int, conn *pipe) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		w.mu.Lock()
		w.got[life] = append(w.got[life], lines.Text())
		w.mu.Unlock()
		message, err := wire.Parse(wire.NewFrame([]byte(lines.Text())))
		if err != nil {
			continue
		}
		answers, ok := w.answer(life, message)
		for _, line := range answers {
			if _, err := io.WriteString(conn, line+"\n"); err != nil {
				return
			}
		}
		if !ok {
			return
		}
	}
}

// received returns the methods of what a life received.
func (w *workbench) received(life int) (methods []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.got[life] {
		message, _ := wire.Parse(wire.NewFrame([]byte(line)))
		methods = append(methods, string(message.Method))
	}
	return methods
}

// client is one end of a relay.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan error
	stop  context.CancelFunc
}

func begin(t *testing.T, w *workbench, answer func(int, wire.Message) ([]string, bool)) *client {
	t.Helper()
	w.got, w.answer = make(map[int][]string), answer
	in, toRelay := io.Pipe()
	fromRelay, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	c := &client{t: t, in: toRelay, lines: make(chan string, 1000), ended: make(chan error, 1), stop: stop}
	go func() { c.ended <- Run(ctx, Options{In: in, Out: out, Dial: w.dial}) }()
	go func() {
		for lines := bufio.NewScanner(fromRelay); lines.Scan(); {
			c.lines <- lines.Text()
		}
		close(c.lines)
	}()
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// end closes the client's side and returns what it had not read.
func (c *client) end() (rest []string) {
	c.t.Helper()
	c.in.Close()
	if err := <-c.ended; err != nil {
		c.t.Error(err)
	}
	for line := range c.lines {
		rest = append(rest, line)
	}
	return rest
}

const (
	initialize  = `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}},"jsonrpc":"2.0","id":0}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	setLevel    = `{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"info"}}`
	subscribe   = `{"jsonrpc":"2.0","id":"s","method":"resources/subscribe","params":{"uri":"a:b"}}`
	introduced  = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}}`
)

// obliging answers every request.
func obliging(message wire.Message) []string {
	if !message.IsRequest() {
		return nil
	}
	result := `{"of":"` + string(message.Method) + `"}`
	if string(message.Method) == "initialize" {
		result = introduced
	}
	return []string{`{"jsonrpc":"2.0","id":` + string(message.ID.Bytes()) + `,"result":` + result + `}`}
}

// The workbench dies at every moment of a session: after it read its nth message, before
// or after it answered. Each request gets just one answer, nothing is sent twice that may
// have run, and the next workbench knows what makes the session.
func TestWorkbenchDiesAtEveryMoment(t *testing.T) {
	script := []string{initialize, initialized, setLevel, subscribe}
	for i := range 3 {
		script = append(script, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t%d"}}`, i+1, i+1))
	}
	for dies := 1; dies <= len(script); dies++ {
		for _, answers := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %d, answered %t", dies, answers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, read := &workbench{}, 0
					c := begin(t, w, func(life int, message wire.Message) ([]string, bool) {
						if life > 1 {
							return obliging(message), true
						}
						if read++; read < dies {
							return obliging(message), true
						}
						if answers {
							return obliging(message), false
						}
						return nil, false
					})
					for _, line := range script {
						c.send(line)
						synctest.Wait()
					}
					checkDeath(t, w, c.end(), script, dies, answers)
					w.tasks.Wait()
				})
			})
		}
	}
}

func checkDeath(t *testing.T, w *workbench, got, script []string, dies int, answered bool) {
	t.Helper()
	answers := make(map[string][]string)
	changes := 0
	for _, line := range got {
		message, err := wire.Parse(wire.NewFrame([]byte(line)))
		switch {
		case err != nil:
			t.Fatalf("%s: %v", line, err)
		case message.IsResponse():
			answers[string(message.ID.Bytes())] = append(answers[string(message.ID.Bytes())], line)
		case string(message.Method) == "notifications/tools/list_changed":
			changes++
		default:
			t.Errorf("unexpected: %s", line)
		}
	}
	for i, line := range script {
		message, _ := wire.Parse(wire.NewFrame([]byte(line)))
		if !message.IsRequest() {
			continue
		}
		all := answers[string(message.ID.Bytes())]
		lost := i+1 == dies && !answered && string(message.Method) != "initialize"
		if len(all) != 1 || strings.Contains(all[0], "may have been carried out") != lost {
			t.Errorf("%s was answered with %q; lost: %t", line, all, lost)
		}
	}
	if len(answers) != len(script)-1 {
		t.Errorf("the client got answers to what it did not ask: %v", answers)
	}
	if told := dies > 1 || answered; (changes == 1) != told {
		t.Errorf("the client was told %d times to look again", changes)
	}
	second := w.received(2)
	want := []string{"initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe"}
	calls := len(script) - max(dies, len(want))
	for range calls {
		want = append(want, "tools/call")
	}
	if !slices.Equal(second, want) {
		t.Errorf("the second workbench received %v, want %v", second, want)
	}
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &workbench{}
		c := begin(t, w, func(life int, message wire.Message) ([]string, bool) {
			switch id := string(message.ID.Bytes()); {
			case id == "1" && life == 1:
				return []string{
					strings.TrimSpace(string(Mark(`a "b"`))), "#unknown",
					`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`,
					`{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{}}`,
					`{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{}}`,
					`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`,
				}, true
			case id == "2" && life == 1:
				return nil, false
			}
			return obliging(message), true
		})
		c.send(initialize)
		c.send(initialized)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_toolbox"}}`)
		synctest.Wait()
		c.send(`{"jsonrpc":"2.0","id":7,"result":{}}`)
		c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		synctest.Wait()
		got := c.end()
		w.tasks.Wait()
		if len(w.resumed) != 2 || !slices.Equal(w.resumed[1].Opened, []string{`a "b"`}) || w.resumed[1].LastAsked != 9 || w.resumed[1].Broken != 1 {
			t.Errorf("resumed %+v", w.resumed)
		}
		withdrawn := 0
		for _, line := range got {
			if strings.Contains(line, "#") {
				t.Errorf("the client got a mark: %s", line)
			}
			if strings.Contains(line, "the workbench that asked has ended") {
				withdrawn++
				if !strings.Contains(line, `"requestId":8`) {
					t.Errorf("withdrawn: %s", line)
				}
			}
		}
		if withdrawn != 1 {
			t.Errorf("%d questions were withdrawn: %q", withdrawn, got)
		}
	})
}

// A client of the modern era has no session. What it listens to goes on.
func TestModernClientGoesOn(t *testing.T) {
	const listen = `{"jsonrpc":"2.0","id":"x","method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true}}}`
	synctest.Test(t, func(t *testing.T) {
		w := &workbench{}
		c := begin(t, w, func(life int, message wire.Message) ([]string, bool) {
			switch string(message.Method) {
			case "subscriptions/listen":
				return []string{fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"life":%d}}`, life)}, true
			case "die":
				return nil, false
			}
			return obliging(message), true
		})
		c.send(listen)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"die"}`)
		synctest.Wait()
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		synctest.Wait()
		got := c.end()
		w.tasks.Wait()
		if received := w.received(2); !slices.Equal(received, []string{"subscriptions/listen", "tools/list"}) {
			t.Errorf("the second workbench received %v", received)
		}
		// What it listens to may have changed meanwhile.
		const look = `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}}}`
		if !slices.Contains(got, look) {
			t.Errorf("the client was not told to look again: %q", got)
		}
		got = slices.DeleteFunc(got, func(line string) bool { return line == look })
		if len(got) != 4 || !strings.Contains(got[2], `"life":2`) || !strings.Contains(got[3], `"of":"tools/list"`) {
			t.Errorf("the client got %q", got)
		}
	})
}

// Requests of a batch are answered one by one if nobody else answers them, and a request
// that the client cancelled is not.
func TestLostRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &workbench{}
		c := begin(t, w, func(_ int, message wire.Message) ([]string, bool) {
			if string(message.Method) == "die" {
				return nil, false
			}
			return nil, true
		})
		c.send(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":"\u0032","method":"b"},{"jsonrpc":"2.0","method":"n"}]`)
		c.send(`{"jsonrpc":"2.0","id":"3","method":"c"}`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0033"}}`)
		c.send(`not a message`)
		c.send(`{"jsonrpc":"2.0","method":"die"}`)
		synctest.Wait()
		got := c.end()
		w.tasks.Wait()
		slices.Sort(got)
		if len(got) != 2 || !strings.Contains(got[0], `"id":"\u0032"`) || !strings.Contains(got[1], `"id":1,`) {
			t.Errorf("the client got %q", got)
		}
	})
}

func TestWorkbenchThatDoesNotLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &workbench{}
		c := begin(t, w, func(int, wire.Message) ([]string, bool) { return nil, false })
		began := time.Now()
		c.send(initialize)
		if err := <-c.ended; !errors.Is(err, ErrBroken) {
			t.Errorf("it ended with %v", err)
		}
		w.tasks.Wait()
		if took := time.Since(began); w.lives != maxBroken+1 || took < time.Second || took > time.Minute {
			t.Errorf("%d tries in %s", w.lives, took)
		}
	})
}

func TestDialFails(t *testing.T) {
	in, toRelay := io.Pipe()
	fromRelay, out := io.Pipe()
	defer toRelay.Close()
	defer fromRelay.Close()
	refused := errors.New("refused")
	err := Run(t.Context(), Options{In: in, Out: out, Dial: func(context.Context, Resume) (Conn, error) { return nil, refused }})
	if !errors.Is(err, refused) {
		t.Errorf("it ended with %v", err)
	}
}

// The end of stdin, a signal and a client that reads no more end the relay in bounded time,
// whatever the workbench does.
func TestEndIsBounded(t *testing.T) {
	ends := map[string]func(*client){
		"end of stdin": func(c *client) { c.in.Close() },
		"signal":       func(c *client) { c.stop() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := newPipe()
				in, toRelay := io.Pipe()
				fromRelay, out := io.Pipe()
				ctx, stop := context.WithCancel(context.Background())
				c := &client{t: t, in: toRelay, stop: stop, ended: make(chan error, 1)}
				go func() {
					c.ended <- Run(ctx, Options{In: in, Out: out, Dial: func(context.Context, Resume) (Conn, error) { return near, nil }})
				}()
				go io.Copy(io.Discard, fromRelay)
				go io.Copy(io.Discard, far) // it reads, and never answers nor ends
				c.send(initialize)
				synctest.Wait()
				began := time.Now()
				end(c)
				if err := <-c.ended; err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > answerTime+partTime+flushTime+readTime {
					t.Errorf("it took %s", took)
				}
				stop()
				toRelay.Close()
				far.Close()
			})
		})
	}
}

func TestMessageOverTheLimit(t *testing.T) {
	in, toRelay := io.Pipe()
	fromRelay, out := io.Pipe()
	w := &workbench{got: make(map[int][]string), answer: func(_ int, m wire.Message) ([]string, bool) { return obliging(m), true }}
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), Options{In: in, Out: out, Dial: w.dial, MaxMessage: 200}) }()
	go fmt.Fprintf(toRelay, `{"jsonrpc":"2.0","id":5,"method":"a","params":{"x":"%s"}}`+"\n", strings.Repeat("x", 300))
	got, err := bufio.NewReader(fromRelay).ReadString('\n')
	want := `{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"Invalid request: message of 355 bytes is longer than the limit of 200 (maxMessageSize)"}}` + "\n"
	if err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	toRelay.Close()
	go io.Copy(io.Discard, fromRelay)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.tasks.Wait()
}

func TestResponse(t *testing.T) {
	tests := []struct {
		line, id string
		kind     kind
	}{
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, "1", isResponse},
		{`{"jsonrpc":"2.0","id":"a\"b,\\","error":{"code":1,"message":""}}`, `"a\"b,\\"`, isResponse},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, "null", isResponse},
		{`{"jsonrpc":"2.0","id":3,"method":"roots/list"}`, "3", isRequest},
		{`{"jsonrpc":"2.0","method":"x","id":3}`, "", isOther}, // a workbench writes no such thing
		{`{"id":3,"jsonrpc":"2.0","method":"x"}`, "3", isRequest},
		{`{ "result": {}, "id": "q", "jsonrpc": "2.0" }`, `"q"`, isResponse},
		{`{"jsonrpc":"2.0","method":"notifications/message","params":{"id":3}}`, "", isOther},
		{`{"jsonrpc":"2.0","id":"open`, "", isOther},
		{`{"jsonrpc":"2.0","id":`, "", isOther},
		{`x`, "", isOther},
	}
	for _, test := range tests {
		if id, kind := response(wire.NewFrame([]byte(test.line))); string(id) != test.id || kind != test.kind {
			t.Errorf("%s: id %s, kind %d; want %s, %d", test.line, id, kind, test.id, test.kind)
		}
	}
}

func TestMark(t *testing.T) {
	for _, name := range []string{"dev", `a "b"` + "\n#", "ü"} {
		line := Mark(name)
		if got, ok := ParseMark(line[:len(line)-1]); !ok || got != name || strings.Count(string(line), "\n") != 1 {
			t.Errorf("%q became %q", name, line)
		}
	}
	for _, line := range []string{"#opened", "#opened x", `{"jsonrpc":"2.0"}`, "#opened 3"} {
		if _, ok := ParseMark([]byte(line)); ok {
			t.Errorf("%q is no mark", line)
		}
	}
}

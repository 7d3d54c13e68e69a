package approve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; it is never reached where nothing is wrong.
const patience = 20 * time.Second

// workbench is one in which calls wait.
type workbench struct {
	control.Subject // what no test asks for

	mu        sync.Mutex
	questions []control.Question
	watchers  map[chan struct{}]bool
	answers   []string
}

func (w *workbench) Inspect() control.Workbench {
	return control.Workbench{PID: os.Getpid(), Serving: "stdio", Config: "/c.json", Waiting: len(w.Questions())}
}

func (w *workbench) PageActed(control.PageAction) {}

func (w *workbench) Questions() []control.Question {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.questions)
}

func (w *workbench) WatchQuestions(string) (<-chan struct{}, func()) {
	watcher := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watchers[watcher] = true
	return watcher, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watchers, watcher)
	}
}

// change changes the questions.
func (w *workbench) change(to ...control.Question) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.questions = to
	for watcher := range w.watchers {
		select {
		case watcher <- struct{}{}:
		default:
		}
	}
}

func (w *workbench) Answer(id string, answer approval.Answer, _ string) error {
	left := slices.DeleteFunc(w.Questions(), func(q control.Question) bool { return q.ID == id })
	if len(left) == len(w.Questions()) {
		return control.NotWaiting(id)
	}
	w.mu.Lock()
	w.answers = append(w.answers, id+" "+answer.String())
	w.mu.Unlock()
	w.change(left...)
	return nil
}

func (*workbench) AnswerElicitation(string, json.RawMessage) error { return nil }
func (*workbench) Metrics() http.Handler                           { return http.NotFoundHandler() }

func (w *workbench) answered() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.answers, ",")
}

func (w *workbench) Journal(string, string, uint64) ([]control.Line, uint64, <-chan struct{}, error) {
	return nil, 0, nil, errors.New("there are no servers")
}

func (w *workbench) History(uint64) ([]history.Record, uint64, <-chan struct{}) {
	return nil, 0, nil
}
func (w *workbench) Restart(context.Context, string, string) error { return nil }
func (w *workbench) ReviewHints()                                  {}

func (w *workbench) Record(string, string, time.Duration) (recording.Info, error) {
	return recording.Info{}, errors.New("there are no servers")
}

func (w *workbench) Recordings() *recording.Book { return recording.NewBook(recording.Options{}) }

func (w *workbench) End() {}

// runningWorkbench serves a workbench, and returns how to find it.
func runningWorkbench(t *testing.T, waiting ...control.Question) (*workbench, Finder) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "approve")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	dir, err := runtimedir.Open(func(string) string { return folder }, "")
	if err != nil {
		t.Fatal(err)
	}
	w := &workbench{questions: waiting, watchers: make(map[chan struct{}]bool)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- control.Serve(ctx, dir, w) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	find := func(ctx context.Context) ([]*control.Client, error) { return control.Find(ctx, dir) }
	eventually(t, func() error {
		if found, err := find(t.Context()); len(found) != 1 {
			return fmt.Errorf("found %v, %w", found, err)
		}
		return nil
	})
	return w, find
}

func eventually(t *testing.T, check func() error) {
	t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(limit) {
			t.Fatal(err)
		}
	}
}

// terminal is one that a test reads and types into.
type terminal struct {
	*testing.T
	keys *os.File

	mu    sync.Mutex
	shown strings.Builder
	read  int // how much of it was expected so far
}

// newPerson returns a person whose terminal the test has.
func newPerson(t *testing.T) (*Person, *terminal) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals: ", err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{T: t, keys: keys}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		part := make([]byte, 4096)
		for {
			n, err := keys.Read(part)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.shown.Write(part[:n])
			term.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_, _ = keys.WriteString("\x04\x04") // ends a read that nobody waits for
		time.Sleep(time.Millisecond)
		_ = line.Close()
		<-ended
		_ = keys.Close()
	})
	return NewPerson(tty.New(line, line, func(name string) string {
		return map[string]string{"NO_COLOR": "1"}[name]
	})), term
}

// see waits until a text is shown after what was seen before, and returns what is shown after it so far.
func (t *terminal) see(text string) (after string) {
	t.Helper()
	eventually(t.T, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		rest := t.shown.String()[t.read:]
		at := strings.Index(rest, text)
		if at < 0 {
			return fmt.Errorf("there is no %q in %q", text, rest)
		}
		t.read += at + len(text)
		after = rest[at+len(text):]
		return nil
	})
	return after
}

func (t *terminal) enter(text string) {
	t.Helper()
	if _, err := t.keys.WriteString(text + "\n"); err != nil {
		t.Fatal(err)
	}
}

// code waits for the code, and returns it.
func (t *terminal) code() string {
	t.Helper()
	t.see("type the code ")
	var code string
	eventually(t.T, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		var found bool
		if code, _, found = strings.Cut(t.shown.String()[t.read:], ":"); !found {
			return errors.New("the code is not shown")
		}
		return nil
	})
	if len(code) != 4 {
		t.Fatalf("the code is %q", code)
	}
	return code
}

// all returns all that was ever shown.
func (t *terminal) all() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.String()
}

// question is one about a tool.
func question(id, tool string) control.Question {
	return control.Question{ID: id, Tool: tool, Caller: "stdio", Rule: "rule '*'", Since: time.Now(), Deadline: time.Now().Add(patience)}
}

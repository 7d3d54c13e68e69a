//go:build unix

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; it is never reached where nothing is wrong.
const patience = 20 * time.Second

// subject is a workbench with one server that writes what it is told to.
type subject struct {
	Subject // what no test asks for

	mu        sync.Mutex
	lines     []Line
	more      chan struct{}
	restarted []string
	reviews   int
	acted     []PageAction
	end       context.CancelFunc

	book *recording.Book
	taps downstream.TapPoint

	questions []Question
	changes   chan struct{} // of the only watcher
	watchers  int
	answered  []string

	history *history.History
	watch   func(ctx context.Context, send func(*Event) error) error
}

func (s *subject) History(after uint64) ([]history.Record, uint64, <-chan struct{}) {
	return s.history.Read(after)
}

func (s *subject) Inspect() Workbench {
	return Workbench{PID: os.Getpid(), Version: "1", Waiting: len(s.Questions()), Servers: []Server{{Toolbox: "dev box", Name: "s/1", State: "ready", Requests: 3}}}
}

func (s *subject) Journal(box, server string, number uint64) ([]Line, uint64, <-chan struct{}, error) {
	if box+"/"+server != "dev box/s/1" {
		return nil, 0, nil, fmt.Errorf("there is no %s/%s", box, server)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines[number:], uint64(len(s.lines)), s.more, nil
}

func (s *subject) write(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, Line{time.Unix(1, 0).UTC(), text})
	close(s.more)
	s.more = make(chan struct{})
}

func (s *subject) Restart(_ context.Context, box, server string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restarted = append(s.restarted, box+"/"+server)
	if len(s.restarted) > 1 {
		return errors.New("it exits at once")
	}
	return nil
}

func (s *subject) PageActed(did PageAction) { s.acted = append(s.acted, did) }

func (s *subject) Questions() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.questions
}

func (s *subject) WatchQuestions(string) (<-chan struct{}, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers++
	return s.changes, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers--
	}
}

func (s *subject) Answer(id string, answer approval.Answer, via string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.questions) == 0 || s.questions[0].ID != id {
		return NotWaiting(id)
	}
	s.questions, s.answered = s.questions[1:], append(s.answered, id+" "+answer.String()+" via "+via)
	s.changes <- struct{}{}
	return nil
}

func (s *subject) AnswerElicitation(id string, result json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.questions) == 0 || s.questions[0].ID != id {
		return NoElicitation(id)
	}
	s.questions, s.answered = s.questions[1:], append(s.answered, id+" "+string(result))
	return nil
}

// Metrics shows one counter.
func (s *subject) Metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "seen_total"}, func() float64 { return 7 }))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

func (s *subject) Changes(ChangeFilter) Changes { return Changes{Changes: []DefinitionChange{}} }

func (s *subject) Accept(_, _, _, _ string) error { return nil }

func (s *subject) Logins() []Login { return []Login{} }

func (s *subject) ReviewHints() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reviews++
}

func (s *subject) Record(box, server string, span time.Duration) (recording.Info, error) {
	return s.book.Start(recording.Source{Toolbox: box, Server: server, Taps: &s.taps}, span)
}

func (s *subject) Recordings() *recording.Book { return s.book }

func (s *subject) End() { s.end() }

// serve serves a subject, and returns it with its only client.
func serve(t *testing.T) (*subject, *Client, runtimedir.Dir) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "control")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	dir, err := runtimedir.Open(func(string) string { return folder }, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &subject{more: make(chan struct{}), end: cancel, changes: make(chan struct{}, 10), history: history.New(strings.ToUpper)}
	s.book = recording.NewBook(recording.Options{Folder: recording.Folder(folder), Mask: strings.Clone})
	t.Cleanup(func() { _ = s.book.Close(context.Background()) })
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, dir, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for {
		if found, err := Find(limit, dir); err == nil && len(found) == 1 {
			return s, found[0], dir
		} else if limit.Err() != nil {
			t.Fatalf("found %v, %v", found, err)
		}
	}
}

func TestStatusAndRestart(t *testing.T) {
	s, client, _ := serve(t)
	if got := client.Status; got.PID != os.Getpid() || len(got.Servers) != 1 || got.Servers[0].Requests != 3 {
		t.Errorf("the status is %+v", got)
	}
	server := client.Status.Servers[0]
	if err := client.Restart(t.Context(), server); err != nil {
		t.Error(err)
	}
	if err := client.Restart(t.Context(), server); err == nil || err.Error() != "it exits at once" {
		t.Errorf("a restart that fails: %v", err)
	}
	if err := client.ReviewHints(t.Context()); err != nil || s.reviews != 1 {
		t.Errorf("%d reviews (%v)", s.reviews, err)
	}
	if s.restarted[0] != "dev box/s/1" {
		t.Errorf("restarted %v", s.restarted)
	}
}

func TestLogs(t *testing.T) {
	s, client, _ := serve(t)
	server := client.Status.Servers[0]
	for i := range 5 {
		s.write(fmt.Sprint("line ", i))
	}
	var got []string
	if err := client.Logs(t.Context(), server, 2, false, func(l Line) { got = append(got, l.Text) }); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(got, ","); text != "line 3,line 4" {
		t.Errorf("the last two are %s", text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got = nil
	err := client.Logs(ctx, server, 1, true, func(l Line) {
		if got = append(got, l.Text); len(got) < 3 {
			s.write(fmt.Sprint("more ", len(got)))
		} else {
			cancel()
		}
	})
	if text := strings.Join(got, ","); !errors.Is(err, context.Canceled) || text != "line 4,more 1,more 2" {
		t.Errorf("followed %s, %v", text, err)
	}
	if err := client.Logs(t.Context(), Server{Toolbox: "x", Name: "y"}, 1, false, nil); err == nil || err.Error() != "there is no x/y" {
		t.Errorf("an unknown server: %v", err)
	}
}

func TestMetrics(t *testing.T) {
	_, client, _ := serve(t)
	all, err := client.Metrics(t.Context())
	if err != nil || len(all) != 1 || all[0].GetName() != "seen_total" || all[0].Metric[0].Counter.GetValue() != 7 {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestStop(t *testing.T) {
	_, client, dir := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := client.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(ctx, dir); len(found) != 0 || err != nil {
		t.Errorf("afterwards: %v, %v", found, err)
	}
}

func TestFindForgetsTheDead(t *testing.T) {
	_, _, dir := serve(t)
	dead := dir.Path(prefix + "999999999")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	if found, err := Find(t.Context(), dir); len(found) != 1 || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket of a dead one is there: %v", err)
	}
}

// Workbenches that hang are reported after one time limit, not after one each.
func TestFindAmongWorkbenchesThatHang(t *testing.T) {
	folder, err := os.MkdirTemp("/tmp", "wb") // a socket's name has to be short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	dir, err := runtimedir.Open(func(string) string { return "" }, folder)
	if err != nil {
		t.Fatal(err)
	}
	const hanging = 40
	for i := range hanging {
		listener, err := dir.Listen(fmt.Sprintf("%s%d", prefix, 1_000_000+i))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
	}
	began := time.Now()
	found, err := Find(t.Context(), dir)
	if len(found) != 0 || err == nil || strings.Count(err.Error(), "does not answer") != hanging {
		t.Errorf("found %d: %v", len(found), err)
	}
	if took := time.Since(began); took > 3*answerTime {
		t.Errorf("it took %s", took)
	}
}

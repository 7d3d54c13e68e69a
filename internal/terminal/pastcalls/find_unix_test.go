//go:build unix

package pastcalls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; it is never reached where nothing is wrong.
const patience = 20 * time.Second

var started = time.UnixMilli(1_700_000_000_123)

// workbench is one with calls.
type workbench struct {
	control.Subject // what no test asks for

	mu    sync.Mutex
	calls []history.Record
	more  chan struct{}
}

func (w *workbench) History(after uint64) ([]history.Record, uint64, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []history.Record
	for _, one := range w.calls {
		if one.Seq > after {
			found, after = append(found, one), one.Seq
		}
	}
	return found, after, w.more
}

func (w *workbench) add(calls ...history.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, calls...)
	close(w.more)
	w.more = make(chan struct{})
}

func (w *workbench) Inspect() control.Workbench {
	return control.Workbench{PID: os.Getpid(), Started: started}
}

func (w *workbench) Journal(string, string, uint64) ([]control.Line, uint64, <-chan struct{}, error) {
	return nil, 0, nil, errors.New("there are no servers")
}
func (w *workbench) Restart(context.Context, string, string) error   { return nil }
func (w *workbench) PageActed(control.PageAction)                    {}
func (w *workbench) Questions() []control.Question                   { return nil }
func (w *workbench) WatchQuestions(string) (<-chan struct{}, func()) { return nil, func() {} }
func (w *workbench) Answer(string, approval.Answer, string) error    { return nil }
func (w *workbench) AnswerElicitation(string, json.RawMessage) error { return nil }
func (w *workbench) ReviewHints()                                    {}

func (w *workbench) Record(string, string, time.Duration) (recording.Info, error) {
	return recording.Info{}, errors.New("there are no servers")
}

func (w *workbench) Recordings() *recording.Book { return recording.NewBook(recording.Options{}) }
func (w *workbench) Metrics() http.Handler       { return http.NotFoundHandler() }
func (w *workbench) End()                        {}

// run serves a workbench with calls until stop.
func run(t *testing.T, calls ...history.Record) (w *workbench, find Finder, stop func()) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "history")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	dir, err := runtimedir.Open(func(string) string { return folder }, "")
	if err != nil {
		t.Fatal(err)
	}
	w = &workbench{calls: calls, more: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- control.Serve(ctx, dir, w) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	find = func(ctx context.Context) ([]*control.Client, error) {
		found, err := control.Find(ctx, dir)
		if len(found) == 0 && err == nil {
			err = &toolbox.Error{Code: toolbox.NotRunning}
		}
		return found, err
	}
	for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if found, _ := find(t.Context()); len(found) == 1 {
			return w, find, stop
		}
		if time.Now().After(limit) {
			t.Fatal("it is not found")
		}
	}
}

// numbered returns a call that began at a second.
func numbered(pid int, seq uint64, second int64) history.Record {
	return history.Record{PID: pid, Seq: seq, Time: time.Unix(second, 0), Outcome: "ok", Took: float64(seq)}
}

// store writes calls to a file.
func store(t *testing.T, folder string, pid int, calls ...history.Record) {
	t.Helper()
	var text []byte
	for _, one := range calls {
		line, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	name := fmt.Sprintf("20260101-%d-%d-1.jsonl", pid, started.UnixMilli())
	if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func seqs(calls []history.Record) (all []uint64) {
	for _, one := range calls {
		all = append(all, one.Seq)
	}
	return all
}

// The calls of a running workbench are in its memory and in its files: each is shown once.
func TestFind(t *testing.T) {
	own, other, folder := os.Getpid(), 7, t.TempDir()
	failed := numbered(own, 5, 105)
	failed.Outcome = "failed"
	_, find, _ := run(t, numbered(own, 3, 103), numbered(own, 4, 104), failed)
	store(t, folder, own, numbered(own, 1, 101), numbered(own, 2, 102), numbered(own, 3, 103), numbered(own, 4, 104))
	store(t, folder, other, numbered(other, 20, 90), numbered(other, 21, 91))
	running, err := find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		query Query
		want  []uint64
	}{
		{"all", Query{Limit: 100}, []uint64{20, 21, 1, 2, 3, 4, 5}},
		{"the last", Query{Limit: 3}, []uint64{3, 4, 5}},
		{"slow", Query{Limit: 100, Slow: 4 * time.Second}, []uint64{20, 21, 4, 5}},
		{"the last slow", Query{Limit: 1, Slow: 20 * time.Second}, []uint64{21}},
		{"errors", Query{Limit: 100, Errors: true}, []uint64{5}},
		{"of one", Query{Limit: 100, PID: other}, []uint64{20, 21}},
	} {
		test.query.Folder = folder
		calls, err := test.query.Find(t.Context(), running)
		if err != nil {
			t.Error(err)
		}
		if got := seqs(calls.Records); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// What cannot be read is reported, and the rest is shown.
func TestFindWhatIsLeft(t *testing.T) {
	_, find, stop := run(t)
	running, err := find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	folder := t.TempDir()
	store(t, folder, 7, numbered(7, 1, 100))
	calls, err := (&Query{Limit: 10, Folder: folder}).Find(t.Context(), running)
	if err == nil || len(calls.Records) != 1 {
		t.Errorf("got %+v, %v", calls.Records, err)
	}
}

func TestFollow(t *testing.T) {
	own := os.Getpid()
	w, find, _ := run(t, numbered(own, 1, 101), numbered(own, 2, 102))
	running, err := find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	query := &Query{Limit: 1, Slow: 2 * time.Second, Folder: t.TempDir()}
	found, err := query.Find(t.Context(), running)
	if err != nil || len(found.Records) != 1 {
		t.Fatal(found, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	quick := numbered(own, 4, 104)
	quick.Took = 1
	w.add(numbered(own, 3, 103), quick)
	var got []uint64
	err = query.Follow(ctx, find, found, func(one history.Record) {
		switch got = append(got, one.Seq); one.Seq {
		case 3:
			w.add(numbered(own, 5, 105))
		case 5:
			cancel()
		}
	})
	if err != nil || !slices.Equal(got, []uint64{3, 5}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// Follow waits for a workbench that does not run yet, and ends if it cannot look for one.
func TestFollowFinds(t *testing.T) {
	own := os.Getpid()
	_, find, _ := run(t, numbered(own, 1, 101))
	looked := 0
	broken := errors.New("the folder is gone")
	var mu sync.Mutex
	var got []uint64
	err := (&Query{}).Follow(t.Context(), func(ctx context.Context) ([]*control.Client, error) {
		switch looked++; looked {
		case 1:
			return nil, &toolbox.Error{Code: toolbox.NotRunning}
		case 2:
			return find(ctx)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(got) == 0 && looked < 20 {
			return find(ctx) // it is followed once
		}
		return nil, broken
	}, &Calls{next: map[history.Owner]uint64{}}, func(one history.Record) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, one.Seq)
	})
	if !errors.Is(err, broken) || !slices.Equal(got, []uint64{1}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A workbench may start, make a call and end between two looks: its files tell of it.
func TestFollowReadsFilesOfEndedWorkbenches(t *testing.T) {
	folder := t.TempDir()
	old := numbered(7, 1, time.Now().Add(-time.Hour).Unix())
	store(t, folder, 7, old)
	query := &Query{Limit: 10, Folder: folder}
	found, err := query.Find(t.Context(), nil)
	if err != nil || len(found.Records) != 1 || !found.HasAny {
		t.Fatal(found, err)
	}
	found.next = make(map[history.Owner]uint64) // as if a limit had left it out
	now := history.Record{PID: 7, Seq: 2, Time: time.Now(), Outcome: "ok", Took: 1}
	store(t, folder, 7, old, now)
	store(t, folder, 8, history.Record{PID: 8, Seq: 1, Time: time.Now().Add(time.Millisecond), Outcome: "ok", Took: 1})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var got []int
	err = query.Follow(ctx, func(context.Context) ([]*control.Client, error) {
		if len(got) == 3 {
			cancel()
		}
		return nil, &toolbox.Error{Code: toolbox.NotRunning}
	}, found, func(one history.Record) {
		if got = append(got, one.PID); len(got) == 2 {
			now.Seq++
			store(t, folder, 7, now)
		}
	})
	if err != nil || !slices.Equal(got, []int{7, 8, 7}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// The last calls of a workbench arrive although it ends at once.
func TestFollowSeesTheLastCalls(t *testing.T) {
	own := os.Getpid()
	w, find, stop := run(t, numbered(own, 1, 101))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var got []uint64
	err := (&Query{Folder: t.TempDir()}).Follow(ctx, find, &Calls{next: make(map[history.Owner]uint64)}, func(one history.Record) {
		switch got = append(got, one.Seq); one.Seq {
		case 1:
			w.add(numbered(own, 2, 102))
			go stop()
		case 2:
			cancel()
		}
	})
	if err != nil || !slices.Equal(got, []uint64{1, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
}

//go:build unix

package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// soak is one home with a login, its provider, and the processes that share both.
type soak struct {
	t        *testing.T
	provider *oauthtest.Provider
	folder   string
	workers  []*worker
	work     sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc
	failed   chan struct{} // closed at the first failure
	failOnce sync.Once

	mu      sync.Mutex
	current string // the login, as the provider names it
	kills   []time.Time
	losses  []*loss
	calls   int
	denied  int // calls that met a login that had ended
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{t: t, folder: t.TempDir(), failed: make(chan struct{})}
	s.provider = oauthtest.Start(t, oauthtest.Options{
		TokenOptions: oauthtest.TokenOptions{AccessSeconds: accessSeconds},
		Faults:       map[string]oauthtest.Fault{oauthtest.Refresh: {Milliseconds: refreshTakes}},
	})
	s.ctx, s.cancel = context.WithCancel(t.Context())
	text, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"work": map[string]any{
		"mcpServers": map[string]any{"remote": map[string]any{"url": s.provider.URL()}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "workbench-config.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *soak) command(arguments ...string) *exec.Cmd {
	cmd := exec.Command(released.Binary(s.t), arguments...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "HOME="+s.folder, "XDG_STATE_HOME="+s.folder, "XDG_CONFIG_HOME="+s.folder, "XDG_RUNTIME_DIR="+s.folder,
		"WORKBENCH_CONFIG="+filepath.Join(s.folder, "workbench-config.json"),
		"BROWSER="+strings.Join(append([]string{mcptest.Self()}, mcptest.RoleArgs(browserRole)...), " "))
	return cmd
}

// login is what a person does. Its caller holds the mutex, or is alone.
func (s *soak) login() {
	if out, err := s.command("login", "work/remote").CombinedOutput(); err != nil {
		s.fail(fmt.Errorf("login: %w\n%s", err, out))
		return
	}
	s.current = s.provider.Last(oauthtest.Token).Login
}

// fail ends the soak.
func (s *soak) fail(err error) {
	s.t.Error(err)
	s.failOnce.Do(func() { close(s.failed) })
}

func (s *soak) startWorkers() {
	for range processes {
		w := &worker{soak: s}
		s.workers = append(s.workers, w)
		s.work.Go(w.run)
	}
}

// killDuringRefresh kills all processes while one of them waits for the answer to a refresh.
func (s *soak) killDuringRefresh() {
	waiting, release := s.provider.Hold(oauthtest.Refresh)
	defer release()
	select {
	case <-waiting:
	case <-s.failed:
	case <-time.After(answerTime):
		s.fail(errors.New("nobody refreshes any more"))
	}
	for _, one := range s.workers {
		one.kill()
	}
}

func (s *soak) stop() {
	s.cancel()
	s.work.Wait()
}

func (s *soak) summary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	refreshes := s.provider.Events(oauthtest.Refresh)
	gone := 0
	for _, one := range refreshes {
		if one.Gone {
			gone++
		}
	}
	return fmt.Sprintf("%d calls, %d refreshes (%d with a client that was killed meanwhile), %d kills, %d logins lost in the window, %d calls then answered with 'login needed'",
		s.calls, len(refreshes), gone, len(s.kills), len(s.losses), s.denied)
}

// lost is for a call that was answered with "login needed". If its login has ended for the one reason there may be, a
// person logs in again, once for all who notice.
func (s *soak) lost(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied++
	if login != s.current {
		return
	}
	why, err := explain(s.provider.Events(), login, s.kills)
	if err != nil {
		s.fail(err)
		return
	}
	s.losses = append(s.losses, why)
	s.login()
}

func (s *soak) currentLogin() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// worker is a workbench that calls the server again and again, and is started again when it was killed.
type worker struct {
	soak *soak

	mu     sync.Mutex
	cmd    *exec.Cmd
	killed bool
}

// kill kills the process at once.
func (w *worker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd == nil || w.killed {
		return
	}
	w.killed = true
	w.soak.mu.Lock()
	w.soak.kills = append(w.soak.kills, time.Now())
	w.soak.mu.Unlock()
	_ = w.cmd.Process.Kill() // SIGKILL
}

func (w *worker) run() {
	for w.soak.ctx.Err() == nil {
		var stderr bytes.Buffer
		err := w.live(&stderr)
		w.mu.Lock()
		killed := w.killed
		w.cmd, w.killed = nil, false
		w.mu.Unlock()
		if err != nil && !killed && w.soak.ctx.Err() == nil {
			w.soak.fail(fmt.Errorf("%w\nstderr of the workbench:\n%.3000s", err, &stderr))
			return
		}
	}
}

// live runs one process until it is killed or the soak is over.
func (w *worker) live(stderr io.Writer) error {
	cmd := w.soak.command()
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.mu.Lock()
	err = cmd.Start()
	if err == nil {
		w.cmd = cmd
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	client := mcptest.NewClient(stdin, stdout)
	ctx, cancel := context.WithCancel(w.soak.ctx)
	defer cancel()
	err = w.work(ctx, client)
	_ = stdin.Close() // it may be gone
	if _, _, ended := client.Await(withTime(answerTime), 0, func(mcptest.Message) bool { return false }); errors.Is(ended, context.DeadlineExceeded) {
		_ = cmd.Process.Kill()
		err = errors.Join(err, errors.New("the workbench does not end with its client"))
	}
	_ = cmd.Wait() // it may have been killed
	return err
}

// withTime is a context that ends by itself.
func withTime(limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	context.AfterFunc(ctx, cancel)
	return ctx
}

func (w *worker) work(ctx context.Context, client *mcptest.Client) error {
	if _, err := client.Initialize(ctx, "2025-11-25"); err != nil {
		return err
	}
	pace := time.NewTicker(betweenCalls)
	defer pace.Stop()
	for {
		// Opened again and again, since that shows a login that has ended, too.
		for _, params := range []string{
			`{"name":"open_toolbox","arguments":{"toolbox":"work"}}`,
			`{"name":"use_tool","arguments":{"tool":{"toolbox":"work","server":"remote","name":"echo"},"arguments":{"text":"hello"}}}`,
		} {
			denied, err := w.call(ctx, client, params)
			if err != nil {
				return err
			}
			if denied {
				break // a toolbox that could not be opened has no tools
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-pace.C:
		}
	}
}

// call makes one call, which succeeds, or says that a login is needed.
func (w *worker) call(ctx context.Context, client *mcptest.Client, params string) (denied bool, err error) {
	login := w.soak.currentLogin()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	answer, err := client.Request(ctx, "tools/call", params)
	if err != nil {
		return false, err
	}
	text := string(answer.Raw)
	switch {
	case strings.Contains(text, "mcp-workbench login work/remote"):
		w.soak.lost(login)
		return true, nil
	case answer.Error != nil || strings.Contains(text, `"isError":true`) || strings.Contains(text, "_errors"):
		return false, fmt.Errorf("the answer to %s is %s", params, text)
	}
	w.soak.mu.Lock()
	w.soak.calls++
	w.soak.mu.Unlock()
	return false, nil
}

package service

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// A file that changes after it was read, but before anything watches it, is followed as any
// other.
func TestChangesBeforeTheWatchAreNoticed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"toolboxes": {"before": {"mcpServers": {}}}}`)
	s, err := New(Options{Loader: loader.Loader{ConfigPath: path}, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(`{"toolboxes": {"after": {"mcpServers": {}}}}`)

	reloaded := make(chan *config.Config, 10)
	s.reloaded = func(cfg *config.Config) { reloaded <- cfg }
	err = s.Run(t.Context(), "tests", func(context.Context, *app.App) error {
		select {
		case cfg := <-reloaded:
			if len(cfg.Toolboxes) != 1 || cfg.Toolboxes[0].Name != "after" {
				t.Errorf("the configuration in use is now %+v", cfg.Toolboxes)
			}
		case <-time.After(20 * time.Second):
			t.Error("the change was not noticed")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A client with other variables than the workbench has the file that is gone as well, with its
// own variables.
func TestFileThatIsGoneIsKeptForOtherEnvironments(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	if err := os.WriteFile(path, []byte(`{"toolboxes": {"t": {"mcpServers": {"s": {"command": "${WHERE:-here}"}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Loader: loader.Loader{Places: []config.Place{{Path: path, Origin: config.User}}}, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Run(t.Context(), "tests", func(context.Context, *app.App) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		there, err := s.loadIn([]string{"WHERE=there"})
		if err == nil && (there.Toolboxes[0].Name != "t" || there.Toolboxes[0].Servers[0].Command != "there") {
			t.Errorf("%+v", there.Toolboxes)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

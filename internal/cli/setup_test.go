package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestBrokenNoticeHasTheHintOnce(t *testing.T) {
	notice := brokenNotice(&toolbox.Error{Message: "There is no lock", Hint: "Write one."}, false)
	if strings.Count(notice, "Write one.") != 1 || !strings.HasSuffix(notice, "\n\nThere is no lock\nWrite one.") {
		t.Error(notice)
	}
}

// What a user's file demands at the top holds for the project's toolboxes also where nothing of
// the file is used because of its lock.
func TestSettingsWithoutALockHold(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	user := write("user/workbench-config.json", `{"locked": true, "timeouts": {"call": "5s"}, "toolboxes": {"u": {"mcpServers": {}}}}`)
	project := write("project/workbench-config.json", `{"timeouts": {"call": "9s"}, "toolboxes": {"p": {"mcpServers": {"s": {"builtin": "clock"}}}}}`)
	write("project/workbench.lock", `{"version": 1, "toolboxes": {}}`)
	g := globals{places: []config.Place{{Path: project, Origin: config.Local}, {Path: user, Origin: config.User}}}
	s, err := g.load(nil)
	if err != nil {
		t.Fatal(err)
	}
	boxes := s.config.Toolboxes
	if len(s.broken) != 1 || len(boxes) != 1 || boxes[0].Servers[0].Timeouts.Call != 5*time.Second || !s.config.Files[0].Locked {
		t.Errorf("%v, %+v", s.broken, s.config)
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
	s, err := globals{places: []config.Place{{Path: path, Origin: config.User}}}.newService(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	err = s.run(t.Context(), "tests", func(context.Context, *app.App) error {
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

package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestBrokenNoticeHasTheHintOnce(t *testing.T) {
	notice := BrokenNotice(&toolbox.Error{Message: "There is no lock", Hint: "Write one."}, false)
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
	l := Loader{Places: []config.Place{{Path: project, Origin: config.Local}, {Path: user, Origin: config.User}}}
	s, err := l.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	boxes := s.Config.Toolboxes
	if len(s.Broken) != 1 || len(boxes) != 1 || boxes[0].Servers[0].Timeouts.Call != 5*time.Second || !s.Config.Files[0].Locked {
		t.Errorf("%v, %+v", s.Broken, s.Config)
	}
}

package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/npm"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// This file brings the browser and the workbench.

func TestMain(m *testing.M) {
	mcptest.PlayRole(nil)
	os.Exit(released.Run(m))
}

// bench is a workbench that listens and asks nobody for a token: only the origin and the
// host of a request can keep a page out. It also serves its own page.
type bench struct {
	address string
	ui      *shown
	log     string // is there once a server was started
}

func newBench(t *testing.T) *bench {
	t.Helper()
	npm.NeedBrowser(t) // before the work of a build
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fake.json"), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "workbench-config.json")
	content, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"dev": map[string]any{"mcpServers": map[string]any{
		"fake": map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, filepath.Join(dir, "fake.json"), logOf(dir))},
	}}}})
	if err == nil {
		err = os.WriteFile(config, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(released.Binary(t), "serve", "--ui", "--listen", "127.0.0.1:0", "--no-auth", "--config", config)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	more, err := cmd.StdinPipe() // each line asks for a link of the page
	if err != nil {
		t.Fatal(err)
	}
	workbench := released.Start(t, cmd)
	b := &bench{address: workbench.Address, log: logOf(dir), ui: &shown{PID: workbench.PID}}
	b.ui.Token = b.openPage(t, codeOf(t, workbench, 1))
	if _, err := io.WriteString(more, "\n"); err != nil {
		t.Fatal(err)
	}
	b.ui.Code = codeOf(t, workbench, 2)
	return b
}

var links = regexp.MustCompile(`#once=(\S+)`)

// codeOf waits for the code of a link of the page.
func codeOf(t *testing.T, workbench *released.Workbench, number int) (code string) {
	t.Helper()
	err := mcptest.Eventually(attackTime, func() error {
		found := links.FindAllStringSubmatch(workbench.Stderr.String(), -1)
		if len(found) < number {
			return errors.New("there is no link to the page")
		}
		code = found[number-1][1]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// openPage opens the page with the code of a link, and returns the token of the session; "" if it was used.
func (b *bench) openPage(t *testing.T, code string) string {
	t.Helper()
	body := fmt.Sprintf(`{"code":%q}`, code)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(b.address, "/mcp")+"/ui/api/session", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var opened struct{ Token string }
	if err := json.NewDecoder(response.Body).Decode(&opened); err != nil {
		t.Fatal(err)
	}
	return opened.Token
}

//go:build linux

package terminal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// However top ends, the terminal is as it was: what was there before, the cursor, and the keys as they are typed.
func TestTopRestoresTheTerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	home := fmt.Sprintf("/tmp/wt-%06d", rand.IntN(1_000_000)) // the path of a socket has to be short
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(home, 0o700))
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	program := filepath.Join(home, "mcp-workbench")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/mcp-workbench/mcp-workbench/cmd/mcp-workbench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	terminal, err := Start(Options{Width: 80, Height: 24, Folder: home, Env: []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "PATH=" + os.Getenv("PATH")}})
	must(err)
	t.Cleanup(func() { must(terminal.Close()) })
	await := func(texts ...string) {
		t.Helper()
		_, err := terminal.Await(20*time.Second, func(screen string) bool {
			for _, text := range texts {
				if !strings.Contains(screen, text) {
					return false
				}
			}
			return true
		})
		must(err)
	}
	enter := func(text string) {
		t.Helper()
		must(terminal.Type(text))
		must(terminal.Press("Enter"))
	}
	enter("TERM=dumb " + program + " top; echo status $?")
	await("top needs a terminal that can move the cursor", "See: mcp-workbench ps", "status 1")
	for _, way := range []string{"q", "C-c", "SIGTERM", "C-z"} {
		t.Run(way, func(t *testing.T) {
			must(terminal.Clear())
			enter("echo was here before")
			enter("sh -c 'echo $$ >pid; exec " + program + " top'; echo status $?")
			await("[1 servers]", "No workbench of yours is running")
			must(terminal.Press("Down")) // does not end it
			switch way {
			case "SIGTERM":
				pid, err := os.ReadFile(filepath.Join(home, "pid"))
				must(err)
				must(exec.Command("kill", "-TERM", strings.TrimSpace(string(pid))).Run())
			case "C-z":
				must(terminal.Press("C-z"))
				await("was here before", "Stopped")
				enter("fg; echo status $?")
				await("[1 servers]", "No workbench of yours is running")
				must(terminal.Press("q"))
			default:
				must(terminal.Press(way))
			}
			await("was here before", "status 0")
			enter("stty -a")
			await(" icanon ", " echo ", "isig ")
			shown, err := terminal.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")
			if strings.TrimSpace(shown) != "0 1" || err != nil {
				t.Errorf("alternate screen and cursor are %q, %v", shown, err)
			}
		})
	}
}

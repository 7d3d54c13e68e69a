//go:build unix

package script

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// screen is a terminal that a script sees and types into. tmux draws it, so that what is
// seen is what a person would see.
type screen struct {
	socket string // of a tmux of its own
	env    []string
	dir    string
}

// termConfig keeps the screen as it was when the program ended, and nothing else on it.
const termConfig = `set -g remain-on-exit on
set -g remain-on-exit-format ''
set -g status off
set -g default-terminal xterm-256color
set -g history-limit 1000
`

var termCommands = map[string]struct {
	least int // arguments
	run   func(s *screen, args []string) error
}{
	"see":  {1, (*screen).see},
	"type": {1, (*screen).enter},
	"key":  {1, (*screen).key},
	"code": {0, (*screen).confirm},
	"exit": {0, (*screen).exit},
	"save": {1, (*screen).save},
	"size": {2, (*screen).resize},
}

// term is the script command: term start [NAME=value…] ARGS…, and then what is above.
func term(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(stateKey{}).(*state)
	if len(args) == 0 || neg {
		ts.Fatalf("usage: term COMMAND [ARGS]; see README.md")
	}
	if args[0] == "start" {
		ts.Check(s.startScreen(args[1:]))
		return
	}
	command, ok := termCommands[args[0]]
	if !ok || len(args)-1 < command.least || s.screen == nil {
		ts.Fatalf("term %s: no such command, too few arguments, or no screen", args[0])
	}
	if err := command.run(s.screen, args[1:]); err != nil {
		shown, _ := s.screen.shown()
		ts.Fatalf("%v\non the screen:\n%s", err, shown)
	}
}

func (s *state) startScreen(args []string) error {
	s.endScreen()
	folder, err := os.MkdirTemp("", "term-") // the path of a socket has to be short
	if err != nil {
		return err
	}
	one := &screen{socket: filepath.Join(folder, "s"), dir: s.dir, env: append([]string{}, s.env...)}
	one.env = append(one.env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "PATH="+os.Getenv("PATH"))
	for len(args) > 0 && strings.Contains(args[0], "=") {
		one.env = append(one.env, args[0])
		args = args[1:]
	}
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "file:"); ok {
			content, err := os.ReadFile(filepath.Join(s.dir, name))
			if err != nil {
				return err
			}
			args[i] = strings.TrimSuffix(string(content), "\n")
		}
	}
	config := filepath.Join(folder, "conf")
	if err := os.WriteFile(config, []byte(termConfig), 0o600); err != nil {
		return err
	}
	// tmux does not always know the code. The shell lives on after a Ctrl-C that is for both. It asks the terminal where the cursor is
	// before it ends: the answer comes when all output is on the screen, and tmux drops what it has not read when the shell ends.
	const run = `trap : INT; mcp-workbench "$@"; echo $? >"$0"; stty -icanon -echo min 0 time 50; printf '\033[6n'; dd bs=32 count=1 >/dev/null 2>&1`
	s.screen = one
	_, err = one.tmux(append([]string{"-f", config, "new-session", "-d", "-x", "80", "-y", "24", "-c", s.dir, "sh", "-c", run, one.code()}, args...)...)
	return err
}

func (s *screen) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env, cmd.Dir = s.env, s.dir
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tmux %q: %w: %s", args, err, &problem)
	}
	return out.String(), nil
}

// shown is what is on the screen, without empty lines at its end.
func (s *screen) shown() (string, error) {
	text, err := s.tmux("capture-pane", "-p")
	return strings.TrimRight(text, "\n") + "\n", err
}

// see waits until texts are on the screen, in that order.
func (s *screen) see(texts []string) error {
	return mcptest.Eventually(replyTime, func() error {
		shown, err := s.shown()
		for _, text := range texts {
			_, rest, found := strings.Cut(shown, text)
			if !found {
				return errors.Join(err, fmt.Errorf("there is no %q", text))
			}
			shown = rest
		}
		return err
	})
}

// enter types a line.
func (s *screen) enter(words []string) error {
	_, err := s.tmux("send-keys", "-l", strings.Join(words, " "))
	if err == nil {
		_, err = s.tmux("send-keys", "Enter")
	}
	return err
}

// shownCode is the question of 'approve' for its code, at the end of the screen.
var shownCode = regexp.MustCompile(`type the code ([0-9]{4}):\s*$`)

// confirm types the code that is asked for, or with "wrong" another one.
func (s *screen) confirm(args []string) error {
	code := ""
	err := mcptest.Eventually(replyTime, func() error {
		shown, err := s.shown()
		found := shownCode.FindStringSubmatch(shown)
		if found == nil {
			return errors.Join(err, errors.New("no code is asked for"))
		}
		code = found[1]
		return err
	})
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "wrong" {
		code = string('0'+(code[0]-'0'+1)%10) + code[1:]
	}
	return s.enter([]string{code})
}

// key presses keys as tmux names them, such as C-c.
func (s *screen) key(keys []string) error {
	_, err := s.tmux(append([]string{"send-keys"}, keys...)...)
	return err
}

// exit waits for the program's end with a code: [CODE], 0 unless given.
func (s *screen) exit(args []string) error {
	want := "0"
	if len(args) > 0 {
		want = args[0]
	}
	// That the screen is dead says that all of the output is on it.
	got := ""
	err := mcptest.Eventually(replyTime, func() error {
		code, err := os.ReadFile(s.code())
		dead, deadErr := s.tmux("display-message", "-p", "#{pane_dead}")
		if got = strings.TrimSpace(string(code)); got == "" || strings.TrimSpace(dead) != "1" {
			return errors.Join(errors.New("it has not ended"), err, deadErr)
		}
		return nil
	})
	if err == nil && got != want {
		return fmt.Errorf("it ended with %s, want %s", got, want)
	}
	return err
}

// code is the file that the exit code is written to.
func (s *screen) code() string { return filepath.Join(filepath.Dir(s.socket), "code") }

// save writes what is on the screen into a file, for cmp.
func (s *screen) save(args []string) error {
	shown, err := s.shown()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, args[0]), []byte(shown), 0o600)
}

// resize gives the screen other columns and rows.
func (s *screen) resize(args []string) error {
	_, err := s.tmux("resize-window", "-x", args[0], "-y", args[1])
	return err
}

// endScreen ends the screen's own tmux, and what runs on it.
func (s *state) endScreen() {
	if s.screen == nil {
		return
	}
	_, _ = s.screen.tmux("kill-server") // may have ended
	_ = os.RemoveAll(filepath.Dir(s.screen.socket))
	s.screen = nil
}

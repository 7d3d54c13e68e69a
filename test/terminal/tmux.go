// Package terminal drives commands in a terminal emulator as a person would, and draws what
// they show.
package terminal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Prompt is what the shell in the terminal shows when it waits for a command.
const Prompt = "$ "

// Terminal is a shell in a tmux of its own.
type Terminal struct {
	socket string
	// Changed is called with what the terminal shows, with its colours, whenever that was
	// looked at; may be nil.
	Changed func(screen string)
}

// Options say what the terminal is like.
type Options struct {
	Width, Height int
	Folder        string   // where the shell begins
	Env           []string // all of its environment
}

// Start opens a terminal with a shell that has no settings of anybody's.
func Start(o Options) (*Terminal, error) {
	folder, err := os.MkdirTemp("", "tmux")
	if err != nil {
		return nil, err
	}
	t := &Terminal{socket: filepath.Join(folder, "s")}
	env := []string{"-i", "PS1=" + Prompt, "TERM=screen-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"}
	command := append(append([]string{"env"}, append(env, o.Env...)...), "bash", "--norc", "--noprofile", "+o", "history")
	args := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(o.Width), "-y", strconv.Itoa(o.Height), "-c", o.Folder}, quoted(command))
	if _, err := t.tmux(args...); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if _, err := t.tmux("set-option", "-g", "status", "off"); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, t.AwaitPrompt(10 * time.Second)
}

// quoted is a command line for a shell.
func quoted(words []string) string {
	parts := make([]string, len(words))
	for i, word := range words {
		parts[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(parts, " ")
}

func (t *Terminal) tmux(args ...string) (string, error) {
	command := exec.Command("tmux", append([]string{"-S", t.socket}, args...)...)
	var problem strings.Builder
	command.Stderr = &problem
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, problem.String())
	}
	return string(out), nil
}

// Close ends the terminal and what runs in it.
func (t *Terminal) Close() error {
	_, err := t.tmux("kill-server")
	return errors.Join(err, os.RemoveAll(filepath.Dir(t.socket)))
}

// Type types a text, without Enter.
func (t *Terminal) Type(text string) error {
	_, err := t.tmux("send-keys", "-l", text)
	t.look()
	return err
}

// Press presses a key by tmux's name of it, such as Enter or C-c.
func (t *Terminal) Press(key string) error {
	_, err := t.tmux("send-keys", key)
	return err
}

// Clear empties the screen.
func (t *Terminal) Clear() error {
	if _, err := t.tmux("send-keys", "-R"); err != nil {
		return err
	}
	_, err := t.tmux("clear-history")
	if err == nil {
		err = t.Press("C-l")
	}
	return errors.Join(err, t.AwaitPrompt(10*time.Second))
}

// Screen returns what the terminal shows, without colours and without empty lines at the end.
func (t *Terminal) Screen() (string, error) {
	out, err := t.tmux("capture-pane", "-p")
	return trimmed(out), err
}

func trimmed(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n "), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// look tells what the terminal shows to whoever wants to know.
func (t *Terminal) look() {
	if t.Changed == nil {
		return
	}
	if out, err := t.tmux("capture-pane", "-e", "-p"); err == nil {
		t.Changed(out)
	}
}

// pause is how long to wait before looking again.
const pause = 40 * time.Millisecond

// Await waits until the screen fits, and returns it.
func (t *Terminal) Await(limit time.Duration, fits func(screen string) bool) (string, error) {
	deadline, again := time.NewTimer(limit), time.NewTicker(pause)
	defer deadline.Stop()
	defer again.Stop()
	for {
		screen, err := t.Screen()
		if err != nil {
			return "", err
		}
		t.look()
		if fits(screen) {
			return screen, nil
		}
		select {
		case <-again.C:
		case <-deadline.C:
			return screen, fmt.Errorf("after %s the terminal shows:\n%s", limit, screen)
		}
	}
}

// AwaitPrompt waits until the shell waits for the next command.
func (t *Terminal) AwaitPrompt(limit time.Duration) error {
	_, err := t.Await(limit, func(screen string) bool {
		return strings.HasSuffix("\n"+screen, "\n"+strings.TrimRight(Prompt, " "))
	})
	return err
}

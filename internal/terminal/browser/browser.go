// Package browser opens pages in a person's browser: with $BROWSER, or else with the system's opener. No shell is
// involved.
package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// Opener opens pages on this machine.
type Opener struct{ commands []command } // each is tried if those before it failed

// command is a program and its arguments. The address replaces %s, or comes last.
type command []string

// Find returns the opener of this machine. The error says why there is none, as a clause for people.
func Find(getenv func(string) string) (*Opener, error) {
	return find(getenv, runtime.GOOS, exec.LookPath)
}

func find(getenv func(string) string, system string, lookPath func(string) (string, error)) (*Opener, error) {
	if configured := strings.TrimSpace(getenv("BROWSER")); configured != "" {
		return &Opener{parse(configured, lookPath)}, nil
	}
	overSSH := getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != ""
	hasDisplay := getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
	isDesktop := system == "darwin" || system == "windows"
	switch {
	case overSSH && (isDesktop || !hasDisplay): // nobody sits in front of this machine
		return nil, errors.New("this is a session over SSH")
	case system == "darwin":
		return &Opener{[]command{{"open"}}}, nil
	case system == "windows":
		return &Opener{[]command{{"rundll32", "url.dll,FileProtocolHandler"}}}, nil
	}
	programs := []string{"xdg-open"}
	if getenv("WSL_DISTRO_NAME") != "" {
		programs = []string{"wslview", "xdg-open"}
		hasDisplay = true // that of Windows
	}
	if !hasDisplay {
		return nil, errors.New("there is no display: DISPLAY and WAYLAND_DISPLAY are not set")
	}
	var found Opener
	for _, program := range programs {
		if _, err := lookPath(program); err == nil {
			found.commands = append(found.commands, command{program})
		}
	}
	if len(found.commands) == 0 {
		return nil, fmt.Errorf("%s is not installed, and BROWSER is not set", strings.Join(programs, " or "))
	}
	return &found, nil
}

// parse splits the value of $BROWSER: commands separated like the folders of PATH, each a program and arguments separated
// by blanks. Quotes hold words together and are removed, as in a shell. A value that is the path of a program is not split.
func parse(configured string, lookPath func(string) (string, error)) (commands []command) {
	if _, err := lookPath(configured); err == nil {
		return []command{{configured}}
	}
	var words command
	var word strings.Builder
	isWord := false // one has begun, and may be empty
	var quote rune
	endWord := func() {
		if isWord {
			words = append(words, word.String())
		}
		word.Reset()
		isWord = false
	}
	for _, r := range configured {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, isWord = r, true
		case quote == 0 && unicode.IsSpace(r):
			endWord()
		case quote == 0 && r == filepath.ListSeparator:
			endWord()
			if len(words) > 0 {
				commands = append(commands, words)
			}
			words = nil
		default:
			isWord = true
			word.WriteRune(r)
		}
	}
	endWord()
	if len(words) > 0 {
		commands = append(commands, words)
	}
	return commands
}

// with returns the words to run for a page.
func (c command) with(address string) []string {
	words := make([]string, 0, len(c)+1)
	isPlaced := false
	for i, word := range c {
		if i > 0 && strings.Contains(word, "%s") {
			word, isPlaced = strings.ReplaceAll(word, "%s", address), true
		}
		words = append(words, word)
	}
	if !isPlaced {
		words = append(words, address)
	}
	return words
}

// Open opens a page and does not wait for the browser. The channel receives one value: nil when a program ended well, or
// why all failed. A browser that stays open keeps it waiting, until this program ends.
func (o *Opener) Open(address string) <-chan error {
	page, err := url.Parse(address)
	if err != nil || page.Scheme != "http" && page.Scheme != "https" || page.Host == "" {
		ended := make(chan error, 1)
		ended <- errors.New("only pages of http and https are opened")
		return ended
	}
	return o.run(page.String())
}

// OpenFile opens a file with an absolute path, as Open does a page.
func (o *Opener) OpenFile(path string) <-chan error {
	return o.run((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
}

func (o *Opener) run(address string) <-chan error {
	ended := make(chan error, 1)
	go func() {
		var failures []string
		for _, c := range o.commands {
			err := run(c.with(address))
			if err == nil {
				ended <- nil
				return
			}
			failures = append(failures, fmt.Sprintf("%s: %s", c[0], reason(err)))
		}
		ended <- errors.New(strings.Join(failures, "; "))
	}()
	return ended
}

// run runs a program apart from the terminal, whose keys and screen belong to this one.
func run(words []string) error {
	cmd := exec.Command(words[0], words[1:]...)
	detach(cmd)
	return cmd.Run()
}

// reason returns why a program failed, without its name.
func reason(err error) string {
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		err = missing.Err
	}
	if missing, ok := errors.AsType[*fs.PathError](err); ok {
		err = missing.Err
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return "not found"
	}
	return err.Error()
}

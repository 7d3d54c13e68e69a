//go:build linux

package terminal

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	// Go caches results of tests by what they import: without this, a result would
	// stay after the workbench changed.
	_ "github.com/mcp-workbench/mcp-workbench/internal/cli"
)

var (
	update = flag.Bool("update", false, "write what is seen to testdata, instead of comparing it")
	demo   = flag.String("demo", "", "write an animated picture of the session to this file")
)

// The size of the terminal, and its height in the picture.
const (
	width      = 100
	demoHeight = 34
)

// patience is for what npm may have to fetch first.
const patience = 3 * time.Minute

// person is somebody with an empty home folder but for the configuration of Claude Code, and
// a terminal.
type person struct {
	*testing.T
	home     string
	terminal *Terminal
	frames   []Frame
	seen     time.Time // when the last frame was
}

// shownHome is how a home folder appears in what is kept; it has the length of the real one,
// so that nothing is laid out in another way.
const shownHome = "/home/ada/demo"

const claudeConfiguration = `{
  "numStartups": 12,
  "mcpServers": {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "HOME/docs"]},
    "memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@2026.8.31"]},
    "everything": {
      "command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything@2026.8.31"],
      "env": {"EXAMPLE_API_KEY": "sk-0123456789abcdefghij"}
    }
  }
}
`

func newPerson(t *testing.T) *person {
	for _, tool := range []string{"tmux", "npx"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	p := &person{T: t, home: fmt.Sprintf("/tmp/wb-%06d", rand.IntN(1_000_000))}
	for _, folder := range []string{"docs", "bin"} {
		p.must(os.MkdirAll(filepath.Join(p.home, folder), 0o700))
	}
	t.Cleanup(func() { _ = os.RemoveAll(p.home) })
	p.must(os.WriteFile(filepath.Join(p.home, "docs", "hello.txt"), []byte("Hello from a file of yours.\n"), 0o600))
	p.must(os.WriteFile(filepath.Join(p.home, ".claude.json"), []byte(strings.ReplaceAll(claudeConfiguration, "HOME", p.home)), 0o600))
	p.bringNPM()
	build := exec.Command("go", "build", "-ldflags", "-X github.com/mcp-workbench/mcp-workbench/internal/cli.Version=1.0.0",
		"-o", filepath.Join(p.home, "bin", "mcp-workbench"), "github.com/mcp-workbench/mcp-workbench/cmd/mcp-workbench")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env := []string{"HOME=" + p.home, "PATH=" + filepath.Join(p.home, "bin") + ":" + os.Getenv("PATH")}
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	var err error
	height := 64 // so that nothing scrolls away unseen
	if *demo != "" {
		height = demoHeight
	}
	p.terminal, err = Start(Options{Width: width, Height: height, Folder: p.home, Env: env})
	p.must(err)
	t.Cleanup(func() { p.must(p.terminal.Close()) })
	p.terminal.Changed = p.film
	return p
}

// bringNPM lets npm use what it has fetched before, and the settings that it needs here.
func (p *person) bringNPM() {
	own, err := os.UserHomeDir()
	p.must(err)
	if settings, err := os.ReadFile(filepath.Join(own, ".npmrc")); err == nil {
		p.must(os.WriteFile(filepath.Join(p.home, ".npmrc"), settings, 0o600))
	}
	p.must(os.MkdirAll(filepath.Join(own, ".npm"), 0o700))
	p.must(os.Symlink(filepath.Join(own, ".npm"), filepath.Join(p.home, ".npm")))
	fetch := exec.Command("npm", "exec", "--yes",
		"--package=@modelcontextprotocol/server-filesystem@2026.8.31", "--package=@modelcontextprotocol/server-memory@2026.8.31",
		"--package=@modelcontextprotocol/server-everything@2026.8.31", "--", "true")
	if out, err := fetch.CombinedOutput(); err != nil {
		p.Fatalf("npm: %v\n%s", err, out)
	}
}

func (p *person) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// film keeps what was seen, and for how long.
func (p *person) film(screen string) {
	screen = strings.ReplaceAll(screen, p.home, shownHome)
	now := time.Now()
	if n := len(p.frames); n > 0 {
		p.frames[n-1].For += now.Sub(p.seen)
		if p.frames[n-1].Screen == screen {
			p.seen = now
			return
		}
	}
	p.frames, p.seen = append(p.frames, Frame{Screen: screen}), now
}

// types types a command as fast as a person would, and presses Enter.
func (p *person) types(text string) {
	p.Helper()
	for len(text) > 0 {
		n := min(len(text), 5)
		p.must(p.terminal.Type(text[:n]))
		text = text[n:]
	}
	p.must(p.terminal.Press("Enter"))
}

// runs runs a command, answers what it asks, and compares what is on the screen at its end.
func (p *person) runs(name, command string, answers ...[2]string) {
	p.Helper()
	p.must(p.terminal.Clear())
	p.types(command)
	for _, answer := range answers {
		_, err := p.terminal.Await(patience, func(screen string) bool { return strings.HasSuffix(screen, answer[0]) })
		p.must(err)
		p.types(answer[1])
	}
	// The prompt of the command itself must not be taken for the next one.
	_, err := p.terminal.Await(patience, func(screen string) bool {
		lines := strings.Split(screen, "\n")
		return len(lines) > 1 && lines[len(lines)-1] == strings.TrimSpace(Prompt)
	})
	p.must(err)
	screen, err := p.terminal.Screen()
	p.must(err)
	p.compare(name, screen)
}

// What differs from run to run.
var took = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(ms|µs|s)\b.*(\n  /.*)?`) // with the path that may not fit on the line

func (p *person) compare(name, screen string) {
	p.Helper()
	screen = strings.ReplaceAll(screen, p.home, shownHome)
	screen = took.ReplaceAllString(screen, "TIME …") + "\n"
	path := filepath.Join("testdata", name+".txt")
	switch {
	case *demo != "":
		return // its terminal is lower
	case *update:
		p.must(os.MkdirAll("testdata", 0o755))
		p.must(os.WriteFile(path, []byte(screen), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	p.must(err)
	if !bytes.Equal(want, []byte(screen)) {
		p.Errorf("%s shows:\n%s\nwant:\n%s", name, screen, want)
	}
}

// From an empty home folder to the first call, without a look into any document: each screen
// says what to do next.
func TestFirstFiveMinutes(t *testing.T) {
	p := newPerson(t)
	p.runs("1-start", "mcp-workbench")
	p.runs("2-init", "mcp-workbench init", [2]string{"Toolboxes? (1-3) [1]", "1"}, [2]string{"Write this? [Y/n]", "y"})
	p.runs("3-doctor", "mcp-workbench doctor")
	p.runs("4-connect", "mcp-workbench connect claude-code", [2]string{"restores them. [Y/n]", "y"}, [2]string{"Write this? [Y/n]", "y"})
	p.runs("5-find", `mcp-workbench find "read a file"`)
	p.runs("6-call", "mcp-workbench call read_text_file path=hello.txt")
	if secrets, err := os.ReadFile(filepath.Join(p.home, ".config/mcp-workbench/workbench.env")); err != nil || !strings.Contains(string(secrets), "sk-0123456789abcdefghij") {
		t.Errorf("the secret was not moved: %v", err)
	}
	if *demo != "" {
		p.must(os.WriteFile(*demo, []byte(Draw(width, demoHeight, film(p.frames))), 0o644))
	}
}

// film cuts what is too long to watch, and what is too short to see.
func film(frames []Frame) (cut []Frame) {
	const shortest, longest, reading = 80 * time.Millisecond, 700 * time.Millisecond, 3 * time.Second
	for _, frame := range frames {
		isEnd := strings.HasSuffix(trimmed(frame.Screen), "\n"+strings.TrimSpace(Prompt))
		switch {
		case frame.For < shortest && !isEnd:
			continue
		case isEnd:
			frame.For = reading
		default:
			frame.For = min(frame.For, longest)
		}
		cut = append(cut, frame)
	}
	return cut
}

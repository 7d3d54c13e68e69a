package faults

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

const (
	secret = "sk-5up3r-s3cr3t-value-1234567890"
	other  = "sk-0th3r-s3cr3t-value-0987654321"
)

// hides checks that no text holds a secret.
func hides(t *testing.T, where, text string) {
	t.Helper()
	for _, value := range []string{secret, other} {
		if i := strings.Index(text, value); i >= 0 {
			t.Errorf("%s shows a secret: %.300q", where, text[max(0, i-80):])
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	row(t, "69 dying server prints its secret", func(t *testing.T, p pairing) {
		b := startSecret(t, p, box{"rogue": {Role: "tells-and-dies", Env: map[string]string{"TOKEN": "${TOKEN}"}}})
		a := b.wait(b.Open("dev"), promptly)
		b.named(a, "rogue", "dying with")
		hides(t, "the answer", string(a.Line))
		hides(t, "the log", b.Log())
	}, ownProcess)
	row(t, "69 error message holds the secret", func(t *testing.T, p pairing) {
		b := startSecret(t, p, box{"rogue": {Role: "calls", Env: map[string]string{"TOKEN": "${TOKEN}"}}})
		b.open(promptly)
		a := b.use("rogue", "tell", promptly)
		b.named(a, "rogue", "the error says")
		hides(t, "the answer", string(a.Line))
		hides(t, "the log", b.Log())
	})
	row(t, "70 never logged", testNeverLogged)
	row(t, "71 environment of others", testEnvironment)
	row(t, "72 state files", testStateFiles)
}

// startSecret starts a workbench that logs everything and has the secret in TOKEN.
func startSecret(t *testing.T, p pairing, servers box) *bench {
	t.Helper()
	return startWith(t, p, rig.Options{
		Boxes: map[string]box{"dev": servers}, Env: []string{"TOKEN=" + secret, "OTHER=" + other}, Args: []string{"--log-level", "debug"},
	})
}

func testNeverLogged(t *testing.T, p pairing) {
	b := startSecret(t, p, box{
		"rogue": {Role: "calls", Env: map[string]string{"TOKEN": "${TOKEN}"}},
		"args":  {Command: "sh", Args: []string{"-c", "echo $0 >&2; exit 3", "${TOKEN}"}},
		"none":  {Command: "/no/such/${OTHER}"},
	})
	b.open(promptly)
	b.works("rogue", "echo", sibling)
	for _, tool := range []string{"tell", "crash", "hang", "missing"} {
		b.use("rogue", tool, promptly)
		b.recovers("rogue")
	}
	hides(t, "the log", b.Log())
}

func testEnvironment(t *testing.T, p pairing) {
	b := startSecret(t, p, box{
		"rogue": {Role: "calls"},
		"has":   {Role: "calls", Env: map[string]string{"TOKEN": "${TOKEN}"}},
	})
	b.open(promptly)
	hides(t, "the environment of another server", b.use("rogue", "env", promptly).Text)
	if a := b.use("has", "env", promptly); !strings.Contains(a.Text, "TOKEN=") {
		t.Errorf("the server that needs it does not have it: %.300s", a.Text)
	}
}

func testStateFiles(t *testing.T, p pairing) {
	b := startWith(t, p, rig.Options{
		Boxes: map[string]box{"dev": {"rogue": {Role: "calls", Env: map[string]string{"TOKEN": "${TOKEN}", "OTHER": "${OTHER}"}}}}, Env: []string{"TOKEN=" + secret, "OTHER=" + other},
		Top: map[string]any{"history": map[string]any{"keep": "7d"}},
	})
	b.open(promptly)
	for _, arguments := range []string{`{}`, `{"key":"` + secret + `"}`, `{"` + other + `":{"` + secret + `":1}}`} {
		b.wait(b.Use("dev", "rogue", "tell", arguments), promptly)
		b.wait(b.Use("dev", "rogue", secret, arguments), promptly)
	}
	awaitHistory(t, filepath.Join(b.Dir, "home"), 6)
	found := 0
	home := filepath.Join(b.Dir, "home")
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		found++
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && path != home {
			t.Errorf("others can get at %s: %v", path, info.Mode())
		}
		if entry.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			hides(t, path, string(text))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if found < 2 {
		t.Error("there is no state to look at")
	}
}

// awaitHistory waits until calls are written to the files of the history.
func awaitHistory(t *testing.T, home string, calls int) {
	t.Helper()
	written := ""
	for limit := time.Now().Add(promptly); ; time.Sleep(10 * time.Millisecond) {
		written = ""
		files, err := filepath.Glob(filepath.Join(home, ".local/state/mcp-workbench/history/*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			written += string(text)
		}
		if strings.Count(written, "\n") >= calls {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("the history has only %s", written)
		}
	}
}

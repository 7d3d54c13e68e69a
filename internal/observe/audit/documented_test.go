package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The command of the documentation that checks the arguments of a call works with the files of a workbench.
func TestDocumentedCheckOfArguments(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("there is no openssl")
	}
	page, err := os.ReadFile("../../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^printf '%s' '([^']*)' \| openssl .*$`).FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/audit.md has no such command")
	}
	home := t.TempDir()
	known, err := loadKeys(filepath.Join(home, ".local", "state", "mcp-workbench"))
	if err != nil {
		t.Fatal(err)
	}
	sum := hmac.New(sha256.New, known.arguments)
	sum.Write(found[1])
	command := exec.Command("sh", "-c", string(found[0]))
	command.Env = append(os.Environ(), "HOME="+home)
	out, err := command.CombinedOutput()
	if want := fmt.Sprintf("%x", sum.Sum(nil)); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("the command writes %s, %v; want %s", out, err, want)
	}
}

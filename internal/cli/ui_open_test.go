//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/terminal/browser"
)

// Where others can read the arguments of programs, a browser gets a file that they cannot read, and that goes with 'ui'.
func TestBrowserGetsAFile(t *testing.T) {
	defer func(was bool) { opensFile = was }(opensFile)
	opensFile = true
	folder := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", folder)
	program, seen := filepath.Join(folder, "browser"), filepath.Join(folder, "seen")
	script := "#!/bin/sh\nfile=${1#file://}\n{ echo \"$1\"; cat \"$file\"; ls -l \"$file\"; } >" + seen + "\n"
	if err := errors.Join(os.WriteFile(program, []byte(script), 0o700), syscall.Mkfifo(seen, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BROWSER", program)
	opener, err := browser.Find(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	const link = "http://127.0.0.1:1/ui/#once=CODE"
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- openLink(ctx, opener, link) }()
	text, err := os.ReadFile(seen) // once the browser writes
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	given, rest, _ := strings.Cut(string(text), "\n")
	if !strings.HasPrefix(given, "file://"+folder+"/mcp-workbench/page-") || strings.Contains(given, "CODE") {
		t.Errorf("the browser gets %s", given)
	}
	if !strings.Contains(rest, `<meta http-equiv="refresh" content="0;url=`+link+`">`) || !strings.Contains(rest, "-rw-------") {
		t.Errorf("the file is %s", rest)
	}
	if left, err := os.ReadDir(filepath.Join(folder, "mcp-workbench")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

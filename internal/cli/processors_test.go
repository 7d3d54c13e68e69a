package cli

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestLeaveProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, test := range []struct {
		environment   string
		present, want int
	}{
		{"", 8, 4}, {"", 3, 1}, {"", 2, 1}, {"", 1, 1}, {"8", 8, 8},
	} {
		t.Setenv("GOMAXPROCS", test.environment)
		runtime.GOMAXPROCS(test.present)
		if leaveProcessors(); runtime.GOMAXPROCS(0) != test.want {
			t.Errorf("of %d, with %q, it takes %d; want %d", test.present, test.environment, runtime.GOMAXPROCS(0), test.want)
		}
	}
}

// Only a workbench for one client leaves processors to others: one with many clients uses all.
func TestProcessorsOfCommands(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	folder := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "APPDATA", "LOCALAPPDATA"} {
		t.Setenv(name, folder)
	}
	t.Setenv("GOMAXPROCS", "")
	path := filepath.Join(folder, "workbench-config.json")
	if err := os.WriteFile(path, []byte(`{"toolboxes":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name, command, input string
		ctx                  context.Context
		fails                bool
		want                 int
	}{
		{"stdio", "", "", t.Context(), false, 4},
		{"serve", "serve --listen 127.0.0.1:0 --no-auth", "", ended, false, 8},
		{"daemon", "daemon", strings.Repeat("0", 64), t.Context(), true, 8}, // the key is of another configuration
	} {
		t.Run(test.name, func(t *testing.T) {
			replaceStdio(t, test.input)
			runtime.GOMAXPROCS(8)
			root := newRoot()
			root.SetArgs(append(strings.Fields(test.command), "--config", path))
			if err := root.ExecuteContext(test.ctx); (err != nil) != test.fails {
				t.Error(err)
			}
			if got := runtime.GOMAXPROCS(0); got != test.want {
				t.Errorf("of 8 processors it uses %d, want %d", got, test.want)
			}
		})
	}
}

// replaceStdio sets stdin to a pipe with an input, and discards the output, until the end of the test.
func replaceStdio(t *testing.T, input string) {
	t.Helper()
	in, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString(input); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	stdin, stdout, stderr := os.Stdin, os.Stdout, os.Stderr
	os.Stdin, os.Stdout, os.Stderr = in, out, out
	t.Cleanup(func() {
		os.Stdin, os.Stdout, os.Stderr = stdin, stdout, stderr
		in.Close()
		out.Close()
	})
}

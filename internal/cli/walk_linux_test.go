package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// withoutJSON are the commands without --json, and why.
var withoutJSON = map[string]string{
	"":             "speaks MCP on stdout",
	"bridge":       "speaks MCP on stdout",
	"record":       "speaks MCP on stdout",
	"replay":       "speaks MCP on stdout",
	"builtin":      "speaks MCP on stdout",
	"serve":        "runs until it is stopped, and answers over HTTP",
	"try":          "shows a person how a client uses a toolbox",
	"top":          "is refreshed on a terminal; ps --json has the same",
	"schema":       "prints a JSON Schema",
	"completion":   "prints a script for a shell",
	"audit export": "prints lines of JSON in the format of its flag",
	"token":        "prints its help",
	"auth":         "prints its help",
	"help":         "prints the help of a command",
}

// walks are the arguments with which commands show something; nil for those that need none.
var walks = map[string][]string{
	"tools": nil, "list": nil, "show": {"工具箱/文件服务器"}, "find": {"read", "folder"}, "tokens": nil, "validate": nil, "version": nil, "explain": nil,
	"connect": nil, "auth status": nil, "trust": {"--list"}, "policy": nil, "policy suggest": nil, "policy accept": nil, "token list": nil, "audit": nil,
	"doctor": nil, "init": {"--dry-run"}, "disable": {"files", "--dry-run"}, "remove": {"files", "--dry-run"}, "lock": nil,
	"call": {longTool},
}

const longTool = "dev/files/read_everything_in_the_whole_folder_at_once"

// walkedPaths returns all commands, from the tree itself.
func walkedPaths() (paths []string) {
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		if cmd.Hidden || strings.HasPrefix(path, "completion ") {
			return
		}
		paths = append(paths, path)
		for _, sub := range cmd.Commands() {
			add(sub)
		}
	}
	add(newRoot())
	return paths
}

// Every command fits a terminal of any width, has no colours in a pipe, keeps references whole, and follows the rule for JSON.
func TestWalkOverAllCommands(t *testing.T) {
	w := newWalk(t)
	paths := walkedPaths()
	for path := range walks {
		if !slices.Contains(paths, path) {
			t.Errorf("walks has '%s', which is no command", path)
		}
	}
	for _, path := range paths {
		cmd, _, err := newRoot().Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		_, isExempt := withoutJSON[path]
		if hasJSON := cmd.Flags().Lookup("json") != nil; hasJSON == isExempt {
			t.Errorf("'%s': --json is %v, and withoutJSON says otherwise", path, hasJSON)
		}
		w.checkHelp(t, path)
		w.checkUnwritable(t, append(strings.Fields(path), "--help"))
		w.checkUsage(t, path)
		if args, ok := walks[path]; ok {
			w.checkOutput(t, path, args, !isExempt)
		}
	}
}

type walk struct{ home string }

func newWalk(t *testing.T) *walk {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{home}
	server := func(spec string) map[string]any {
		return map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, filepath.Join(home, spec))}
	}
	long := "It reads what is there, and more, and says so in words that do not fit into any terminal that a person would use. 数据 🎉"
	w.write(t, "workbench-config.json", map[string]any{"toolboxes": map[string]any{
		"dev": map[string]any{"description": long, "mcpServers": map[string]any{"files": server("files.json"), "web": map[string]any{"url": "http://127.0.0.1:9/mcp", "disabled": true}}},
		"工具箱": map[string]any{"description": "d", "mcpServers": map[string]any{"文件服务器": server("files.json")}},
	}})
	w.write(t, "files.json", map[string]any{"tools": []any{map[string]any{
		"name": "read_everything_in_the_whole_folder_at_once", "description": long, "annotations": map[string]any{"readOnlyHint": true},
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string", "description": long}}},
	}}})
	return w
}

func (w *walk) write(t *testing.T, name string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.home, name), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w *walk) command(ctx context.Context, args []string, more ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, mcptest.Self(), args...)
	cmd.Dir = w.home
	cmd.Env = append([]string{
		programVariable + "=1", "HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "XDG_RUNTIME_DIR=" + w.home,
		"WORKBENCH_CONFIG=" + filepath.Join(w.home, "workbench-config.json"),
	}, more...)
	return cmd
}

// inPipe runs a command without a terminal.
func (w *walk) inPipe(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exited.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), status
}

// inTerminal runs a command in a terminal, and returns what that shows. Nobody types.
func (w *walk) inTerminal(t *testing.T, columns int, environ []string, args ...string) string {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals: ", err)
	}
	defer keys.Close()
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(columns)})
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args, environ...)
	cmd.Stdout, cmd.Stderr = line, line
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = line.Close()
	var shown bytes.Buffer
	part := make([]byte, 4096)
	for {
		n, err := keys.Read(part)
		shown.Write(part[:n])
		if err != nil {
			break // the last one who could write has ended
		}
	}
	_ = cmd.Wait() // some end with an error, as they should
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07`)

// checkWidth reports lines that do not fit, unless they are there to be copied.
func checkWidth(t *testing.T, what, shown string, columns int) {
	t.Helper()
	for line := range strings.Lines(shown) {
		line = escapes.ReplaceAllString(strings.TrimRight(line, "\n"), "")
		if at := strings.LastIndex(line, "\r"); at >= 0 {
			line = line[at+1:]
		}
		isCopied := strings.Contains(line, "mcp-workbench") || strings.Contains(line, "read_everything") || strings.Contains(line, "/tmp") || strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")
		isCopied = isCopied || strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "{") // JSON
		if runewidth.StringWidth(line) > columns && !isCopied {
			t.Errorf("%s: over %d columns: %s", what, columns, line)
		}
	}
}

func (w *walk) checkHelp(t *testing.T, path string) {
	t.Helper()
	args := append(strings.Fields(path), "--help")
	text, _, status := w.inPipe(t, args...)
	if status != 0 || strings.Contains(text, "\x1b") {
		t.Errorf("%q ends with %d:\n%s", args, status, text)
	}
	if path != "" && path != "help" && !strings.Contains(text, "Examples:\n  ") && path != "completion" {
		t.Errorf("the help of '%s' has no example", path)
	}
	for line := range strings.Lines(text) {
		if runewidth.StringWidth(strings.TrimSuffix(line, "\n")) > helpWidth {
			t.Errorf("the help of '%s' has a line over %d columns: %s", path, helpWidth, line)
		}
	}
	checkWidth(t, path+" --help", w.inTerminal(t, 60, nil, args...), 60)
}

// checkUsage runs a command with a flag that does not exist.
func (w *walk) checkUsage(t *testing.T, path string) {
	t.Helper()
	if path == "help" || path == "completion" || path == "builtin" { // which passes its flags on
		return
	}
	args := append(strings.Fields(path), "--no-such-flag", "--json")
	stdout, stderr, status := w.inPipe(t, args...)
	var document failureDocument
	if err := json.Unmarshal([]byte(stdout), &document); err != nil || document.Error.Code != "usage" || document.Error.Message == "" || document.Error.Hint == "" {
		t.Errorf("%q writes %q, which is not the error: %v", args, stdout, err)
	}
	if status != 2 || !strings.Contains(stderr, "\n  hint: See 'mcp-workbench") || !strings.Contains(stderr, "\n  code: usage\n") || strings.Contains(stderr, "\x1b") {
		t.Errorf("%q ends with %d and says %s", args, status, stderr)
	}
}

func (w *walk) checkOutput(t *testing.T, path string, args []string, hasJSON bool) {
	t.Helper()
	args = append(strings.Fields(path), args...)
	piped, stderr, _ := w.inPipe(t, args...)
	if piped != "" {
		w.checkUnwritable(t, args)
	}
	if strings.Contains(piped+stderr, "\x1b") {
		t.Errorf("%q writes colours into a pipe:\n%q", args, piped+stderr)
	}
	for _, columns := range []int{60, 80, 140} {
		what := fmt.Sprintf("%q", args)
		shown := w.inTerminal(t, columns, nil, args...)
		checkWidth(t, what, shown, columns)
		if path != "lock" && strings.Contains(piped, longTool) != strings.Contains(shown, longTool) {
			t.Errorf("%s does not show the whole reference in %d columns:\n%s", what, columns, shown)
		}
		if plain := w.inTerminal(t, columns, []string{"NO_COLOR=1"}, args...); regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(plain) {
			t.Errorf("%s has colours in spite of NO_COLOR:\n%q", what, plain)
		}
	}
	if !hasJSON {
		return
	}
	stdout, stderr, status := w.inPipe(t, append(args, "--json")...)
	var document map[string]any
	if err := json.Unmarshal([]byte(stdout), &document); err != nil {
		t.Errorf("%q --json does not write one object: %v\n%s\n%s", args, err, stdout, stderr)
		return
	}
	if _, failed := document["error"]; failed != (status != 0) {
		t.Errorf("%q --json ends with %d, but its error is %v", args, status, document["error"])
	}
	if path != "call" && path != "find" {
		checkShape(t, fmt.Sprintf("%q --json", args), "", document)
	}
}

// checkUnwritable runs a command whose output cannot be written: the exit status is 1, and stderr says why, unless the
// reader is just gone.
func (w *walk) checkUnwritable(t *testing.T, args []string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	reader, gone, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	_ = reader.Close()
	for out, want := range map[*os.File]string{full: "The output cannot be written: ", gone: ""} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := w.command(ctx, args)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = out, &errs
		_ = cmd.Run() // its status is what counts
		cancel()
		said := errs.String()
		if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(said, want) || strings.Contains(said, "broken pipe") {
			t.Errorf("%q into %s ends with %d, and says:\n%s", args, out.Name(), status, said)
		}
	}
}

var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// checkShape reports names that are not in camelCase, and null.
func checkShape(t *testing.T, what, at string, value any) {
	t.Helper()
	switch value := value.(type) {
	case nil:
		t.Errorf("%s: %s is null", what, at)
	case []any:
		for _, one := range value {
			checkShape(t, what, at+"[]", one)
		}
	case map[string]any:
		for key, member := range value {
			if !camelCase.MatchString(key) {
				t.Errorf("%s: %s.%s is not in camelCase", what, at, key)
			}
			if key != "definition" && key != "inputSchema" {
				checkShape(t, what, at+"."+key, member)
			}
		}
	}
}

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// Names and texts that do not fit.
const (
	longTool   = "dev/files/read_everything_in_the_whole_folder_at_once"
	longServer = "a-server-whose-name-is-longer-than-anybody-would-like"
	longText   = "It reads what is there, and more, and says so in words that do not fit into any terminal that a person would use. 数据 🎉"
)

// walkPlace is a home folder, with a configuration, clients' files and state.
type walkPlace struct {
	home string
	file string // the configuration; "": none
}

// shortFolder makes a folder whose sockets have short paths: otherwise they would be in one that all tests share.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "walk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) }) // what ends late may still write there
	return folder
}

// newWalkPlace makes a home that has been used: tools are cached, and there are a token, a trusted file, a recording and an audit log.
func newWalkPlace(t *testing.T) *walkPlace {
	t.Helper()
	home := shortFolder(t)
	w := &walkPlace{home, "workbench-config.json"}
	server := func(spec string) map[string]any {
		return map[string]any{"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, filepath.Join(home, spec))}
	}
	disabled := map[string]any{"url": "http://127.0.0.1:9/mcp", "disabled": true}
	w.write(t, "workbench-config.json", map[string]any{
		"audit":  map[string]any{},
		"policy": map[string]any{"rules": []any{map[string]any{"tools": "*delete_everything*", "then": "ask", "because": longText}}},
		"toolboxes": map[string]any{
			"dev": map[string]any{"description": longText, "mcpServers": map[string]any{
				"files": server("files.json"), "broken": server("broken.json"), longServer: server("files.json"),
				"web": disabled, "remote": map[string]any{"url": "http://127.0.0.1:9/mcp"},
			}},
			"工具箱": map[string]any{"description": "d", "mcpServers": map[string]any{"文件服务器": server("files.json"), "web": disabled}},
		},
	})
	tool := func(name string, readOnly bool) map[string]any {
		return map[string]any{
			"name": name, "description": longText, "annotations": map[string]any{"readOnlyHint": readOnly},
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string", "description": longText}}},
		}
	}
	w.write(t, "files.json", map[string]any{
		"instructions": longText, "start": []any{map[string]any{"stderr": longText}},
		"tools": []any{tool("read_everything_in_the_whole_folder_at_once", true), tool("delete_everything", false)},
	})
	w.write(t, "broken.json", map[string]any{"start": []any{map[string]any{"stderr": longText}, map[string]any{"exit": 3}}})
	w.write(t, "wrong.json", map[string]any{"toolboxes": map[string]any{"dev": map[string]any{"mcpServers": map[string]any{longServer: map[string]any{"command": 5, "comand": longText}}}}})
	w.write(t, "cases.json", map[string]any{"cases": []any{map[string]any{"tool": longTool, "verdict": "deny"}}})
	w.write(t, "project/workbench-config.json", map[string]any{"toolboxes": map[string]any{"other": map[string]any{"mcpServers": map[string]any{"files": server("files.json")}}}})
	w.write(t, "project/.git/HEAD", "")
	w.writeClients(t)
	for _, args := range [][]string{
		{"tools"},
		{"token", "add", "a-token-with-quite-a-long-name", "--toolbox", "dev", "--toolbox", "工具箱"},
		{"trust", "--yes", "wrong.json"},
		{"trust", "--yes", "cases.json"},
		{"record", "session.jsonl", "files"},
		{"connect", "cursor", "--yes"},
		{"call", longTool},
	} {
		w.inPipe(t, "", args...)
	}
	return w
}

// writeClients writes the files of clients, with many servers.
func (w *walkPlace) writeClients(t *testing.T) {
	t.Helper()
	servers := make(map[string]any)
	for _, name := range []string{"filesystem", "github", "postgres-production", "postgres-staging", "slack", "some-other-server", "memory", longServer} {
		servers[name] = map[string]any{"command": "npx", "args": []string{"-y", name}, "env": map[string]any{"A_TOKEN": "${A_TOKEN}"}}
	}
	servers["linear"] = map[string]any{"type": "http", "url": "http://127.0.0.1:9/mcp"}
	w.write(t, ".claude.json", map[string]any{"mcpServers": servers, "projects": map[string]any{
		filepath.Join(w.home, "somewhere", "else"): map[string]any{"mcpServers": map[string]any{"own": map[string]any{"command": "own"}}},
	}})
	w.write(t, ".cursor/mcp.json", map[string]any{"mcpServers": map[string]any{"文件服务器": map[string]any{"command": "npx", "args": []string{"-y", "files"}}}})
	w.write(t, ".codex/config.toml", "")
}

func (w *walkPlace) write(t *testing.T, name string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if filepath.Base(name) == "workbench-config.json" { // so that diffs are as they would be
		text, err = json.MarshalIndent(value, "", "  ")
	}
	path := filepath.Join(w.home, name)
	if value == "" {
		text = nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copied returns a home with the same files.
func (w *walkPlace) copied(t *testing.T) *walkPlace {
	t.Helper()
	home := shortFolder(t)
	err := os.CopyFS(home, os.DirFS(w.home))
	if err == nil {
		err = filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			return os.Chmod(path, 0o600) // what is secret stays so
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return &walkPlace{home, w.file}
}

func (w *walkPlace) command(ctx context.Context, args []string, more ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, mcptest.Self(), args...)
	cmd.Dir = w.home
	cmd.Env = append([]string{
		programVariable + "=1", "GORACE=atexit_sleep_ms=0", // else each exit takes a second
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "XDG_RUNTIME_DIR=" + w.home,
	}, more...)
	if w.file != "" {
		cmd.Env = append(cmd.Env, "WORKBENCH_CONFIG="+filepath.Join(w.home, w.file))
	}
	return cmd
}

// inPipe runs a command without a terminal.
func (w *walkPlace) inPipe(t *testing.T, input string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args)
	cmd.Stdin = strings.NewReader(input)
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

// inTerminal runs a command in a terminal of its own, and returns what that shows. Without keys nobody types.
func (w *walkPlace) inTerminal(t *testing.T, columns int, keys string, environ []string, args ...string) string {
	t.Helper()
	master, line := openTerminal(t, columns)
	defer master.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args, environ...)
	cmd.Stdout, cmd.Stderr = line, line
	if keys != "" {
		cmd.Stdin = line
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = line.Close()
	if _, err := io.WriteString(master, keys); err != nil {
		t.Error(err)
	}
	var shown bytes.Buffer
	_, _ = io.Copy(&shown, master) // until the last one who could write has ended
	_ = cmd.Wait()                 // some end with an error, as they should
	if ctx.Err() != nil {
		t.Errorf("%q does not end in a terminal:\n%s", args, shown.String())
	}
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

// openTerminal opens both ends of a pseudo terminal.
func openTerminal(t *testing.T, columns int) (master, line *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals: ", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(columns)})
	}
	if err == nil {
		line, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, line
}

// start runs a workbench with a client: one server is healthy, one fails, others have not started, and a call waits for approval.
func (w *walkPlace) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := w.command(ctx, nil)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		cancel()
		_ = cmd.Wait()
	})
	call := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"%s","name":"%s"}}}}` + "\n"
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a-client-with-a-long-name-数据","version":"1"}}}`)
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"open_toolbox","arguments":{"toolbox":"dev"}}}`)
	lines := bufio.NewReader(stdout)
	await := func(id int) {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal("the workbench ended: ", err)
			}
			if strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) {
				return
			}
		}
	}
	await(2)
	fmt.Fprintf(stdin, call, 3, "files", "read_everything_in_the_whole_folder_at_once")
	await(3)
	fmt.Fprintf(stdin, call, 4, "broken", "read_everything")
	await(4)
	fmt.Fprintf(stdin, call, 5, "files", "delete_everything") // waits
	go func() { _, _ = io.Copy(io.Discard, lines) }()         // until the workbench ends
}

// checkUnwritable runs a command whose output cannot be written: the exit status is 1, and stderr says why, unless the
// reader is just gone.
func (w *walkPlace) checkUnwritable(t *testing.T, args []string) {
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

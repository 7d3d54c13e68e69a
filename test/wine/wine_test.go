//go:build linux

// Package wine tests the Windows binary under Wine; test/wine/run prepares what it needs. Wine is not Windows: what passes
// here is likely to work, and what it cannot tell is named.
package wine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// limit bounds each program; a first start under Wine takes seconds.
const limit = 40 * time.Second

// place is a folder for a test, which the workbench has as its state and working folder. The home folder is that of Wine.
type place struct {
	work string // with the programs
	home string // as Linux sees it
}

func newPlace(t *testing.T) *place {
	t.Helper()
	work := os.Getenv("TEST_WINE")
	if work == "" {
		t.Skip("run make wine")
	}
	home := filepath.Join(os.Getenv("WINEPREFIX"), "drive_c", "homes", strings.ReplaceAll(t.Name(), "/", "-"))
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return &place{work, home}
}

// path returns a path of the home as Windows sees it.
func (p *place) path(parts ...string) string {
	inside, err := filepath.Rel(filepath.Join(os.Getenv("WINEPREFIX"), "drive_c"), filepath.Join(append([]string{p.home}, parts...)...))
	if err != nil {
		panic(err) // both are absolute
	}
	return `C:\` + strings.ReplaceAll(inside, "/", `\`)
}

func (p *place) write(t *testing.T, text string, parts ...string) string {
	t.Helper()
	file := filepath.Join(append([]string{p.home}, parts...)...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (p *place) command(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "wine", append([]string{filepath.Join(p.work, program)}, args...)...)
	cmd.Dir = p.home
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+p.path("state"))
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs the workbench to its end.
func (p *place) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := p.command(t, "mcp-workbench.exe", args...).CombinedOutput()
	return string(out), err
}

// client is a workbench with a client on its stdin and stdout.
type client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	number int
}

func (p *place) start(t *testing.T, args ...string) *client {
	t.Helper()
	c := &client{cmd: p.command(t, "mcp-workbench.exe", args...)}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var hello struct {
		ServerInfo struct{ Name string }
	}
	c.send(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	c.result(t, &hello)
	if hello.ServerInfo.Name != "mcp-workbench" {
		t.Fatalf("it is called %q", hello.ServerInfo.Name)
	}
	fmt.Fprintln(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) send(t *testing.T, method, params string) {
	t.Helper()
	c.number++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.number, method, params); err != nil {
		t.Fatal(err)
	}
}

// result waits for the response to the last request.
func (c *client) result(t *testing.T, into any) {
	t.Helper()
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			t.Fatal("no answer: ", err)
		}
		var message struct {
			ID     int
			Result json.RawMessage
		}
		if err := json.Unmarshal(line, &message); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if message.ID != c.number {
			continue
		}
		if err := json.Unmarshal(message.Result, into); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return
	}
}

type toolResult struct {
	Content []struct{ Text string }
	IsError bool
}

func TestStarterToolbox(t *testing.T) {
	c := newPlace(t).start(t)
	var got toolResult
	c.send(t, "tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"starter"}}`)
	if c.result(t, &got); got.IsError || len(got.Content) == 0 || !strings.Contains(got.Content[0].Text, `"servers_connected":3`) {
		t.Fatalf("%+v", got)
	}
	c.send(t, "tools/call", `{"name":"use_tool","arguments":{"tool":{"toolbox":"starter","server":"files","name":"list_files"}}}`)
	if c.result(t, &got); got.IsError {
		t.Errorf("%+v", got)
	}
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// marks returns the marks that a tree has written so far.
func marks(file string) string {
	data, _ := os.ReadFile(file) // it is made by the tree
	return string(data)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(limit / 2)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s did not happen", what)
		}
	}
}

// isQuiet reports whether nothing writes into a file for twenty beats of the tree.
func isQuiet(file string) bool {
	before := marks(file)
	<-time.After(time.Second)
	return marks(file) == before
}

func TestProcessTreesEnd(t *testing.T) {
	for name, end := range map[string]func(c *client){
		"end of stdin": func(c *client) { _ = c.in.Close() },
		"kill":         func(c *client) { _ = c.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			command, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"t": map[string]any{"description": "d", "mcpServers": map[string]any{
				"s": map[string]any{"command": "Z:" + strings.ReplaceAll(filepath.Join(p.work, "tree.exe"), "/", `\`), "args": []string{p.path("marks")}},
			}}}})
			if err != nil {
				t.Fatal(err)
			}
			p.write(t, string(command), "workbench-config.json")
			file := filepath.Join(p.home, "marks")
			c := p.start(t, "--config", p.path("workbench-config.json"))
			c.send(t, "tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"t"}}`)
			eventually(t, "the start of server and child", func() bool { return strings.Contains(marks(file), "s") && strings.Contains(marks(file), "c") })
			end(c)
			_ = c.cmd.Wait() // killed, or not: the marks tell
			eventually(t, "the end of server and child", func() bool { return isQuiet(file) })
		})
	}
}

func TestEditOfAClient(t *testing.T) {
	p := newPlace(t)
	const before = "{\n  // mine\n  \"mcpServers\": {\"own\": {\"command\": \"own.exe\"}}\n}\n"
	homes, err := filepath.Glob(filepath.Join(os.Getenv("WINEPREFIX"), "drive_c", "users", "*", "AppData"))
	if err != nil || len(homes) == 0 {
		t.Fatalf("there is no home: %v, %v", homes, err)
	}
	file := filepath.Join(filepath.Dir(homes[0]), ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.run(t, "connect", "cursor", "--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(after), "// mine") || !strings.Contains(string(after), `"own.exe"`) || !strings.Contains(string(after), `mcp-workbench.exe`) {
		t.Errorf("%s, %v", after, err)
	}
	if out, err := p.run(t, "connect", "--undo", "cursor", "--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != before {
		t.Errorf("%s, %v", after, err)
	}
}

// Wine shows an access list as the mode of the file, and the other way round.
func TestPrivateFiles(t *testing.T) {
	p := newPlace(t)
	if out, err := p.run(t, "token", "add", "laptop"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(p.home, "state", "mcp-workbench", "tokens.json")
	for _, path := range []string{file, filepath.Dir(file)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o007 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := p.run(t, "token", "list"); err == nil || !strings.Contains(out, "can be read by other users") || !strings.Contains(out, "icacls") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := p.command(t, "safefile.exe", "-test.run", "AccessList|ReplaceMakes|MakeFolder").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is about the official TypeScript client, which client.mjs drives.

// scriptLine is one line that client.mjs prints.
type scriptLine struct {
	Step         string
	PID          int
	Server       struct{ Name string }
	Instructions string
	Connected    int
	Servers      []string
	Tools        []string
	Text         string
	Error        string
	IsError      bool
	Changes      int
	Told         []any // what onprogress was told
	Arrived      []any // progress and result in the order of the wire
	Structured   map[string]any
}

// runScript runs a script to its end and returns its lines by step.
func runScript(t *testing.T, b *bench, script, mode string) map[string]scriptLine {
	t.Helper()
	if _, err := os.Stat(script); err != nil { // also tells Go's cache of results that we depend on it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience*2)
	defer cancel()
	args := []string{script, b.binary, b.config, mode}
	if b.overHTTP {
		args = append(args, b.serve())
	}
	cmd := exec.CommandContext(ctx, needNode(t), args...)
	cmd.Env, cmd.Stderr = b.environ(), b.stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]scriptLine)
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		var line scriptLine
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Errorf("%s printed %q: %v", script, scanner.Text(), err)
			continue
		}
		if line.PID != 0 {
			b.mark.record(line.PID)
		}
		lines[line.Step] = line
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, b.stderr)
	}
	if _, ok := lines["closed"]; !ok {
		t.Fatalf("%s did not come to its end", script)
	}
	return lines
}

func scriptBench(t *testing.T, mode string, p *tap, overHTTP bool) *bench {
	t.Helper()
	memory := filepath.Join(t.TempDir(), "memory.jsonl")
	b := newBench(t, mode, box{"all", "Two servers", []server{p.around(everythingServer(t)), memoryServer(t, memory)}})
	b.overHTTP = overHTTP
	return b
}

func TestTypeScriptClientProxy(t *testing.T) { eachAbove(t, typeScriptClientProxy) }

func typeScriptClientProxy(t *testing.T, overHTTP bool) {
	p := newTap(t)
	lines := runScript(t, scriptBench(t, "", p, overHTTP), "client.mjs", "proxy")
	if hello := lines["connected"]; hello.Server.Name != "mcp-workbench" || !strings.Contains(hello.Instructions, "all (2 servers)") {
		t.Errorf("connected: %+v", hello)
	}
	if tools := lines["listed"].Tools; len(tools) < 2 || tools[0] != "open_toolbox" || tools[1] != "use_tool" {
		t.Errorf("tools: %v", tools)
	}
	if opened := lines["opened"]; opened.Connected != 2 || !slices.Equal(opened.Servers, []string{"everything", "memory"}) {
		t.Errorf("opened: %+v", opened)
	}
	if text := lines["sum"].Text; text != "The sum of 2 and 40 is 42." {
		t.Errorf("sum: %q", text)
	}
	ada := map[string]any{"name": "Ada", "entityType": "person", "observations": []any{"é 😀"}}
	if found := lines["found"].Structured; !reflect.DeepEqual(found["entities"], []any{ada}) {
		t.Errorf("found: %v", found)
	}
	checkProgress(t, lines["progress"])
	checkAborted(t, p, lines)
	if text := lines["after"].Text; text != "Echo: after the abort" {
		t.Errorf("after the abort: %q", text)
	}
}

func TestTypeScriptClientDynamic(t *testing.T) { eachAbove(t, typeScriptClientDynamic) }

func typeScriptClientDynamic(t *testing.T, overHTTP bool) {
	p := newTap(t)
	lines := runScript(t, scriptBench(t, "dynamic", p, overHTTP), "client.mjs", "dynamic")
	if before := lines["listed"].Tools; slices.ContainsFunc(before, func(name string) bool { return strings.Contains(name, "__") }) {
		t.Errorf("tools of a toolbox that is not open: %v", before)
	}
	changed := lines["changed"]
	if changed.Changes == 0 {
		t.Error("the client was not told that tools changed")
	}
	for _, name := range []string{"open_toolbox", "use_tool", "all__everything__echo", "all__memory__read_graph"} {
		if !slices.Contains(changed.Tools, name) {
			t.Errorf("%s is not among %v", name, changed.Tools)
		}
	}
	if native := lines["native"].Structured; native["conditions"] != "Light rain / drizzle" {
		t.Errorf("native: %v", native)
	}
	checkProgress(t, lines["progress"])
	if graph := lines["graph"].Structured; !reflect.DeepEqual(graph, map[string]any{"entities": []any{}, "relations": []any{}}) {
		t.Errorf("graph: %v", graph)
	}
	checkAborted(t, p, lines)
	want := "Error: Tool 'nothing' not found in server 'everything' (toolbox 'all')"
	if missing := lines["missing"]; !missing.IsError || !strings.HasPrefix(missing.Text, want) {
		t.Errorf("missing: %+v, want %s", missing, want)
	}
}

func checkProgress(t *testing.T, line scriptLine) {
	t.Helper()
	if want := []any{1.0, 2.0, 3.0, "result"}; !reflect.DeepEqual(line.Arrived, want) {
		t.Errorf("%v arrived, want %v", line.Arrived, want)
	}
	// The last one may come in one read with the result: see client.mjs.
	if len(line.Told) < 2 || !reflect.DeepEqual(line.Told, []any{1.0, 2.0, 3.0}[:len(line.Told)]) {
		t.Errorf("onprogress was told %v", line.Told)
	}
	if line.Text != "Long running operation completed. Duration: 0.3 seconds, Steps: 3." {
		t.Errorf("the result is %q", line.Text)
	}
}

// checkAborted checks that the call which was aborted failed in the client, and that
// the server was told.
func checkAborted(t *testing.T, p *tap, lines map[string]scriptLine) {
	t.Helper()
	if !strings.Contains(lines["aborted"].Error, "enough") {
		t.Errorf("aborted: %+v", lines["aborted"])
	}
	slow := p.find(mcptest.Down, "the call that was aborted", func(m message) bool {
		return m.Method == "tools/call" && strings.Contains(string(m.Params), `"steps":200`)
	})
	p.findCancel(slow)
}

package faults

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// The bounds of the page, as far as they do not stand in a row. Timeouts are short here,
// so that nothing that is in order comes near them.
const (
	promptly   = 10 * time.Second
	recovery   = 15 * time.Second
	sibling    = 5 * time.Second
	memory     = 192 << 20
	atOnce     = 8 // tests; they wait more than they work
	afterwards = 3 * time.Second
	files      = 60 // that are open
	// idleConnections are those that the workbench keeps to a server over HTTP for later.
	idleConnections = 64
)

// exited is in what is said of a server that has ended.
const exited = "exited"

// lost is in what is said of it where all that can be seen is the end of a connection.
var lost = []string{"broke off", "ended its event stream", "HTTP status 404"}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == rig.ServeArg {
		os.Exit(rig.Serve(os.Args[2:]))
	}
	flag.Parse()
	_ = flag.Set("test.parallel", fmt.Sprint(atOnce)) // the flag is there in every test
	os.Exit(released.Run(m))
}

// bench is a workbench under test; what goes wrong ends the test.
type bench struct {
	*rig.Workbench
	pairing
	t     *testing.T
	ended bool
}

// box is a toolbox named dev.
type box = map[string]rig.Server

// shortTimeouts make faults show soon.
var shortTimeouts = map[string]any{"timeouts": map[string]string{"connect": "2s", "call": "1500ms"}}

// patientTimeouts are for what is slow but right.
var patientTimeouts = map[string]any{"timeouts": map[string]string{"connect": "30s", "call": "20s"}}

// start starts a workbench with one toolbox and checks in the end what every row demands.
func start(t *testing.T, p pairing, servers box) *bench {
	t.Helper()
	return startWith(t, p, rig.Options{Boxes: map[string]box{"dev": servers}})
}

func startWith(t *testing.T, p pairing, o rig.Options) *bench {
	t.Helper()
	o.Binary, o.Dir = released.Binary(t), t.TempDir()
	o.Above, o.Below = p.above, p.below
	if o.Capabilities == "" {
		o.Capabilities = "{}"
	}
	if o.Top == nil {
		o.Top = shortTimeouts
	}
	w, err := rig.Start(o)
	if w != nil {
		t.Cleanup(w.Discard)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Workbench: w, pairing: p, t: t}
	t.Cleanup(b.finish)
	return b
}

// finish is true of every row: alive to the end, no zombie, no leak, and a clean end.
func (b *bench) finish() {
	b.t.Helper()
	if !b.ended {
		b.checkLife()
		if err := b.End(); err != nil {
			b.t.Error(err)
		}
	}
	for _, violation := range b.Violations() {
		b.t.Error("the client was sent this:", violation)
	}
	if b.t.Failed() {
		b.t.Logf("stderr of the workbench:\n%.4000s", b.Log())
	}
}

func (b *bench) checkLife() {
	b.t.Helper()
	if !b.Running() {
		b.t.Error("the workbench is gone before its time")
		return
	}
	limit := files
	if b.below != rig.Stdio {
		limit += idleConnections
	}
	err := rig.Eventually(afterwards, func() error {
		if zombies := b.Zombies(); len(zombies) > 0 {
			return fmt.Errorf("zombies: %v", zombies)
		}
		if open := b.Descriptors(); open > limit {
			return fmt.Errorf("the workbench holds %d files open", open)
		}
		return nil
	})
	if err != nil {
		b.t.Error(err)
	}
	if peak := b.PeakMemory(); peak > memory {
		b.t.Errorf("the workbench had %d MiB of memory, more than %d", peak>>20, memory>>20)
	}
}

func (b *bench) wait(call *rig.Call, limit time.Duration) rig.Answer {
	b.t.Helper()
	a, err := call.Wait(limit)
	if err != nil {
		b.t.Fatalf("%v\nstderr:\n%.4000s", err, b.Log())
	}
	return a
}

// opened is what open_toolbox says.
type opened struct {
	Connected int `json:"servers_connected"`
	Tools     []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tools"`
	Errors []string `json:"_errors"`
}

// open opens the toolbox, which must succeed.
func (b *bench) open(limit time.Duration) opened {
	b.t.Helper()
	a := b.wait(b.Open("dev"), limit)
	var o opened
	if err := json.Unmarshal([]byte(a.Text), &o); a.IsError || err != nil {
		b.t.Fatalf("open_toolbox: %.2000s", a.Line)
	}
	return o
}

func (b *bench) use(server, tool string, limit time.Duration) rig.Answer {
	b.t.Helper()
	return b.wait(b.Use("dev", server, tool, "{}"), limit)
}

// works checks that a server answers, and with the right thing.
func (b *bench) works(server, tool string, limit time.Duration) {
	b.t.Helper()
	if a := b.use(server, tool, limit); a.IsError || a.Text != tool+" {}" {
		b.t.Errorf("%s of %s answered %.2000s", tool, server, a.Line)
	}
}

// recovers checks that a server works again in time.
func (b *bench) recovers(server string) {
	b.t.Helper()
	err := rig.Eventually(recovery, func() error {
		a, err := b.Use("dev", server, "echo", "{}").Wait(recovery)
		if err == nil && a.IsError {
			err = fmt.Errorf("%s does not work again: %.2000s", server, a.Line)
		}
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
}

// named checks that an answer is an error with the server's name and one of the words.
func (b *bench) named(a rig.Answer, server string, words ...string) {
	b.t.Helper()
	if !a.IsError {
		b.t.Errorf("this is no error: %.1000s", a.Line)
	}
	b.says(a.Text, server, words...)
}

func (b *bench) says(text, server string, words ...string) {
	b.t.Helper()
	if !strings.Contains(text, server) {
		b.t.Errorf("the error does not name '%s': %.1000s", server, text)
	}
	if slices.Contains(words, exited) && b.below != rig.Stdio {
		words = lost
	}
	if len(words) == 0 {
		return
	}
	for _, word := range words {
		if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			return
		}
	}
	b.t.Errorf("the error holds none of %q: %.1000s", words, text)
}

// toolNames returns the definitions of a tools/list answer by their names.
func toolNames(t *testing.T, a rig.Answer) map[string]string {
	t.Helper()
	var result struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(a.Result, &result); err != nil {
		t.Fatalf("tools/list: %v: %.1000s", err, a.Line)
	}
	names := make(map[string]string)
	for _, definition := range result.Tools {
		var tool struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(definition, &tool); err != nil {
			t.Fatalf("tools/list: %v: %s", err, definition)
		}
		names[tool.Name] += string(definition)
	}
	return names
}

// unescape makes characters visible that JSON wrote as escapes.
func unescape(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(value)
}

package faults

import (
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
	"github.com/mcp-workbench/mcp-workbench/test/otlptest"
)

const (
	secret = "sk-5up3r-s3cr3t-value-1234567890"
	other  = "sk-0th3r-s3cr3t-value-0987654321"
	apiKey = "sk-4p1k3y-of-the-receiver-5550000"
)

// hides checks that no text holds a secret.
func hides(t *testing.T, where, text string) {
	t.Helper()
	for _, value := range []string{secret, other, apiKey} {
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
	row(t, "72 history, metrics, spans and audit log", testObserved, sample)
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

// testObserved has secrets wherever a client or a server can put them, and looks for them in everything that is recorded.
func testObserved(t *testing.T, p pairing) {
	receiver := otlptest.New(t)
	b := startWith(t, p, rig.Options{
		Boxes: map[string]box{"dev": {
			"rogue": {Role: "calls", Env: map[string]string{"TOKEN": "${TOKEN}", "OTHER": "${OTHER}"}},
			"args":  {Command: "sh", Args: []string{"-c", "echo $0 >&2; exit 3", "${TOKEN}"}},
			"none":  {Command: "/no/such/${OTHER}"},
		}},
		Env: []string{"TOKEN=" + secret, "OTHER=" + other, "OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=" + apiKey},
		Top: map[string]any{"timeouts": shortTimeouts["timeouts"], "history": map[string]any{"keep": "7d"}, "audit": true},
	})
	b.open(promptly)
	for _, tool := range []string{"echo", "tell", "missing", "hang", "crash", secret} {
		b.wait(b.Use("dev", "rogue", tool, `{"key":"`+secret+`","`+other+`":{"`+secret+`":1}}`), promptly)
		b.recovers("rogue")
	}
	for _, params := range []struct{ method, params string }{
		{"tools/call", `{"name":"` + secret + `","arguments":{"` + other + `":1}}`},
		{"tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"` + secret + `"}}`},
		{"tools/call", `{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"rogue","name":"echo"}},"_meta":{"` + other + `":1,` +
			`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"v=` + secret + `","baggage":"k=` + other + `"}}`},
		{"tools/call", `{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"args","name":"` + secret + `"}}}`},
		{"tools/call", `{"name":"use_tool","arguments":{"tool":{"toolbox":"dev","server":"none","name":"` + secret + `"}}}`},
		{"resources/read", `{"uri":"` + secret + `:"}`},
		{"prompts/get", `{"name":"` + secret + `","arguments":{"` + other + `":"` + secret + `"}}`},
		{secret + "/" + other, `{"` + secret + `":"` + other + `"}`},
	} {
		b.wait(b.Begin(params.method, params.params), promptly)
	}
	awaitHistory(t, filepath.Join(b.Dir, "home"), 12)
	b.printNoSecret()
	if err := b.End(); err != nil {
		t.Error(err)
	}
	b.ended = true
	hides(t, "what the receiver got", receiver.Raw())
	if raw := receiver.Raw(); len(receiver.Spans()) < 20 || !strings.Contains(raw, "mcp_workbench.calls") || receiver.Headers().Get("Api-Key") != apiKey {
		t.Errorf("the receiver got %d spans and %d bytes", len(receiver.Spans()), len(raw))
	}
	log, err := filepath.Glob(filepath.Join(b.Dir, "home/.local/state/mcp-workbench/audit/*.jsonl"))
	if err != nil || len(log) == 0 {
		t.Fatalf("there is no audit log: %v", err)
	}
	for _, file := range log {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), `"tell"`) {
			t.Errorf("the audit log is %.2000s, %v", text, err)
		}
		hides(t, file, string(text))
	}
}

// printNoSecret checks that no command shows a secret, and that each has something to show.
func (b *bench) printNoSecret() {
	b.t.Helper()
	for _, command := range []struct{ line, shows string }{
		{"metrics", "mcp_workbench_calls_total"},
		{"metrics --openmetrics", "trace_id"},
		{"history", "rogue/tell"},
		{"history --json", `"tool":"tell"`},
		{"audit export --format ocsf --config config.json", "tell"},
		{"audit export --format cloudevents --config config.json", "tell"},
	} {
		text, err := b.Run(strings.Fields(command.line)...)
		if err != nil || !strings.Contains(text, command.shows) {
			b.t.Errorf("'%s' shows %.2000s, %v", command.line, text, err)
		}
		hides(b.t, "'"+command.line+"'", text)
	}
	if b.above != rig.HTTP {
		return
	}
	address, _ := b.Place()
	response, err := http.Get(strings.TrimSuffix(address, "/mcp") + "/metrics")
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), "mcp_workbench_calls_total") {
		b.t.Errorf("/metrics is %.2000s, %v", text, err)
	}
	hides(b.t, "/metrics", string(text))
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

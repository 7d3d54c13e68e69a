package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/npm"
)

// attackTime bounds one run of the browser; it ends by itself long before.
const attackTime = 3 * time.Minute

// attempt is one line that attack.mjs prints.
type attempt struct {
	Attack  string
	Outcome string // read, opaque (sent, but the page sees nothing), failed
	Status  int
	Text    string
}

// shown is the page of a workbench, with secrets that a hostile page would not have.
type shown struct {
	Code  string `json:"code"`  // of a link that is not used yet
	Token string `json:"token"` // of a session
	PID   int    `json:"pid"`
}

// attack lets the page try everything against an address, and against the page of the workbench there; nil: there is none.
func attack(t *testing.T, target string, ui *shown) []attempt {
	t.Helper()
	const script = "attack.mjs"
	if _, err := os.Stat(script); err != nil { // also tells Go's cache of results that we depend on it
		t.Fatal(err)
	}
	node, chromium := npm.NeedBrowser(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>a page</p>")
	}))
	t.Cleanup(page.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(page.URL, "http://"), ":")
	ctx, cancel := context.WithTimeout(t.Context(), attackTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, script, chromium, "http://evil.test:"+port+"/", target)
	if ui != nil {
		data, err := json.Marshal(ui)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args = append(cmd.Args, string(data))
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var attempts []attempt
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		var one attempt
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			t.Errorf("%s printed %q: %v", script, scanner.Text(), err)
		}
		attempts = append(attempts, one)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &stderr)
	}
	if len(attempts) == 0 || attempts[len(attempts)-1].Attack != "end" {
		t.Fatalf("%s did not come to its end: %+v", script, attempts)
	}
	return attempts[:len(attempts)-1]
}

func TestAPageCannotReachTheWorkbench(t *testing.T) {
	b := newBench(t)
	for _, one := range attack(t, b.address, b.ui) {
		switch {
		case one.Outcome == "read" && strings.HasPrefix(one.Attack, "rebound") && one.Status == http.StatusForbidden:
			// To the browser this is the page's own server, so it shows the refusal.
			if strings.Contains(one.Text, "serverInfo") || strings.Contains(one.Text, "toolbox") || strings.Contains(one.Text, "token") || strings.Contains(one.Text, "pid") {
				t.Errorf("%s: the refusal tells something: %s", one.Attack, one.Text)
			}
		case one.Outcome == "read":
			t.Errorf("%s: the page read %d %s", one.Attack, one.Status, one.Text)
		}
	}
	if log, err := os.ReadFile(b.log); err == nil {
		t.Errorf("a server was started:\n%s", log)
	}
	b.checkPage(t)
	// The same address, by who may: otherwise nothing above would mean anything.
	client := mcptest.NewHTTPClient(b.address, nil)
	t.Cleanup(client.Close)
	if answer, err := client.Initialize(t.Context(), "2025-11-25"); err != nil || answer.Result == nil {
		t.Fatalf("a client cannot reach it: %s %v %v", answer.Raw, answer.Bad, err)
	}
	answer, err := client.Request(t.Context(), "tools/call", `{"name":"open_toolbox","arguments":{"toolbox":"dev"}}`)
	if err != nil || !strings.Contains(string(answer.Result), `servers_connected\":1`) {
		t.Errorf("a client cannot open the toolbox: %s %v %v", answer.Raw, answer.Bad, err)
	}
	if _, err := os.Stat(b.log); err != nil {
		t.Errorf("the log of a server that was started is missing: %v", err)
	}
}

// checkPage shows that what the hostile page tried works for who may: the code of its link is not used yet, and the session
// is open.
func (b *bench) checkPage(t *testing.T) {
	t.Helper()
	if token := b.openPage(t, b.ui.Code); token == "" {
		t.Error("the code of the link was used")
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(b.address, "/mcp")+"/ui/api/hello", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+b.ui.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the session is not open: %s", response.Status)
	}
}

// careless is a server that allows every page everything, and notes what came.
type careless struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (c *careless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what there is
	c.mu.Lock()
	c.seen[fmt.Sprintf("%s %s %t", r.Method, r.Header.Get("Content-Type"), strings.Contains(string(body), "open_toolbox"))] = true
	c.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "*")
	w.Header().Set("Access-Control-Allow-Methods", "*")
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	fmt.Fprint(w, "data: an answer\n\n")
}

// TestThePageReachesACarelessServer shows that the attempts are real: with a server that
// is not on its guard they arrive, and those that can be read are read.
func TestThePageReachesACarelessServer(t *testing.T) {
	server := &careless{seen: make(map[string]bool)}
	site := httptest.NewServer(server)
	t.Cleanup(site.Close)
	read := make(map[string]bool)
	for _, one := range attack(t, site.URL+"/mcp", &shown{Code: "a code", Token: "a token", PID: 1}) {
		read[one.Attack] = one.Outcome == "read"
	}
	for _, name := range []string{
		"address fetch json", "address fetch modern json", "address fetch text with cors", "address get", "address delete", "address events",
		"localhost fetch json", "null origin fetch json", "rebound fetch json", "rebound fetch modern json", "rebound get", "rebound events",
		"address ui watch", "address ui watch with token", "address ui call with token", "address ui restart", "address ui session",
		"null origin ui call with token", "rebound ui index", "rebound ui session", "rebound ui watch with token", "rebound ui frame",
	} {
		if !read[name] {
			t.Errorf("%s was not read from a careless server: the attempt tests nothing", name)
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, want := range []string{"POST application/json true", "POST text/plain true", "OPTIONS  false", "GET  false", "DELETE  false"} {
		if !server.seen[want] {
			t.Errorf("no '%s' arrived, of %v", want, server.seen)
		}
	}
}

// logOf is where the fake server of a bench writes that it was started.
func logOf(dir string) string { return filepath.Join(dir, "fake.log") }

//go:build unix

package idp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/npm"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// browserRole makes this program the browser that the workbench opens.
const browserRole = "browser"

func TestMain(m *testing.M) {
	mcptest.PlayRole(func(role string, args []string) int {
		if role == browserRole {
			return oauthtest.Browse(args, os.Stderr)
		}
		return 2
	})
	os.Exit(released.Run(m))
}

// oldestNode is the first major version of Node.js that oidc-provider supports.
const oldestNode = 22

var installed = sync.OnceValues(func() (node string, err error) {
	if err := npm.Install(context.Background(), "."); err != nil {
		return "", err
	}
	return npm.Node(context.Background(), ".", oldestNode)
})

// startTime bounds the wait for a program.
const startTime = 30 * time.Second

// identityProvider is a process of provider.mjs.
type identityProvider struct {
	issuer string

	mu     sync.Mutex
	events []event
}

// event is one line that it prints.
type event struct{ Event, Grant, Client, Error, Detail string }

// startIDP runs it until the end of the test. Without Node.js the test is skipped, but on CI, where a skipped test
// would go unnoticed, it fails.
func startIDP(t *testing.T, options map[string]any) *identityProvider {
	t.Helper()
	node, err := installed()
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("Node.js and npm are needed on CI: %v", err)
	case err != nil:
		t.Skipf("skipped, oidc-provider cannot be run: %v", err)
	}
	text, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("provider.mjs"); err != nil { // also tells Go's cache of results that we depend on it
		t.Fatal(err)
	}
	cmd := exec.Command(node, "provider.mjs", string(text))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, ready, done := &identityProvider{}, make(chan string, 1), make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	go func() {
		defer close(done)
		p.read(stdout, ready)
		_ = cmd.Wait() // it is killed
	}()
	select {
	case p.issuer = <-ready:
	case <-done:
		t.Fatalf("provider.mjs ended at once\n%s", &stderr)
	case <-time.After(startTime):
		t.Fatal("provider.mjs does not say its issuer")
	}
	return p
}

func (p *identityProvider) read(stdout io.Reader, ready chan<- string) {
	lines := bufio.NewScanner(stdout)
	if lines.Scan() {
		ready <- lines.Text()
	}
	for lines.Scan() {
		var one event
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			p.mu.Lock()
			p.events = append(p.events, one)
			p.mu.Unlock()
		}
	}
}

// count is how many events there were of a kind and a grant.
func (p *identityProvider) count(kind, grant string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, one := range p.events {
		if one.Event == kind && one.Grant == grant {
			n++
		}
	}
	return n
}

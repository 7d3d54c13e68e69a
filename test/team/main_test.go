//go:build unix

package team

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/npm"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

func TestMain(m *testing.M) {
	mcptest.PlayRole(func(role string, _ []string) int {
		if role == counterRole {
			return count(os.Stdin, os.Stdout)
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

// needNode returns the path of node, with all packages installed. Without it the test is skipped, but on CI, where a
// skipped test would go unnoticed, it fails.
func needNode(t *testing.T) string {
	t.Helper()
	node, err := installed()
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("Node.js and npm are needed on CI: %v", err)
	case err != nil:
		t.Skipf("skipped, oidc-provider cannot be run: %v", err)
	}
	return node
}

// patience bounds the wait for a program. Nothing waits for it unless something is wrong.
const patience = 60 * time.Second

// identityProvider is a process of provider.mjs.
type identityProvider struct {
	issuer string

	mu     sync.Mutex
	events []event
}

// event is one line that it prints.
type event struct{ Event, Grant, Client, Resource, Account, Error, Detail string }

// startIDP runs an identity provider until the end of the test.
func startIDP(t *testing.T, options map[string]any) *identityProvider {
	t.Helper()
	text, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	p := &identityProvider{}
	lines := runNode(t, "provider.mjs", nil, string(text))
	p.issuer = lines.next()
	go func() {
		for line := range lines.out {
			var one event
			if json.Unmarshal([]byte(line), &one) == nil {
				p.mu.Lock()
				p.events = append(p.events, one)
				p.mu.Unlock()
			}
		}
	}()
	return p
}

// lifetime lets JWTs that are issued from now on count for so many seconds.
func (p *identityProvider) lifetime(t *testing.T, seconds int) {
	t.Helper()
	response, err := http.Post(p.issuer+"/test", "application/json", strings.NewReader(fmt.Sprintf(`{"seconds":%d}`, seconds)))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

// count is how many events there were that match.
func (p *identityProvider) count(matches func(event) bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, one := range p.events {
		if matches(one) {
			n++
		}
	}
	return n
}

// grants is how many tokens were issued by a grant to a person.
func (p *identityProvider) grants(grant, person string) int {
	return p.count(func(e event) bool {
		return e.Event == "grant.success" && e.Grant == grant && (person == "" || e.Account == person)
	})
}

// program is a process of Node.js that prints lines.
type program struct {
	t      *testing.T
	script string
	in     io.WriteCloser
	out    chan string
	stderr *bytes.Buffer
	done   chan struct{}
}

// runNode runs a script until the end of the test. Of a script with an input, the lines are to be read with next only.
func runNode(t *testing.T, script string, environ []string, args ...string) *program {
	t.Helper()
	if _, err := os.Stat(script); err != nil { // also tells Go's cache of results that we depend on it
		t.Fatal(err)
	}
	p := &program{t: t, script: script, out: make(chan string, 1000), stderr: &bytes.Buffer{}, done: make(chan struct{})}
	cmd := exec.Command(needNode(t), append([]string{script}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), environ...), p.stderr
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	p.in = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-p.done
	})
	go func() {
		defer close(p.done)
		defer close(p.out)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.out <- lines.Text()
		}
		_ = cmd.Wait() // it is killed
	}()
	return p
}

// next is the next line that it prints.
func (p *program) next() string {
	p.t.Helper()
	select {
	case line, ok := <-p.out:
		if ok {
			return line
		}
		<-p.done
		p.t.Fatalf("%s ended\n%s", p.script, p.stderr)
	case <-time.After(patience):
		p.t.Fatalf("%s says nothing", p.script)
	}
	return ""
}

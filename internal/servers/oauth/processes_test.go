package oauth

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// process is another workbench on the same store: the test binary, which calls a tool for each line that it gets.
type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
}

// runProcess is the main function of a process. Its role is the folder of the store and the address of the server.
func runProcess(role string) int {
	folder, address, _ := strings.Cut(role, "\n")
	manager := New(Options{Store: credentials.Open(folder, credentials.Options{})})
	defer manager.Close()
	c := manager.For(Server{Name: "remote", URL: address})
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		status, err := call(context.Background(), c, address, "echo")
		fmt.Println(status == http.StatusUnauthorized, err)
	}
	return 0
}

func (b *bench) start() *process {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	p := &process{command: exec.CommandContext(b.t.Context(), self)}
	p.command.Env = append(os.Environ(), processRole+"="+b.folder+"\n"+b.provider.URL())
	if p.input, err = p.command.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	output, err := p.command.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	p.output = bufio.NewReader(output)
	if err := p.command.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		p.input.Close()
		_ = p.command.Wait()
	})
	p.expect(b.t, "ready")
	return p
}

func (p *process) call(t *testing.T) {
	t.Helper()
	if _, err := fmt.Fprintln(p.input, "call"); err != nil {
		t.Fatal(err)
	}
}

func (p *process) expect(t *testing.T, want string) {
	t.Helper()
	line, err := p.output.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		t.Errorf("a process said %q, %v; want %q", line, err, want)
	}
}

// TestTwentyProcesses refresh at once: there is one request, and no token is used twice.
func TestTwentyProcesses(t *testing.T) {
	b := newBench(t, oauthtest.Options{}, nil)
	b.mustLogIn(LoginOptions{})
	var all []*process
	for range 20 {
		all = append(all, b.start())
	}
	for round := 1; round <= 3; round++ {
		b.provider.ExpireAccess()
		for _, p := range all {
			p.call(t)
		}
		for _, p := range all {
			p.expect(t, "false <nil>")
		}
		if n := b.provider.Count(oauthtest.Refresh); n != round {
			t.Errorf("%d refreshes after %d rounds", n, round)
		}
	}
	for _, event := range b.provider.Events(oauthtest.Refresh) {
		if event.Status != http.StatusOK || event.Underway != 0 {
			t.Errorf("a refresh got %d %s, with %d under way", event.Status, event.Error, event.Underway)
		}
	}
}

// eventLog gets the kinds of the requests that have ended.
type eventLog chan string

func (l eventLog) Write(line []byte) (int, error) {
	var event oauthtest.Event
	err := json.Unmarshal(line, &event)
	l <- event.Kind
	return len(line), err
}

// TestKilledProcess is killed between the answer of the authorization server and the disk. The next one tries the old
// token once, and then says what happened.
func TestKilledProcess(t *testing.T) {
	ended := make(eventLog, 100)
	b := newBench(t, oauthtest.Options{Log: ended}, nil)
	b.mustLogIn(LoginOptions{})
	b.provider.ExpireAccess()
	waiting, release := b.provider.Hold(oauthtest.Refresh)
	defer release()
	p := b.start()
	p.call(t)
	<-waiting
	if err := p.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.command.Wait()
	release()
	for kind := ""; kind != oauthtest.Refresh; { // it is answered, to nobody
		kind = <-ended
	}
	if kept := b.kept(); kept.Refreshing == nil || kept.Refreshing.Process != p.command.Process.Pid || kept.Dead != "" {
		t.Errorf("the store has %v, mark %v", kept, kept.Refreshing)
	}
	login := b.refusedCall("echo")
	if !strings.HasPrefix(login.Reason, "the login was lost: a refresh was interrupted before its result was saved") {
		t.Errorf("got %q", login.Reason)
	}
	if n := b.provider.Count(oauthtest.Refresh); n != 2 {
		t.Errorf("%d refreshes, want that of the process and one with the old token", n)
	}
	b.mustLogIn(LoginOptions{})
	b.mustCall("echo")
}

//go:build unix

package load

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/processtable"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// hostileMemory is what the workbench may have resident: what clients share has limits.
const hostileMemory = 512 << 20

// TestHostileClients serves two healthy clients while others misbehave: strangers without a token, and clients with
// tokens of their own. LOAD_HOSTILE says how many connections each kind of stranger keeps open, LOAD_HOSTILE_SECONDS for how long.
func TestHostileClients(t *testing.T) {
	connections, seconds := number(t, "LOAD_HOSTILE", 100), number(t, "LOAD_HOSTILE_SECONDS", 2)
	for _, test := range []struct {
		name string
		tls  bool
		// descriptors that the workbench has, fewer than there are strangers. Half of them are for connections.
		descriptors int
		lanes       []lane
	}{
		{"http", false, 5 * connections, append(strangers(connections), tokenLanes()...)},
		{"https", true, max(256, 9*connections/5), tlsLanes(connections)},
	} {
		t.Run(test.name, func(t *testing.T) {
			place := serveTokens(t, test.tls, test.descriptors)
			place.attack(t, test.lanes, time.Duration(seconds)*time.Second)
		})
	}
}

// place is a workbench with its tokens.
type place struct {
	*released.Workbench
	host string
	tls  *tls.Config

	healthy, hostile, batching string // tokens

	repeated atomic.Int64 // calls of healthy clients whose connection was closed
}

// lane is one way to misbehave. It goes on until ctx ends, and counts what it does.
type lane struct {
	name string
	run  func(ctx context.Context, p *place, count *atomic.Int64)
}

// attack runs the lanes, and healthy clients all the while. It fails for a call that was not answered rightly, never
// for the time that it took.
func (p *place) attack(t *testing.T, lanes []lane, duration time.Duration) {
	t.Helper()
	before := p.serve(t, duration/4)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	counts := make([]atomic.Int64, len(lanes))
	var work sync.WaitGroup
	for i, l := range lanes {
		work.Go(func() { l.run(ctx, p, &counts[i]) })
	}
	during := p.serve(t, duration)
	cancel() // not before: a workbench that serves nobody meanwhile would be found when all is over
	work.Wait()
	after := p.serve(t, duration/4)
	fmt.Printf("hostile: before %s; during %s; after %s; %d repeated; peak memory %d MiB\n", before, during, after, p.repeated.Load(), processtable.PeakMemory(p.PID)>>20)
	for i, l := range lanes {
		fmt.Printf("hostile:   %6d %s\n", counts[i].Load(), l.name)
		if counts[i].Load() == 0 {
			t.Errorf("%s: nothing was done", l.name)
		}
	}
	if memory := processtable.PeakMemory(p.PID); memory > hostileMemory {
		t.Errorf("%d MiB were resident; want at most %d", memory>>20, hostileMemory>>20)
	}
	if t.Failed() {
		t.Logf("stderr of the workbench:\n%.3000s", p.Stderr)
	}
}

// figures are the times of calls.
type figures []time.Duration

func (f figures) String() string {
	if len(f) == 0 {
		return "no calls"
	}
	slices.Sort(f)
	at := func(share float64) time.Duration {
		return f[int(share*float64(len(f)-1))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%d calls, p50 %s, p99 %s, longest %s", len(f), at(0.5), at(0.99), at(1))
}

// moreCalls is how many calls a healthy client makes when the time is over.
const moreCalls = 20

// serve makes calls of two healthy clients for a while: one begins a connection for each of them.
func (p *place) serve(t *testing.T, duration time.Duration) figures {
	t.Helper()
	over := time.Now().Add(duration)
	results := make([]figures, 2)
	var work sync.WaitGroup
	for i := range results {
		work.Go(func() {
			took, err := p.calls(i, i == 0, over)
			if results[i] = took; err != nil {
				t.Errorf("healthy client %d after %d calls: %v", i, len(took), err)
			}
		})
	}
	work.Wait()
	return slices.Concat(results...)
}

// calls are those of one healthy client.
func (p *place) calls(number int, fresh bool, over time.Time) (took figures, err error) {
	client := p.client(fresh)
	defer client.CloseIdleConnections()
	session, err := p.begin(client, p.healthy, "2025-11-25")
	if err != nil {
		return nil, err
	}
	if _, err := p.insist(client, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_toolbox","arguments":{"toolbox":"box"}}}`); err != nil {
		return nil, err
	}
	for i, more := 0, moreCalls; more > 0; i++ {
		marker := fmt.Sprintf("client %d call %d.", number, i)
		begun := time.Now()
		answer, err := p.insist(client, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"use_tool","arguments":{`+
			`"tool":{"toolbox":"box","server":%q,"name":"echo"},"arguments":{"marker":%q}}}}`, servers[i%len(servers)], marker))
		if err != nil || !strings.Contains(answer, marker) || strings.Contains(answer, `"isError":true`) {
			return took, fmt.Errorf("%s %.300s %w", marker, answer, err)
		}
		took = append(took, time.Since(begun))
		if begun.After(over) {
			more--
		}
	}
	return took, nil
}

func (p *place) client(fresh bool) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: fresh, TLSClientConfig: p.tls.Clone(), ForceAttemptHTTP2: p.tls != nil}}
}

// begin begins a session.
func (p *place) begin(client *http.Client, token, revision string) (session string, err error) {
	for range mostTries {
		if session, err = p.beginOnce(client, token, revision); err == nil {
			break
		}
	}
	return session, err
}

func (p *place) beginOnce(client *http.Client, token, revision string) (session string, err error) {
	response, err := p.send(client, token, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`, revision))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.Header.Get("Mcp-Session-Id"), err
}

// mostTries is how often a healthy client sends a message whose connection was closed under it before it gives up. A
// connection is closed that has not carried anything for longer than all others, such as one in a slow handshake: with the
// race detector, the handshakes of these clients are the slowest of all.
const mostTries = 20

// insist is post of a healthy client, which connects again.
func (p *place) insist(client *http.Client, session, message string) (answer string, err error) {
	for range mostTries {
		broken := (*url.Error)(nil)
		if answer, err = p.post(client, p.healthy, session, message); !errors.As(err, &broken) || broken.Timeout() {
			break
		}
		p.repeated.Add(1)
	}
	return answer, err
}

// post sends a message and reads what is answered.
func (p *place) post(client *http.Client, token, session, message string) (answer string, err error) {
	response, err := p.send(client, token, session, message)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(body), err
}

func (p *place) send(client *http.Client, token, session, message string) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodPost, p.Address, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	request.Header = p.header(token, session)
	return client.Do(request)
}

func (p *place) header(token, session string) http.Header {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		header.Set("Mcp-Session-Id", session)
	}
	return header
}

// serveTokens starts a workbench for clients with tokens that may open few files.
func serveTokens(t *testing.T, secure bool, descriptors int) *place {
	t.Helper()
	dir := t.TempDir()
	configuration := configure(t, dir)
	p := &place{}
	if secure {
		configuration["http"] = map[string]any{"tls": p.certify(t, dir)}
	}
	content, err := json.Marshal(configuration)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "workbench-config.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	program := released.Binary(t)
	env := append(os.Environ(), "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	for name, token := range map[string]*string{"healthy": &p.healthy, "hostile": &p.hostile, "batching": &p.batching} {
		cmd := exec.Command(program, "token", "add", name, "--config", path)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		*token = strings.TrimSpace(string(out))
	}
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, descriptors), program, "serve", "--listen", "127.0.0.1:0", "--config", path)
	cmd.Dir, cmd.Env = dir, env
	p.Workbench = released.Start(t, cmd)
	address, err := url.Parse(p.Address)
	if err != nil {
		t.Fatal(err)
	}
	p.host = address.Host
	return p
}

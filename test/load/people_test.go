//go:build unix

package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/processtable"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

const (
	// peopleMemory is what the workbench may have resident for a thousand people with streams.
	peopleMemory = 768 << 20
	// skew is how long a token counts after its end, since clocks differ.
	skew = time.Minute
	// away is how long the provider is away at most.
	away = time.Minute
	// early is how long before the end of a token its client gets another one.
	early = 2 * time.Second
	// overdue is how long a stream may go on after its token. A machine with too much to do is no reason to fail.
	overdue = 20 * time.Second
)

// TestManyPeople lets people use a workbench whose tokens end again and again, while their provider goes away and comes
// back, somebody tries wrong tokens and the sessions of others, and some lose what they were allowed. LOAD_PEOPLE says
// how many, LOAD_PEOPLE_TIME for how long.
func TestManyPeople(t *testing.T) {
	people := number(t, "LOAD_PEOPLE", 150)
	duration, err := time.ParseDuration(cmpOr(os.Getenv("LOAD_PEOPLE_TIME"), "12s"))
	if err != nil {
		t.Fatal(err)
	}
	c := newCrowd(t, people, duration)
	begun := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var work, strangers sync.WaitGroup
	for _, one := range c.people {
		work.Go(func() { one.live(ctx) })
	}
	strangers.Go(func() { c.wrongTokens(ctx) })
	strangers.Go(func() { c.nobodies(ctx) })
	strangers.Go(func() { c.robots(ctx) })
	c.play(ctx)
	close(c.over) // each makes a last call, and all have to be there still
	work.Wait()
	cancel()
	strangers.Wait()
	c.report(time.Since(begun))
}

func cmpOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// crowd is the people and what they share.
type crowd struct {
	*released.Workbench
	t        *testing.T
	folder   string
	issuer   *oauthtest.Issuer
	client   *http.Client
	duration time.Duration
	life     time.Duration // of a token
	people   []*human
	sessions []atomic.Pointer[string] // of people, for those who try the sessions of others
	over     chan struct{}            // closed when the last calls are due
	robot    [2]string                // tokens that the workbench issued

	gone     atomic.Bool // the provider is away, or was a moment ago
	unmapped atomic.Bool // contractors are nobody any more
	removed  atomic.Bool // so is the second robot

	counts  sync.Map // of string to *atomic.Int64
	mu      sync.Mutex
	took    []time.Duration
	wrong   []string
	ignored int // further ones
}

// Groups, and what they may use. Two in twenty are contractors, and one in twenty has opaque tokens.
const (
	contractorsEvery = 20
	opaqueEvery      = 20
)

var tableOfPeople = map[string]any{"reds": []string{"red"}, "blues": []string{"blue"}, "contractors": []string{"red"}}

func newCrowd(t *testing.T, people int, duration time.Duration) *crowd {
	t.Helper()
	c := &crowd{
		t: t, folder: t.TempDir(), issuer: oauthtest.StartIssuer(t), duration: duration, over: make(chan struct{}), sessions: make([]atomic.Pointer[string], people),
		life:   min(max(duration/4, 2*early), 45*time.Second),
		client: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * people}},
	}
	t.Cleanup(c.client.CloseIdleConnections)
	address, err := mcptest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.folder, "fake.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	c.configure(address, tableOfPeople)
	for i, name := range []string{"robot", "old-robot"} {
		out, err := c.command("token", "add", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		c.robot[i] = strings.TrimSpace(string(out))
	}
	c.Workbench = released.Start(t, c.command("serve", "--listen", address))
	for i := range people {
		c.people = append(c.people, c.newHuman(i))
	}
	return c
}

// configure writes the configuration with a table, which a running workbench reads again.
func (c *crowd) configure(address string, table map[string]any) {
	c.t.Helper()
	shared := map[string]any{
		"command": mcptest.Self(), "args": mcptest.RoleArgs(mcptest.FakeServer, filepath.Join(c.folder, "fake.json")), "instances": "shared",
	}
	text, err := json.Marshal(map[string]any{
		"http": map[string]any{"oauth": map[string]any{
			"resource": "http://" + address + "/mcp", "issuer": c.issuer.URL(), "claim": "groups", "toolboxes": table,
			"introspection": map[string]any{"endpoint": c.issuer.URL() + oauthtest.IssuerIntrospection, "clientId": "workbench", "clientSecret": "a-secret"},
		}},
		"autoOpen": true,
		"toolboxes": map[string]any{
			"red":  map[string]any{"description": "For reds", "mcpServers": map[string]any{"lines": shared}},
			"blue": map[string]any{"description": "For blues", "mcpServers": map[string]any{"lines": shared}},
		},
	})
	place := filepath.Join(c.folder, "workbench-config.json")
	if err == nil {
		err = os.WriteFile(place+".new", text, 0o600)
	}
	if err = errors.Join(err, os.Rename(place+".new", place)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *crowd) command(arguments ...string) *exec.Cmd {
	cmd := exec.Command(released.Binary(c.t), append(arguments, "--config", filepath.Join(c.folder, "workbench-config.json"))...)
	cmd.Dir, cmd.Env = c.folder, append(os.Environ(), "XDG_STATE_HOME="+c.folder, "XDG_CONFIG_HOME="+c.folder)
	return cmd
}

// play is what happens to all: the provider goes away and comes back with another key, and some lose what they had.
func (c *crowd) play(ctx context.Context) {
	begun := time.Now()
	until := func(share float64) { rest(ctx, time.Until(begun.Add(time.Duration(share*float64(c.duration))))) }
	until(0.3)
	c.gone.Store(true)
	c.issuer.Away()
	c.count("the provider went away").Add(1)
	rest(ctx, min(away, c.duration/4))
	if err := errors.Join(c.issuer.Back(), c.issuer.Publish("second")); err != nil {
		c.fail("the provider does not come back: %v", err)
	}
	fetched := c.issuer.Count(oauthtest.IssuerKeys)
	until(0.7)
	c.gone.Store(false)
	table := maps.Clone(tableOfPeople)
	delete(table, "contractors")
	c.configure(strings.TrimSuffix(strings.TrimPrefix(c.Address, "http://"), "/mcp"), table)
	c.unmapped.Store(true)
	if out, err := c.command("token", "remove", "old-robot").CombinedOutput(); err != nil {
		c.fail("token remove: %v %s", err, out)
	}
	c.removed.Store(true)
	if c.issuer.Count(oauthtest.IssuerKeys) > fetched { // providers publish a key some time before they use it
		c.issuer.SignWith("second")
		c.count("the provider changed its key").Add(1)
	}
	until(1)
}

// count counts something that is printed in the end.
func (c *crowd) count(what string) *atomic.Int64 {
	counter, _ := c.counts.LoadOrStore(what, &atomic.Int64{})
	return counter.(*atomic.Int64)
}

// fail notes what is not as it must be.
func (c *crowd) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wrong) < 20 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
		return
	}
	c.ignored++
}

// wrongTokens are of somebody who tries everything, with the sessions of people.
func (c *crowd) wrongTokens(ctx context.Context) {
	good := c.claims("person 0", "reds", time.Now().Add(time.Hour))
	revoked := c.issuer.Opaque(good)
	c.issuer.Revoke(revoked)
	with := func(changes map[string]any) map[string]any {
		claims := maps.Clone(good)
		maps.Copy(claims, changes)
		return claims
	}
	tokens := map[string]string{
		"expired":         c.issuer.Token(with(map[string]any{"exp": time.Now().Add(-2 * skew).Unix()})),
		"another issuer":  c.issuer.Token(with(map[string]any{"iss": "https://login.example.com"})),
		"another purpose": c.issuer.Token(with(map[string]any{"aud": "https://other.example.com/mcp"})),
		"an ID token":     c.issuer.Sign(map[string]any{"typ": "JWT"}, with(map[string]any{"nonce": "n", "client_id": nil})),
		"unsigned":        oauthtest.JWT(map[string]any{"alg": "none"}, with(map[string]any{"iss": c.issuer.URL()}), func(string) []byte { return nil }),
		"badly signed":    oauthtest.JWT(map[string]any{"alg": "ES256", "kid": "first"}, with(map[string]any{"iss": c.issuer.URL()}), func(string) []byte { return make([]byte, 64) }),
		"of our own":      "mcpw_nothing",
		"revoked":         revoked,
	}
	names := slices.Sorted(maps.Keys(tokens))
	for i := 0; rest(ctx, 5*time.Millisecond); i++ {
		name := names[i%len(names)]
		token := tokens[name]
		if name == "expired" && i%2 == 0 { // a key that is unknown each time, and is looked for once a minute
			name, token = "unknown key", c.issuer.Sign(map[string]any{"kid": fmt.Sprint("key ", i)}, good)
		}
		status, _, answer := c.post(ctx, token, c.somebody(), "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		switch {
		case ctx.Err() != nil:
		case status == http.StatusUnauthorized, status == http.StatusTooManyRequests:
			c.count("wrong tokens refused").Add(1)
		case status == http.StatusServiceUnavailable && (name == "unknown key" || name == "revoked") && c.gone.Load():
			c.count("wrong tokens that nobody could be asked about").Add(1)
		default:
			c.fail("a token that is %s got %d %.200s", name, status, answer)
		}
	}
}

// nobodies are people whom the provider knows and the table does not.
func (c *crowd) nobodies(ctx context.Context) {
	for i := 0; rest(ctx, 50*time.Millisecond); i++ {
		token := c.issuer.Token(c.claims(fmt.Sprint("nobody ", i%50), "visitors", time.Now().Add(time.Hour)))
		status, _, answer := c.post(ctx, token, c.somebody(), "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if ctx.Err() == nil && status != http.StatusForbidden {
			c.fail("somebody whom the table does not know got %d %.200s", status, answer)
		}
		c.count("people of no toolbox refused").Add(1)
	}
}

// robots have tokens of the workbench beside the people, one of which is removed.
func (c *crowd) robots(ctx context.Context) {
	var work sync.WaitGroup
	for i, token := range c.robot {
		work.Go(func() {
			out := false // refused for good
			for n := 0; rest(ctx, 100*time.Millisecond); n++ {
				removed := i == 1 && c.removed.Load()
				status, _, answer := c.post(ctx, token, "", "", modernCall("red", fmt.Sprintf("robot %d call %d.", i, n)))
				switch {
				case ctx.Err() != nil:
				case status == http.StatusOK && !out:
					c.count("calls of robots").Add(1)
				case removed && (status == http.StatusUnauthorized || status == http.StatusTooManyRequests):
					out = true
				default:
					c.fail("robot %d, removed: %v, refused before: %v, got %d %.200s", i, removed, out, status, answer)
				}
			}
			if i == 1 && !out {
				c.fail("a token that was removed still counts")
			}
		})
	}
	work.Wait()
}

// somebody is the session of somebody; "" if there is none yet.
func (c *crowd) somebody() string {
	if session := c.sessions[rand.IntN(len(c.sessions))].Load(); session != nil {
		return *session
	}
	return ""
}

// claims are those of a person whose token ends at a time.
func (c *crowd) claims(subject, group string, ends time.Time) map[string]any {
	return map[string]any{
		"sub": subject, "aud": strings.TrimSuffix(c.Address, "/mcp") + "/mcp", "client_id": "load", "groups": []string{group}, "exp": ends.Unix(), "jti": rand.Uint64(),
	}
}

// report prints the figures, and fails for what is wrong; never for the time it took.
func (c *crowd) report(took time.Duration) {
	c.t.Helper()
	memory := processtable.PeakMemory(c.PID)
	fmt.Printf("people: %d people for %s, tokens of %s; %s; peak memory %d MiB; keys fetched %d times\n", len(c.people), took.Round(time.Second), c.life,
		figures(c.took), memory>>20, c.issuer.Count(oauthtest.IssuerKeys))
	lines := []string{}
	c.counts.Range(func(what, counter any) bool {
		lines = append(lines, fmt.Sprintf("people:   %7d %s", counter.(*atomic.Int64).Load(), what))
		return true
	})
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
	for _, text := range c.wrong[:min(10, len(c.wrong))] {
		c.t.Error(text)
	}
	if more := len(c.wrong) - 10 + c.ignored; more > 0 {
		c.t.Errorf("and %d more", more)
	}
	for _, what := range []string{
		"tokens refreshed", "streams that ended with their token", "wrong tokens refused", "sessions of others refused", "people of no toolbox refused",
		"contractors who were let go", "streams of contractors that ended", "calls of robots",
	} {
		if c.count(what).Load() == 0 {
			c.t.Errorf("there were no %s", what)
		}
	}
	if n := c.count("streams that ended with their token").Load(); n < int64(len(c.people)/2) {
		c.t.Errorf("%d streams ended with their tokens, of %d people", n, len(c.people))
	}
	if memory > peopleMemory {
		c.t.Errorf("%d MiB were resident; want at most %d", memory>>20, peopleMemory>>20)
	}
	if c.t.Failed() {
		c.t.Logf("stderr of the workbench:\n%.4000s", c.Stderr)
	}
}

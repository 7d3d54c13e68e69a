package call

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

var needed = &fleet.LoginNeededError{Toolbox: "T", Server: "S", Err: &downstream.LoginError{Reason: "R"}}

// offered is a page that a client was asked to open.
type offered struct {
	*loginPage
	asked   chan *downstream.Question
	refusal chan *Failure
	done    chan struct{}
	err     error
}

func offerPage(ctx context.Context, t *testing.T, modern bool) *offered {
	o := &offered{asked: make(chan *downstream.Question, 10), refusal: make(chan *Failure, 1), done: make(chan struct{})}
	client := newAnswerer(t, fleet.ProfileOptions{Modern: modern}, func(q *downstream.Question) { o.asked <- q })
	o.loginPage = &loginPage{
		client: client, address: "http://127.0.0.1:1/go/x", done: o.done, err: func() error { return o.err },
		id: "e", text: "m", answers: make(chan loginAnswer, 1),
	}
	go func() { o.refusal <- o.offer(ctx, needed) }()
	return o
}

// TestModernClientIsAskedAgain while the login goes on, and the call is not run while the client is away.
func TestModernClientIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := offerPage(t.Context(), t, true)
		for range 3 {
			question := <-o.asked
			if text, _ := question.Params.Member("url").Text(); text != o.address {
				t.Errorf("asked %s", question.Params.Bytes())
			}
			question.Answer(respond(`{"action":"accept"}`))
			synctest.Wait()
			if len(o.asked) > 0 {
				t.Error("it is asked again at once")
			}
			time.Sleep(askAgain)
			synctest.Wait()
		}
		last := <-o.asked
		close(o.done)
		synctest.Wait()
		if len(o.refusal) > 0 {
			t.Error("the call goes on while the client is away")
		}
		last.Answer(respond(`{"action":"accept"}`))
		if refusal := <-o.refusal; refusal != nil {
			t.Errorf("got %v", refusal)
		}
	})
}

func TestLoginIsRefused(t *testing.T) {
	for want, answer := range map[string]func(o *offered, q *downstream.Question){
		"nothing was run: the login was declined; login needed: R; run: mcp-workbench login T/S": func(_ *offered, q *downstream.Question) {
			q.Answer(respond(`{"action":"decline"}`))
		},
		"nothing was run: the client could not be asked to open the page of the login; login needed": func(_ *offered, q *downstream.Question) {
			q.Refuse(protocol.CodeInternalError, "no")
		},
		"nothing was run: this client cannot be asked to open a page; login needed": func(_ *offered, q *downstream.Question) {
			q.RefuseUnsupported()
		},
		"nothing was run: the login failed: no consent; login needed": func(o *offered, _ *downstream.Question) {
			o.err = errors.New("no consent")
			close(o.done)
		},
	} {
		o := offerPage(t.Context(), t, false)
		answer(o, <-o.asked)
		if refusal := <-o.refusal; refusal == nil || !strings.HasPrefix(refusal.Message, want) || refusal.Hint == "" {
			t.Errorf("got %v, want %s", refusal, want)
		}
	}
}

func TestCancelledLoginIsWithdrawn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := offerPage(ctx, t, false)
	question := <-o.asked
	withdrawn := make(chan struct{})
	question.OnWithdraw(func(wire.Payload) { close(withdrawn) })
	cancel()
	<-withdrawn
	<-o.refusal
}

// TestSentAgainAsItWas: a call that was refused for want of a login reaches the server as the client sent it.
func TestSentAgainAsItWas(t *testing.T) {
	for _, era := range []string{"", "modern"} {
		for _, modern := range []bool{false, true} {
			log := new(serverLog)
			provider := oauthtest.Start(t, oauthtest.Options{ServerLog: log, Spec: []byte(`{"era":"` + era + `","tools":[{"name":"echo","inputSchema":{}}],
				"calls":{"echo":[{"progress":{"progress":1}},{"result":{"resultType":"complete","content":[]}}]}}`)})
			manager := oauth.New(oauth.Options{Store: credentials.Open(t.TempDir(), credentials.Options{})})
			servers := fleet.New(fleet.Options{OAuth: manager, Config: &config.Config{
				MaxMessageSize: wire.DefaultLimit,
				Toolboxes: []config.Toolbox{{Name: "T", Servers: []config.Server{{
					Name: "S", URL: provider.URL(), Timeouts: config.Timeouts{Connect: 30 * time.Second, Call: time.Minute},
				}}}},
			}})
			a := newAnswerer(t, fleet.ProfileOptions{Modern: modern, Capabilities: []byte(`{"elicitation":{"url":{}}}`)}, func(q *downstream.Question) {
				page, _ := q.Params.Member("url").Text()
				go func() {
					if _, err := new(oauthtest.Person).Visit(page); err != nil {
						t.Error(err)
					}
					q.Answer(respond(`{"action":"accept"}`))
				}()
			})
			call := func(arguments string) {
				meta := `{"progressToken":"mine","com.example/x":1.0}`
				if modern {
					meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":"mine","com.example/x":1.0}`
				}
				new(Router).CallTool(servers, &Request{
					Ref: toolbox.Ref{Toolbox: "T", Server: "S", Name: "echo"}, Arguments: wire.Raw([]byte(arguments)), Meta: wire.Raw([]byte(meta)),
					Extra: []byte(`"com.example.extra":[1.0]`), Client: a, Canceller: new(Canceller), Replier: a,
				})
				if got := await(t, a.replies); got.err != nil {
					t.Fatal(era, modern, got.err)
				}
				for notice := ""; !strings.HasPrefix(notice, "notifications/progress "); {
					if notice = await(t, a.notices); strings.Contains(notice, "progress ") && !strings.Contains(notice, `"progressToken":"mine"`) {
						t.Errorf("era %q, modern %t: the client got %s", era, modern, notice)
					}
				}
			}
			call(`{"first":1.0}`) // the login is for the connection
			provider.EndLogins()
			call(`{"second":1.0}`) // in the midst
			calls := log.calls()
			if len(calls) != 2 || strings.Replace(calls[0], "first", "second", 1) != calls[1] || !strings.Contains(calls[1], `"com.example/x":1.0`) ||
				!strings.Contains(calls[1], `"com.example.extra":[1.0]`) || strings.Contains(calls[1], "mine") {
				t.Errorf("era %q, modern %t: the server got\n%s", era, modern, strings.Join(calls, "\n"))
			}
			if err := servers.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			manager.Close()
		}
	}
}

// serverLog is what a server got.
type serverLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *serverLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

var ids = regexp.MustCompile(`"(id|progressToken)":\d+`)

// calls returns the calls of tools, without ids.
func (l *serverLog) calls() (calls []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.HasPrefix(line, "recv ") && strings.Contains(line, "tools/call") {
			calls = append(calls, ids.ReplaceAllString(line, `"$1":N`))
		}
	}
	return calls
}

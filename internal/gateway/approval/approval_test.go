package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/subject"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is one that keeps what it gets.
type client struct {
	profile *fleet.ClientProfile

	mu        sync.Mutex
	asked     []*downstream.Question
	withdrawn int
	progress  []string
}

const (
	forms = `{"elicitation":{}}`
	pages = `{"elicitation":{"url":{}}}`
)

func newClient(t *testing.T, capabilities string, isModern bool) *client {
	c := &client{profile: fleet.NewClientProfile(fleet.ProfileOptions{Capabilities: []byte(capabilities), Modern: isModern, Name: "tester"})}
	t.Cleanup(c.profile.Close)
	return c
}

func (c *client) Profile() *fleet.ClientProfile { return c.profile }

// Notify blocks, as for a client that does not read.
func (*client) Notify(string, []byte) error { select {} }

func (c *client) TryNotify(method string, params []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if method == protocol.NotifyProgress {
		c.progress = append(c.progress, string(params))
	}
}

func (c *client) Ask(question *downstream.Question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, question)
	question.OnWithdraw(func(wire.Payload) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.withdrawn++
	})
}

// last returns the newest question; nil if there is none.
func (c *client) last() *downstream.Question {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) == 0 {
		return nil
	}
	return c.asked[len(c.asked)-1]
}

// counts returns how many questions the client got, and how many were withdrawn.
func (c *client) counts() (asked, withdrawn int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked), c.withdrawn
}

// answer sends the client's result.
func (c *client) answer(result string) {
	c.last().Answer(wire.Message{Result: wire.Raw([]byte(result))})
}

func accept(word string) string { return `{"action":"accept","content":{"approval":"` + word + `"}}` }

// The ways to ask.
var (
	both          = []string{config.AskClient, config.AskTerminal}
	terminalFirst = []string{config.AskTerminal, config.AskClient}
	clientOnly    = []string{config.AskClient}
	terminalOnly  = []string{config.AskTerminal}
	pageOnly      = []string{config.AskPage}
	pageFirst     = []string{config.AskPage, config.AskClient}
	pageLast      = []string{config.AskTerminal, config.AskClient, config.AskPage}
	everywhere    = []string{config.AskClient, config.AskTerminal, config.AskPage}
)

// try is one call to ask about.
type try struct {
	via        []string
	definition string
	arguments  string
	meta       string
	caller     string
}

func (c *client) question(of try) *policy.Question {
	if of.definition == "" {
		of.definition = `{"name":"delete"}`
	}
	if of.caller == "" {
		of.caller = "stdio"
	}
	return &policy.Question{
		Call: &call.Call{
			Client: c, Method: protocol.MethodToolsCall, Name: "delete", Tool: wire.Raw([]byte(of.definition)),
			Arguments: wire.Raw([]byte(of.arguments)), Meta: wire.Raw([]byte(of.meta)),
		},
		Caller: of.caller, Ref: toolbox.Ref{Toolbox: "dev", Server: "files", Name: "delete"},
		Reason: policy.Reason{Rule: &config.PolicyRule{Line: 3, Because: "precious"}, Pattern: "*/*/delete", File: "/c.json"},
		Ask:    config.PolicyAsk{Via: of.via, Timeout: 2 * time.Minute},
	}
}

// outcome is how a question ended; "" is yes.
type outcome chan string

// begin asks in the background, and returns when everybody waits.
func (c *client) begin(ctx context.Context, d *Desk, of try) outcome {
	ended := make(outcome, 1)
	go func() {
		if refusal := d.Ask(ctx, c.question(of)); refusal != nil {
			ended <- refusal.Message
			return
		}
		ended <- ""
	}()
	synctest.Wait()
	return ended
}

// isOpen reports whether the question is still open.
func (o outcome) isOpen() bool {
	synctest.Wait()
	return len(o) == 0
}

// check compares the end of a question, which must be there by now, with a part of the text; "" is yes.
func (o outcome) check(t *testing.T, want string) {
	t.Helper()
	if o.isOpen() {
		t.Errorf("still waits, want %q", want)
		return
	}
	got := <-o
	o <- got
	if (got == "") != (want == "") || !strings.Contains(got, want) {
		t.Errorf("ended with %q, want %q", got, want)
	}
}

func newDesk(isReachable bool) *Desk {
	return New(Options{Reachable: isReachable, Mask: func(text string) string { return strings.ReplaceAll(text, "s3cret", "[hidden]") }})
}

func TestAnswersOfTheClient(t *testing.T) {
	for _, test := range []struct {
		name, result string
		want         string
	}{
		{"once", accept("once"), ""},
		{"same", accept("same"), ""},
		{"session", accept("session"), ""},
		{"no", accept("no"), "a person said no"},
		{"declined", `{"action":"decline"}`, "a person said no"},
		{"declined with a yes", `{"action":"decline","content":{"approval":"once"}}`, "a person said no"},
		{"dismissed", `{"action":"cancel"}`, "It was not run: the question was dismissed without an answer"},
		{"accepted without an answer", `{"action":"accept"}`, "a person said no"},
		{"another word", accept("yes"), "a person said no"},
		{"another case", accept("Once"), "a person said no"},
		{"another type", `{"action":"accept","content":{"approval":true}}`, "a person said no"},
		{"two answers", `{"action":"accept","content":{"approval":"no","approval":"session"}}`, "a person said no"},
		{"no object", `[]`, "a person said no"},
	} {
		for _, isModern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, modern %t", test.name, isModern), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d, c := newDesk(true), newClient(t, forms, isModern)
					ended := c.begin(t.Context(), d, try{via: both})
					if len(d.Waiting()) != 1 || !IsQuestion(c.last().Params) {
						t.Fatalf("%v wait, and the client was asked %s", d.Waiting(), c.last().Params.Bytes())
					}
					c.answer(test.result)
					ended.check(t, test.want)
					if len(d.Waiting()) > 0 {
						t.Errorf("%v still wait", d.Waiting())
					}
				})
			})
		}
	}
}

func TestWhoIsAsked(t *testing.T) {
	const nobody = ""
	for _, test := range []struct {
		name         string
		via          []string
		capabilities string
		unreachable  bool
		watched      bool
		want         string // who is asked: "client", "terminal", both, or nobody
		refusal      string
	}{
		{"both", both, forms, false, false, "client terminal", ""},
		{"both, watched", both, forms, false, true, "client terminal", ""},
		{"a client without forms", both, "{}", false, false, "terminal", ""},
		{"a client with pages only", both, pages, false, false, "terminal", ""},
		{"a client with both modes", clientOnly, `{"elicitation":{"form":{},"url":{}}}`, false, false, "client", ""},
		{"client only", clientOnly, forms, false, true, "client", ""},
		{"client only, without forms", clientOnly, "{}", false, true, nobody, "this client cannot be asked"},
		{"terminal only", terminalOnly, forms, false, false, "terminal", ""},
		{"terminal first, nobody watches", terminalFirst, forms, false, false, "client terminal", ""},
		{"terminal first, watched", terminalFirst, forms, false, true, "terminal", ""},
		{"page only", pageOnly, forms, false, false, "terminal", ""},
		{"page first, a terminal watches", pageFirst, forms, false, true, "client terminal", ""},
		{"page last, nobody watches", pageLast, forms, false, false, "client terminal", ""},
		{"page last, a terminal watches", pageLast, forms, false, true, "terminal", ""},
		{"unreachable, page only", pageOnly, forms, true, false, nobody, "'mcp-workbench ui' cannot reach this workbench"},
		{"unreachable, page first", pageFirst, "{}", true, false, nobody, "there is no person at this client, and 'mcp-workbench ui' cannot reach"},
		{"unreachable", both, forms, true, false, "client", ""},
		{"unreachable, terminal first", terminalFirst, forms, true, true, "client", ""},
		{"unreachable, terminal only", terminalOnly, forms, true, false, nobody, "'mcp-workbench approve' cannot reach this workbench"},
		{"unreachable, without forms", both, "{}", true, false, nobody, "nobody can be asked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, c := newDesk(!test.unreachable), newClient(t, test.capabilities, false)
				if test.watched {
					_, end := d.Subscribe(config.AskTerminal)
					defer end()
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := c.begin(ctx, d, try{via: test.via})
				var asked []string
				if c.last() != nil {
					asked = append(asked, "client")
				}
				if len(d.Waiting()) > 0 {
					asked = append(asked, "terminal")
				}
				if got := strings.Join(asked, " "); got != test.want {
					t.Errorf("asked %q, want %q", got, test.want)
				}
				if test.want == nobody {
					ended.check(t, test.refusal)
				}
				cancel()
				if ended.isOpen() {
					t.Error("it waits although it was cancelled")
				}
				if n, withdrawn := c.counts(); n != withdrawn || len(d.Waiting()) > 0 {
					t.Errorf("%d of %d questions were withdrawn, and %v wait", withdrawn, n, d.Waiting())
				}
			})
		})
	}
}

// A page that watches counts where the page comes before the client, and one that just looks never does.
func TestWhoWatches(t *testing.T) {
	for _, test := range []struct {
		via     []string
		watcher string
		asked   bool // the client
	}{
		{pageFirst, config.AskPage, false},
		{pageFirst, "", true},
		{terminalFirst, config.AskPage, true},
		{terminalFirst, "", true},
		{pageLast, config.AskPage, true},
		{everywhere, config.AskPage, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, c := newDesk(true), newClient(t, forms, false)
			_, end := d.Subscribe(test.watcher)
			defer end()
			ctx, cancel := context.WithCancel(t.Context())
			ended := c.begin(ctx, d, try{via: test.via})
			if asked, _ := c.counts(); asked > 0 != test.asked {
				t.Errorf("%v, watched by %q: asked %d times", test.via, test.watcher, asked)
			}
			cancel()
			ended.isOpen()
		})
	}
}

func TestWatcherLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := newDesk(true), newClient(t, forms, false)
		_, end := d.Subscribe(config.AskTerminal)
		ended := c.begin(t.Context(), d, try{via: terminalFirst})
		if c.last() != nil {
			t.Error("the client was asked although somebody watches")
		}
		end()
		synctest.Wait()
		c.answer(accept("once"))
		ended.check(t, "")
	})
}

// An answer counts only by a way that the policy names, whoever sends it.
func TestAnswersOfThePage(t *testing.T) {
	for _, test := range []struct {
		name     string
		via      []string
		from     string
		want     []string // other ways; nil: it counts
		progress string
	}{
		{"only the page", pageOnly, config.AskPage, nil, "(mcp-workbench ui)"},
		{"the page beside others", everywhere, config.AskPage, nil, "(mcp-workbench approve "},
		{"a terminal beside others", everywhere, config.AskTerminal, nil, "(mcp-workbench approve "},
		{"a terminal, where only the page counts", pageOnly, config.AskTerminal, pageOnly, "(mcp-workbench ui)"},
		{"the page, where only a terminal counts", both, config.AskPage, terminalOnly, "(mcp-workbench approve "},
		{"a way that is none", everywhere, "client", []string{config.AskTerminal, config.AskPage}, "(mcp-workbench approve "},
		{"no way", everywhere, "", []string{config.AskTerminal, config.AskPage}, "(mcp-workbench approve "},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, c := &witness{}, newClient(t, "{}", false)
				d := New(Options{Reachable: true, Mask: func(text string) string { return text }, Observer: w})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := c.begin(ctx, d, try{via: test.via, meta: `{"progressToken":"p"}`})
				if len(c.progress) == 0 || !strings.Contains(c.progress[0], test.progress) {
					t.Errorf("progress %q, want %q", c.progress, test.progress)
				}
				err := d.Answer(d.Waiting()[0].ID, Session, test.from)
				elsewhere, isElsewhere := errors.AsType[*NotViaError](err)
				switch {
				case test.want == nil:
					if err != nil {
						t.Error(err)
					}
					ended.check(t, "")
					if got := w.lines[len(w.lines)-1]; got != "session by "+test.from {
						t.Errorf("the observer was told %s", got)
					}
				case !isElsewhere || !slices.Equal(elsewhere.Via, test.want) || !ended.isOpen():
					t.Errorf("got %v, want one of %v", err, test.want)
				}
			})
		})
	}
}

func TestAnswerOfATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := newDesk(true), newClient(t, forms, false)
		changes, end := d.Subscribe(config.AskTerminal)
		defer end()
		ended := c.begin(t.Context(), d, try{via: both, arguments: `{"path":"/a","note":"s3cret"}`})
		<-changes
		waiting := d.Waiting()[0]
		if waiting.Caller != "stdio" || waiting.Client != "tester" || waiting.Rule != "rule '*/*/delete', /c.json:3" || waiting.Because != "precious" ||
			waiting.Shown != "path: \"/a\"\nnote: \"[hidden]\"" || waiting.Deadline.Sub(waiting.Since) != 2*time.Minute || len(waiting.ID) != idLength {
			t.Errorf("it waits as %+v", waiting)
		}
		if err := d.Answer("other", Once, config.AskTerminal); !errors.Is(err, ErrNotWaiting) {
			t.Errorf("an unknown ID: %v", err)
		}
		if err := d.Answer(waiting.ID, Once, config.AskTerminal); err != nil {
			t.Error(err)
		}
		if err := d.Answer(waiting.ID, No, config.AskTerminal); !errors.Is(err, ErrNotWaiting) {
			t.Errorf("the second answer: %v", err)
		}
		<-changes
		if len(d.Waiting()) > 0 {
			t.Errorf("%v wait", d.Waiting())
		}
		ended.check(t, "")
		if _, withdrawn := c.counts(); withdrawn != 1 {
			t.Error("the client's question was not withdrawn")
		}
		c.answer(accept("session")) // too late
		no := c.begin(t.Context(), d, try{via: both})
		if err := d.Answer(d.Waiting()[0].ID, No, config.AskTerminal); err != nil {
			t.Error(err)
		}
		no.check(t, "a person said no")
	})
}

// A client that cannot ask anybody after all leaves it to a terminal.
func TestClientIsUnable(t *testing.T) {
	for _, test := range []struct {
		via  []string
		want string
	}{{clientOnly, "this client cannot be asked"}, {both, ""}} {
		synctest.Test(t, func(t *testing.T) {
			d, c := newDesk(true), newClient(t, forms, false)
			ended := c.begin(t.Context(), d, try{via: test.via})
			c.last().Refuse(protocol.CodeInternalError, "nobody is here")
			if test.want == "" {
				if !ended.isOpen() {
					t.Error("it does not wait for a terminal")
				}
				if err := d.Answer(d.Waiting()[0].ID, Once, config.AskTerminal); err != nil {
					t.Error(err)
				}
			}
			ended.check(t, test.want)
			if n, _ := c.counts(); n != 1 {
				t.Errorf("the client was asked %d times", n)
			}
		})
	}
}

func TestWaysToAnswerInTime(t *testing.T) {
	for _, test := range []struct {
		via          []string
		capabilities string
		want         string
	}{
		{both, forms, "answer in this client or with 'mcp-workbench approve', and"},
		{terminalFirst, forms, "answer with 'mcp-workbench approve' or in this client, and"},
		{clientOnly, forms, "answer in this client, and"},
		{pageOnly, forms, "answer on the page of 'mcp-workbench ui', and"},
		{everywhere, "{}", "answer with 'mcp-workbench approve' or on the page of 'mcp-workbench ui', and"},
		{both, "{}", "answer with 'mcp-workbench approve', and"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t, test.capabilities, false)
			refusal := newDesk(true).Ask(t.Context(), c.question(try{via: test.via}))
			if refusal == nil || !strings.Contains(refusal.Hint, test.want) {
				t.Errorf("%v, %s: %+v, want %q", test.via, test.capabilities, refusal, test.want)
			}
		})
	}
}

func TestNobodyInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := newDesk(true), newClient(t, forms, false)
		began := time.Now()
		ended := c.begin(t.Context(), d, try{via: both, meta: `{"progressToken":"p"}`})
		ended <- <-ended
		ended.check(t, "it needs approval by the policy (rule '*/*/delete', /c.json:3): precious. It was not run: nobody approved it within 2m")
		if took := time.Since(began); took != 2*time.Minute {
			t.Errorf("it took %v", took)
		}
		if _, withdrawn := c.counts(); withdrawn != 1 || len(d.Waiting()) > 0 {
			t.Errorf("the question was not withdrawn, or %v wait", d.Waiting())
		}
		if len(c.progress) != 24 {
			t.Errorf("there were %d notifications", len(c.progress))
		}
		again := c.begin(t.Context(), d, try{via: both, meta: `{"progressToken":"p"}`}) // as for a limit, for the same request
		again <- <-again
		last := -2.0
		for _, params := range c.progress {
			var n float64
			if _, err := fmt.Sscanf(params, `{"progressToken":"p","progress":%f,"message":"waiting for approval of 'dev/files/delete'`, &n); err != nil || n <= last || n >= 0 {
				t.Errorf("progress after %f: %s (%v)", last, params, err)
			}
			last = n
		}
		silent := newClient(t, forms, false)
		if refusal := d.Ask(t.Context(), silent.question(try{via: both})); refusal == nil || len(silent.progress) > 0 {
			t.Errorf("without a token: %v, %v", refusal, silent.progress)
		}
	})
}

// A terminal allows what a modern client was asked about: the client has to come back for the result.
func TestModernClientReturns(t *testing.T) {
	for _, test := range []struct{ name, result, want string }{
		{"yes", accept("once"), ""},
		{"dismissed", `{"action":"cancel"}`, ""},
		{"no", `{"action":"decline"}`, "a person said no"},
		{"never", "", "a person allowed it at a terminal, but the client did not come back for it within 2m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, c := newDesk(true), newClient(t, forms, true)
				ended := c.begin(t.Context(), d, try{via: both})
				if err := d.Answer(d.Waiting()[0].ID, Once, config.AskTerminal); err != nil {
					t.Error(err)
				}
				if !ended.isOpen() || len(d.Waiting()) > 0 {
					t.Fatalf("it does not wait for the client, or for a terminal: %v", d.Waiting())
				}
				if test.result == "" {
					ended <- <-ended
				} else {
					c.answer(test.result)
				}
				ended.check(t, test.want)
			})
		})
	}
}

func TestWhatIsRemembered(t *testing.T) {
	const arguments = `{"a":1,"b":[true]}`
	for _, test := range []struct {
		name   string
		answer string
		next   try
		asked  bool
	}{
		{"once", "once", try{arguments: arguments}, true},
		{"the same", "same", try{arguments: arguments}, false},
		{"the same in another form", "same", try{arguments: `{ "b":[true], "\u0061":1.0 }`}, false},
		{"others", "same", try{arguments: `{"a":1,"b":[false]}`}, true},
		{"none", "same", try{}, true},
		{"any", "session", try{arguments: `{"c":1}`}, false},
		{"any, by another definition", "session", try{definition: `{"name":"delete","title":"x"}`, arguments: arguments}, true},
		{"the same, by another definition", "same", try{definition: `{"name":"delete","title":"x"}`, arguments: arguments}, true},
		{"no", "no", try{arguments: arguments}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, c := newDesk(false), newClient(t, forms, false)
				c.begin(t.Context(), d, try{via: both, arguments: arguments})
				c.answer(accept(test.answer))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				test.next.via = both
				if ended := c.begin(ctx, d, test.next); ended.isOpen() != test.asked {
					t.Errorf("asked again: %t", ended.isOpen())
				}
				other := newClient(t, forms, false)
				if ended := other.begin(ctx, d, test.next); !ended.isOpen() {
					t.Error("another client was not asked")
				}
				cancel()
				synctest.Wait()
				c.profile.Close()
				if len(d.memory.sessions) > 0 || d.memory.order.Len() > 0 {
					t.Errorf("kept for a client that is gone: %v", d.memory.sessions)
				}
			})
		})
	}
}

// Approvals are for the policy under which they were given.
func TestPolicyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := newDesk(true), newClient(t, forms, false)
		approved := c.begin(t.Context(), d, try{via: both})
		c.answer(accept("session"))
		approved.check(t, "")
		c.begin(t.Context(), d, try{via: both}).check(t, "")

		d.PolicyChanged()
		meanwhile := c.begin(t.Context(), d, try{via: both})
		if !meanwhile.isOpen() {
			t.Fatal("an approval of the former policy counts")
		}
		d.PolicyChanged()
		c.answer(accept("session"))
		meanwhile.check(t, "")
		again := c.begin(t.Context(), d, try{via: both})
		if !again.isOpen() {
			t.Fatal("an answer about the former policy counts for more than its call")
		}
		c.answer(accept("session"))
		again.check(t, "")
		c.begin(t.Context(), d, try{via: both}).check(t, "")
		c.profile.Close()
		if len(d.memory.sessions) > 0 || d.memory.order.Len() > 0 {
			t.Errorf("kept after the end: %v", d.memory.sessions)
		}
	})
}

// What programs read in different ways is never the same, and neither is what nests too deep to be compared.
func TestOddArgumentsAreNeverTheSame(t *testing.T) {
	for _, arguments := range []string{
		`{"a":1,"a":1}`, `{"a":{"b":1,"\u0062":1}}`, `{"a":"\ud800"}`, `{"\ud800":1}`, `{"a":1e99999999999999999999}`,
		strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1),
	} {
		synctest.Test(t, func(t *testing.T) {
			d, c := newDesk(false), newClient(t, forms, false)
			ended := c.begin(t.Context(), d, try{via: both, arguments: arguments})
			c.answer(accept("same"))
			ended.check(t, "")
			ctx, cancel := context.WithCancel(t.Context())
			if ended := c.begin(ctx, d, try{via: both, arguments: arguments}); !ended.isOpen() {
				t.Errorf("%s counts as the same", arguments)
			}
			cancel()
			synctest.Wait()
		})
	}
}

// An answer for the session is for the calls that wait already, too.
func TestAnswerForSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c, other := newDesk(true), newClient(t, forms, false), newClient(t, forms, false)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := c.begin(ctx, d, try{via: both, arguments: `{"n":1}`}), c.begin(ctx, d, try{via: both, arguments: `{"n":2}`})
		theirs := other.begin(ctx, d, try{via: both, arguments: `{"n":2}`})
		c.answer(accept("session"))
		first.check(t, "")
		second.check(t, "")
		if _, withdrawn := c.counts(); withdrawn != 1 || !theirs.isOpen() {
			t.Errorf("%d questions were withdrawn, and that of the other client is open: %t", withdrawn, theirs.isOpen())
		}
		cancel()
		synctest.Wait()
	})
}

func TestTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := newDesk(true), newClient(t, forms, false)
		ctx, cancel := context.WithCancel(t.Context())
		var all []outcome
		for i := range maxWaiting {
			all = append(all, c.begin(ctx, d, try{via: both, caller: fmt.Sprint("token:", i/maxWaitingOfCaller)}))
			if i == maxWaitingOfCaller-1 {
				c.begin(ctx, d, try{via: both, caller: "token:0"}).check(t, "too many calls wait for approval already")
			}
		}
		c.begin(ctx, d, try{via: clientOnly}).check(t, "too many calls wait for approval already")
		ids := make(map[string]bool)
		for _, w := range d.Waiting() {
			ids[w.ID] = true
		}
		if len(ids) != maxWaiting {
			t.Errorf("there are %d IDs", len(ids))
		}
		d.Close()
		for _, ended := range all {
			ended.check(t, "the workbench ends")
		}
		c.begin(ctx, d, try{via: both}).check(t, "the workbench ends")
		cancel()
	})
}

func TestMemoryIsBounded(t *testing.T) {
	m := newMemory()
	numbered := func(i int) subject.Subject {
		return subject.New(toolbox.Ref{Name: "t"}, wire.Raw([]byte("{}")), wire.Raw(fmt.Appendf(nil, `{"n":%d}`, i)))
	}
	var all []*client
	for range 2 + maxOfAll/maxOfSession {
		c := newClient(t, forms, false)
		all = append(all, c)
		for i := range maxOfSession + 1 {
			m.add(c.profile, numbered(i))
		}
		if m.allows(c.profile, numbered(0)) || !m.allows(c.profile, numbered(1)) || !m.allows(c.profile, numbered(maxOfSession)) {
			t.Fatal("not the oldest was forgotten")
		}
	}
	if m.order.Len() != maxOfAll || m.allows(all[0].profile, numbered(maxOfSession)) || !m.allows(all[2].profile, numbered(1)) {
		t.Errorf("%d are remembered", m.order.Len())
	}
	for _, c := range all {
		c.profile.Close()
	}
	if m.order.Len() > 0 || len(m.sessions) > 0 {
		t.Errorf("%d are remembered for clients that are gone", m.order.Len())
	}
	m.add(all[0].profile, numbered(1))
	m.add(nil, numbered(1))
	if len(m.sessions) > 0 || m.allows(nil, numbered(1)) {
		t.Error("something is remembered for a client that is gone")
	}
}

func TestAnswerWords(t *testing.T) {
	for _, answer := range []Answer{No, Once, Same, Session} {
		if got, ok := ParseAnswer(answer.String()); !ok || got != answer {
			t.Errorf("%s is read as %s", answer, got)
		}
	}
	if got, ok := ParseAnswer("yes"); ok || got != No {
		t.Errorf("'yes' is read as %s", got)
	}
	for i, title := range Titles {
		got := read(wire.Message{Result: wire.Raw(Chosen(i))}, false)
		if want := []Answer{Once, No}[i]; got.answer != want {
			t.Errorf("%s is read as %s", title, got.answer)
		}
	}
}

// witness is an observer that keeps what it is told.
type witness struct {
	mu    sync.Mutex
	lines []string
}

func (w *witness) add(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

func (w *witness) Asked(about *call.Call, waiting *Waiting) {
	w.add("asked " + about.Name + " " + waiting.Rule)
}

func (w *witness) Answered(_ *call.Call, _ *Waiting, answer, by string) { w.add(answer + " by " + by) }

func TestObserverIsToldWhoAnswered(t *testing.T) {
	const asked = "asked delete rule '*/*/delete', /c.json:3"
	for _, test := range []struct {
		name string
		via  []string
		act  func(d *Desk, c *client)
		want []string
	}{
		{"client", both, func(_ *Desk, c *client) { c.answer(accept("same")) }, []string{asked, "same by client"}},
		{"client says no", both, func(_ *Desk, c *client) { c.answer(accept("no")) }, []string{asked, "no by client"}},
		{"terminal", both, func(d *Desk, _ *client) { _ = d.Answer(d.Waiting()[0].ID, Session, config.AskTerminal) }, []string{asked, "session by terminal"}},
		{"terminal says no", both, func(d *Desk, _ *client) { _ = d.Answer(d.Waiting()[0].ID, No, config.AskTerminal) }, []string{asked, "no by terminal"}},
		{"nobody", both, func(*Desk, *client) { time.Sleep(3 * time.Minute) }, []string{asked, "unanswered by "}},
		{"the end", both, func(d *Desk, _ *client) { d.Close() }, []string{asked, "no by stop"}},
		{"an earlier answer", both, func(d *Desk, c *client) {
			c.answer(accept("session"))
			synctest.Wait()
			c.begin(context.Background(), d, try{via: both})
		}, []string{asked, "session by client", "once by earlier answer"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen witness
				d, c := New(Options{Reachable: true, Mask: func(text string) string { return text }, Observer: &seen}), newClient(t, forms, false)
				ended := c.begin(t.Context(), d, try{via: test.via})
				test.act(d, c)
				if ended.isOpen() || !slices.Equal(seen.lines, test.want) {
					t.Errorf("told was %q, want %q", seen.lines, test.want)
				}
			})
		})
	}
}

// To who comes over HTTP with a token, neither the question nor the refusal tells where the file of the rule is; who answers at
// the workbench sees it.
func TestTextsOverHTTP(t *testing.T) {
	for _, caller := range []string{config.CallerPerson + "ada", config.CallerToken + "ci", config.CallerHTTP, config.CallerStdio} {
		for _, via := range [][]string{clientOnly, terminalOnly} {
			asker := newClient(t, forms, false)
			question := asker.question(try{via: via, caller: caller})
			question.Reason.File = "/secret-place/c.json"
			a := New(Options{Mask: func(text string) string { return text }}).newAsking(question)
			refused := a.cannotAsk()
			isOver := config.MayBeElsewhere(caller)
			for _, text := range []string{a.message(), refused.Message} {
				if strings.Contains(text, "secret-place") == isOver || !strings.Contains(text, "c.json:3") {
					t.Errorf("%s: %s", caller, text)
				}
			}
			if strings.Contains(refused.Hint, "those who run the workbench") != isOver || !strings.Contains(refused.Rule, "secret-place") || !strings.Contains(a.entry.Rule, "secret-place") {
				t.Errorf("%s: %+v, %s", caller, refused, a.entry.Rule)
			}
		}
	}
}

package elicitation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newDesk(t *testing.T) *Desk {
	d := New(Options{Reachable: true, Mask: func(text string) string { return strings.ReplaceAll(text, "s3cret", "[hidden]") }},
		config.Elicitation{Page: true, Timeout: 5 * time.Minute})
	t.Cleanup(d.Close)
	return d
}

func newClient(t *testing.T) *fleet.ClientProfile {
	c := fleet.NewClientProfile(fleet.ProfileOptions{AtPage: true, Name: "tester", Caller: "stdio"})
	t.Cleanup(c.Close)
	return c
}

// asked is a question, and what its server got.
type asked struct {
	*downstream.Question

	mu      sync.Mutex
	got     []string
	reports []string
}

func ask(d *Desk, c *fleet.ClientProfile, params string, of any) *asked {
	a := &asked{}
	a.Question = downstream.NewQuestion(protocol.MethodElicitation, wire.Raw([]byte(params)), func(response wire.Message, _ bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !response.Error.IsAbsent() {
			message, _ := response.Error.Member("message").Text()
			a.got = append(a.got, "error: "+message)
			return
		}
		a.got = append(a.got, string(response.Result.Bytes()))
	})
	a.About = toolbox.Ref{Toolbox: "dev", Server: "s", Name: "t"}
	a.Report = func(text string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.reports = append(a.reports, text)
	}
	d.Ask(a.Question, c, of)
	synctest.Wait()
	return a
}

// check compares what the server got.
func (a *asked) check(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if got := strings.Join(a.got, ","); got != want {
		t.Errorf("the server got %q, want %q", got, want)
	}
}

const form = `{"message":"Who are you? s3cret\u200b","requestedSchema":{"type":"object","properties":{
	"name":{"type":"string","minLength":2,"maxLength":5,"title":"Name"},"age":{"type":"integer","minimum":1,"maximum":200},"size":{"type":"number"},
	"mail":{"type":"string","format":"email"},"page":{"type":"string","format":"uri"},"day":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},
	"sure":{"type":"boolean"},"color":{"type":"string","enum":["red","blue"]},"level":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},
	"tags":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]},"minItems":1,"maxItems":2},"code":{"type":"string","pattern":"^[0-9]+$"}},
	"required":["name"]}}`

func TestAnswers(t *testing.T) {
	for _, test := range []struct{ result, want, problem string }{
		{`{"action":"accept","content":{"name":"Ann"}}`, `{"action":"accept","content":{"name":"Ann"}}`, ""},
		{
			`{"action":"accept","content":{"name":"Ann","age":42.0,"size":1e3,"sure":false,"color":"red","level":"b","tags":["x","y"],"code":"12"},"more":1}`,
			`{"action":"accept","content":{"age":42.0,"code":"12","color":"red","level":"b","name":"Ann","size":1e3,"sure":false,"tags":["x","y"]}}`, "",
		},
		{`{"action":"decline","content":{"name":"Ann"}}`, `{"action":"decline"}`, ""},
		{`{"action":"cancel"}`, `{"action":"cancel"}`, ""},
		{`{"action":"accept","content":{"name":"A"}}`, "", "'name' must have at least 2 characters"},
		{`{"action":"accept","content":{"name":"éééééé"}}`, "", "'name' must have at most 5 characters"},
		{`{"action":"accept","content":{"name":5}}`, "", "'name' must be a text"},
		{`{"action":"accept","content":{"name":null}}`, "", "'name' must be a text"},
		{`{"action":"accept","content":{}}`, "", "'name' is required"},
		{`{"action":"accept"}`, "", "'name' is required"},
		{`{"action":"accept","content":{"name":"Ann","age":1.5}}`, "", "'age' must be a whole number"},
		{`{"action":"accept","content":{"name":"Ann","age":0}}`, "", "'age' must be at least 1"},
		{`{"action":"accept","content":{"name":"Ann","age":201}}`, "", "'age' must be at most 200"},
		{`{"action":"accept","content":{"name":"Ann","size":"5"}}`, "", "'size' must be a number"},
		{`{"action":"accept","content":{"name":"Ann","size":1e999}}`, "", "'size' must be a number"},
		{`{"action":"accept","content":{"name":"Ann","mail":"x"}}`, "", "'mail' must be an e-mail address"},
		{`{"action":"accept","content":{"name":"Ann","mail":"Ann <a@example.com>"}}`, "", "'mail' must be an e-mail address"},
		{`{"action":"accept","content":{"name":"Ann","page":"example"}}`, "", "'page' must be an address with a scheme"},
		{`{"action":"accept","content":{"name":"Ann","day":"2026-13-01"}}`, "", "'day' must be a date"},
		{`{"action":"accept","content":{"name":"Ann","at":"2026-12-01"}}`, "", "'at' must be a time"},
		{`{"action":"accept","content":{"name":"Ann","sure":"yes"}}`, "", "'sure' must be true or false"},
		{`{"action":"accept","content":{"name":"Ann","color":"green"}}`, "", "'color' must be one of the values"},
		{`{"action":"accept","content":{"name":"Ann","level":"c"}}`, "", "'level' must be one of the values"},
		{`{"action":"accept","content":{"name":"Ann","tags":["z"]}}`, "", "'tags' must have only values that are offered"},
		{`{"action":"accept","content":{"name":"Ann","tags":[]}}`, "", "'tags' must have at least 1 values"},
		{`{"action":"accept","content":{"name":"Ann","tags":["x","y","x"]}}`, "", "'tags' must have at most 2 values"},
		{`{"action":"accept","content":{"name":"Ann","code":"abc"}}`, "", "'code' does not have the form"},
		{`{"action":"accept","content":{"name":"Ann","other":1}}`, "", "'other' is not a field"},
		{`{"action":"yes"}`, "", "'action' must be"},
		{`[]`, "", "The answer is not an object"},
		{`{"action":"accept","content":{"name":"` + strings.Repeat("x", maxAnswer) + `"}}`, "", "The answer is longer"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			defer d.Close()
			a := ask(d, newClient(t), form, nil)
			waiting := d.Waiting()[0]
			err := d.Answer(waiting.ID, []byte(test.result))
			wrong, isWrong := errors.AsType[*WrongAnswerError](err)
			switch {
			case test.problem == "" && err != nil:
				t.Errorf("%.80s: %v", test.result, err)
			case test.problem != "" && (!isWrong || !strings.Contains(wrong.Problem, test.problem)):
				t.Errorf("%.80s: %v, want %s", test.result, err, test.problem)
			case test.problem != "" && !d.Has(waiting.ID):
				t.Errorf("%.80s: it does not wait any more", test.result)
			}
			if test.want != "" {
				a.check(t, test.want)
				if err := d.Answer(waiting.ID, []byte(test.result)); !errors.Is(err, ErrNotWaiting) || d.Has(waiting.ID) {
					t.Errorf("a second answer: %v", err)
				}
			}
		})
	}
}

func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes atomic.Int32
		d := New(Options{Reachable: true, Mask: func(text string) string { return strings.ReplaceAll(text, "s3cret", "[hidden]") }, Changed: func() { changes.Add(1) }},
			config.Elicitation{Page: true, Timeout: 5 * time.Minute})
		defer d.Close()
		a := ask(d, newClient(t), form, nil)
		waiting := d.Waiting()[0]
		if waiting.Message != "Who are you? [hidden]" || waiting.Caller != "stdio" || waiting.Client != "tester" || waiting.URL != "" || len(waiting.ID) != idLength ||
			waiting.About.Name != "t" || waiting.Deadline.Sub(waiting.Since) != 5*time.Minute || !strings.Contains(string(waiting.Schema), `"minLength":2`) {
			t.Errorf("it waits as %+v", waiting)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		a.mu.Lock()
		if len(a.reports) < 12 || a.reports[0] != "waiting for the answer to a question of server 'dev/s' (mcp-workbench ui)" {
			t.Errorf("the client was told %q", a.reports)
		}
		a.mu.Unlock()
		<-time.After(4 * time.Minute)
		a.check(t, "error: Nobody answered the question within 5m0s. A person can answer with 'mcp-workbench ui'")
		if changes.Load() != 2 || len(d.Waiting()) > 0 {
			t.Errorf("%d changes, and %v wait", changes.Load(), d.Waiting())
		}
	})
}

// A question disappears with its request, its client, its server and the workbench.
func TestEnds(t *testing.T) {
	request := new(int)
	for _, test := range []struct {
		name, want string
		end        func(d *Desk, c *fleet.ClientProfile, a *asked)
	}{
		{"request", "error: The call has ended", func(d *Desk, _ *fleet.ClientProfile, _ *asked) { d.Ended(request) }},
		{"client", "error: The client is gone", func(d *Desk, c *fleet.ClientProfile, _ *asked) { d.ClientLeft(c) }},
		{"server", "", func(_ *Desk, _ *fleet.ClientProfile, a *asked) { a.Withdraw() }},
		{"workbench", "error: The workbench ends", func(d *Desk, _ *fleet.ClientProfile, _ *asked) { d.Close() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, c := newDesk(t), newClient(t)
				defer d.Close()
				other := ask(d, newClient(t), form, new(int))
				a := ask(d, c, form, request)
				test.end(d, c, a)
				a.check(t, test.want)
				if test.name == "workbench" {
					late := ask(d, c, form, request)
					late.check(t, "error: The workbench ends")
				} else if len(d.Waiting()) != 1 || len(other.got) > 0 {
					t.Errorf("%v wait, and the other one got %v", d.Waiting(), other.got)
				}
			})
		})
	}
}

func TestWhatIsNotShown(t *testing.T) {
	many := ""
	for i := range maxFields + 1 {
		many += fmt.Sprintf(`,"f%d":{"type":"string"}`, i)
	}
	for _, test := range []struct{ params, want string }{
		{`{"message":"m"}`, "error: The question has no form, and no address to open"},
		{`{"message":"m","requestedSchema":[]}`, "error: The question has no form, and no address to open"},
		{`{"message":"m","requestedSchema":{"properties":{"a":1}}}`, "error: The form has a field without a schema"},
		{`{"message":"m","requestedSchema":{"properties":{"a":{"type":"object"}}}}`, "error: The form has a field that is not a text, a number, yes or no, or a choice"},
		{`{"message":"m","requestedSchema":{"properties":{` + many[1:] + `}}}`, "error: The form has more than 100 fields"},
		{`{"message":"` + strings.Repeat("m", maxQuestion) + `"}`, "error: The question is longer than 64 KiB, and was not shown to anybody"},
		{`{"mode":"url","message":"m","url":"javascript:alert(1)"}`, "error: The address to open is not one of a page on the web (http or https)"},
		{`{"mode":"url","message":"m","url":"https://good.example@evil.example/"}`, "error: The address to open is not one of a page on the web (http or https)"},
		{`{"mode":"url","message":"m","url":"https://e\u202eexample.com"}`, "error: The address to open is not one of a page on the web (http or https)"},
		{`{"mode":"url","message":"m"}`, "error: The address to open is not one of a page on the web (http or https)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			defer d.Close()
			ask(d, newClient(t), test.params, nil).check(t, test.want)
		})
	}
}

func TestURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		defer d.Close()
		a := ask(d, newClient(t), `{"mode":"url","message":"m","url":"https://example.com/x?y=1","elicitationId":"7"}`, nil)
		one := d.Waiting()[0]
		if one.URL != "https://example.com/x?y=1" || one.Schema != nil {
			t.Errorf("it waits as %+v", one)
		}
		if err := d.Answer(one.ID, []byte(`{"action":"accept","content":{"a":1}}`)); err != nil {
			t.Error(err)
		}
		a.check(t, `{"action":"accept"}`)
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		defer d.Close()
		const full = "error: Too many questions wait for a person already: answer them with 'mcp-workbench ui'"
		for n := range maxWaiting / maxWaitingOfClient {
			c := newClient(t)
			for range maxWaitingOfClient {
				ask(d, c, form, nil).check(t, "")
			}
			if n == 0 {
				ask(d, c, form, nil).check(t, full)
			}
		}
		ask(d, newClient(t), form, nil).check(t, full)
	})
}

func TestTakesQuestions(t *testing.T) {
	for _, test := range []struct{ isReachable, page, want bool }{{true, true, true}, {false, true, false}, {true, false, false}} {
		d := New(Options{Reachable: test.isReachable}, config.Elicitation{})
		d.Configure(config.Elicitation{Page: test.page})
		if got := d.TakesQuestions(); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
		d.Close()
	}
	if (*Desk)(nil).TakesQuestions() {
		t.Error("no desk takes questions")
	}
}

// Workbenches send the list of questions as a whole after each change, and the page takes lines of 8 MiB.
func TestLargeQuestionsDoNotFillTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		defer d.Close()
		large := `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"` + strings.Repeat("<", 60<<10) + `"}}}}`
		for range 20 {
			ask(d, newClient(t), large, nil)
		}
		list, err := json.Marshal(d.Waiting()) // which makes 6 bytes of each <
		if err != nil || len(list) > 4<<20 || len(d.Waiting()) < 5 {
			t.Error(len(d.Waiting()), len(list), err)
		}
	})
}

func TestLargePatternsAreLeftToTheServer(t *testing.T) {
	for _, pattern := range []string{strings.Repeat("[a-z]?", 10) + "{1000}x", strings.Repeat("[a-z]?", 10_000)} {
		field := wire.Raw([]byte(`{"type":"string","pattern":"^(` + pattern + `)$"}`))
		if problem := checkText(field, strings.Repeat("a", 200<<10)+"!"); problem != "" {
			t.Error(problem)
		}
	}
	if checkText(wire.Raw([]byte(`{"type":"string","pattern":"^[a-z]{2,63}$"}`)), "A") == "" {
		t.Error("a pattern is not checked")
	}
}

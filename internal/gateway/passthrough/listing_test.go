package passthrough

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestListsAreGathered(t *testing.T) {
	a := &fake{name: "t/a", capabilities: `{"resources":{},"prompts":{},"tasks":{}}`, answers: map[string]string{
		protocol.MethodResourcesList:                        `{"resources":[ {"n":1.0,"uri":"x:1"} ,{"uri":"x:\u0032"},{"uri":"x:3"},{"uri":"x:3","again":true},{"nameless":1}]}`,
		protocol.MethodTemplatesList:                        `{"resourceTemplates":[{"uriTemplate":"x:{id}"}]}`,
		protocol.MethodPromptsList:                          `{"prompts":[{"name":"p"},{"name":"q"}]}`,
		protocol.MethodTasksList:                            `{"tasks":[{"taskId":"1"}]}`,
		protocol.MethodTasksList + ` {"_meta":{"trace":1}}`: `{"tasks":[]}`,
	}}
	broken := &fake{name: "t/broken", capabilities: a.capabilities, answers: map[string]string{
		protocol.MethodResourcesList: `{"code":-32603,"message":"oh"}`, protocol.MethodPromptsList: `{"prompts":{}}`, protocol.MethodTemplatesList: "status 500", protocol.MethodTasksList: `{"code":-32603,"message":"oh"}`,
	}}
	b2 := &fake{name: "u/a", capabilities: a.capabilities, answers: map[string]string{
		protocol.MethodResourcesList: `{"resources":[{"uri":"x:2", "title":"t"},{"uri":"x:4"},{"uri":"workbench://t/a/x%3A4"}]}`,
		protocol.MethodTemplatesList: `{"resourceTemplates":[{"uriTemplate":"x:{id}"},{"uriTemplate":"y:{id}"}]}`,
		protocol.MethodPromptsList:   `{"prompts":[{"name":"a__p"},{"title":"P","name":"p"}]}`,
		protocol.MethodTasksList:     `{"tasks":[{"taskId":"2"}]}`,
	}}
	for range 3 { // the names stay
		b := newBench(t, config.Direct, a, broken, b2)
		for range 3 {
			b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"n":1.0,"uri":"x:1"},{"uri":"x:\u0032"},{"uri":"x:3"},{"uri":"x:3","again":true},{"nameless":1},`+
				`{"uri":"workbench://u/a/x%3A2", "title":"t"},{"uri":"x:4"},{"uri":"workbench://u/a/workbench%3A%2F%2Ft%2Fa%2Fx%253A4"}]}`)
			b.want(t, protocol.MethodTemplatesList, `{}`, `{"resourceTemplates":[{"uriTemplate":"x:{id}"},{"uriTemplate":"workbench://u/a//x:{id}"},{"uriTemplate":"y:{id}"}]}`)
			b.want(t, protocol.MethodPromptsList, `{}`, `{"prompts":[{"name":"p"},{"name":"q"},{"name":"a__p"},{"title":"P","name":"u__a__p"}]}`)
			b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[{"taskId":"1"},{"taskId":"2"}]}`)
			// What is not for one hop goes along, but nobody can report the progress of several.
			b.want(t, protocol.MethodTasksList, `{"_meta":{"progressToken":1,"trace":1}}`, `{"tasks":[{"taskId":"2"}]}`)
		}
		if log := b.log.String(); strings.Count(log, "left out of a list") != 6 {
			t.Errorf("logged: %s", log)
		}
		if got := b.ask(t, protocol.MethodResourcesList, `{"cursor":"p2"}`); !strings.Contains(got, "-32602") || !strings.Contains(got, "unknown cursor") {
			t.Errorf("got %s", got)
		}
	}
}

// The server that is first in the file comes last: what was given to another stays there.
func TestNamesStayWithTheFirstComer(t *testing.T) {
	a := &fake{name: "t/a", capabilities: "", answers: map[string]string{protocol.MethodResourcesList: `{"resources":[{"uri":"x:1"}]}`}}
	other := map[string]string{protocol.MethodResourcesList: `{"resources":[{"uri":"x:1"}]}`}
	b := newBench(t, "", a, &fake{name: "t/b", capabilities: hasResources, answers: other}, &fake{name: "t/c", capabilities: hasResources, answers: other})
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"uri":"x:1"},{"uri":"workbench://t/c/x%3A1"}]}`)
	a.capabilities = hasResources
	b.start(t, a)
	b.want(t, protocol.MethodResourcesList, `{}`, `{"resources":[{"uri":"workbench://t/a/x%3A1"},{"uri":"x:1"},{"uri":"workbench://t/c/x%3A1"}]}`)
}

func TestListsAreLimited(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"taskId":"1"},`, maxEntries-1), ",")
	large := strings.Repeat("x", maxBytes/2)
	for _, test := range []struct {
		name    string
		answers map[string]string
		entries int // of both servers; the other has one
		log     string
	}{
		{"the same page again and again", map[string]string{protocol.MethodTasksList: `{"tasks":[{"taskId":"1"}],"nextCursor":"1"}`}, 3, "does not come to an end after 2 pages"},
		{"an empty cursor", map[string]string{protocol.MethodTasksList: `{"tasks":[{"taskId":"1"}],"nextCursor":""}`}, 2, ""},
		{"too many entries", map[string]string{protocol.MethodTasksList: `{"tasks":[` + many + `],"nextCursor":"1"}`}, maxEntries, "it is too long"},
		{"too long entries", map[string]string{protocol.MethodTasksList: `{"tasks":[{"taskId":"1"},{"t":"` + large + `"},{"t":"` + large + `"}]}`}, 3, "it is too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, "", &fake{name: "t/b", capabilities: hasTasks, answers: map[string]string{protocol.MethodTasksList: `{"tasks":[{"taskId":"2"}]}`}},
				&fake{name: "t/a", capabilities: hasTasks, answers: test.answers})
			got := b.ask(t, protocol.MethodTasksList, `{}`)
			if n := strings.Count(got, `"taskId"`) + strings.Count(got, `"t"`); n != test.entries && n != test.entries-1 { // one of the servers is too late
				t.Errorf("%d entries, want %d", n, test.entries)
			}
			if log := b.log.String(); (log == "") != (test.log == "") || !strings.Contains(log, test.log) {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// Lists of many servers are one answer, which has to be a message.
func TestAnswersAreLimited(t *testing.T) {
	large := strings.Repeat("x", maxBytes/10)
	var fakes []*fake
	for i := range 12 {
		fakes = append(fakes, &fake{name: fmt.Sprintf("t/%d", i), capabilities: hasPrompts, answers: map[string]string{
			protocol.MethodPromptsList: fmt.Sprintf(`{"prompts":[{"name":"p%d","description":"%s"}]}`, i, large),
		}})
	}
	b := newBench(t, "", fakes...)
	got := b.ask(t, protocol.MethodPromptsList, `{}`)
	if n := strings.Count(got, `"name"`); n != 9 || !strings.HasSuffix(got, `"}]}`) || !strings.Contains(b.log.String(), "it is too long") {
		t.Errorf("%d entries, logged: %s", n, b.log)
	}
}

func TestEndlessPagesEnd(t *testing.T) {
	answers := make(map[string]string)
	for i := range maxPages + 5 {
		key := protocol.MethodTasksList
		if i > 0 {
			key += fmt.Sprintf(` {"cursor":"%d"}`, i)
		}
		answers[key] = fmt.Sprintf(`{"tasks":[{"taskId":"%d"}],"nextCursor":"%d"}`, i, i+1)
	}
	b := newBench(t, "", &fake{name: "t/a", capabilities: hasTasks, answers: answers}, &fake{name: "t/b", capabilities: hasTasks})
	if n := strings.Count(b.ask(t, protocol.MethodTasksList, `{}`), `"taskId"`); n != maxPages {
		t.Errorf("%d entries", n)
	}
}

func TestPagesThatDoNotComeInTime(t *testing.T) {
	b := newBench(t, "", &fake{name: "t/a", capabilities: hasTasks, answers: map[string]string{protocol.MethodTasksList: "hang"}},
		&fake{name: "t/b", capabilities: hasTasks, answers: map[string]string{
			protocol.MethodTasksList: `{"tasks":[{"taskId":"1"}],"nextCursor":"1"}`, protocol.MethodTasksList + ` {"cursor":"1"}`: "hang",
		}})
	r := b.newRouting(Request{Method: protocol.MethodTasksList, Session: b.client, Canceller: new(call.Canceller)})
	for server, want := range map[string]string{"t/a": "", "t/b": "page 2 did not come in time"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-b.asked
			cancel()
		}()
		entries, cutOff, err := r.requestPages(ctx, b.server(server), tasks, &limits{})
		if cutOff != want || (err == nil) != (want != "") || (len(entries) == 1) != (want != "") {
			t.Errorf("%s: %d entries, cut off: %q, error %v", server, len(entries), cutOff, err)
		}
	}
}

// silence is a stage that never decides about a request, as a server that never answers.
type silence struct{}

func (silence) Admit(*call.Call) call.Verdict {
	return call.Verdict{Wait: func(ctx context.Context) *call.Failure { <-ctx.Done(); return nil }}
}

func TestTimeOfAListIsLimited(t *testing.T) {
	b := newBench(t, "", &fake{name: "t/a", capabilities: hasTasks}, &fake{name: "t/b", capabilities: hasTasks})
	b.Router = call.NewRouter(call.Stages{Admit: []call.Admitter{silence{}}})
	synctest.Test(t, func(t *testing.T) { // nothing is sent, so that only the time of the bubble counts
		began := time.Now()
		b.want(t, protocol.MethodTasksList, `{}`, `{"tasks":[]}`)
		if took := time.Since(began); took != listTime {
			t.Errorf("it took %v", took)
		}
	})
	if log := b.log.String(); strings.Count(log, "a server is left out of a list") != 2 {
		t.Errorf("logged: %s", log)
	}
}

func TestURINamesAreLimited(t *testing.T) {
	a := &fake{name: "t/a", capabilities: hasResources, answers: map[string]string{
		protocol.MethodResourcesList: `{"resources":[{"uri":"x:1"}]}`, protocol.MethodResourcesRead: `{}`,
	}}
	b := newBench(t, "", a, &fake{name: "t/b", capabilities: hasResources})
	b.ask(t, protocol.MethodResourcesList, `{}`)
	m := b.client.memory
	for i := range maxURINames {
		m.uris.assign(origin{"t", "a"}, fmt.Sprint(i))
	}
	b.ask(t, protocol.MethodResourcesList, `{}`)
	if n := len(m.uris.owners); n != 1 {
		t.Errorf("%d URIs are remembered", n)
	}
	b.want(t, protocol.MethodResourcesRead, `{"uri":"x:1"}`, `{}`, `a resources/read {"uri":"x:1"}`)
}

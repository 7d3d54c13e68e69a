package diff

import (
	"slices"
	"testing"
	"time"
)

// This file runs one session in all pairings of the two eras.

// inBothEras are the capabilities of the client that do not depend on its era.
const inBothEras = `{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},"experimental":{"x/y":{"big":9007199254740993}}}`

// legacyOnly are steps that a client of the modern era cannot make, or that a server of it
// cannot answer.
var legacyOnly = byStep(map[string][]string{
	"a session begins with the first request":                     {"initialized"},
	"nobody is asked whether it is there":                         {"ping", "ping at the end", "a ping of the server"},
	"the level goes with each request":                            {"set the level"},
	"a client notifies of nothing but that it cancels":            {"the client's roots changed", "a notification of the client that nobody knows", "what the server heard"},
	"questions are results: they cannot be taken back or refused": {"a question that is taken back", "sampling is refused"},
	"nor tell progress":                                           {"a question with progress"},
	"nor be anything else than these three":                       {"a request that nobody knows"},
	"pages have no id that could be told":                         {"elicitation is complete"},
	"an error does not ask for pages":                             {"an error that asks for a URL"},
	"tasks are the server's choice, and none of the client's": {
		"a call as a task", "a task's status", "a task's result", "a task is cancelled", "a task that is not there", "list tasks",
		"sampling as a task", "a form as a task", "the client tells of its task", "the status of the client's task", "the result of the client's task",
		"the list of the client's tasks", "the client's task is cancelled",
	},
})

// modernForm are steps that are made in another way in the modern era. "unsubscribe" ends a
// request, and is answered by nothing.
var modernForm = map[string]step{
	"initialize": {method: "server/discover"},
	"subscribe": {
		method: "subscriptions/listen", listens: true, notes: 2,
		params: `{"notifications":{"resourceSubscriptions":["file:\/\/\/a%20b"]}}`,
	},
	"unsubscribe": {ends: "subscribe"},
	"log messages": {
		method: "tools/call", notes: 2,
		params: `{"name":"log","arguments":{},"_meta":{"io.modelcontextprotocol/logLevel":"debug"}}`,
	},
}

// listenStep has a modern client hear of changes from the beginning.
var listenStep = step{
	name: "listen", method: "subscriptions/listen", listens: true, notes: 1,
	params: `{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}}`,
}

// cancelledStep shows that the server knows of what was cancelled, in both eras.
var cancelledStep = call("what was cancelled", "cancelled", `{}`)

// scriptOf is the session of a client of an era.
func scriptOf(client era) (steps []step) {
	for _, part := range [][]step{hello(newest, inBothEras), lists, calls, {cancelledStep}, resources, prompts, questions, notifications, tasks, others} {
		steps = append(steps, part...)
	}
	if client == legacyEra {
		return steps
	}
	var written []step
	for _, s := range steps {
		if legacyOnly[s.name] != "" {
			continue
		}
		if form, ok := modernForm[s.name]; ok {
			form.name = s.name
			s = form
		}
		written = append(written, s)
		if s.name == "initialize" {
			written = append(written, listenStep)
		}
	}
	return written
}

// crossed are steps that differ between the eras for a reason that no field can tell, by the era
// of the client.
var crossed = map[era]map[string]string{
	legacyEra: byStep(map[string][]string{
		"the end of a request has no answer in the modern era":                     {"unsubscribe"},
		"our own token stands behind the other members of _meta, not in its place": {"progress and members of _meta"},
	}),
	modernEra: byStep(map[string][]string{
		"the end of a request has no answer in the modern era":                   {"unsubscribe"},
		"what belongs to no request is told to those only who can listen for it": {"a notification that nobody knows"},
		"a modern request always has params":                                     {"a request without params"},
	}),
}

// notesOnly are steps whose answers differ in the same way, but whose notifications may not.
var notesOnly = []string{"subscribe"}

// way is how a client reaches the workbench, and the workbench the fake.
type way struct {
	name        string
	above, http bool // HTTP, and not stdio
}

var ways = []way{
	{"stdio above, stdio below", false, false},
	{"stdio above, HTTP below", false, true},
	{"HTTP above, stdio below", true, false},
	{"HTTP above, HTTP below", true, true},
}

// dial begins a workbench with a fake of an era, and connects a client of an era to it.
func (w way) dial(t *testing.T, client, server era) link {
	t.Helper()
	if w.http {
		return w.dialTo(t, client, map[string]any{"url": serveHTTP(t, server)})
	}
	return w.dialTo(t, client, localFake(server))
}

// dialTo is dial for any server, as the configuration writes it.
func (w way) dialTo(t *testing.T, client era, server map[string]any) link {
	t.Helper()
	if !w.above {
		return dialStdio(t, workbenchCommand(t, server))
	}
	cmd := workbenchCommand(t, server, serve...)
	if client == legacyEra {
		return dialWorkbench(t, cmd)
	}
	url, end := startWorkbench(t, cmd)
	return dialModern(t, url, end)
}

// sessionOf runs the session of a client of an era.
func sessionOf(t *testing.T, of era, l link, capabilities string, steps []step) map[string]exchange {
	t.Helper()
	return sessionWith(t, of, oddIDs, l, capabilities, steps)
}

func sessionWith(t *testing.T, of era, ids []string, l link, capabilities string, steps []step) map[string]exchange {
	t.Helper()
	c := &client{t: t, link: l, ids: ids}
	if of == modernEra {
		c.hop = hopOf(capabilities)
	}
	return c.runAll(steps, func(step) time.Duration { return patience })
}

// Every pairing of a client and a server is compared with that server alone, in its own era. One
// that speaks both is spoken to in that of the client, where nothing may differ at all.
func TestErasAreTheSameThroughTheWorkbench(t *testing.T) {
	for _, pairing := range []struct{ client, server era }{
		{modernEra, modernEra}, {modernEra, legacyEra}, {legacyEra, modernEra}, {modernEra, bothEras}, {legacyEra, bothEras},
	} {
		spoken := pairing.server
		if spoken == bothEras {
			spoken = pairing.client
		}
		steps, alone := scriptOf(pairing.client), scriptOf(spoken)
		want := sessionOf(t, spoken, directFake(t, pairing.server), inBothEras, alone)
		if left, ok := want[unexpected]; ok {
			t.Fatalf("the server alone sends more than the script knows:\n%s", left.describe())
		}
		for _, w := range ways {
			t.Run(string(pairing.client)+" client, "+string(pairing.server)+" server, "+w.name, func(t *testing.T) {
				t.Parallel()
				got := sessionOf(t, pairing.client, w.dial(t, pairing.client, pairing.server), inBothEras, steps)
				if spoken == pairing.client {
					compare(t, steps, want, got, nil)
					return
				}
				compareAcross(t, pairing.client, steps, want, got)
			})
		}
	}
}

// compareAcross compares the steps that both clients made, without the fields of an era.
func compareAcross(t *testing.T, client era, steps []step, want, got map[string]exchange) {
	t.Helper()
	compared := slices.DeleteFunc(slices.Clone(steps), func(s step) bool {
		_, both := want[s.name]
		return !both || crossed[client][s.name] != ""
	})
	wants, gots := make(map[string]exchange), make(map[string]exchange)
	for _, s := range compared {
		wanted, was := withoutEra(t, want[s.name]), withoutEra(t, got[s.name])
		if slices.Contains(notesOnly, s.name) {
			wanted.inOrder, was.inOrder = nil, nil
		}
		wants[s.name], gots[s.name] = wanted, was
	}
	gots[unexpected] = got[unexpected]
	compare(t, compared, wants, gots, nil)
}

// modernTasks are the steps of the extension for tasks, which only clients have that declare it.
var modernTasks = []step{
	{name: "initialize", method: "server/discover"},
	call("a call that becomes a task", "long", `{}`),
	{name: "listen for it", method: "subscriptions/listen", listens: true, notes: 2, params: `{"notifications":{"taskIds":["t\u00e2sk-2"]}}`},
	{name: "its status", method: "tasks/get", params: `{"taskId":"t\u00e2sk-2"}`},
	{name: "its questions are answered", method: "tasks/update", params: `{"taskId":"t\u00e2sk-2","inputResponses":{"k\u0065y":{"action":"accept" }}}`},
	{name: "it is cancelled", method: "tasks/cancel", params: `{"taskId":"t\u00e2sk-2"}`},
	{name: "nothing is listened for", ends: "listen for it"},
}

func TestTasksOfTheModernEraAreTheSameThroughTheWorkbench(t *testing.T) {
	const capabilities = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	want := sessionOf(t, modernEra, directFake(t, modernEra), capabilities, modernTasks)
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			compare(t, modernTasks, want, sessionOf(t, modernEra, w.dial(t, modernEra, modernEra), capabilities, modernTasks), nil)
		})
	}
}

package fleet

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

const (
	x = `[{"uri":"file:///x"}]`
	y = `[{"uri":"file:///y"}]`
)

// newRooted makes a client whose roots are known unless they are "".
func newRooted(t *testing.T, roots string) *member {
	t.Helper()
	m := newMember(t, `{"roots":{}}`)
	if roots != "" {
		m.SetRoots([]byte(roots))
	}
	return m
}

// tell answers a question for the roots, as the front does.
func (m *member) tell(t *testing.T, roots string) {
	t.Helper()
	var question *downstream.Question
	select {
	case question = <-m.asked:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody asks for the roots")
	}
	if question.Method != "roots/list" {
		t.Fatalf("asked %s", question.Method)
	}
	m.SetRoots([]byte(roots))
	question.Answer(wire.Message{Result: wire.Raw([]byte(`{"roots":` + roots + `}`))})
}

const rootsTools = `{"tools":[{"name":"where","inputSchema":{}},{"name":"wait","inputSchema":{}},{"name":"hi","inputSchema":{}}],"calls":{
	"where":[{"ask":"roots/list"},{"result":{"content":[]}}],
	"wait":[{"wait":"call hi"},{"ask":"roots/list"},{"result":{"content":[]}}]}}`

// Roots keep nobody from sharing a server that does not ask for them.
func TestRootsDoNotMatterToAServerThatDoesNotAsk(t *testing.T) {
	r := newRig(t, map[string]string{"S": rootsTools}, nil, Options{})
	server := r.server(t, "S")
	a, b, c := newRooted(t, x), newRooted(t, y), newRooted(t, "")
	<-a.begin(t, server, "hi")
	<-b.begin(t, server, "hi")
	<-c.begin(t, server, "hi")
	a.SetRoots([]byte(y))
	if server.For(a.ClientProfile) != server.For(b.ClientProfile) || server.For(a.ClientProfile) != server.For(c.ClientProfile) || r.starts(t, "S") != 1 {
		t.Errorf("it was started %d times", r.starts(t, "S"))
	}
	if r.AsksForRoots() {
		t.Error("it counts as one that asks")
	}
}

// From the first time that a server asks, it is for clients with the roots that it is told.
func TestServerThatAsksForRootsIsForThoseThatHaveThem(t *testing.T) {
	r := newRig(t, map[string]string{"S": rootsTools}, nil, Options{})
	server := r.server(t, "S")
	a, alike, other, unknown := newRooted(t, x), newRooted(t, x), newRooted(t, y), newRooted(t, "")
	for _, m := range []*member{a, alike, other, unknown} {
		<-m.begin(t, server, "hi")
	}
	shared := server.For(a.ClientProfile)
	end := a.begin(t, server, "where")
	a.tell(t, x)
	<-end
	if !r.AsksForRoots() {
		t.Error("nobody knows that it asks")
	}
	if server.For(a.ClientProfile) != shared || server.For(alike.ClientProfile) != shared {
		t.Error("who has the roots that it was told lost the session")
	}
	if server.For(other.ClientProfile) == shared || server.For(unknown.ClientProfile) == shared || server.For(other.ClientProfile) == server.For(unknown.ClientProfile) {
		t.Error("who has other roots shares the session")
	}
	late := newRooted(t, y)
	if server.For(late.ClientProfile) != server.For(other.ClientProfile) {
		t.Error("who comes later does not share with those that have the same roots")
	}
	if common := shared.Status().For; len(common.Roots) != 1 || common.Roots[0] != "file:///x" || common.Alone {
		t.Errorf("the session is for %+v", common)
	}
	if common := server.For(unknown.ClientProfile).Status().For; !common.Alone {
		t.Errorf("the session of the one whose roots are not known is for %+v", common)
	}
	// A change of roots takes a client out of what it shares.
	alike.SetRoots([]byte(`[]`))
	if moved := server.For(alike.ClientProfile); moved == shared || moved == server.For(other.ClientProfile) || server.For(a.ClientProfile) != shared {
		t.Error("after a change of its roots, a profile is not by itself")
	}
}

// A server that asks as soon as it is there is started for one; another one that waited for
// the same start gets its own.
func TestServerThatAsksForRootsAtItsStart(t *testing.T) {
	r := newRig(t, map[string]string{"S": `{"tools":[{"name":"hi","inputSchema":{}}],"on":{"tools/list":[{"ask":"roots/list"}]}}`}, nil, Options{})
	server := r.server(t, "S")
	a, b := newRooted(t, ""), newRooted(t, "")
	if server.For(a.ClientProfile) != server.For(b.ClientProfile) {
		t.Fatal("they do not share a start")
	}
	type result struct {
		lease *Lease
		err   error
	}
	leases := make(map[*member]chan result)
	for _, m := range []*member{a, b} {
		leases[m] = make(chan result, 1)
		go func() {
			lease, err := server.LeaseFor(context.Background(), m.ClientProfile)
			leases[m] <- result{lease, err}
		}()
	}
	a.tell(t, x)
	b.tell(t, y)
	one, two := <-leases[a], <-leases[b]
	if err := errors.Join(one.err, two.err); err != nil {
		t.Fatal(err)
	}
	if one.lease.Session == two.lease.Session || one.lease.server != server.For(a.ClientProfile) || two.lease.server != server.For(b.ClientProfile) {
		t.Error("one has the session that was told the other's roots")
	}
	one.lease.Release()
	two.lease.Release()
	late := newRooted(t, x)
	if server.For(late.ClientProfile) != server.For(a.ClientProfile) {
		t.Error("the session is not shared with those that have the roots it was told")
	}
}

// Whose roots are meant cannot be told while calls of several are under way: nobody's are told,
// and nobody goes on with that session.
func TestServerThatAsksForRootsOfSeveral(t *testing.T) {
	r := newRig(t, map[string]string{"S": rootsTools}, nil, Options{})
	server := r.server(t, "S")
	a, b, starter := newRooted(t, x), newRooted(t, y), newRooted(t, "")
	waiting := []ending{a.begin(t, server, "wait"), b.begin(t, server, "wait")}
	shared := server.For(a.ClientProfile)
	<-starter.begin(t, server, "hi")
	for _, end := range waiting {
		<-end
	}
	if len(a.asked)+len(b.asked) > 0 {
		t.Error("somebody was asked")
	}
	if server.For(a.ClientProfile) == shared || server.For(b.ClientProfile) == shared || server.For(a.ClientProfile) == server.For(b.ClientProfile) {
		t.Error("somebody goes on with the session")
	}
}

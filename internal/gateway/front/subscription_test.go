package front

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
)

// subscribe begins a subscription of a bench's client.
func (b *suspendBench) subscribe(filter string) (*statelessClient, *request, *answers) {
	r, to, _ := b.request("me", `{}`)
	r.session.stateless.subscriptions.add(r, wire.Raw([]byte(`{"notifications":`+filter+`}`)))
	synctest.Wait()
	return r.session.stateless, r, to
}

func TestListeningIsAcknowledgedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		client, r, to := b.subscribe(`{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["no:such"],"more":1}`)
		client.notifyListChanged(protocol.NotifyToolsList)
		client.notifyListChanged(protocol.NotifyPromptsList)
		want := []string{
			`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}` + "\n",
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}` + "\n",
		}
		if !slices.Equal(to.notices, want) {
			t.Errorf("the client was told %q, want %q", to.notices, want)
		}
		r.cancel(call.Cancelled{})
		synctest.Wait()
		client.notifyListChanged(protocol.NotifyToolsList)
		if len(to.notices) != 2 || len(to.sent) != 1 || to.sent[0] != "" {
			t.Errorf("after the cancellation the client was told %q and answered %q", to.notices, to.sent)
		}
	})
}

func TestWhatComesBeforeTheAcknowledgementWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		r, to, _ := b.request("me", `{}`)
		s, x := r.session.stateless.subscriptions, downstream.Topic{ID: "x:1"}
		l := &subscription{of: s, request: r, wants: subscriptionFilter{topics: []downstream.Topic{x}}}
		s.all[l], s.topics[x] = struct{}{}, 1
		l.endWithRequest()
		s.tryNotify(outgoing{method: protocol.NotifyResourceUpdated, params: []byte(`{"uri":"x:1","_meta":{"a":1}}`)})
		if len(to.notices) != 0 {
			t.Errorf("the client was told %q before it was acknowledged", to.notices)
		}
		l.acknowledge(subscriptionFilter{topics: []downstream.Topic{x}})
		if want := `"params":{"uri":"x:1","_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":1}}`; len(to.notices) != 2 || !strings.Contains(to.notices[1], want) {
			t.Errorf("the client was told %q, want %s behind the acknowledgement", to.notices, want)
		}
	})
}

func TestUpdatesGoToThoseWhoListenForThem(t *testing.T) {
	one, two, task := downstream.Topic{ID: "x:1"}, downstream.Topic{ID: "x:2"}, downstream.Topic{IsTask: true, ID: "x:1"}
	l := func(topics ...downstream.Topic) *subscription {
		return &subscription{of: &subscriptions{topics: map[downstream.Topic]int{one: 1, two: 1, task: 1}}, wants: subscriptionFilter{topics: topics}}
	}
	const updated, tasks = protocol.NotifyResourceUpdated, protocol.NotifyTasks
	for _, test := range []struct {
		name           string
		l              *subscription
		method, params string
		want           bool
	}{
		{"its own", l(one), updated, `{"uri":"x:1"}`, true},
		{"another's", l(two), updated, `{"uri":"x:1"}`, false},
		{"perhaps a part of its own", l(two), updated, `{"uri":"x:2/part"}`, true},
		{"no resources", l(task), updated, `{"uri":"x:2/part"}`, false},
		{"a resource named as its task", l(task), updated, `{"uri":"x:1"}`, false},
		{"its task", l(task), tasks, `{"taskId":"x:1"}`, true},
		{"another's task", l(one), tasks, `{"taskId":"x:1"}`, false},
		{"a task that nobody named", l(task), tasks, `{"taskId":"x:1/part"}`, false},
	} {
		if got := test.l.isFor(outgoing{method: test.method, params: []byte(test.params)}); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

func TestSubscriptionsThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSuspendBench(t)
		for _, filter := range []string{`7`, `{"resourceSubscriptions":[7]}`, `{"resourceSubscriptions":["x:1"` + strings.Repeat(`,"x:1"`, maxSubscribedTopics) + `]}`} {
			if _, _, to := b.subscribe(filter); !strings.Contains(to.only(t), `-32602`) {
				t.Errorf("%.100s is answered with %q", filter, to.sent)
			}
		}
		client, _, to := b.subscribe(`{}`)
		client.subscriptions.close()
		if got := to.only(t); !strings.Contains(got, `"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}`) {
			t.Errorf("the end is told with %s", got)
		}
		if _, _, to := b.subscribe(`{}`); !strings.Contains(to.only(t), `-32603`) {
			t.Errorf("listening after the end is answered with %q", to.sent)
		}
	})
}

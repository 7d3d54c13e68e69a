package passthrough

import (
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

func TestSetLevel(t *testing.T) {
	const logs = `{"logging":{}}`
	accepts, refuses := map[string]string{protocol.MethodSetLevel: `{"own":1}`}, map[string]string{protocol.MethodSetLevel: `{"code":-32602,"message":"no"}`}
	for _, test := range []struct {
		name, params, answer, later string
		fakes                       []*fake
		sent                        []string
	}{
		{
			"all that log", `{"level":"info","_meta":{"progressToken":1,"x":2}}`, `{}`, `{"level":"info","_meta":{"x":2}}`,
			[]*fake{{name: "t/a", capabilities: logs, answers: accepts}, {name: "t/b", capabilities: "{}"}, {name: "t/c", capabilities: logs, answers: accepts}},
			[]string{`a logging/setLevel {"level":"info","_meta":{"x":2}}`, `c logging/setLevel {"level":"info","_meta":{"x":2}}`},
		},
		{
			"one refuses", `{"level":"info"}`, `{}`, `{"level":"info"}`,
			[]*fake{{name: "t/a", capabilities: logs, answers: refuses}, {name: "t/b", capabilities: logs, answers: accepts}},
			[]string{`a logging/setLevel {"level":"info"}`, `b logging/setLevel {"level":"info"}`},
		},
		{
			"all refuse", `{"level":"loud"}`, `{"code":-32602,"message":"no"}`, ``,
			[]*fake{{name: "t/a", capabilities: logs, answers: refuses}, {name: "t/b", capabilities: logs, answers: refuses}},
			[]string{`a logging/setLevel {"level":"loud"}`, `b logging/setLevel {"level":"loud"}`},
		},
		{
			"one fails", `{"level":"info"}`, `{"code":-32603,"message":"'logging/setLevel' failed in server 'a' (toolbox 't'): the server answered with HTTP status 500 (Internal Server Error)"}`, `{"level":"info"}`,
			[]*fake{{name: "t/a", capabilities: logs, answers: map[string]string{protocol.MethodSetLevel: "status 500"}}, {name: "t/b", capabilities: "{}"}},
			[]string{`a logging/setLevel {"level":"info"}`},
		},
		{"one server alone", `{"level":"info"}`, `{"own":1}`, `{"level":"info"}`, []*fake{{name: "t/a", capabilities: logs, answers: accepts}}, []string{`a logging/setLevel {"level":"info"}`}},
		{"nobody yet", `{"level":"info"}`, `{}`, `{"level":"info"}`, nil, nil},
		{"nobody logs", `{"level":"info"}`, `{}`, `{"level":"info"}`, []*fake{{name: "t/a", capabilities: "{}"}, {name: "t/b", capabilities: "{}"}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			later := &fake{name: "closed/later", answers: accepts}
			b := newBench(t, "", append(test.fakes, later)...)
			b.want(t, protocol.MethodSetLevel, test.params, test.answer)
			sent := b.takeSent()
			if slices.Sort(sent); !slices.Equal(sent, test.sent) {
				t.Errorf("sent %q, want %q", sent, test.sent)
			}
			later.capabilities = logs
			b.start(t, later)
			if test.later != "" {
				b.wantSent(t, "later logging/setLevel "+test.later)
			} else if level := b.client.profile.LogLevel(); level != "" {
				t.Errorf("later servers get %s", level)
			}
		})
	}
}

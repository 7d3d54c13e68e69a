package policy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// client is one that nobody talks to.
type client struct{ profile *fleet.ClientProfile }

func (client) Notify(string, []byte) error     { return nil }
func (client) TryNotify(string, []byte)        {}
func (client) Ask(*downstream.Question)        {}
func (c client) Profile() *fleet.ClientProfile { return c.profile }

// requestOf returns a call of the tool dev/files/write, whose server is not started.
func requestOf(tb testing.TB, caller string) *call.Call {
	tb.Helper()
	return requestBy(tb, fleet.ProfileOptions{Caller: caller})
}

func requestBy(tb testing.TB, options fleet.ProfileOptions) *call.Call {
	tb.Helper()
	host := process.NewHost(process.HostOptions{})
	servers := fleet.New(fleet.Options{Host: host, Environ: os.Environ(), Config: &config.Config{Toolboxes: []config.Toolbox{{
		Name: "dev", Servers: []config.Server{{Name: "files", Command: "never-started"}},
	}}}})
	profile := fleet.NewClientProfile(options)
	tb.Cleanup(func() {
		profile.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(servers.Stop(ctx), host.Close(ctx)); err != nil {
			tb.Error(err)
		}
	})
	box, _ := servers.Toolbox("dev")
	server, ok := box.Server("files")
	if !ok {
		tb.Fatal("there is no server")
	}
	return &call.Call{Server: server, Client: client{profile}, Method: "tools/call", Name: "write", Tool: aTool, Arguments: wire.Raw([]byte(`{"n":1}`))}
}

// asker answers every question, and remembers them.
type asker struct {
	answer func() *call.Failure
	asked  []Question
}

func (a *asker) Ask(_ context.Context, question *Question) *call.Failure {
	a.asked = append(a.asked, *question)
	return a.answer()
}

func approve() *call.Failure { return nil }

// ledger has a number of calls for each rule; what is approved counts, too.
type ledger struct {
	free  map[*config.PolicyRule]int
	taken int
	err   error
}

func (l *ledger) Take(claims []Claim) (over int, again time.Duration, err error) {
	for i, claim := range claims {
		if l.free[claim.Rule] < 1 && !claim.Approved {
			return i, 90 * time.Second, l.err
		}
	}
	l.taken++
	for _, claim := range claims {
		l.free[claim.Rule]--
	}
	return -1, 0, l.err
}

// admit returns why a stage refuses a call; "" if it admits it.
func admit(stage *Stage, request *call.Call) string {
	verdict := stage.Admit(request)
	refusal := verdict.Refusal
	if verdict.Wait != nil {
		refusal = verdict.Wait(context.Background())
	}
	if refusal == nil {
		return ""
	}
	return refusal.Message + "\n" + refusal.Hint
}

func TestStage(t *testing.T) {
	request := requestOf(t, "stdio")
	for _, test := range []struct {
		name     string
		then     config.Verdict
		screened bool
		want     string
	}{
		{"allow", config.Allow, false, ""},
		{"ask", config.Ask, false, "it needs approval by the policy (rule '*', f:1), and nobody can be asked"},
		{"deny", config.Deny, true, "it is denied by the policy (rule '*', f:1)\nDo not try again: use another tool, or ask the user, who can change the rule."},
	} {
		rule := all(test.then)
		rule.File, rule.Line = "f", 1
		stage := NewStage(of(config.PolicyFile{Rules: []config.PolicyRule{rule}}), StageOptions{})
		if got := admit(stage, request); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q", test.name, got)
		}
		unresolved := *request
		unresolved.Tool = wire.Payload{}
		if refusal := stage.Screen(&unresolved); (refusal != nil) != test.screened {
			t.Errorf("%s is screened: %v", test.name, refusal)
		}
		other := *request
		other.Method = "prompts/get"
		if stage.Screen(&other) != nil || admit(stage, &other) != "" {
			t.Errorf("%s: what is not a call of a tool is refused", test.name)
		}
		// Nobody can judge a tool that is not listed.
		if got := admit(stage, &unresolved); !strings.HasPrefix(got, "its server does not list it") {
			t.Errorf("%s without a definition: %q", test.name, got)
		}
	}
}

// What was admitted before is denied for what has changed since.
func TestDefinitionsAndHintsThatChange(t *testing.T) {
	request := requestOf(t, "stdio")
	stage := NewStage(of(config.PolicyFile{Rules: []config.PolicyRule{{Then: config.Deny, Hints: config.PolicyHints{ReadOnly: new(bool)}}}}), StageOptions{})
	expect := func(step string, isDenied bool) {
		t.Helper()
		for range 2 {
			if got := admit(stage, request); (got != "") != isDenied {
				t.Errorf("%s: %q", step, got)
			}
		}
	}
	expect("nothing declared", true)
	request.Tool = tool(`{"readOnlyHint":true}`)
	expect("declared", false)
	request.Tool = wire.Raw(slices.Clone(request.Tool.Bytes()))
	expect("the same elsewhere", false)
	request.HintsDoubted = true
	expect("doubted", true)
	request.HintsDoubted = false
	request.Tool = tool(`{"readOnlyHint":false}`)
	expect("declared otherwise", true)
	if got := len(stage.policy.plans.all); got != 2 {
		t.Errorf("%d plans are kept", got)
	}
}

func TestPlansAreBounded(t *testing.T) {
	p := of(config.PolicyFile{Rules: []config.PolicyRule{all(config.Ask)}})
	for i := range 2*maxPlans + 10 {
		ref := toolbox.Ref{Toolbox: "dev", Server: "files", Name: strings.Repeat("x", i%97) + string(rune('a'+i/97))}
		if got := p.Judge(&Query{Ref: ref, Tool: aTool, Caller: ref.Name}).Verdict; got != config.Ask {
			t.Fatalf("the verdict is %s", got)
		}
	}
	if got := len(p.plans.all); got == 0 || got > maxPlans {
		t.Errorf("%d plans are kept", got)
	}
}

func TestAsking(t *testing.T) {
	request := requestOf(t, "shared")
	rule := all(config.Ask)
	rule.Because = "it cannot be undone"
	rules := of(config.PolicyFile{Rules: []config.PolicyRule{rule}})
	current := rules
	who := &asker{answer: approve}
	stage := NewStage(rules, StageOptions{Asker: who, Current: func() *Policy { return current }})
	if got := admit(stage, request); got != "" || len(who.asked) != 1 {
		t.Fatalf("%q after %d questions", got, len(who.asked))
	}
	if q := who.asked[0]; q.Call != request || q.Caller != "shared" || q.Ref != aRef || q.Reason.Why() != rule.Because {
		t.Errorf("asked for %+v", q)
	}
	who.answer = func() *call.Failure { return &call.Failure{Message: "no"} }
	if got := admit(stage, request); !strings.HasPrefix(got, "no") {
		t.Errorf("%q", got)
	}
	// A reload while a person thinks: the new rules hold.
	for name, test := range map[string]struct {
		files []config.PolicyFile
		want  string
	}{
		"denied":      {[]config.PolicyFile{{Path: "f", Default: config.Deny}}, "it is denied by the policy (default, f)"},
		"still asked": {[]config.PolicyFile{{Path: "f", Default: config.Ask}}, ""},
		"allowed":     {nil, ""},
	} {
		who.asked, current = nil, rules
		who.answer = func() *call.Failure {
			current = of(test.files...)
			return nil
		}
		if got := admit(stage, request); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") || len(who.asked) != 1 {
			t.Errorf("%s: %q after %d questions", name, got, len(who.asked))
		}
	}
}

// A reload while the server of a call starts: the new rules hold.
func TestReloadBeforeAdmission(t *testing.T) {
	current := of(config.PolicyFile{Rules: []config.PolicyRule{all(config.Deny)}})
	stage := NewStage(of(config.PolicyFile{Rules: []config.PolicyRule{all(config.Allow)}}), StageOptions{Current: func() *Policy { return current }})
	if got := admit(stage, requestOf(t, "stdio")); !strings.HasPrefix(got, "it is denied by the policy") {
		t.Errorf("%q", got)
	}
	current = nil
	if got := admit(stage, requestOf(t, "stdio")); got != "" {
		t.Errorf("%q", got)
	}
}

// Who has to be asked by now is asked, too: one person's answer is not another's.
func TestOthersAreToBeAskedByNow(t *testing.T) {
	asking := func(via string) *Policy {
		return New(&config.Config{Policy: config.Policy{
			Files: []config.PolicyFile{{Path: "f", Default: config.Ask}}, Ask: config.PolicyAsk{Via: []string{via}, Timeout: time.Minute},
		}})
	}
	rules, later := asking(config.AskClient), asking(config.AskTerminal)
	current := rules
	who := &asker{answer: func() *call.Failure {
		current = later
		return nil
	}}
	stage := NewStage(rules, StageOptions{Asker: who, Current: func() *Policy { return current }})
	if got := admit(stage, requestOf(t, "stdio")); got != "" || len(who.asked) != 2 || who.asked[1].Ask.Via[0] != config.AskTerminal {
		t.Errorf("%q after %d questions", got, len(who.asked))
	}
}

func TestLimits(t *testing.T) {
	limited := func(orElse config.Verdict) config.PolicyRule {
		return config.PolicyRule{
			Tools: []toolbox.Pattern{"dev/*"}, File: "f", Line: 2, Else: orElse, Limit: &config.PolicyLimit{Calls: 2, Window: 26 * time.Hour},
		}
	}
	const over = "it is denied by the policy (rule 'dev/*', f:2): 2 calls are allowed in 1d2h, and the next one is free in 1m30s\nTry again later"
	for _, test := range []struct {
		name      string
		rules     []config.PolicyRule
		free      []int
		answers   string // of a person: y or n
		want      string
		taken     int
		questions int
	}{
		{"free", []config.PolicyRule{limited(config.Deny)}, []int{1}, "", "", 1, 0},
		{"over", []config.PolicyRule{limited(config.Deny)}, []int{0}, "", over, 0, 0},
		{"one of two", []config.PolicyRule{limited(config.Deny), limited(config.Deny)}, []int{1, 0}, "", over, 0, 0},
		{"approved beyond it", []config.PolicyRule{limited(config.Ask)}, []int{0}, "y", "", 1, 1},
		{"refused beyond it", []config.PolicyRule{limited(config.Ask)}, []int{0}, "n", "no", 0, 1},
		{"approved, and over another", []config.PolicyRule{limited(config.Ask), limited(config.Deny)}, []int{0, 0}, "y", over, 0, 1},
		{"asked anyway", []config.PolicyRule{all(config.Ask), limited(config.Ask)}, []int{0, 0}, "y", "", 1, 1},
		{"asked anyway, and over", []config.PolicyRule{all(config.Ask), limited(config.Deny)}, []int{0, 0}, "y", over, 0, 1},
		{"refused anyway", []config.PolicyRule{all(config.Ask), limited(config.Deny)}, []int{0, 1}, "n", "no", 0, 1},
		{"denied anyway", []config.PolicyRule{all(config.Deny), limited(config.Deny)}, []int{0, 1}, "", "it is denied by the policy (rule '*', )", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := of(config.PolicyFile{Rules: test.rules})
			counts := &ledger{free: make(map[*config.PolicyRule]int)}
			for i, free := range test.free {
				counts.free[&p.files[0].Rules[i]] = free
			}
			who := &asker{answer: func() *call.Failure {
				if test.answers == "y" {
					return nil
				}
				return &call.Failure{Message: "no"}
			}}
			got := admit(NewStage(p, StageOptions{Asker: who, Ledger: counts}), requestOf(t, "stdio"))
			if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("%q, want %q", got, test.want)
			}
			if counts.taken != test.taken || len(who.asked) != test.questions {
				t.Errorf("%d calls counted, %d questions asked", counts.taken, len(who.asked))
			}
		})
	}
	p, request := of(config.PolicyFile{Rules: []config.PolicyRule{limited(config.Deny)}}), requestOf(t, "stdio")
	if got := admit(NewStage(p, StageOptions{}), request); !strings.HasPrefix(got, "it is limited by the policy (rule 'dev/*', f:2), and calls cannot be counted here") {
		t.Errorf("without a ledger: %q", got)
	}
	if got := admit(NewStage(p, StageOptions{Ledger: &ledger{err: errors.New("disk full")}}), request); !strings.Contains(got, "calls cannot be counted: disk full") {
		t.Errorf("with a broken ledger: %q", got)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1s", 70 * time.Second: "1m10s", time.Minute: "1m", time.Hour: "1h", time.Hour + 30*time.Minute: "1h30m", 20 * time.Minute: "20m",
		time.Hour + time.Second: "1h0m1s", 24 * time.Hour: "1d", 50 * time.Hour: "2d2h", 1500 * time.Millisecond: "2s",
	} {
		if got := span(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// A call of a tool without rules, or with rules that do not depend on arguments, costs nothing that is collected later.
func TestStageDoesNotAllocate(t *testing.T) {
	request := requestOf(t, "stdio")
	for name, rule := range map[string]config.PolicyRule{
		"of another tool": {Tools: []toolbox.Pattern{"other/*"}, Then: config.Deny},
		"with hints":      {Hints: config.PolicyHints{ReadOnly: yes()}, Callers: []string{"stdio"}, Then: config.Deny},
		"that allows":     {Tools: []toolbox.Pattern{"dev/*"}, Callers: []string{"stdio"}, Then: config.Allow},
		"about secrets":   {Tools: []toolbox.Pattern{"other/*"}, ArgumentSecrets: config.SecretsDeny, ResultSecrets: config.SecretsMask},
	} {
		rounds := NewRounds()
		stage := NewStage(of(config.PolicyFile{Default: config.Allow, Rules: []config.PolicyRule{rule}}), StageOptions{Rounds: rounds})
		unresolved := *request
		unresolved.Tool = wire.Payload{}
		if n := testing.AllocsPerRun(100, func() {
			if stage.Screen(&unresolved) != nil {
				t.Error("it is refused")
			}
			if revision := stage.Revise(request); revision.Refusal != nil || revision.Answers != nil {
				t.Error("it is revised")
			}
			if verdict := stage.Admit(request); verdict.Refusal != nil || verdict.Wait != nil {
				t.Error("it is not admitted")
			}
			rounds.CallEnded(request, call.End{Status: call.StatusInputRequired})
		}); n != 0 {
			t.Errorf("a rule %s: %v allocations", name, n)
		}
	}
}

func BenchmarkStage(b *testing.B) {
	request := requestOf(b, "stdio")
	stage := NewStage(of(config.PolicyFile{Rules: slices.Repeat([]config.PolicyRule{{Tools: []toolbox.Pattern{"other/*"}, Then: config.Deny}}, 12)}), StageOptions{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			stage.Screen(request)
			stage.Admit(request)
		}
	})
}

// Who comes over HTTP with a token does not learn where the files of the workbench are, and the user there cannot change rules. The
// audit log has it.
func TestTextsOverHTTP(t *testing.T) {
	for _, caller := range []string{config.CallerHTTP, config.CallerToken + "ci", config.CallerPerson + "ada", config.CallerCertificate + "ci.example.com", config.CallerStdio, config.CallerTerminal} {
		request := requestOf(t, caller)
		deny, limit, secrets := all(config.Deny), all(0), all(0)
		limit.Limit, limit.Else = &config.PolicyLimit{Calls: 1, Window: time.Hour}, config.Deny
		secrets.ResultSecrets = config.SecretsDeny
		ask := all(config.Ask)
		full := filepath.Join(string(filepath.Separator)+"secret-place", "workbench-config.json")
		texts := func(rule config.PolicyRule, options StageOptions) *call.Failure {
			rule.File, rule.Line = full, 7
			stage := NewStage(of(config.PolicyFile{Path: full, Default: config.Allow, Rules: []config.PolicyRule{rule}}), options)
			if rule.ResultSecrets != 0 {
				_, refused := stage.Revise(request).Answers.Response(wire.Raw([]byte(`{"content":[{"type":"text","text":"` + token + `"}]}`)))
				return refused
			}
			verdict := stage.Admit(request)
			if verdict.Wait != nil {
				return verdict.Wait(t.Context())
			}
			return verdict.Refusal
		}
		for name, failure := range map[string]*call.Failure{
			"deny": texts(deny, StageOptions{}), "ask": texts(ask, StageOptions{}), "limit": texts(limit, StageOptions{Ledger: &ledger{}}),
			"uncounted": texts(limit, StageOptions{Ledger: &ledger{err: errors.New(full)}}), "secrets": texts(secrets, StageOptions{}),
		} {
			if failure == nil {
				t.Fatalf("%s, %s: it is not refused", caller, name)
			}
			text := failure.Message + "\n" + failure.Hint
			isOver := config.MayBeElsewhere(caller)
			if strings.Contains(text, "secret-place") == isOver || !strings.Contains(text, "workbench-config.json:7") {
				t.Errorf("%s, %s: %s", caller, name, text)
			}
			if isOver && (strings.Contains(text, "the user") || !strings.Contains(strings.ToLower(failure.Hint), "ask those who run the workbench")) {
				t.Errorf("%s, %s: the hint is %q", caller, name, failure.Hint)
			}
			if failure.Rule != "" && !strings.Contains(failure.Rule, full) {
				t.Errorf("%s, %s: the audit log has %q", caller, name, failure.Rule)
			}
		}
	}
}

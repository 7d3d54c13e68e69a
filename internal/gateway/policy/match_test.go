package policy

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestHints(t *testing.T) {
	const byDefault = "readOnly=false default, destructive=true default, idempotent=false default, openWorld=true default"
	for _, test := range []struct {
		name, annotations string // "": no definition
		doubted, isReader bool
		want              string
	}{
		{name: "nothing declared", annotations: `{}`, want: byDefault},
		{name: "no annotations", annotations: `null`, want: byDefault},
		{name: "all declared", annotations: `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`, want: "readOnly=false declared, destructive=false declared, idempotent=true declared, openWorld=false declared"},
		{name: "a reader is not destructive", annotations: `{"readOnlyHint":true,"destructiveHint":true}`, want: "readOnly=true declared, destructive=false reads, idempotent=false default, openWorld=true default"},
		{name: "doubted", annotations: `{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}`, doubted: true, want: "readOnly=false doubted, destructive=true doubted, idempotent=false doubted, openWorld=true doubted"},
		{name: "a class", annotations: `{"destructiveHint":true}`, isReader: true, want: "readOnly=true class, destructive=false reads, idempotent=false default, openWorld=true default"},
		{name: "a class for a doubted one", annotations: `{"readOnlyHint":false}`, doubted: true, isReader: true, want: "readOnly=true class, destructive=false reads, idempotent=false doubted, openWorld=true doubted"},
		{name: "other types", annotations: `{"readOnlyHint":"true","destructiveHint":0,"idempotentHint":1,"openWorldHint":null}`, want: byDefault},
		{name: "other names", annotations: `{"readonlyhint":true,"readOnly":true,"destructive":false}`, want: byDefault},
		{name: "escaped names", annotations: `{"readOnly\u0048int":true}`, want: "readOnly=true declared, destructive=false reads, idempotent=false default, openWorld=true default"},
		{name: "twice the same", annotations: `{"destructiveHint":false,"destructiveHint":false}`, want: "readOnly=false default, destructive=false declared, idempotent=false default, openWorld=true default"},
		{name: "twice", annotations: `{"readOnlyHint":false,"readOnlyHint":true}`, want: byDefault},
		{name: "three times", annotations: `{"readOnlyHint":true,"readOnlyHint":false,"readOnlyHint":true}`, want: byDefault},
		{name: "annotations twice", annotations: `{"readOnlyHint":false},"annotations":{"readOnlyHint":true}`, want: byDefault},
		{name: "no definition", want: "readOnly=false unknown, destructive=true unknown, idempotent=false unknown, openWorld=true unknown"},
		{name: "no definition of a reader", isReader: true, want: "readOnly=true class, destructive=false reads, idempotent=false unknown, openWorld=true unknown"},
		{name: "no definition of a doubted one", doubted: true, want: "readOnly=false doubted, destructive=true doubted, idempotent=false doubted, openWorld=true doubted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var definition wire.Payload
			if test.annotations != "" {
				definition = tool(test.annotations)
			}
			got := ""
			for i, hint := range hintsOf(definition, test.doubted, test.isReader) {
				if i > 0 {
					got += ", "
				}
				got += hint.Name + "=" + map[bool]string{true: "true", false: "false"}[hint.Value] + " " + hint.Source.String()
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// tool returns a definition with annotations.
func tool(annotations string) wire.Payload {
	return wire.Raw([]byte(`{"name":"write","annotations":` + annotations + `,"inputSchema":{}}`))
}

func TestReads(t *testing.T) {
	reader, writer := tool(`{"readOnlyHint":true}`), tool(`{}`)
	classes := []config.PolicyClass{{Tools: "dev/*", Class: config.ClassReads}, {Tools: "*", Class: "other"}}
	for _, test := range []struct {
		name    string
		own     []string
		tool    wire.Payload
		doubted bool
		want    bool
	}{
		{"by its hint", []string{}, reader, false, true},
		{"by a doubted hint", []string{}, reader, true, false},
		{"by its class", nil, writer, false, true},
		{"by its class, with doubted hints", nil, writer, true, true},
		{"by the class of the file that has it", []string{"dev"}, writer, false, true},
		{"by the class of another file", []string{"web"}, writer, false, false},
		{"without a definition", []string{}, wire.Payload{}, false, false},
	} {
		p := of(config.PolicyFile{Classes: classes, Own: test.own})
		if got := p.Reads(aRef, test.tool, test.doubted); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	var none *Policy
	if !none.Reads(aRef, reader, false) || none.Reads(aRef, reader, true) {
		t.Error("without a policy hints do not count as they should")
	}
}

func TestMatching(t *testing.T) {
	no := new(bool)
	deny := func(change func(*config.PolicyRule)) config.PolicyRule {
		rule := config.PolicyRule{Then: config.Deny}
		change(&rule)
		return rule
	}
	patterns := func(texts ...toolbox.Pattern) []toolbox.Pattern { return texts }
	for _, test := range []struct {
		name string
		rule config.PolicyRule
		want bool
	}{
		{"all", deny(func(*config.PolicyRule) {}), true},
		{"a pattern", deny(func(r *config.PolicyRule) { r.Tools = patterns("x", "dev/*") }), true},
		{"another pattern", deny(func(r *config.PolicyRule) { r.Tools = patterns("x", "dev") }), false},
		{"an exception", deny(func(r *config.PolicyRule) { r.Except = patterns("x", "*/write") }), false},
		{"an exception of its pattern", deny(func(r *config.PolicyRule) { r.Tools, r.Except = patterns("dev/*"), patterns("dev/*") }), false},
		{"another exception", deny(func(r *config.PolicyRule) { r.Except = patterns("*/read") }), true},
		{"its caller", deny(func(r *config.PolicyRule) { r.Callers = []string{"stdio", "token:ci"} }), true},
		{"another caller", deny(func(r *config.PolicyRule) { r.Callers = []string{"stdio", "token:c"} }), false},
		{"hints", deny(func(r *config.PolicyRule) { r.Hints = config.PolicyHints{ReadOnly: no, Destructive: yes()} }), true},
		{"one of its hints", deny(func(r *config.PolicyRule) { r.Hints = config.PolicyHints{ReadOnly: no, Destructive: no} }), false},
		{"its hints for another caller", deny(func(r *config.PolicyRule) {
			r.Hints, r.Callers = config.PolicyHints{ReadOnly: no}, []string{"stdio"}
		}), false},
	} {
		q := &Query{Caller: "token:ci", Ref: aRef, Tool: tool(`{}`)}
		p := of(config.PolicyFile{Rules: []config.PolicyRule{test.rule}})
		if got := p.Judge(q).Verdict == config.Deny; got != test.want || p.AlwaysDenies(q) != got {
			t.Errorf("%s: %t, always denied %t", test.name, got, p.AlwaysDenies(q))
		}
	}
}

// Without a definition a rule with hints counts where it is stricter, and nothing that depends on it is certain.
func TestUnknownDefinition(t *testing.T) {
	hinted := func(then config.Verdict) config.PolicyRule {
		return config.PolicyRule{Hints: config.PolicyHints{Idempotent: new(bool)}, Then: then}
	}
	for _, test := range []struct {
		name      string
		byDefault config.Verdict
		rules     []config.PolicyRule
		want      config.Verdict
		always    bool
	}{
		{"a denial", config.Allow, []config.PolicyRule{hinted(config.Deny)}, config.Deny, false},
		{"a question", config.Allow, []config.PolicyRule{hinted(config.Ask)}, config.Ask, false},
		{"an allowance", config.Deny, []config.PolicyRule{hinted(config.Allow)}, config.Deny, false},
		{"a question instead of a denial", config.Deny, []config.PolicyRule{hinted(config.Ask)}, config.Deny, false},
		{"a denial that is certain", config.Allow, []config.PolicyRule{hinted(config.Deny), all(config.Deny)}, config.Deny, true},
		{"the default", config.Deny, nil, config.Deny, true},
		{"an allowance that is certain", config.Deny, []config.PolicyRule{all(config.Allow), hinted(config.Allow)}, config.Allow, false},
	} {
		p, q := of(config.PolicyFile{Path: "f", Default: test.byDefault, Rules: test.rules}), &Query{Ref: aRef}
		reason, always := p.Denial(q)
		if got := p.Judge(q).Verdict; got != test.want || always != test.always {
			t.Errorf("%s: %s, always %t", test.name, got, always)
		}
		if always && reason.Rule != nil && !reason.Rule.Hints.IsEmpty() {
			t.Errorf("%s: the reason is the rule that is not certain", test.name)
		}
	}
}

// A project's file beside a user's allows and classes tools of its own toolboxes only.
func TestForeignToolboxes(t *testing.T) {
	readers := config.PolicyRule{Hints: config.PolicyHints{ReadOnly: new(bool)}, Then: config.Deny}
	for _, test := range []struct {
		name string
		file config.PolicyFile
		want config.Verdict // if the toolbox is another's; otherwise it is allowed
	}{
		{"an allowance", config.PolicyFile{Default: config.Deny, Rules: []config.PolicyRule{all(config.Allow)}}, config.Deny},
		{"a class", config.PolicyFile{Classes: []config.PolicyClass{{Tools: "*", Class: config.ClassReads}}, Rules: []config.PolicyRule{readers}}, config.Deny},
	} {
		for box, want := range map[string]config.Verdict{"dev": config.Allow, "web": test.want} {
			test.file.Own = []string{"dev"}
			q := &Query{Ref: toolbox.Ref{Toolbox: box, Server: "s", Name: "t"}, Tool: tool(`{}`)}
			if got := of(test.file).Judge(q).Verdict; got != want {
				t.Errorf("%s of toolbox %s: %s", test.name, box, got)
			}
			// A denial of its counts for all.
			denied := test.file
			denied.Rules = append([]config.PolicyRule{all(config.Deny)}, denied.Rules...)
			if got := of(denied).Judge(q).Verdict; got != config.Deny {
				t.Errorf("%s of toolbox %s, denied: %s", test.name, box, got)
			}
		}
	}
}

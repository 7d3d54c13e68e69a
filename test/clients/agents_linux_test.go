package clients

import (
	"os"
	"path/filepath"
	"testing"
)

// A client that 'connect' has connected shows the model the tools of the workbench, and calls one of
// a server through use_tool. Nothing else is started, and nothing is waited for: not by what the
// client lists at its start, either, although one server is stuck.
func TestAgents(t *testing.T) {
	needMode(t)
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			short := os.Getenv(shortVariable) != ""
			if a.long && short {
				t.Skip("skipped in a short run")
			}
			i := need(t, a.name, a.legacy)
			b := newBench(t, nil)
			said := a.run(b, i)
			r := a.judge(b, i, "stdio", said)
			r.speaks(t, a.era)
			b.undo(a.client, filepath.Join(b.bin, realName), b.workbench())
			if !short {
				r.remark += a.inDynamicMode(t, i)
			}
			tried.add(t, r)
		})
	}
}

// judge checks what the client did, whatever the way that it was connected.
func (a agent) judge(b *bench, i installation, over, said string) result {
	b.t.Helper()
	r := result{title: a.title, version: i.version, over: over}
	r.judge(b, said)
	if offered := b.model.offered(); len(offered) != 4 {
		b.t.Errorf("the model was shown %q of the workbench's tools", offered)
	}
	if r.remark = "no instructions for the model, only the descriptions of tools"; b.model.told("Available Toolboxes:") {
		r.remark = "the model gets the instructions"
	}
	return r
}

// tokenVariable has the token of a client over HTTP, and tokenPrefix begins every token.
const (
	tokenVariable = "WORKBENCH_TOKEN"
	tokenPrefix   = "mcpw_"
)

// A client that 'connect --http' has connected reaches a workbench that serves over HTTP, with a token that is in its environment
// and not in its file. --undo takes the entry out again, after the client ran.
func TestAgentsOverHTTP(t *testing.T) {
	needMode(t)
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			if (a.long || a.legacy) && os.Getenv(shortVariable) != "" {
				t.Skip("skipped in a short run")
			}
			i := need(t, a.name, a.legacy)
			b := newBench(t, nil)
			address, token := b.serve()
			if a.settle != nil {
				a.settle(b)
			}
			env := []string{tokenVariable + "=" + token}
			if a.env != nil {
				env = append(env, a.env(b.model.address)...)
			}
			b.run(env, b.workbench(), "connect", a.client, "--http", address, "--token-env", tokenVariable, "--yes")
			r := a.judge(b, i, "HTTP", b.run(env, append(a.command(t, i), question)...))
			if b.revision.Load() == nil {
				r.era, r.remark = "–", r.remark+"; does not name the revision in its requests"
			} else {
				r.speaks(t, a.era)
			}
			b.undo(a.client, b.workbench(), address)
			tried.add(t, r)
		})
	}
}

// run connects the client and asks it the question; it returns what the client said.
func (a agent) run(b *bench, i installation) string {
	b.t.Helper()
	if a.settle != nil {
		a.settle(b)
	}
	b.connect(a.client)
	var env []string
	if a.env != nil {
		env = a.env(b.model.address)
	}
	asked := question
	if a.question != "" {
		asked = a.question
	}
	return b.run(env, append(a.command(b.t, i), asked)...)
}

// inDynamicMode checks that the client reaches the tool there as well, and says whether it takes note of
// the tools that open_toolbox adds. Some do so too late for the model's next step, which then goes
// through use_tool.
func (a agent) inDynamicMode(t *testing.T, i installation) string {
	t.Helper()
	b := newBench(t, object{"toolMode": "dynamic"})
	b.showsSum(a.run(b, i))
	remark := "; has the tools of dynamic mode from its start"
	for _, s := range sessions(t, b.bin) {
		told, again := s.listsAgain()
		switch {
		case again:
			return "; lists tools again when they change"
		case told:
			remark = "; does not list tools again when they change"
		}
	}
	return remark
}

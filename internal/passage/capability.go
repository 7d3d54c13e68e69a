package passage

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// usual is what clients are told where it is not known yet which servers there will be.
const usual = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// ours is what we can do in direct mode whatever the servers can: tools come and go with
// the configuration.
const ours = `{"tools":{"listChanged":true}}`

// Capabilities finds what a client is told that we can do, and gives it to then, which is
// called once: at once, or in direct mode, where it is what the servers in view can, later,
// when those that were never seen are connected or ctx has ended. A server that is not there may come later with
// whatever is usual. It does not block.
func (p *Passage) Capabilities(ctx context.Context, session Session, then func(capabilities []byte)) {
	if p.mode != config.Direct {
		then([]byte(usual))
		return
	}
	go func() { then(p.unitedCapabilities(ctx, session)) }()
}

func (p *Passage) unitedCapabilities(ctx context.Context, session Session) []byte {
	servers := p.Servers(session)
	e := &errand{passage: p, carrier: p.carry(session)}
	declared := make(map[*fleet.Server]wire.Payload)
	for _, server := range servers {
		if offered := server.For(session.Party()).Offered(); offered != nil {
			declared[server] = offered.Capabilities
		} else {
			e.scope = append(e.scope, server)
		}
	}
	e.reach(ctx)
	for _, r := range e.reached {
		declared[r.server] = r.capabilities
	}
	all := []byte(ours)
	for _, server := range servers {
		all = union(wire.Raw(all), declared[server], 0)
	}
	if len(e.failed) > 0 {
		all = union(wire.Raw(all), wire.Raw([]byte(usual)), 0)
	}
	return all
}

// maxUnionDepth is how deep objects are united; below it, the first one counts.
const maxUnionDepth = 20

// union unites what two peers can do: the members of both where they are objects, and
// otherwise what says more. Everything else stays as it was written.
func union(a, b wire.Payload, depth int) []byte {
	switch {
	case a.Kind() == "object" && b.Kind() == "object" && depth < maxUnionDepth:
	case !isDeclared(a) && isDeclared(b):
		return b.Bytes()
	case a.IsAbsent():
		return b.Bytes()
	default:
		return a.Bytes()
	}
	out := []byte("{")
	own := make(map[string]bool)
	for key, value := range a.Members() {
		own[string(key)] = true
		out = append(wire.AppendString(comma(out), string(key)), ':')
		out = append(out, union(value, b.Member(string(key)), depth+1)...)
	}
	for key, value := range b.Members() {
		if !own[string(key)] {
			out = append(wire.AppendString(comma(out), string(key)), ':')
			out = append(out, value.Bytes()...)
		}
	}
	return append(out, '}')
}

func comma(object []byte) []byte {
	if len(object) > 1 {
		return append(object, ',')
	}
	return object
}

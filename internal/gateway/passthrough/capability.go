package passthrough

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// usual is what clients are told where it is not known yet which servers there will be.
const usual = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// ours is what we can do in direct mode whatever the servers can: tools come and go with
// the configuration.
const ours = `{"tools":{"listChanged":true}}`

// patience is how long a client of direct mode waits for servers that were never seen.
const patience = 5 * time.Second

// Capabilities finds what a client is told that we can do, and gives it to then, which is
// called once: at once, or in direct mode, where it is what the servers in view can, later,
// when those that were never seen are connected or had their time. A server that is not there
// may come later with whatever is usual. It does not block.
func (p *Passage) Capabilities(ctx context.Context, session Session, then func(capabilities []byte)) {
	if p.Mode != config.Direct {
		then([]byte(usual))
		return
	}
	go func() {
		e := p.overview(session)
		e.meet(ctx, session)
		then(e.unitedCapabilities())
	}()
}

// KnownCapabilities is Capabilities as far as they are known. It starts nothing.
func (p *Passage) KnownCapabilities(session Session) []byte {
	if p.Mode != config.Direct {
		return []byte(usual)
	}
	return p.overview(session).unitedCapabilities()
}

// overview looks at all servers of a client.
func (p *Passage) overview(session Session) *errand {
	e := &errand{passage: p, carrier: p.carry(session), scope: p.Servers(session)}
	e.look()
	return e
}

func (e *errand) unitedCapabilities() []byte {
	peculiar := 0
	for _, s := range e.sights {
		if s.seen && isPeculiar(s.capabilities) {
			peculiar++
		}
	}
	all := []byte(ours)
	missing := false
	for _, s := range e.sights {
		missing = missing || !s.seen
		declared := s.capabilities
		if peculiar > 1 {
			declared = wire.Raw(ordinary(declared))
		}
		all = union(wire.Raw(all), declared, 0)
		if !s.running && len(e.sights) > 1 { // what it lists now may be another than it was
			all = union(wire.Raw(all), wire.Raw(changing(declared)), 0)
		}
	}
	if missing {
		all = union(wire.Raw(all), wire.Raw([]byte(usual)), 0)
	}
	return all
}

// meet connects the servers that were never seen, in parallel.
func (e *errand) meet(ctx context.Context, session Session) {
	if !slices.ContainsFunc(e.sights, func(s sight) bool { return !s.seen }) {
		return
	}
	ctx, stop := context.WithDeadline(ctx, session.WaitUntil(patience))
	defer stop()
	var group sync.WaitGroup
	for i, s := range e.sights {
		if s.seen {
			continue
		}
		group.Go(func() {
			if capabilities, err := e.carrier.reach(ctx, s.server); err == nil { // the fleet has logged why not
				e.sights[i].seen, e.sights[i].running, e.sights[i].capabilities = true, true, capabilities
			}
		})
	}
	group.Wait()
}

// changing returns that the lists change that a server declares.
func changing(declared wire.Payload) []byte {
	out := []byte("{")
	for _, l := range []*listing{resources, prompts} {
		if l.IsDeclared(declared) {
			out = append(comma(out), `"`+l.Capability+`":{"listChanged":true}`...)
		}
	}
	return append(out, '}')
}

// isPeculiar reports whether a server declares something that we do not know, so that methods
// that we do not know may be for it.
func isPeculiar(capabilities wire.Payload) bool {
	for key, value := range capabilities.Members() {
		isEmpty := string(key) == "experimental" && string(value.Bytes()) == "{}"
		if !protocol.IsKnownCapability(string(key)) && protocol.Declares(value) && !isEmpty {
			return true
		}
	}
	for name := range capabilities.Member("extensions").Members() {
		if !protocol.IsKnownExtension(string(name)) {
			return true
		}
	}
	return false
}

// ordinary returns the capabilities without what is peculiar.
func ordinary(capabilities wire.Payload) []byte {
	if capabilities.Kind() != "object" {
		return capabilities.Bytes()
	}
	extensions := capabilities.Member("extensions")
	known := wire.AppendWithMembers(nil, extensions, func(name string) bool { return !protocol.IsKnownExtension(name) }, nil)
	drop := func(key string) bool { return !protocol.IsKnownCapability(key) || key == "extensions" }
	if extensions.Kind() != "object" || string(known) == "{}" {
		return wire.AppendWithMembers(nil, capabilities, drop, nil)
	}
	return wire.AppendWithMembers(nil, capabilities, drop, append([]byte(`"extensions":`), known...))
}

// maxUnionDepth is how deep objects are united; below it, the first one counts.
const maxUnionDepth = 20

// union unites what two peers can do: the members of both where they are objects, and
// otherwise what says more. Everything else stays as it was written.
func union(a, b wire.Payload, depth int) []byte {
	switch {
	case a.Kind() == "object" && b.Kind() == "object" && depth < maxUnionDepth:
	case !protocol.Declares(a) && protocol.Declares(b):
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

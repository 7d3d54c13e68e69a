package passthrough

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// defaultCapabilities are declared to clients while it is not known which servers they will use.
const defaultCapabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// directCapabilities are declared in direct mode whatever the servers declare: tools come and go with the
// configuration.
const directCapabilities = `{"tools":{"listChanged":true}}`

// Capabilities finds the capabilities to declare to a client, and passes them to then, which is called once. In direct
// mode they are the union of those of the visible servers: then is called later, when the servers that were never seen
// are connected or had their time. The default capabilities stand in for a server that is still missing. It does not
// block.
func (f *Forwarder) Capabilities(ctx context.Context, session Session, then func(capabilities []byte)) {
	if f.Mode != config.Direct {
		then([]byte(defaultCapabilities))
		return
	}
	go func() {
		r := f.newSurvey(session)
		r.connectUnseen(ctx)
		then(r.mergeCapabilities())
	}()
}

// KnownCapabilities returns the Capabilities that are known without starting a server.
func (f *Forwarder) KnownCapabilities(session Session) []byte {
	if f.Mode != config.Direct {
		return []byte(defaultCapabilities)
	}
	return f.newSurvey(session).mergeCapabilities()
}

// newSurvey loads the states of all servers of a client.
func (f *Forwarder) newSurvey(session Session) *routing {
	r := &routing{Request: Request{Session: session}, forwarder: f, scope: f.Servers(session)}
	r.loadStates()
	return r
}

// mergeCapabilities returns the union of the servers' capabilities. Capabilities that we do not know are left out if
// several servers have some, since their requests could not be routed.
func (r *routing) mergeCapabilities() []byte {
	extended := 0
	for _, s := range r.states {
		if s.seen && hasUnknownCapability(s.capabilities) {
			extended++
		}
	}
	all := []byte(directCapabilities)
	missing := false
	for _, s := range r.states {
		missing = missing || !s.seen
		declared := s.capabilities
		if extended > 1 {
			declared = wire.Raw(knownCapabilities(declared))
		}
		all = union(wire.Raw(all), declared, 0)
		if !s.running && len(r.states) > 1 { // its lists may be outdated
			all = union(wire.Raw(all), wire.Raw(changingLists(declared)), 0)
		}
	}
	if missing {
		all = union(wire.Raw(all), wire.Raw([]byte(defaultCapabilities)), 0)
	}
	return all
}

// changingLists returns capabilities which say that the declared lists change.
func changingLists(declared wire.Payload) []byte {
	out := []byte("{")
	for _, list := range []*listKind{resources, prompts} {
		if list.IsDeclared(declared) {
			out = append(comma(out), `"`+list.Capability+`":{"listChanged":true}`...)
		}
	}
	return append(out, '}')
}

// hasUnknownCapability reports whether a server declares a capability that we do not know, so that unknown methods may
// be for it.
func hasUnknownCapability(capabilities wire.Payload) bool {
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

// knownCapabilities returns the capabilities without those that we do not know.
func knownCapabilities(capabilities wire.Payload) []byte {
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

// maxUnionDepth is how deep objects are merged; below it, the first one counts.
const maxUnionDepth = 20

// union merges the capabilities of two peers: the members of both where they are objects, and otherwise the one that
// declares more. The bytes of values that are not merged stay as they are.
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

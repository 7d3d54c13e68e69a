package metatool

import (
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// pinned holds the tools that the configuration offers natively beside the meta-tools. Their names depend on the
// configuration alone, so that they are the same in every run, whatever is connected.
type pinned struct {
	refs  []toolbox.Ref
	names []string // by ref
}

func newPinned(refs []toolbox.Ref) pinned {
	var names toolbox.Names
	var ours []toolbox.Ref
	for _, tool := range metaTools {
		ours = append(ours, toolbox.Ref{Name: tool.name}) // no tool of a server can be this one
	}
	names.Assign(ours)
	var once []toolbox.Ref
	for _, ref := range refs {
		if !slices.Contains(once, ref) {
			once = append(once, ref)
		}
	}
	return pinned{once, names.Assign(once)}
}

// areOf reports whether tools of the toolbox are pinned.
func (p pinned) areOf(name string) bool {
	return slices.ContainsFunc(p.refs, func(ref toolbox.Ref) bool { return ref.Toolbox == name })
}

func (p pinned) find(name string) (toolbox.Ref, bool) {
	i := slices.Index(p.names, name)
	if i < 0 {
		return toolbox.Ref{}, false
	}
	return p.refs[i], true
}

// pinnedServer returns the server of a pinned tool if the client may see it.
func (s *Surface) pinnedServer(ref toolbox.Ref) (*fleet.Server, bool) {
	box, ok := s.visible.Toolbox(ref.Toolbox)
	if !ok {
		return nil, false
	}
	return box.Server(ref.Server)
}

// appendPinned appends the pinned tools that are known to be offered.
func (s *Surface) appendPinned(list []byte, session Session) []byte {
	for i, ref := range s.pinned.refs {
		server, ok := s.pinnedServer(ref)
		if !ok {
			continue
		}
		offered := server.OfferedFor(session.Profile())
		if offered == nil {
			continue
		}
		if tool, ok := offered.Find(ref.Name); ok {
			list = appendPinnedDefinition(append(list, ','), withLinks(session, ref, tool), s.pinned.names[i])
		}
	}
	return list
}

// appendPinnedDefinition appends the server's own definition under the pinned name, marked to be always loaded.
func appendPinnedDefinition(dst []byte, tool catalog.Tool, name string) []byte {
	tool = withChangedMark(tool)
	members := wire.AppendWithMembers([]byte(`"_meta":`), metaOf(tool),
		func(key string) bool { return key == "anthropic/alwaysLoad" }, []byte(alwaysLoad))
	return wire.AppendWithMembers(dst, wire.Raw(appendRenamed(nil, tool, name)),
		func(key string) bool { return key == "_meta" }, members)
}

// callPinned calls a pinned tool; ok is false if there is none with this name.
func (s *Surface) callPinned(request *Request) (ok bool) {
	ref, ok := s.pinned.find(request.Name)
	if !ok {
		return false
	}
	if _, visible := s.visible.Toolbox(ref.Toolbox); !visible {
		return false
	}
	s.callNamed(request, ref)
	return true
}

// unseenPinned returns the servers of pinned tools that were never connected.
func (s *Surface) unseenPinned(session Session) (unseen []*fleet.Server) {
	for _, ref := range s.pinned.refs {
		server, ok := s.pinnedServer(ref)
		if ok && !slices.Contains(unseen, server) && server.OfferedFor(session.Profile()) == nil && !server.Denies(session.Profile(), ref.Name) {
			unseen = append(unseen, server)
		}
	}
	return unseen
}

package metatool

import (
	"fmt"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// offeredTo returns the server's last known list for a client that uses its tools by native names.
func offeredTo(profile *fleet.ClientProfile, server *fleet.Server) *catalog.Snapshot {
	return server.For(profile).Offered().For(profile.Caller())
}

// eachTool yields the tools of a server's list; nil has none.
func eachTool(box *fleet.Toolbox, server *fleet.Server, offered *catalog.Snapshot, yield func(toolbox.Ref, catalog.Tool)) {
	if offered == nil {
		return
	}
	for _, tool := range offered.Tools {
		yield(toolbox.Ref{Toolbox: box.Name, Server: server.Name(), Name: tool.Name}, tool)
	}
}

// appendNative appends the tools of the client's open toolboxes to a list, in the order of the configuration and of
// the servers' lists.
func (s *Surface) appendNative(list []byte, session Session) []byte {
	for _, box := range s.visible.Toolboxes() {
		if !session.IsOpen(box.Name) {
			continue
		}
		for _, server := range box.Servers {
			eachTool(box, server, offeredTo(session.Profile(), server), func(ref toolbox.Ref, tool catalog.Tool) {
				if _, taken := s.pinned.find(ref.NativeName()); taken {
					return
				}
				list = appendNativeDefinition(append(list, ','), ref, withLinks(session, ref, tool))
			})
		}
	}
	return list
}

// unseenNative returns the servers that have to be connected for a complete list. For clients that open toolboxes
// there are none, since opening connects them. Clients of the modern era need a complete list from the beginning.
func (s *Surface) unseenNative(profile *fleet.ClientProfile) (unseen []*fleet.Server) {
	if s.mode != config.Dynamic || !profile.Modern() {
		return nil
	}
	for _, box := range s.visible.Toolboxes() {
		for _, server := range box.Servers {
			if server.OfferedFor(profile) == nil {
				unseen = append(unseen, server)
			}
		}
	}
	return unseen
}

// appendNativeDefinition appends the server's own definition with another name and description, and our members of
// _meta.
func appendNativeDefinition(dst []byte, ref toolbox.Ref, tool catalog.Tool) []byte {
	origin := wire.AppendMember(nil, "source_server", ref.Server)
	origin = wire.AppendMember(origin, "toolbox_name", ref.Toolbox)
	origin = wire.AppendMember(origin, "original_name", ref.Name)
	tool = withChangedMark(tool)
	description, _ := tool.Definition.Member("description").Text()

	members := wire.AppendMember(nil, "description", fmt.Sprintf("[%s/%s] %s", ref.Toolbox, ref.Server, description))
	members = append(members, `,"_meta":`...)
	members = wire.AppendWithMembers(members, metaOf(tool), func(key string) bool {
		return key == "source_server" || key == "toolbox_name" || key == "original_name"
	}, origin)
	named := wire.AppendEdited(nil, tool.Definition,
		wire.Edit{Part: tool.Definition.Member("name"), With: wire.AppendString(nil, ref.NativeName())})
	return wire.AppendWithMembers(dst, wire.Raw(named), func(key string) bool {
		return key == "description" || key == "_meta"
	}, members)
}

// withChangedMark returns a tool with a mark in _meta if the server changed its definition. The rest stays the
// server's own.
func withChangedMark(tool catalog.Tool) catalog.Tool {
	if !tool.Changed {
		return tool
	}
	members := wire.AppendWithMembers([]byte(`"_meta":`), metaOf(tool), func(key string) bool { return key == protocol.MetaChanged },
		[]byte(`"`+protocol.MetaChanged+`":true`))
	tool.Definition = wire.Raw(wire.AppendWithMembers(nil, tool.Definition, func(key string) bool { return key == "_meta" }, members))
	return tool
}

// metaOf returns the _meta of a tool, or an empty object.
func metaOf(tool catalog.Tool) wire.Payload {
	if meta := tool.Definition.Member("_meta"); meta.Kind() == "object" {
		return meta
	}
	return wire.Raw([]byte("{}"))
}

// callNative calls a tool by its native name.
func (s *Surface) callNative(request *Request) {
	ref, found := s.findNative(request.Session, request.Name)
	if !found {
		parsed, ok := toolbox.ParseNativeName(request.Name)
		if !ok {
			request.fail(fmt.Sprintf("Error: Invalid tool name format '%s'. Expected format: {toolbox}__{server}__{tool} "+
				"(note: double underscores between all components)", request.Name))
			return
		}
		if !request.Session.IsOpen(parsed.Toolbox) {
			s.failUnknownToolbox(&request.Origin, fmt.Sprintf("Error: Toolbox '%s' not found\nCall open_toolbox first. %s", parsed.Toolbox, s.availableToolboxes()))
			return
		}
		ref = parsed
	}
	s.callNamed(request, ref)
}

// nativeArguments returns the arguments of a tool that was called by a name of its own.
func nativeArguments(sent wire.Payload) wire.Payload {
	arguments, problem := parseArguments(sent)
	if problem != "" {
		return sent // the server knows best what to say of them
	}
	return arguments
}

// findNative looks a native name up among the tools that the client sees. Short names cannot be parsed, so a table is
// needed.
func (s *Surface) findNative(session Session, name string) (toolbox.Ref, bool) {
	for _, box := range s.visible.Toolboxes() {
		if !session.IsOpen(box.Name) {
			continue
		}
		for _, server := range box.Servers {
			if ref, ok := s.names.find(box, server.For(session.Profile()), session.Profile().Caller(), name); ok {
				return ref, true
			}
		}
	}
	return toolbox.Ref{}, false
}

// maxNativeTables is the number of tables that are kept: clients may have server instances of their own, which end
// with them.
const maxNativeTables = 1000

// nativeNames maps native names to tools. Each server has a table, which is rebuilt when the server's tools change. All
// clients of a surface are the same caller.
type nativeNames struct {
	mu     sync.Mutex
	tables map[*fleet.Server]nativeTable
}

type nativeTable struct {
	of   *catalog.Snapshot
	refs map[string]toolbox.Ref
}

func (n *nativeNames) find(box *fleet.Toolbox, server *fleet.Server, caller, name string) (toolbox.Ref, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	table := n.tables[server]
	if offered := server.Offered().For(caller); table.of != offered {
		table = nativeTable{of: offered, refs: make(map[string]toolbox.Ref)}
		eachTool(box, server, offered, func(ref toolbox.Ref, _ catalog.Tool) { table.refs[ref.NativeName()] = ref })
		if offered != nil {
			for _, name := range offered.Denied { // the call tells why
				ref := toolbox.Ref{Toolbox: box.Name, Server: server.Name(), Name: name}
				table.refs[ref.NativeName()] = ref
			}
		}
		if n.tables == nil || len(n.tables) >= maxNativeTables {
			n.tables = make(map[*fleet.Server]nativeTable)
		}
		n.tables[server] = table
	}
	ref, ok := table.refs[name]
	return ref, ok
}

// InputSchema returns the input schema of a tool that the client calls by a name of its own. It is absent if it is not
// known, and for meta-tools.
func (s *Surface) InputSchema(session Session, name string) wire.Payload {
	var ref toolbox.Ref
	ok := false
	switch {
	case s.showsNoticeOnly():
	case s.mode == config.Direct:
		ref, ok = s.findDirect(session.Profile(), name)
	default:
		if ref, ok = s.pinned.find(name); !ok && s.mode == config.Dynamic {
			ref, ok = s.findNative(session, name)
		}
	}
	if !ok {
		return wire.Payload{}
	}
	box, ok := s.visible.Toolbox(ref.Toolbox)
	if !ok {
		return wire.Payload{}
	}
	server, ok := box.Server(ref.Server)
	if !ok {
		return wire.Payload{}
	}
	offered := server.OfferedFor(session.Profile())
	if offered == nil {
		return wire.Payload{}
	}
	tool, _ := offered.Find(ref.Name)
	return tool.Definition.Member("inputSchema")
}

package metatool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// nearestTools is how many names the error about an unknown tool suggests.
const nearestTools = 3

// directTools is a snapshot of the tools of all visible servers. The tools of a server that is not
// running are those of its last run.
type directTools struct {
	refs   []toolbox.Ref
	tools  []catalog.Tool
	unseen []*fleet.Server // were never connected
	stored []*fleet.Server // were not connected in this run: their tools may have changed
}

func (s *Surface) directTools(profile *fleet.ClientProfile) directTools {
	var d directTools
	for _, box := range s.visible.Toolboxes() {
		for _, server := range box.Servers {
			offered := server.OfferedFor(profile)
			if offered == nil {
				d.unseen = append(d.unseen, server)
				continue
			}
			if offered.Stored {
				d.stored = append(d.stored, server)
			}
			for _, tool := range offered.Tools {
				d.refs = append(d.refs, toolbox.Ref{Toolbox: box.Name, Server: server.Name(), Name: tool.Name})
				d.tools = append(d.tools, tool)
			}
		}
	}
	return d
}

// listDirect connects the servers that were never connected, and lists the tools of all known
// servers. Why a server cannot be connected is in the log: the list has no place for it.
func (s *Surface) listDirect(request Request) Answer {
	if err := connectUnseen(request, s.directTools(request.Session.Profile()).unseen); err != nil {
		return Answer{Cancelled: err}
	}
	for _, box := range s.visible.Toolboxes() { // before the snapshot: later changes are announced
		request.Session.MarkOpen(box.Name)
	}
	d := s.directTools(request.Session.Profile())
	result := []byte(`{"tools":[`)
	for i, name := range s.visible.Names().Assign(d.refs) {
		if i > 0 {
			result = append(result, ',')
		}
		result = appendRenamed(result, withLinks(request.Session, d.refs[i], d.tools[i]), name)
	}
	return Answer{Text: append(result, "]}"...)}
}

// listedDirect lists the tools without giving new names: the first tool gets the shorter name, and
// that has to be the first in the configuration, not in the order of connecting.
func (s *Surface) listedDirect(profile *fleet.ClientProfile) []byte {
	d := s.directTools(profile)
	var result []byte
	for i, ref := range d.refs {
		name, ok := s.visible.Names().Name(ref)
		if !ok {
			name = ref.NativeName()
		}
		result = appendRenamed(append(result, '\n'), d.tools[i], name)
	}
	for _, server := range d.unseen {
		// A server whose definition was fixed may have tools.
		result = fmt.Appendf(result, "\n%q %q %t", server.Toolbox(), server.Name(), server.FaultFor(profile) != nil)
	}
	return result
}

// appendRenamed appends the server's own definition with another name, and a mark if the server
// changed it. All other bytes stay.
func appendRenamed(dst []byte, tool catalog.Tool, name string) []byte {
	tool = withChangedMark(tool)
	if name == tool.Name {
		return append(dst, tool.Definition.Bytes()...)
	}
	return wire.AppendEdited(dst, tool.Definition,
		wire.Edit{Part: tool.Definition.Member("name"), With: wire.AppendString(nil, name)})
}

// connectAll connects servers in parallel. The error is the cause of a cancelled request.
func connectAll(request Request, servers []*fleet.Server) error {
	ctx, stop := request.Canceller.Context()
	defer stop()
	for _, opened := range call.OriginOf(request.Session).Connect(ctx, servers, request.Session.Profile(), nil) {
		if opened.Lease != nil {
			opened.Lease.Release()
		}
	}
	return context.Cause(ctx)
}

// callDirect calls a tool by its name in direct mode. A client may know the name from an earlier
// session, and the cache may be stale, so servers are connected before a name counts as unknown.
func (s *Surface) callDirect(request *Request) {
	if ref, ok := s.findDirect(request.Session.Profile(), request.Name); ok {
		s.callNamed(request, ref)
		return
	}
	d := s.directTools(request.Session.Profile())
	unconnected := slices.Concat(d.unseen, d.stored)
	ref, isDenied := s.findDenied(request, d, len(d.unseen) == 0)
	switch {
	case isDenied:
		s.callNamed(request, ref)
		return
	case len(unconnected) == 0:
		s.nameAndCall(request, d)
		return
	}
	later := *request // so that the usual call stays off the heap
	go func() {
		if err := connectAll(later, unconnected); err != nil {
			later.Answerer.Answer(Answer{Cancelled: err})
			return
		}
		s.nameAndCall(&later, s.directTools(later.Session.Profile()))
	}()
}

// nameAndCall gives names to all known tools, and looks the name up again.
func (s *Surface) nameAndCall(request *Request, d directTools) {
	s.visible.Names().Assign(d.refs)
	if ref, ok := s.findDirect(request.Session.Profile(), request.Name); ok {
		s.callNamed(request, ref)
		return
	}
	if ref, ok := s.findDenied(request, d, true); ok {
		s.callNamed(request, ref)
		return
	}
	_, given := s.visible.Names().Find(request.Name) // to a tool that is gone, and never to another one
	if server, ok := s.onlyServer(); ok && !given && server.Permits(request.Name) {
		// What it says of a tool that it did not list is what the client is to see.
		s.router.Forward(server, &call.Forwarding{
			Method: protocol.MethodToolsCall, Params: request.Params, Name: request.Name,
			Client: request.Session, Canceller: &request.Canceller.Canceller,
			Replier: s.newInvocation(request, toolbox.Ref{Toolbox: server.Toolbox(), Server: server.Name(), Name: request.Name}, true),
		})
		return
	}
	s.answerUnknown(request.Origin)
}

// onlyServer returns the visible server if there is exactly one.
func (s *Surface) onlyServer() (only *fleet.Server, ok bool) {
	for _, box := range s.visible.Toolboxes() {
		for _, server := range box.Servers {
			if only != nil {
				return nil, false
			}
			only = server
		}
	}
	return only, only != nil
}

// findDirect returns the tool with a name if it is visible and, as far as is known, offered.
func (s *Surface) findDirect(profile *fleet.ClientProfile, name string) (toolbox.Ref, bool) {
	ref, ok := s.visible.Names().Find(name)
	if !ok {
		return ref, false
	}
	box, ok := s.visible.Toolbox(ref.Toolbox)
	if !ok {
		return ref, false
	}
	server, ok := box.Server(ref.Server)
	if !ok {
		return ref, false
	}
	offered := server.OfferedFor(profile)
	if offered == nil { // configured anew since the name was given: the call will tell
		return ref, true
	}
	_, ok = offered.Find(ref.Name)
	return ref, ok || server.Denies(profile, ref.Name) // which the call tells
}

// findDenied returns the tool that a call means by a name which was given to none, if the policy denies that tool:
// calling it tells why. It is denied if every server's tool of that name is; and, once the servers were asked, if one of
// them has such a tool and none offers another one.
func (s *Surface) findDenied(request *Request, d directTools, asked bool) (first toolbox.Ref, ok bool) {
	means := func(ref toolbox.Ref) bool {
		return request.Name == ref.Name || request.Name == ref.Server+toolbox.Separator+ref.Name || request.Name == ref.NativeName()
	}
	asked = asked && !slices.ContainsFunc(d.refs, means)
	isDenied := true
	for _, box := range s.visible.Toolboxes() {
		for _, server := range box.Servers {
			ref := toolbox.Ref{Toolbox: box.Name, Server: server.Name(), Name: request.Name}
			if first == (toolbox.Ref{}) {
				first = ref
			}
			isDenied = isDenied && server.Denies(request.Session.Profile(), ref.Name)
			offered := server.OfferedFor(request.Session.Profile())
			if offered == nil || !asked {
				continue
			}
			for _, ref.Name = range offered.Denied {
				if means(ref) {
					return ref, true
				}
			}
		}
	}
	return first, isDenied && first != (toolbox.Ref{})
}

// maxFaults is the number of faulty servers that an error explains.
const maxFaults = 3

// describeFaults explains what is wrong with the definitions of servers.
func describeFaults(profile *fleet.ClientProfile, servers []*fleet.Server) (text string) {
	told := 0
	for _, server := range servers {
		if fault := server.FaultFor(profile); fault != nil && told < maxFaults {
			text += fmt.Sprintf("\nServer '%s' (toolbox '%s') cannot connect: %s", server.Name(), server.Toolbox(), fault.Brief())
			told++
		}
	}
	return text
}

// answerUnknown suggests similar names, and names the servers that could not be connected.
func (s *Surface) answerUnknown(request Origin) {
	d := s.directTools(request.Session.Profile())
	var names []string
	for _, ref := range d.refs {
		if name, ok := s.visible.Names().Name(ref); ok {
			names = append(names, name)
		}
	}
	text := fmt.Sprintf("Unknown tool: '%.200s'. ", request.Name)
	if near := toolbox.Nearest(request.Name, names, nearestTools); len(near) > 0 {
		text += "Did you mean '" + strings.Join(near, "' or '") + "'?"
	} else {
		text += "The names are those of tools/list."
	}
	if len(d.unseen) > 0 {
		text += " Not connected, and so not asked: " + fleet.NameServers(d.unseen)
	}
	text += describeFaults(request.Session.Profile(), d.unseen)
	if s.notice != "" {
		text += "\n\n" + s.notice
	}
	request.Answerer.Answer(Answer{Error: &Error{Code: protocol.CodeInvalidParams, Message: text}})
}

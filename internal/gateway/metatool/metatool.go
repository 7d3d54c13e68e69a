// Package metatool answers tools/list and tools/call. In proxy mode clients see a few meta-tools instead of hundreds of
// tools: see the table in table.go. Pinned tools, and all tools in dynamic and direct mode, are offered natively, under
// names of their own.
package metatool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Session is the client session that a request came from.
type Session interface {
	call.Client
	// IsOpen reports whether the toolbox is open to the client; see Surface.CountsAsOpen.
	IsOpen(toolbox string) bool
	// MarkOpen opens a toolbox to the client; first is false if it was open already.
	MarkOpen(toolbox string) (first bool)
	// HoldNotifications delays notifications of changed lists until release is called, before the answer.
	HoldNotifications() (release func())
	// WaitUntil returns the deadline of lists that wait for servers. The limit starts with the first call.
	WaitUntil(limit time.Duration) time.Time
	// Links returns the edits of a tool's definition for links to resources that the client knows
	// by another URI.
	Links(ref toolbox.Ref, definition wire.Payload) []wire.Edit
}

// Toolboxes is the part of the fleet that a client may see: all of it, or a view.
type Toolboxes interface {
	Toolboxes() []*fleet.Toolbox
	// DisabledToolboxes returns the toolboxes that are not offered because all of their servers are disabled.
	DisabledToolboxes() []*fleet.Toolbox
	Toolbox(name string) (*fleet.Toolbox, bool)
	// Names holds the names of tools in direct mode. They outlive a surface.
	Names() *toolbox.Names
}

// Options say what clients see, and how.
type Options struct {
	Router  *call.Router // sends the calls of servers' tools; default: one without stages
	Visible Toolboxes
	Mode    config.ToolMode // how tools are offered; "" is proxy mode

	// Discovery is ignored in direct mode, where clients see the servers' own tools only.
	Discovery config.Discovery

	// Reads reports whether a tool only reads, so that read_tool runs it. nil: read_tool is not offered.
	Reads func(ref toolbox.Ref, tool catalog.Tool) bool

	// Notice tells clients why a file of the configuration is not used; "" if all are. Where no
	// toolbox is left, it is the instructions and the answer to every call. Otherwise it comes
	// with the instructions, with every toolbox that is opened, and where a toolbox is not found.
	Notice string

	// ListOpened: clients see resources and prompts only of toolboxes that they opened, so that
	// opening one changes these lists.
	ListOpened bool

	// ServerInstructions: the servers' own instructions replace those of the workbench.
	ServerInstructions bool
}

// Surface is everything that clients can see and call. It is cheap to make.
type Surface struct {
	router    *call.Router
	visible   Toolboxes
	mode      config.ToolMode
	discovery config.Discovery
	notice    string
	reads     reads      // nil: read_tool is not offered
	admitRead call.Admit // refuses what does not read

	listOpened         bool
	serverInstructions bool

	names  nativeNames
	finder finder
	pinned pinned
}

// New makes a surface.
func New(options Options) *Surface {
	s := &Surface{
		router: cmp.Or(options.Router, new(call.Router)), visible: options.Visible, mode: options.Mode, discovery: options.Discovery, notice: options.Notice,
		listOpened: options.ListOpened, serverInstructions: options.ServerInstructions,
	}
	if s.mode == config.Direct {
		s.discovery = config.Discovery{}
	}
	if s.discovery.ReadTool && options.Reads != nil {
		s.reads, s.admitRead = options.Reads, admitRead(options.Reads)
	}
	s.pinned = newPinned(s.discovery.Pinned)
	return s
}

// Call answers a tools/call. It does not block.
func (s *Surface) Call(request *Request) {
	if s.showsNoticeOnly() {
		request.fail(s.notice)
		return
	}
	if s.mode == config.Direct {
		request.restoreArguments()
		s.callDirect(request)
		return
	}
	if s.callMetaTool(request) || s.callPinned(request) {
		return
	}
	switch request.Name {
	case "workbench_" + openName:
		request.fail(fmt.Sprintf(`The tool '%s' is now called '%s'. Call it with {"toolbox":"toolbox-name"}`, request.Name, openName))
	case "workbench_" + useName:
		request.fail(fmt.Sprintf("The tool '%s' is now called '%s'. %s", request.Name, useName, currentForm))
	default:
		if s.mode == config.Dynamic {
			s.callNative(request)
			return
		}
		request.Answerer.Answer(Answer{Error: &Error{Code: protocol.CodeInvalidParams, Message: fmt.Sprintf(
			"Unknown tool: '%.200s'. The tools of a toolbox are called through %s: %s", request.Name, useName, exampleCall)}})
	}
}

// List answers a tools/list. It does not block.
func (s *Surface) List(request Request) {
	if s.mode == config.Direct {
		go func() { request.Answerer.Answer(s.listDirect(request)) }()
		return
	}
	unseen := s.unseenNative(request.Session.Profile())
	for _, server := range s.unseenPinned(request.Session) {
		if !slices.Contains(unseen, server) {
			unseen = append(unseen, server)
		}
	}
	if len(unseen) == 0 {
		request.Answerer.Answer(Answer{Text: s.Listed(request.Session)})
		return
	}
	go func() {
		if err := connectUnseen(request, unseen); err != nil {
			request.Answerer.Answer(Answer{Cancelled: err})
			return
		}
		request.Answerer.Answer(Answer{Text: s.Listed(request.Session)})
	}()
}

// ListPatience is how long a client's first list waits for servers that were never connected. Many
// clients read the list only once, and time out early at their start. Tools that come later are
// announced with tools/list_changed.
const ListPatience = 5 * time.Second

// connectUnseen connects servers that were never connected, and waits for them up to ListPatience. Later lists of the
// same client do not wait. The error is the cause of a cancelled request.
func connectUnseen(request Request, unseen []*fleet.Server) error {
	if len(unseen) == 0 {
		return nil
	}
	profile := request.Session.Profile()
	until := request.Session.WaitUntil(ListPatience)
	if !time.Now().Before(until) {
		for _, server := range unseen {
			server.For(profile).StartInBackground()
		}
		return nil
	}
	ctx, stop := request.Canceller.Context()
	defer stop()
	patience, end := context.WithDeadline(ctx, until)
	defer end()
	for _, opened := range call.OriginOf(request.Session).Connect(patience, unseen, profile, nil) {
		if opened.Lease != nil {
			opened.Lease.Release()
		}
	}
	return context.Cause(ctx)
}

// IsFixed reports whether the instructions and the list of tools depend on the configuration
// alone.
func (s *Surface) IsFixed() bool {
	return s.mode != config.Direct && s.mode != config.Dynamic && s.notice == "" && len(s.pinned.refs) == 0
}

// Listed returns the result of tools/list for a client, from what is known now. In direct mode
// use it only for comparisons: it also names the servers that List would connect first.
func (s *Surface) Listed(session Session) []byte {
	if s.mode == config.Direct {
		return s.listedDirect(session.Profile())
	}
	result := []byte(`{"tools":[`)
	for i, tool := range s.offeredMetaTools(session) {
		if i > 0 {
			result = append(result, ',')
		}
		result = append(result, tool.define(s)...)
	}
	result = s.appendPinned(result, session)
	if s.mode == config.Dynamic {
		result = s.appendNative(result, session)
	}
	return append(result, "]}"...)
}

// Shows reports whether the client's list has tools of the toolbox, so that it is notified when
// they change.
func (s *Surface) Shows(session Session, toolbox string) bool {
	_, visible := s.visible.Toolbox(toolbox)
	switch {
	case !visible:
		return false
	case s.pinned.areOf(toolbox):
		return true
	default:
		return (s.mode == config.Dynamic || s.mode == config.Direct) && session.IsOpen(toolbox)
	}
}

// CountsAsOpen reports whether the toolbox is open to all clients without open_toolbox. It starts
// no servers.
func (s *Surface) CountsAsOpen(toolbox string) bool {
	if !s.discovery.AutoOpen {
		return false
	}
	_, visible := s.visible.Toolbox(toolbox)
	return visible
}

// withLinks returns a tool whose links lead to resources of its own server, even if another server
// has the same URIs.
func withLinks(session Session, ref toolbox.Ref, tool catalog.Tool) catalog.Tool {
	if edits := session.Links(ref, tool.Definition); len(edits) > 0 {
		tool.Definition = wire.Raw(wire.AppendEdited(nil, tool.Definition, edits...))
	}
	return tool
}

package passage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// listing is a kind of list that servers have.
type listing struct {
	method     string
	capability string
	array      string // the member of the result that is the list
	key        string // the member of an entry that names it
}

var (
	resources = &listing{protocol.MethodResourcesList, "resources", "resources", "uri"}
	templates = &listing{protocol.MethodTemplatesList, "resources", "resourceTemplates", "uriTemplate"}
	prompts   = &listing{protocol.MethodPromptsList, "prompts", "prompts", "name"}
	tasks     = &listing{protocol.MethodTasksList, "tasks", "tasks", "taskId"}
)

// Limits of one listing. They are beyond what an honest server sends, and what a client
// could take.
const (
	maxPages   = 1000
	maxEntries = 100_000           // of all servers
	maxBytes   = wire.DefaultLimit // of all servers
	// listTime is how long a server that is up may take to list everything.
	listTime = 30 * time.Second
)

// offered is what one server listed.
type offered struct {
	origin  origin
	version uint64 // see Memory.version
	entries []wire.Payload
	// unsure says that this was not the server's word: it is to be asked again.
	unsure bool
}

// list answers a list with that of all servers, on one page.
func (e *errand) list(ctx context.Context, l *listing) (then func()) {
	if e.request.Params.Member("cursor").Kind() == "string" {
		return func() {
			e.refuse(protocol.CodeInvalidParams, "Invalid params: unknown cursor; the list has one page", nil)
		}
	}
	able := e.able(l.capability)
	lists := e.gather(ctx, able, l)
	names := e.memory.name(l, lists)
	result := []byte(`{"` + l.array + `":[`)
	empty := len(result)
	for i, list := range lists {
		for j, entry := range list.entries {
			if len(result) > empty {
				result = append(result, ',')
			}
			result = appendNamed(result, entry, entry.Member(l.key), names[i][j])
		}
	}
	return func() { e.answer(append(result, "]}"...)) }
}

// appendNamed appends an entry, the server's own but for a name that is another.
func appendNamed(dst []byte, entry, key wire.Payload, name string) []byte {
	if own, ok := key.Text(); !ok || own == name {
		return append(dst, entry.Bytes()...)
	}
	return wire.AppendEdited(dst, entry, wire.Edit{Part: key, With: wire.AppendString(nil, name)})
}

// know makes sure that it is known what the servers list, as far as they tell.
func (e *errand) know(ctx context.Context, l *listing, able []*fleet.Server) {
	var unknown []*fleet.Server
	for _, server := range able {
		if !e.memory.knows(l, originOf(server)) {
			unknown = append(unknown, server)
		}
	}
	if len(unknown) > 0 {
		e.memory.name(l, e.gather(ctx, unknown, l))
	}
}

// gather asks servers for their whole lists, in parallel. One that fails has an empty one.
func (e *errand) gather(ctx context.Context, servers []*fleet.Server, l *listing) []offered {
	lists := make([]offered, len(servers))
	var limit limits
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() {
			o := originOf(server)
			lists[i] = offered{origin: o, version: e.memory.version(l, o)}
			limited, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			var note string
			var err error
			lists[i].entries, note, err = e.pages(limited, server, l, &limit)
			_, isFailure := errors.AsType[*call.Failure](err)
			lists[i].unsure = isFailure || ctx.Err() != nil
			if isFailure {
				e.missed(server)
			}
			switch {
			case ctx.Err() != nil:
			case err != nil:
				e.logFailure(server, l, err)
			case note != "":
				e.passage.log.Warn("a list was cut off", "toolbox", o.toolbox, "server", o.server, "list", l.method, "reason", note)
			}
		})
	}
	group.Wait()
	return lists
}

// logFailure says that a server is left out of a list. That it does not know the method is
// nothing unusual: templates have no capability of their own.
func (e *errand) logFailure(server *fleet.Server, l *listing, err error) {
	if rpc, ok := errors.AsType[*rpcError](err); ok && code(rpc.object) == protocol.CodeMethodNotFound {
		return
	}
	e.passage.log.Warn("a server is left out of a list", "toolbox", server.Toolbox(), "server", server.Name(), "list", l.method, "reason", err)
}

// limits are what all servers of one listing share.
type limits struct{ entries, bytes atomic.Int64 }

// take reports whether there is room for one more entry.
func (l *limits) take(entry wire.Payload) bool {
	return l.entries.Add(1) <= maxEntries && l.bytes.Add(int64(len(entry.Bytes()))) <= maxBytes
}

// pages reads all pages of a server's list. One that does not come to an end is cut off,
// which note then says.
func (e *errand) pages(ctx context.Context, server *fleet.Server, l *listing, limit *limits) (entries []wire.Payload, note string, err error) {
	seen := make(map[string]bool)
	cursor := ""
	for page := 1; ; page++ {
		result, err := e.ask(ctx, server, l.method, e.pageParams(cursor))
		if err != nil && page > 1 && ctx.Err() != nil {
			return entries, fmt.Sprintf("page %d did not come in time", page), nil
		}
		if err != nil {
			return nil, "", err
		}
		list := result.Member(l.array)
		if list.Kind() != "array" {
			return nil, "", fmt.Errorf("'%s' was answered without a list: '%s' is %s", l.method, l.array, list.Kind())
		}
		for entry := range list.Elements() {
			if !limit.take(entry) {
				return entries, "it is too long", nil
			}
			entries = append(entries, entry)
		}
		next, ok := result.Member("nextCursor").Text()
		if !ok || next == "" {
			return entries, "", nil
		}
		if seen[next] || page == maxPages {
			return entries, fmt.Sprintf("it does not come to an end after %d pages", page), nil
		}
		seen[next] = true
		cursor = next
	}
}

// pageParams returns the params of a request for a page: with the client's _meta, but
// without its wish for progress, which cannot be that of several servers.
func (e *errand) pageParams(cursor string) []byte {
	params := []byte("{")
	if meta := e.request.Params.Member("_meta"); meta.Kind() == "object" {
		params = append(params, `"_meta":`...)
		params = wire.AppendWithMembers(params, meta, isProgressToken, nil)
	}
	if cursor != "" {
		params = wire.AppendMember(params, "cursor", cursor)
	}
	return append(params, '}')
}

func isProgressToken(key string) bool { return key == protocol.ProgressToken }

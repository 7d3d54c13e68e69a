package passthrough

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

// listing is a kind of list that servers have.
type listing = catalog.ListKind

var (
	resources = catalog.Resources
	templates = catalog.Templates
	prompts   = catalog.Prompts
	skills    = catalog.Skills
	// Tasks are not kept: they are gone with the server.
	tasks = protocol.TaskList
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
	entries []wire.Payload
	of      *catalog.List // that it was told in; nil for tasks
}

// list answers a list with what is known of those of all servers, on one page. It starts nothing,
// and waits for nobody.
func (e *errand) list(l *listing) (then func()) {
	if refused := e.refuseCursor(); refused != nil {
		return refused
	}
	e.memory.serves(l, e.sights)
	return e.answerList(l, e.offers(l))
}

// offers returns what is known of the servers' lists.
func (e *errand) offers(l *listing) (lists []offered) {
	for _, s := range e.sights {
		if list := s.lists[l]; list != nil {
			lists = append(lists, offered{origin: originOf(s.server), entries: list.Entries, of: list})
		}
	}
	return lists
}

// refuseCursor refuses a request for another page than the first.
func (e *errand) refuseCursor() (then func()) {
	if e.request.Params.Member("cursor").Kind() != "string" {
		return nil
	}
	return e.invalid("unknown cursor; the list has one page")
}

// answerList answers with the lists of several servers as one.
func (e *errand) answerList(l *listing, lists []offered) (then func()) {
	names := e.memory.name(l, lists)
	result := []byte(`{"` + l.Array + `":[`)
	empty := len(result)
	var limit limits
	for i, list := range lists {
		for j, entry := range list.entries {
			if !limit.take(entry) {
				e.passage.Log.Warn("a list was cut off", "list", l.Method, "reason", "it is too long")
				return func() { e.answer(append(result, "]}"...)) }
			}
			if len(result) > empty {
				result = append(result, ',')
			}
			if l == skills {
				result = appendSkill(result, list.origin, entry, names[i][j])
				continue
			}
			result = appendNamed(result, entry, entry.Member(l.Key), names[i][j])
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

// know makes sure that what servers list has names.
func (e *errand) know(l *listing) {
	if lists := e.offers(l); !e.memory.knows(l, lists) {
		e.memory.name(l, lists)
	}
}

// listTasks answers a list of tasks with those of all servers that run.
func (e *errand) listTasks(ctx context.Context) (then func()) {
	if refused := e.refuseCursor(); refused != nil {
		return refused
	}
	return e.answerList(tasks, e.gather(ctx, e.running(tasks.Capability), tasks))
}

// gather asks servers for their whole lists, in parallel. One that fails has an empty one.
func (e *errand) gather(ctx context.Context, servers []*fleet.Server, l *listing) []offered {
	lists := make([]offered, len(servers))
	var limit limits
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() {
			o := originOf(server)
			limited, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			entries, note, err := e.pages(limited, server, l, &limit)
			lists[i] = offered{origin: o, entries: e.ownTasks(server, entries)}
			switch {
			case ctx.Err() != nil:
			case err != nil:
				e.logFailure(server, l, err)
			case note != "":
				e.passage.Log.Warn("a list was cut off", "toolbox", o.toolbox, "server", o.server, "list", l.Method, "reason", note)
			}
		})
	}
	group.Wait()
	return lists
}

// logFailure says that a server is left out of a list. That it does not know the method is
// nothing unusual: not all that have tasks list them.
func (e *errand) logFailure(server *fleet.Server, l *listing, err error) {
	if rpc, ok := errors.AsType[*rpcError](err); ok && code(rpc.object) == protocol.CodeMethodNotFound {
		return
	}
	e.passage.Log.Warn("a server is left out of a list", "toolbox", server.Toolbox(), "server", server.Name(), "list", l.Method, "reason", err)
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
		result, err := e.ask(ctx, server, l.Method, e.pageParams(cursor))
		if err != nil && page > 1 && ctx.Err() != nil {
			return entries, fmt.Sprintf("page %d did not come in time", page), nil
		}
		if err != nil {
			return nil, "", err
		}
		list := result.Member(l.Array)
		if list.Kind() != "array" {
			return nil, "", fmt.Errorf("'%s' was answered without a list: '%s' is %s", l.Method, l.Array, list.Kind())
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

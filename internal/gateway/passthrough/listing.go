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

type listKind = protocol.List

var (
	resources = catalog.Resources
	templates = catalog.Templates
	prompts   = catalog.Prompts
	skills    = catalog.Skills
	// Tasks are not cached: they are gone with the server.
	tasks = protocol.TaskList
)

// Limits of one merged list. They are beyond what an honest server sends and a client can use.
const (
	maxPages   = 1000              // pages of a list that is read from a server; the rest is cut off, with a warning
	maxEntries = 100_000           // entries of a list of all servers; the rest is cut off, with a warning
	maxBytes   = wire.DefaultLimit // size of a list of all servers; the rest is cut off, with a warning
	// listTime is how long a running server may take to send a whole list.
	listTime = 30 * time.Second
)

// serverList is the list of one server.
type serverList struct {
	origin  origin
	entries []wire.Payload
	cached  *catalog.List // that holds the entries; nil for tasks
}

// answerCachedList answers with the cached lists of all servers, on one page. It starts no server and waits for none.
func (r *routing) answerCachedList(list *listKind) (then func()) {
	if refused := r.refuseCursor(); refused != nil {
		return refused
	}
	r.memory.recordServed(list, r.states)
	return r.answerList(list, r.cachedLists(list))
}

// cachedLists returns the cached lists of the servers.
func (r *routing) cachedLists(list *listKind) (lists []serverList) {
	for _, s := range r.states {
		if cached := s.lists[list]; cached != nil {
			lists = append(lists, serverList{origin: originOf(s.server), entries: cached.Entries, cached: cached})
		}
	}
	return lists
}

// refuseCursor refuses a request for any page but the first.
func (r *routing) refuseCursor() (then func()) {
	if r.Params.Member("cursor").Kind() != "string" {
		return nil
	}
	return r.refuseParams("unknown cursor; the list has one page")
}

// answerList answers with the lists of several servers merged into one.
func (r *routing) answerList(list *listKind, lists []serverList) (then func()) {
	names := r.memory.assignNames(list, lists)
	result := []byte(`{"` + list.Array + `":[`)
	empty := len(result)
	var limit limits
	for i, of := range lists {
		for j, entry := range of.entries {
			if !limit.admits(entry) {
				r.forwarder.Log.Warn("a list was cut off", "list", list.Method, "reason", "it is too long")
				return func() { r.answer(append(result, "]}"...)) }
			}
			if len(result) > empty {
				result = append(result, ',')
			}
			if list == skills {
				result = appendSkill(result, of.origin, entry, names[i][j])
				continue
			}
			result = appendNamed(result, entry, entry.Member(list.Key), names[i][j])
		}
	}
	return func() { r.answer(append(result, "]}"...)) }
}

// appendNamed appends an entry of a server, under the name that the client knows.
func appendNamed(dst []byte, entry, key wire.Payload, name string) []byte {
	if own, ok := key.Text(); !ok || own == name {
		return append(dst, entry.Bytes()...)
	}
	return wire.AppendEdited(dst, entry, wire.Edit{Part: key, With: wire.AppendString(nil, name)})
}

// nameEntries makes sure that the entries of the cached lists have names.
func (r *routing) nameEntries(list *listKind) {
	if lists := r.cachedLists(list); !r.memory.hasNamed(list, lists) {
		r.memory.assignNames(list, lists)
	}
}

// listTasks answers with the tasks of all running servers.
func (r *routing) listTasks(ctx context.Context) (then func()) {
	if refused := r.refuseCursor(); refused != nil {
		return refused
	}
	return r.answerList(tasks, r.requestLists(ctx, r.running(r.method), tasks))
}

// requestLists requests the whole lists of servers, in parallel. A server that fails has an empty one.
func (r *routing) requestLists(ctx context.Context, servers []*fleet.Server, list *listKind) []serverList {
	lists := make([]serverList, len(servers))
	var limit limits
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() {
			o := originOf(server)
			limited, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			entries, cutOff, err := r.requestPages(limited, server, list, &limit)
			lists[i] = serverList{origin: o, entries: r.withoutForeignEntries(server, entries)}
			switch {
			case ctx.Err() != nil:
			case err != nil:
				r.logFailure(server, list, err)
			case cutOff != "":
				r.forwarder.Log.Warn("a list was cut off", "toolbox", o.toolbox, "server", o.server, "list", list.Method, "reason", cutOff)
			}
		})
	}
	group.Wait()
	return lists
}

// logFailure logs that a server is left out of a list. An unknown method is usual: not all servers with tasks list them.
func (r *routing) logFailure(server *fleet.Server, list *listKind, err error) {
	if rpc, ok := errors.AsType[*rpcError](err); ok && code(rpc.object) == protocol.CodeMethodNotFound {
		return
	}
	r.forwarder.Log.Warn("a server is left out of a list", "toolbox", server.Toolbox(), "server", server.Name(), "list", list.Method, "reason", err)
}

// limits are shared by all servers of one merged list.
type limits struct{ entries, bytes atomic.Int64 }

// admits counts an entry, and reports whether there is room for it.
func (l *limits) admits(entry wire.Payload) bool {
	return l.entries.Add(1) <= maxEntries && l.bytes.Add(int64(len(entry.Bytes()))) <= maxBytes
}

// requestPages reads all pages of a server's list. cutOff says why a list that does not end was cut off.
func (r *routing) requestPages(ctx context.Context, server *fleet.Server, list *listKind, limit *limits) (entries []wire.Payload, cutOff string, err error) {
	seen := make(map[string]bool)
	cursor := ""
	for page := 1; ; page++ {
		result, err := r.ask(ctx, server, list.Method, r.pageParams(cursor))
		if err != nil && page > 1 && ctx.Err() != nil {
			return entries, fmt.Sprintf("page %d did not come in time", page), nil
		}
		if err != nil {
			return nil, "", err
		}
		array := result.Member(list.Array)
		if array.Kind() != "array" {
			return nil, "", fmt.Errorf("'%s' was answered without a list: '%s' is %s", list.Method, list.Array, array.Kind())
		}
		for entry := range array.Elements() {
			if !limit.admits(entry) {
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

// pageParams returns the params of a request for a page: with the client's _meta, but without its progress token, which
// several servers cannot share.
func (r *routing) pageParams(cursor string) []byte {
	params := []byte("{")
	if meta := r.Params.Member("_meta"); meta.Kind() == "object" {
		params = append(params, `"_meta":`...)
		params = wire.AppendWithMembers(params, meta, isProgressToken, nil)
	}
	if cursor != "" {
		params = wire.AppendMember(params, "cursor", cursor)
	}
	return append(params, '}')
}

func isProgressToken(key string) bool { return key == protocol.ProgressToken }

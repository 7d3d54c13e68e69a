package downstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of one listing, higher than an honest server needs.
const (
	maxPages   = 1000              // pages of a tool list; the rest is cut off, with a warning
	maxEntries = 100_000           // tools of a server; the rest is cut off, with a warning
	maxListed  = wire.DefaultLimit // bytes of a listing; checked after each page
)

// ListTools returns the raw definitions of all tools of the server, from all pages, in the server's order. A listing
// beyond the limits is cut off after at least one page; note then says so.
func (s *Session) ListTools(ctx context.Context) (tools []wire.Payload, note string, err error) {
	tools, note, err = s.listAll(ctx)
	if err != nil {
		return nil, "", err
	}
	tools, refused := s.filterMirrored(tools)
	if note != "" && refused != "" {
		note += "; "
	}
	return tools, note + refused, nil
}

func (s *Session) listAll(ctx context.Context) (tools []wire.Payload, note string, err error) {
	if !s.hasTools {
		return nil, "", nil
	}
	return s.List(ctx, protocol.MethodToolsList, "tools")
}

// List returns the entries of any list of the server, from all pages, in the server's order. array is the member of the
// results with the entries. A listing beyond the limits is cut off after at least one page; note then says so.
func (s *Session) List(ctx context.Context, method, array string) (entries []wire.Payload, note string, err error) {
	params := s.params(nil)
	seen := make(map[string]bool)
	size := 0
	began := time.Now()
	for page := 1; ; page++ {
		if deadline, ok := ctx.Deadline(); ok && page == 2 {
			// An endless list must leave time for the next steps.
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, began.Add(deadline.Sub(began)*2/3))
			defer cancel()
		}
		result, err := s.request(ctx, method, params)
		if err != nil && page > 1 && errors.Is(err, context.DeadlineExceeded) {
			return entries, fmt.Sprintf("The list of %s was cut off after %d pages: the next one did not come in time", array, page-1), nil
		}
		if err != nil {
			return nil, "", err
		}
		size += len(result.Bytes())
		list := result.Member(array)
		if list.Kind() != "array" {
			return nil, "", fmt.Errorf("'%s' was answered without a list: '%s' is %s", method, array, list.Kind())
		}
		for entry := range list.Elements() {
			entries = append(entries, entry)
		}
		cursor, ok := result.Member("nextCursor").Text()
		if !ok || cursor == "" {
			return entries, "", nil
		}
		if seen[cursor] || page == maxPages || len(entries) > maxEntries || size > maxListed {
			return entries, fmt.Sprintf("The list of %s was cut off after %d pages: it does not come to an end", array, page), nil
		}
		seen[cursor] = true
		params = s.params(wire.AppendMember(nil, "cursor", cursor))
	}
}

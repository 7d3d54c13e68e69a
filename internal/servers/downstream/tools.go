package downstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Limits of one listing. They are beyond what an honest server sends.
const (
	maxPages   = 1000              // pages of a tool list; the rest is cut off, with a warning
	maxEntries = 100_000           // tools of a server; the rest is cut off, with a warning
	maxListed  = wire.DefaultLimit // bytes; one page more may be read
)

// ListTools returns the raw definitions of all the server's tools, across all pages,
// in the server's order. A listing that does not come to an end is cut off, which
// note then says, as long as there is a first page.
func (s *Session) ListTools(ctx context.Context) (tools []wire.Payload, note string, err error) {
	tools, note, err = s.listAll(ctx)
	if err != nil {
		return nil, "", err
	}
	tools, refused := s.heed(tools)
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

// List returns the entries of any list of the server, across all pages, in the server's order.
// Array is the member of the results that has them. A listing that does not come to an end is cut
// off, which note then says, as long as there is a first page.
func (s *Session) List(ctx context.Context, method, array string) (entries []wire.Payload, note string, err error) {
	params := s.params(nil)
	seen := make(map[string]bool)
	size := 0
	began := time.Now()
	for page := 1; ; page++ {
		if deadline, ok := ctx.Deadline(); ok && page == 2 {
			// A list without an end must leave time for what comes after it.
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

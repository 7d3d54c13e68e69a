package downstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Limits of one listing. They are beyond what an honest server sends.
const (
	maxPages = 1000
	maxTools = 100_000
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
	params := s.params(nil)
	seen := make(map[string]bool)
	began := time.Now()
	for page := 1; ; page++ {
		if deadline, ok := ctx.Deadline(); ok && page == 2 {
			// A list without an end must leave time for what comes after it.
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, began.Add(deadline.Sub(began)*2/3))
			defer cancel()
		}
		result, err := s.request(ctx, protocol.MethodToolsList, params)
		if err != nil && page > 1 && errors.Is(err, context.DeadlineExceeded) {
			return tools, fmt.Sprintf("The list of tools was cut off after %d pages: the next one did not come in time", page-1), nil
		}
		if err != nil {
			return nil, "", err
		}
		list := result.Member("tools")
		if list.Kind() != "array" {
			return nil, "", fmt.Errorf("'tools/list' was answered without a list: 'tools' is %s", list.Kind())
		}
		for tool := range list.Elements() {
			tools = append(tools, tool)
		}
		cursor, ok := result.Member("nextCursor").Text()
		if !ok || cursor == "" {
			return tools, "", nil
		}
		if seen[cursor] || page == maxPages || len(tools) > maxTools {
			return tools, fmt.Sprintf("The list of tools was cut off after %d pages: it does not come to an end", page), nil
		}
		seen[cursor] = true
		params = s.params(wire.AppendMember(nil, "cursor", cursor))
	}
}

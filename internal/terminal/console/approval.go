package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/localclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// approve asks the person whether the policy may let the call pass. Where nobody is present, the workbench learns that, and
// may have somebody else to ask.
func (r *activeCall) approve(ctx context.Context, params wire.Payload) ([]byte, error) {
	question, rest, _ := strings.Cut(strings.TrimSpace(tty.Clean(text(params.Member("message")))), "\n")
	if !r.Err.IsInteractive() {
		return nil, &localclient.Error{Code: protocol.CodeInternalError, Message: "Nobody can answer here"}
	}
	fmt.Fprintln(r.Err, r.Err.Paint(tty.Strong, r.Err.Wrap(question, 0)))
	for line := range strings.Lines(rest) {
		text := strings.TrimLeft(strings.TrimSuffix(line, "\n"), " ")
		indent := len(strings.TrimSuffix(line, "\n")) - len(text)
		fmt.Fprintln(r.Err, strings.Repeat(" ", indent)+r.Err.Wrap(text, indent+2)) // what goes on is no line of its own
	}
	choice, err := r.Err.Choose(ctx, "Allow it?", approval.Titles)
	switch {
	case errors.Is(err, io.EOF):
		return []byte(cancelled), nil
	case err != nil:
		return nil, err
	}
	return approval.Chosen(choice), nil
}

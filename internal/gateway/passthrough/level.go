package passthrough

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func isLevel(level string) bool { return slices.Contains(levels, level) }

// setLevel tells all servers that log, and those that come later, from which level on the
// client wants their messages. It fails only if all of them refuse it.
func (e *errand) setLevel(ctx context.Context) (then func()) {
	able := e.running("logging")
	level, _ := e.request.Params.Member("level").Text()
	if len(able) == 0 {
		return e.levelForLater
	}
	params := e.plainParams()
	if isLevel(level) {
		e.carrier.setLogLevel(params)
	}
	errs := make([]error, len(able))
	var group sync.WaitGroup
	for i, server := range able {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			_, errs[i] = e.ask(ctx, server, e.request.Method, slices.Clone(params))
		})
	}
	group.Wait()
	if slices.Contains(errs, nil) {
		return func() { e.answer([]byte("{}")) }
	}
	return func() { e.refuseAs(able[0], errs[0]) }
}

// refuseAs answers with the error of a question of ours.
func (e *errand) refuseAs(server *fleet.Server, err error) {
	if rpc, ok := errors.AsType[*rpcError](err); ok {
		e.request.Replier.Reply(call.Outcome{Error: rpc.object}, nil)
		return
	}
	failure, ok := errors.AsType[*call.Failure](err)
	if !ok {
		failure = &call.Failure{Message: err.Error()}
	}
	e.refuse(protocol.CodeInternalError, e.explain(server, failure), nil)
}

// levelForLater remembers the level for servers that come later.
func (e *errand) levelForLater() {
	if level, _ := e.request.Params.Member("level").Text(); !isLevel(level) {
		e.refuse(protocol.CodeInvalidParams, "Invalid params: 'level' must be one of "+strings.Join(levels, ", "), nil)
		return
	}
	e.carrier.setLogLevel(e.plainParams())
	e.answer([]byte("{}"))
}

// plainParams returns a copy of the params for several servers: without the wish for
// progress.
func (e *errand) plainParams() []byte {
	meta := e.request.Params.Member("_meta")
	if meta.Kind() != "object" {
		return slices.Clone(e.request.Params.Bytes())
	}
	return wire.AppendEdited(nil, e.request.Params,
		wire.Edit{Part: meta, With: wire.AppendWithMembers(nil, meta, isProgressToken, nil)})
}

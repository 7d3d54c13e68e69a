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

// setLevel sets the client's log level in all running servers that log, and in those that start later. It fails only if
// all of them refuse it.
func (r *routing) setLevel(ctx context.Context) (then func()) {
	able := r.running(r.method)
	if len(able) == 0 {
		return r.setLevelForLater
	}
	params := r.paramsForSeveral()
	if level, _ := r.Params.Member("level").Text(); protocol.Severity(level) >= 0 {
		r.keepLogLevel(params)
	}
	errs := make([]error, len(able))
	var group sync.WaitGroup
	for i, server := range able {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			_, errs[i] = r.ask(ctx, server, r.Method, slices.Clone(params))
		})
	}
	group.Wait()
	if slices.Contains(errs, nil) {
		return func() { r.answer([]byte("{}")) }
	}
	return func() { r.refuseWith(able[0], errs[0]) }
}

// keepLogLevel has the level set in sessions that begin later.
func (r *routing) keepLogLevel(params []byte) {
	if profile := r.Session.Profile(); profile != nil {
		profile.SetLogLevel(params)
	}
}

// refuseWith answers with the error that ask returned for a server.
func (r *routing) refuseWith(server *fleet.Server, err error) {
	if rpc, ok := errors.AsType[*rpcError](err); ok {
		r.Replier.Reply(call.Outcome{Error: rpc.object}, nil)
		return
	}
	failure, ok := errors.AsType[*call.Failure](err)
	if !ok {
		failure = &call.Failure{Message: err.Error()}
	}
	r.refuse(protocol.CodeInternalError, r.explain(server, failure), nil)
}

// setLevelForLater keeps the level for servers that start later.
func (r *routing) setLevelForLater() {
	if level, _ := r.Params.Member("level").Text(); protocol.Severity(level) < 0 {
		r.refuse(protocol.CodeInvalidParams, "Invalid params: 'level' must be one of "+strings.Join(protocol.LogLevels(), ", "), nil)
		return
	}
	r.keepLogLevel(r.paramsForSeveral())
	r.answer([]byte("{}"))
}

// paramsForSeveral returns a copy of the params without the progress token, which several servers cannot share.
func (r *routing) paramsForSeveral() []byte {
	meta := r.Params.Member("_meta")
	if meta.Kind() != "object" {
		return slices.Clone(r.Params.Bytes())
	}
	return wire.AppendEdited(nil, r.Params,
		wire.Edit{Part: meta, With: wire.AppendWithMembers(nil, meta, isProgressToken, nil)})
}

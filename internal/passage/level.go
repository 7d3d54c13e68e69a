package passage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/call"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func isLevel(level string) bool { return slices.Contains(levels, level) }

// setLevel tells all servers that log, and those that come later, from which level on the
// client wants their messages. It fails only if all of them refuse it.
func (e *errand) setLevel(ctx context.Context) (then func()) {
	able := e.able("logging")
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

// SetLevel tells the servers that the client uses from which level on it wants their
// messages, and those that it will use, unless they know. Then it calls then, at the latest
// when ctx ends, perhaps before it returns. It starts no server, and does not block.
func (p *Passage) SetLevel(ctx context.Context, session Session, level string, then func()) {
	memory := session.Memory()
	params := append(wire.AppendMember([]byte("{"), "level", level), '}')
	e := &errand{passage: p, memory: memory, carrier: p.carry(session), request: Request{Method: protocol.MethodSetLevel}}
	e.carrier.setLogLevel(params)
	var untold []*fleet.Server
	for _, server := range p.Servers(session) {
		if live := e.carrier.live(server); live != nil && memory.tell(originOf(server), live, level) {
			untold = append(untold, server)
		}
	}
	if len(untold) == 0 {
		then()
		return
	}
	go func() {
		limited, cancel := context.WithTimeout(ctx, levelTime)
		var group sync.WaitGroup
		for _, server := range untold {
			group.Go(func() {
				if _, err := e.ask(limited, server, protocol.MethodSetLevel, slices.Clone(params)); err != nil {
					p.log.Debug("a server does not take a level of log messages", "toolbox", server.Toolbox(), "server", server.Name(), "reason", err)
				}
			})
		}
		group.Wait()
		cancel()
		then()
	}()
}

// levelTime is how long a request waits for servers to take the level that it asks for.
const levelTime = 2 * time.Second

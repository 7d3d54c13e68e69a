package downstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// initialize agrees on a revision. A server that knows only an older one answers
// with that; one that refuses what it does not know is offered the next.
func (s *Session) initialize(ctx context.Context) error {
	offers := protocol.Revisions()
	var refusal error
	for len(offers) > 0 {
		result, err := s.request(ctx, protocol.MethodInitialize, s.initializeParams(offers[0]))
		if err == nil {
			return s.accept(ctx, result)
		}
		rpc, isRPC := errors.AsType[*RPCError](err)
		if !isRPC || !strings.Contains(strings.ToLower(rpc.Message), "version") {
			return err
		}
		if refusal == nil {
			refusal = err // the answer to the newest says best what is wrong
		}
		offers = remaining(offers[1:], rpc)
	}
	return refusal
}

// remaining narrows the offers down to what a refusing server says it supports.
func remaining(offers []protocol.Revision, refusal *RPCError) []protocol.Revision {
	var supported []protocol.Revision
	for element := range refusal.Object.Member("data").Member("supported").Elements() {
		if revision, ok := element.Text(); ok {
			supported = append(supported, protocol.Revision(revision))
		}
	}
	if len(supported) == 0 {
		return offers
	}
	return slices.DeleteFunc(offers, func(offer protocol.Revision) bool { return !slices.Contains(supported, offer) })
}

func (s *Session) initializeParams(offer protocol.Revision) []byte {
	params := append([]byte(nil), `{"protocolVersion":`...)
	params = wire.AppendString(params, string(offer))
	params = append(params, `,"capabilities":{},"clientInfo":{"name":"mcp-workbench","version":`...)
	params = wire.AppendString(params, s.options.Version)
	return append(params, "}}"...)
}

func (s *Session) accept(ctx context.Context, result wire.Payload) error {
	revision, _ := result.Member("protocolVersion").Text()
	s.revision = protocol.Revision(revision)
	if !s.revision.Known() {
		return fmt.Errorf("it speaks protocol revision '%.40s', and the workbench speaks %s", revision, spoken())
	}
	s.hasTools = result.Member("capabilities").Member("tools").Kind() == "object"
	return s.writer.Write(ctx, wire.Notification(protocol.NotifyInitialized, nil))
}

func spoken() string {
	var names []string
	for _, revision := range protocol.Revisions() {
		names = append(names, string(revision))
	}
	return strings.Join(names, ", ")
}

package downstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// initialize offers revisions and returns the result for the accepted one. A server that supports only an older
// revision answers with that. A server that refuses an unknown one is offered the next.
func (s *Session) initialize(ctx context.Context) (wire.Payload, error) {
	offers := protocol.Revisions()
	var refusal error
	for len(offers) > 0 {
		result, err := s.request(ctx, protocol.MethodInitialize, s.initializeParams(offers[0]))
		if err == nil {
			return result, nil
		}
		rpc, isRPC := errors.AsType[*RPCError](err)
		if !isRPC || !strings.Contains(strings.ToLower(rpc.Message), "version") {
			return wire.Payload{}, err
		}
		if refusal == nil {
			refusal = err // the answer to the newest explains best what is wrong
		}
		offers = remaining(offers[1:], rpc)
	}
	return wire.Payload{}, refusal
}

// remaining returns the offers that a refusing server says it supports.
func remaining(offers []protocol.Revision, refusal *RPCError) []protocol.Revision {
	supported := revisionsIn(refusal.Object.Member("data").Member("supported"))
	if len(supported) == 0 {
		return offers
	}
	return slices.DeleteFunc(offers, func(offer protocol.Revision) bool { return !slices.Contains(supported, offer) })
}

func (s *Session) initializeParams(offer protocol.Revision) []byte {
	params := append([]byte(nil), `{"protocolVersion":`...)
	params = wire.AppendString(params, string(offer))
	params = append(params, `,"capabilities":`...)
	params = append(params, s.capabilities()...)
	params = append(params, `,"clientInfo":`...)
	params = append(params, s.clientInfo()...)
	if s.options.Hops != "" && s.options.MarkMessages {
		params = append(wire.AppendMember(append(params, `,"_meta":{`...), hops.Meta, s.options.Hops), '}')
	}
	return append(params, '}')
}

func (s *Session) capabilities() []byte {
	if len(s.options.Capabilities) == 0 {
		return []byte("{}")
	}
	return s.options.Capabilities
}

func (s *Session) clientInfo() []byte {
	info := wire.AppendMember([]byte("{"), "name", protocol.OwnName)
	return append(wire.AppendMember(info, "version", s.options.Version), '}')
}

// agreedOn returns the revision in a server's answer to initialize.
func agreedOn(result wire.Payload) (protocol.Revision, error) {
	text, _ := result.Member("protocolVersion").Text()
	revision := protocol.Revision(text)
	if !revision.Known() {
		return "", fmt.Errorf("it speaks protocol revision '%.40s', and the workbench speaks %s", text, spoken())
	}
	return revision, nil
}

// beginLegacy begins a legacy session.
func (s *Session) beginLegacy(ctx context.Context, result wire.Payload) (err error) {
	if s.revision, err = agreedOn(result); err != nil {
		return err
	}
	s.hasTools, s.offer, s.info = offersTools(result), result, result.Member("serverInfo")
	return s.confirm(ctx)
}

// confirm begins a session of the negotiated legacy revision.
func (s *Session) confirm(ctx context.Context) error {
	initialized := wire.Notification(protocol.NotifyInitialized, nil)
	s.tapSent(initialized)
	return s.transport.beginSession(ctx, s.revision, initialized)
}

// offersTools reports whether the result of initialize or of the probe declares tools.
func offersTools(result wire.Payload) bool {
	return result.Member("capabilities").Member("tools").Kind() == "object"
}

func spoken() string {
	names := []string{string(protocol.Revision20260728)}
	for _, revision := range protocol.Revisions() {
		names = append(names, string(revision))
	}
	return strings.Join(names, ", ")
}

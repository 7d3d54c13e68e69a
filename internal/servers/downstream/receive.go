package downstream

import (
	"errors"
	"fmt"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// This file handles the messages of a server, from any transport.

// receive handles one frame. A frame that is not a message is ignored, since many servers print to stdout what belongs
// on stderr. A response without an id counts as the response to the request owner. The error says what is wrong with
// the frame.
func (s *Session) receive(frame wire.Frame, owner uint64) error {
	s.tapReceived(frame.Bytes(), owner)
	if !frame.IsBatch() {
		message, err := wire.Parse(frame)
		if err != nil {
			if !frame.IsCut() { // otherwise the end of the server explains more
				s.reject(frame, err)
			}
			return err
		}
		s.dispatch(message, owner)
		return nil
	}
	messages, rejected, err := wire.ParseBatch(frame)
	for _, reason := range append(rejected, err) {
		if reason != nil {
			s.reject(frame, reason)
			err = reason
		}
	}
	for _, message := range messages {
		s.dispatch(message, owner)
	}
	return err
}

// failSkipped fails the request whose message was too long.
func (s *Session) failSkipped(reason *wire.TooLongError) {
	s.log.Warn("skipped a message of the server", "reason", reason)
	if tap := s.options.Taps.attached(); tap != nil {
		(*tap).Skipped(s, reason.Size)
	}
	s.failRequest(reason.ID, reason.IsRequest, reason)
}

func (s *Session) reject(frame wire.Frame, reason error) {
	s.log.Debug("ignored output of the server that is not a message", "reason", reason, "bytes", len(frame.Bytes()))
	if shape, ok := errors.AsType[*wire.ShapeError](reason); ok {
		if shape.IsRPC {
			s.failRequest(shape.ID.Bytes(), false, reason)
		}
		return
	}
	if id, isRequest := wire.Skim(frame.Bytes()); len(frame.Bytes()) > 0 && frame.Bytes()[0] == '{' {
		s.failRequest(id, isRequest, reason)
	}
}

// failRequest fails the request whose message is unusable.
func (s *Session) failRequest(id []byte, isRequest bool, reason error) {
	if !isRequest {
		s.fail(rawID(id), unusable(reason))
	}
}

func unusable(reason error) error {
	return fmt.Errorf("the server's answer cannot be used: %w", reason)
}

func (s *Session) dispatch(message wire.Message, owner uint64) {
	if message.Repaired {
		s.log.Warn("replaced bytes of the server that are not UTF-8", "bytes", message.Size)
	}
	switch {
	case message.IsResponse():
		id := rawID(message.ID.Bytes())
		if message.ID.IsAbsent() {
			id = owner
		}
		p, ok := s.remove(id)
		if !ok {
			s.log.Debug("ignored an answer that nobody waits for")
			return
		}
		p.sink.Done(message, nil)
	case message.IsRequest():
		s.handleQuestion(message, owner)
	default:
		s.handleNotification(message, owner)
	}
}

func (s *Session) handleNotification(message wire.Message, owner uint64) {
	switch string(message.Method) {
	case protocol.NotifyProgress:
		token := message.Params.Member(protocol.ProgressToken)
		if p, ok := s.markAlive(rawID(token.Bytes())); ok {
			p.sink.Progress(message)
		}
	case protocol.NotifyToolsList:
		// In the modern era there is one subscription, so that the id needs no check.
		if s.options.ToolsChanged != nil {
			s.options.ToolsChanged()
		}
	case protocol.NotifyCancelled:
		s.withdraw(message.Params)
	case protocol.NotifyAcknowledged:
		if s.modern.Load() {
			s.acknowledged(message.Params)
		}
	default:
		s.passNotification(message, owner)
	}
}

// passNotification hands on a notification that may be for clients.
func (s *Session) passNotification(message wire.Message, owner uint64) {
	if s.options.OnNotification == nil {
		return
	}
	if s.modern.Load() {
		if string(message.Method) == protocol.NotifyResourceUpdated && !s.isWanted(message.Params) {
			return
		}
		message.Params = unsubscribed(message.Params)
	}
	caller, several := s.callerOf(owner)
	s.options.OnNotification(message, caller, several)
}

// unsubscribed returns the params of a notification without the id of the workbench's subscription, which has no
// meaning for clients.
func unsubscribed(params wire.Payload) wire.Payload {
	meta := params.Member("_meta")
	if meta.Member(protocol.MetaSubscriptionID).IsAbsent() {
		return params
	}
	isID := func(key string) bool { return key == protocol.MetaSubscriptionID }
	rest := wire.AppendWithMembers(nil, meta, isID, nil)
	if string(rest) != "{}" {
		return wire.Raw(wire.AppendEdited(nil, params, wire.Edit{Part: meta, With: rest}))
	}
	return wire.Raw(wire.AppendWithMembers(nil, params, func(key string) bool { return key == "_meta" }, nil))
}

package front

import (
	"bytes"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// batch collects the responses to an array of messages, which older revisions have, and sends them
// in one array.
type batch struct {
	to      replyPath
	room    *quota
	account account

	mu        sync.Mutex
	waiting   int      // requests without an answer
	responses [][]byte // encoded
	taken     int64    // of room
}

// maxBatchAnswers limits the responses of one account that wait for others of their batch, in
// bytes.
const maxBatchAnswers = 32 << 20

// tryNotify implements replyPath.
func (b *batch) tryNotify(message outgoing) bool { return b.to.tryNotify(message) }

// notify implements replyPath.
func (b *batch) notify(message outgoing) error { return b.to.notify(message) }

// respond implements replyPath: it keeps the response to one request; the last one sends all.
func (b *batch) respond(r response) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if encoded := r.encode(); encoded != nil {
		b.responses = append(b.responses, b.keepResponse(r.id, bytes.TrimSuffix(encoded, []byte("\n"))))
	}
	if b.waiting--; b.waiting > 0 {
		return
	}
	defer b.room.release(b.account, b.taken)
	if len(b.responses) == 0 {
		b.to.respond(noResponse)
		return
	}
	array := append([]byte{'['}, bytes.Join(b.responses, []byte{','})...)
	b.to.respond(response{batch: append(array, "]\n"...)})
}

// keepResponse reserves room for a response until the last one is there, or replaces it by an error.
// Called with mu held.
func (b *batch) keepResponse(id, encoded []byte) []byte {
	if size := int64(len(encoded)); b.room.reserve(b.account, size) {
		b.taken += size
		return encoded
	}
	refusal := wire.ErrorResponse(id, protocol.CodeInternalError,
		"The answer was dropped, for want of room: the answers of a batch are too large together. The call may have run; send it by itself")
	return bytes.TrimSuffix(refusal, []byte("\n"))
}

// receiveBatch handles an array of messages.
func (s *session) receiveBatch(frame wire.Frame, to replyPath) {
	messages, rejected, refusal := s.readBatch(frame)
	if refusal != nil {
		to.respond(*refusal)
		return
	}
	s.dispatchBatch(messages, rejected, to)
}

// readBatch parses an array of messages; rejected are the problems of elements that are not
// messages. A refusal is the response to the batch as a whole.
func (s *session) readBatch(frame wire.Frame) (messages []wire.Message, rejected []error, refusal *response) {
	messages, rejected, err := wire.ParseBatch(frame)
	switch {
	case err != nil:
		return nil, nil, new(rejection(frame, err))
	case !s.revision().HasBatches():
		return nil, nil, new(errorTo(nil, protocol.CodeInvalidRequest, noBatches))
	case len(messages)+len(rejected) == 0:
		return nil, nil, new(errorTo(nil, protocol.CodeInvalidRequest, "Invalid request: the batch is empty"))
	}
	return messages, rejected, nil
}

const noBatches = "Invalid request: the protocol revision in use has no batches; send one message at a time"

func (s *session) dispatchBatch(messages []wire.Message, rejected []error, to replyPath) {
	b := &batch{to: to, room: &s.server.batches, account: s.account, waiting: len(rejected)}
	for _, message := range messages {
		if message.IsRequest() {
			b.waiting++
		}
	}
	if b.waiting == 0 {
		to.respond(noResponse)
	}
	for _, reason := range rejected {
		b.respond(errorTo(nil, protocol.CodeInvalidRequest, "Invalid request: "+reason.Error()))
	}
	for _, message := range messages {
		s.dispatch(&message, b)
	}
}

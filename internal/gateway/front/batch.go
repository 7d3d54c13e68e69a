package front

import (
	"bytes"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// batch collects the answers to an array of messages, which older revisions know: they
// go back in one array.
type batch struct {
	to      replyPath
	room    *quota
	account account

	mu      sync.Mutex
	waiting int // requests without an answer
	answers [][]byte
	taken   int64 // of room
}

// maxBatchAnswers is what the answers of batches may take that one account waits for: none is sent before
// the last is there.
const maxBatchAnswers = 32 << 20

// notify implements sender.
func (b *batch) notify(message []byte) error { return b.to.notify(message) }

// send takes the answer to one request, or nil if it gets none; the last one sends all.
func (b *batch) send(answer []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer != nil {
		b.answers = append(b.answers, b.keep(bytes.TrimSuffix(answer, []byte("\n"))))
	}
	if b.waiting--; b.waiting > 0 {
		return
	}
	defer b.room.release(b.account, b.taken)
	if len(b.answers) == 0 {
		b.to.send(nil)
		return
	}
	array := append([]byte{'['}, bytes.Join(b.answers, []byte{','})...)
	b.to.send(append(array, "]\n"...))
}

// keep finds room for an answer until the last one is there, or puts an error in its place. Called with mu held.
func (b *batch) keep(answer []byte) []byte {
	if size := int64(len(answer)); b.room.reserve(b.account, size) {
		b.taken += size
		return answer
	}
	id, _ := wire.Skim(answer)
	refusal := wire.ErrorResponse(id, protocol.CodeInternalError,
		"The answer was dropped, for want of room: the answers of a batch are too large together. The call may have run; send it by itself")
	return bytes.TrimSuffix(refusal, []byte("\n"))
}

// receiveBatch takes in an array of messages.
func (s *session) receiveBatch(frame wire.Frame, to replyPath) {
	messages, rejected, refusal := s.readBatch(frame)
	if refusal != nil {
		to.send(refusal)
		return
	}
	s.dispatchBatch(messages, rejected, to)
}

// readBatch takes an array of messages apart, rejected being those that are none. If it is not
// taken as a whole, refusal answers it.
func (s *session) readBatch(frame wire.Frame) (messages []wire.Message, rejected []error, refusal []byte) {
	messages, rejected, err := wire.ParseBatch(frame)
	s.mu.Lock()
	allowed := s.revision.HasBatches()
	s.mu.Unlock()
	switch {
	case err != nil:
		refusal = rejection(frame, err)
	case !allowed:
		refusal = wire.ErrorResponse(nil, protocol.CodeInvalidRequest, noBatches)
	case len(messages)+len(rejected) == 0:
		refusal = wire.ErrorResponse(nil, protocol.CodeInvalidRequest, "Invalid request: the batch is empty")
	}
	return messages, rejected, refusal
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
		to.send(nil)
	}
	for _, reason := range rejected {
		b.send(wire.ErrorResponse(nil, protocol.CodeInvalidRequest, "Invalid request: "+reason.Error()))
	}
	for _, message := range messages {
		s.dispatch(&message, b)
	}
}

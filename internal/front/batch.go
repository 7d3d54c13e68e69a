package front

import (
	"bytes"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// batch collects the answers to an array of messages, which older revisions know: they
// go back in one array.
type batch struct {
	to sender

	mu      sync.Mutex
	waiting int // requests without an answer
	answers [][]byte
}

// send takes the answer to one request, or nil if it gets none; the last one sends all.
func (b *batch) send(answer []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer != nil {
		b.answers = append(b.answers, bytes.TrimSuffix(answer, []byte("\n")))
	}
	if b.waiting--; b.waiting > 0 || len(b.answers) == 0 {
		return
	}
	array := append([]byte{'['}, bytes.Join(b.answers, []byte{','})...)
	b.to.send(append(array, "]\n"...))
}

func (s *session) receiveBatch(messages []wire.Message, rejected []error) {
	s.mu.Lock()
	allowed := s.revision.HasBatches()
	s.mu.Unlock()
	switch {
	case !allowed:
		s.refuse(nil, protocol.CodeInvalidRequest, "Invalid request: the protocol revision in use has no batches; send one message per line")
		return
	case len(messages)+len(rejected) == 0:
		s.refuse(nil, protocol.CodeInvalidRequest, "Invalid request: the batch is empty")
		return
	}
	b := &batch{to: s, waiting: len(rejected)}
	for _, message := range messages {
		if message.IsRequest() {
			b.waiting++
		}
	}
	for _, reason := range rejected {
		b.send(wire.ErrorResponse(nil, protocol.CodeInvalidRequest, "Invalid request: "+reason.Error()))
	}
	for _, message := range messages {
		s.dispatch(message, b)
	}
}

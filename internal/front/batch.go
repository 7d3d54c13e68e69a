package front

import (
	"bytes"
	"context"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// batch collects the answers to an array of messages, which older revisions know: they
// go back in one array.
type batch struct {
	pending sync.WaitGroup // requests that are not over

	mu      sync.Mutex
	answers [][]byte
}

func (b *batch) add(_ context.Context, answer []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	// The message may lie in a buffer that is reused once it was sent.
	b.answers = append(b.answers, bytes.Clone(bytes.TrimSuffix(answer, []byte("\n"))))
	return nil
}

func (s *session) receiveBatch(messages []wire.Message, rejected []error) {
	s.mu.Lock()
	allowed, ending := s.revision.HasBatches(), s.ending
	if allowed && !ending {
		s.requests.Add(1)
	}
	s.mu.Unlock()
	switch {
	case ending:
		return
	case !allowed:
		s.refuse(nil, protocol.CodeInvalidRequest, "Invalid request: the protocol revision in use has no batches; send one message per line")
		return
	case len(messages)+len(rejected) == 0:
		s.requests.Done()
		s.refuse(nil, protocol.CodeInvalidRequest, "Invalid request: the batch is empty")
		return
	}
	var b batch
	for _, reason := range rejected {
		_ = b.add(s.life, wire.ErrorResponse(nil, protocol.CodeInvalidRequest, "Invalid request: "+reason.Error()))
	}
	for _, message := range messages {
		if message.IsRequest() {
			b.pending.Add(1)
		}
		s.dispatch(message, b.add, b.pending.Done)
	}
	go func() {
		defer s.requests.Done()
		b.pending.Wait()
		if len(b.answers) == 0 {
			return
		}
		array := append([]byte{'['}, bytes.Join(b.answers, []byte{','})...)
		s.reply(s.life, s.writer.Write, append(array, "]\n"...))
	}()
}

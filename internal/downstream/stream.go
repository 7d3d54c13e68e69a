package downstream

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mcp-workbench/mcp-workbench/internal/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/wire"
)

// Stream is one request in flight: its progress notifications in the order in which
// the server sent them, and then the response. Next and the ending methods are for
// one goroutine.
type Stream struct {
	session *Session
	ctx     context.Context // the request's: nothing is delivered after its end
	id      uint64
	budget  *wire.Budget // of the client that the messages are for; nil: no limit
	events  chan event
	closed  chan struct{}
	held    int // bytes of the message that Next returned last
}

type event struct {
	message wire.Message
	err     error // instead of a response: why there is no usable one
	cost    int
}

// eventQueue is how many messages of one request may wait before the reader does.
const eventQueue = 4

// open registers a request and sends it. The frame is built once its id is known.
func (s *Session) open(ctx context.Context, budget *wire.Budget, build func(id uint64) []byte) (*Stream, error) {
	stream := &Stream{
		session: s, ctx: ctx, budget: budget,
		events: make(chan event, eventQueue), closed: make(chan struct{}),
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.lastID++
	stream.id = s.lastID
	s.pending[stream.id] = stream
	s.mu.Unlock()
	if err := s.writer.Write(ctx, build(stream.id)); err != nil {
		s.remove(stream.id)
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrInputBroken, err)
		}
		return nil, err
	}
	return stream, nil
}

// Next returns the request's next message and frees the one before it. It blocks
// until there is one, ctx ends or the session does. After a response there is none.
func (st *Stream) Next(ctx context.Context) (wire.Message, error) {
	st.release()
	select {
	case next := <-st.events:
		st.held = next.cost
		return next.message, next.err
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	case <-st.session.Done():
	}
	// The reader ended the session after its last delivery, so that what is queued
	// now is all that there will ever be.
	select {
	case next := <-st.events:
		st.held = next.cost
		return next.message, next.err
	default:
		return wire.Message{}, st.session.Err()
	}
}

// Close frees what the stream holds; whatever arrives later is dropped. The request
// itself goes on in the server: see Cancel.
func (st *Stream) Close() {
	st.session.remove(st.id)
	close(st.closed)
	st.release()
	st.drain()
}

// Cancel tells the server to stop working on the request; reason is a JSON string or
// nil. Call Close as well. It waits for room in the queue only as long as ctx allows.
func (st *Stream) Cancel(ctx context.Context, reason []byte) error {
	st.session.remove(st.id)
	params := strconv.AppendUint([]byte(`{"requestId":`), st.id, 10)
	if reason != nil {
		params = append(append(params, `,"reason":`...), reason...)
	}
	return st.session.writer.Write(ctx, wire.Notification(protocol.NotifyCancelled, append(params, '}')))
}

// deliver is called by the session's reader. It waits while the client's budget is
// spent or the queue is full, and gives up when nobody wants the message any more.
func (st *Stream) deliver(message wire.Message) {
	st.put(event{message: message, cost: message.Size})
}

func (st *Stream) fail(err error) { st.put(event{err: err}) }

func (st *Stream) put(next event) {
	if st.budget == nil {
		next.cost = 0
	} else if !st.budget.TryAcquire(next.cost) && st.waitForBudget(next.cost) != nil {
		return
	}
	select {
	case st.events <- next:
	case <-st.closed:
		st.give(next.cost)
	case <-st.ctx.Done():
		st.give(next.cost)
	case <-st.session.Done():
		st.give(next.cost)
	}
	select {
	case <-st.closed: // perhaps after Close looked into the queue for the last time
		st.drain()
	default:
	}
}

func (st *Stream) waitForBudget(bytes int) error {
	ctx, cancel := context.WithCancel(st.ctx)
	defer cancel()
	defer context.AfterFunc(st.session.life, cancel)()
	return st.budget.Acquire(ctx, bytes)
}

func (st *Stream) drain() {
	for {
		select {
		case left := <-st.events:
			st.give(left.cost)
		default:
			return
		}
	}
}

// release frees the message that Next returned last.
func (st *Stream) release() {
	st.give(st.held)
	st.held = 0
}

func (st *Stream) give(bytes int) {
	if bytes > 0 {
		st.budget.Release(bytes)
	}
}

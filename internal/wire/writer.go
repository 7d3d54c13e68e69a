package wire

import (
	"context"
	"errors"
	"io"
	"sync"
)

// ErrClosed is what a Writer says after Close.
var ErrClosed = errors.New("the connection is closed")

// Writer sends messages to one peer, one after the other, from a goroutine of its
// own, so that a peer that does not read blocks only those who have to wait anyway.
// It is safe for concurrent use.
type Writer struct {
	dst    io.Writer
	budget *Budget // of the bytes in the queue and in the write under way

	mu    sync.Mutex
	queue [][]byte
	err   error // why nothing can be queued any more

	wake   chan struct{} // holds a token when queue or err is new
	closed chan struct{} // closed when the goroutine has ended
}

// batchSize is up to where small messages that wait are sent in one write.
const batchSize = 64 << 10

// NewWriter starts a writer that lets at most limit bytes wait. Close ends it.
func NewWriter(dst io.Writer, limit int) *Writer {
	w := &Writer{
		dst: dst, budget: NewBudget(limit),
		wake: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	go w.run()
	return w
}

// Write queues one complete message, newline included, which it owns from then on.
// It blocks while too much waits, until ctx ends or the writer fails. The error of
// an earlier write counts for all later ones.
func (w *Writer) Write(ctx context.Context, message []byte) error {
	if err := w.budget.Acquire(ctx, len(message)); err != nil {
		return err
	}
	return w.enqueue(message)
}

// TryWrite is Write that does not wait; it reports whether the message was queued.
func (w *Writer) TryWrite(message []byte) bool {
	return w.budget.TryAcquire(len(message)) && w.enqueue(message) == nil
}

func (w *Writer) enqueue(message []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.queue = append(w.queue, message)
	w.signal()
	return nil
}

// Close lets what is queued be written and then ends the writer. It waits for that
// until ctx ends; a write that is stuck even then ends when dst is closed.
func (w *Writer) Close(ctx context.Context) error {
	w.fail(ErrClosed)
	select {
	case <-w.closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Closed is closed when nothing is being written any more, and nothing will be.
func (w *Writer) Closed() <-chan struct{} { return w.closed }

// Err returns why nothing can be written any more, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
	w.budget.refuse(err)
	w.signal()
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Writer) run() {
	defer close(w.closed)
	var spare [][]byte
	var batch []byte
	for {
		<-w.wake
		w.mu.Lock()
		messages, last := w.queue, w.err != nil
		w.queue, spare = spare[:0], messages
		w.mu.Unlock()
		for len(messages) > 0 {
			var next []byte
			next, messages, batch = gather(messages, batch)
			_, err := w.dst.Write(next)
			if err != nil {
				w.fail(err)
				return
			}
			w.budget.Release(len(next))
		}
		if last {
			return
		}
		clear(spare) // what was written must not be kept alive
	}
}

// gather takes what goes into the next write: one large message, or several small
// ones copied together.
func gather(messages [][]byte, batch []byte) (next []byte, rest [][]byte, scratch []byte) {
	if len(messages) == 1 || len(messages[0])+len(messages[1]) > batchSize {
		return messages[0], messages[1:], batch
	}
	batch = batch[:0]
	for len(messages) > 0 && len(batch)+len(messages[0]) <= batchSize {
		batch = append(batch, messages[0]...)
		messages = messages[1:]
	}
	return batch, messages, batch
}

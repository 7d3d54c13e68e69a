package wire

import (
	"context"
	"errors"
	"io"
	"sync"
)

// ErrClosed is what a Writer says after Close.
var ErrClosed = errors.New("the connection is closed")

// Writer sends messages to one peer, one after the other. What the peer takes at once is
// written by the caller itself, which saves a switch to another goroutine; the rest is
// left to a goroutine of the writer's own, so that a peer that does not read blocks only
// those who have to wait anyway. It is safe for concurrent use.
type Writer struct {
	dst    io.Writer
	direct *tryWriter // nil where a write may block
	budget *budget    // of the bytes that are left to the goroutine

	mu    sync.Mutex
	held  []byte // is written when the burst ends; nothing is queued then
	told  bool   // bursts will say when that is
	begun bool   // something of the burst was written already
	queue []parcel
	busy  bool  // the goroutine is writing what it took from the queue
	err   error // why nothing can be queued any more

	wake   chan struct{} // holds a token when queue or err is new
	closed chan struct{} // closed when the goroutine has ended
}

// parcel is a message, or the rest of one, that waits.
type parcel struct {
	message []byte
	memory  []byte // to be used again afterwards; nil if others may have a part of it
}

// batchSize is up to where small messages that wait are sent in one write.
const batchSize = 64 << 10

// NewWriter starts a writer that lets at most limit bytes wait. Close ends it.
func NewWriter(dst io.Writer, limit int) *Writer {
	w := &Writer{
		dst: dst, direct: newTryWriter(dst), budget: newBudget(limit),
		wake: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	go w.run()
	return w
}

// Write sends one complete message, newline included, which it owns from then on. It
// blocks while too much waits, until ctx ends or the writer fails. The error of an
// earlier write counts for all later ones.
func (w *Writer) Write(ctx context.Context, message []byte) error {
	return w.write(ctx, parcel{message: message})
}

// TryWrite is Write that does not wait; it reports whether the message was taken.
func (w *Writer) TryWrite(message []byte) bool { return w.tryWrite(parcel{message: message}) }

// WriteOwned is Write for a message of which nobody else has a part: its memory is used again. A message that was not
// taken is still the caller's.
func (w *Writer) WriteOwned(ctx context.Context, message []byte) error {
	return w.write(ctx, parcel{message, message})
}

// TryWriteOwned is WriteOwned that does not wait; it reports whether the message was taken.
func (w *Writer) TryWriteOwned(message []byte) bool { return w.tryWrite(parcel{message, message}) }

func (w *Writer) write(ctx context.Context, p parcel) error {
	if taken, err := w.sendNow(p); taken || err != nil {
		return err
	}
	if err := w.budget.acquire(ctx, len(p.message)); err != nil {
		return err
	}
	return w.enqueue(p)
}

func (w *Writer) tryWrite(p parcel) bool {
	if taken, err := w.sendNow(p); taken || err != nil {
		return taken
	}
	return w.budget.tryAcquire(len(p.message)) && w.enqueue(p) == nil
}

// sendNow writes or holds a message if nothing waits before it. What of it the peer does not
// take at once is left to the goroutine, whatever the budget says: it cannot be taken back.
func (w *Writer) sendNow(p parcel) (taken bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.direct == nil || w.busy || len(w.queue) > 0 {
		return false, w.err
	}
	if len(p.message) <= holdSize && (w.told || hold(w)) {
		w.told = true
		limit := holdSize
		if !w.begun {
			limit = firstHold
		}
		if len(w.held)+len(p.message) > limit {
			w.begun = true
			if err := w.sendHeld(); err != nil {
				return false, err
			}
			if len(w.queue) > 0 {
				return false, nil
			}
		}
		w.held = append(w.held, p.message...)
		recycle(p.memory)
		return true, nil
	}
	if err := w.sendHeld(); err != nil || len(w.queue) > 0 {
		return false, err
	}
	return true, w.sendDirect(p)
}

// sendDirect is called with mu held while nothing is held or queued, nor being written.
func (w *Writer) sendDirect(p parcel) error {
	n, err := w.direct.write(p.message)
	if err != nil {
		w.failLocked(err)
		return err
	}
	if p.message = p.message[n:]; len(p.message) == 0 {
		recycle(p.memory)
		return nil
	}
	w.budget.charge(len(p.message))
	w.queue = append(w.queue, p)
	w.signal()
	return nil
}

// sendHeld writes what is held. It is called with mu held.
func (w *Writer) sendHeld() error {
	if len(w.held) == 0 {
		return nil
	}
	held := w.held
	w.held = w.held[:0]
	err := w.sendDirect(parcel{message: held})
	if len(w.queue) > 0 {
		w.held = nil // its memory is in the queue
	}
	return err
}

// release sends what was held, at the end of a burst.
func (w *Writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told, w.begun = false, false
	if w.err == nil {
		_ = w.sendHeld() // who writes next gets the error
	}
}

// enqueue leaves a message to the goroutine, whose bytes were taken from the budget.
func (w *Writer) enqueue(p parcel) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err := w.sendHeld(); err != nil { // came before it
		return err
	}
	w.queue = append(w.queue, p)
	w.signal()
	return nil
}

// Close lets what is queued be written and then ends the writer. It waits for that
// until ctx ends; a write that is stuck even then ends when dst is closed.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	if w.err == nil {
		_ = w.sendHeld()
	}
	w.failLocked(ErrClosed)
	w.mu.Unlock()
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
	defer w.mu.Unlock()
	w.failLocked(err)
}

func (w *Writer) failLocked(err error) {
	if w.err == nil {
		w.err = err
	}
	w.budget.refuse(err)
	w.signal()
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes what is queued, until the writer fails.
func (w *Writer) run() {
	defer close(w.closed)
	var done []parcel
	for {
		messages, last := w.take(done)
		if !w.writeAll(messages) || last && len(messages) == 0 {
			return
		}
		clear(messages) // what was written must not be kept alive
		done = messages[:0]
	}
}

// take waits for something to write; last says that nothing more will come. The queue
// goes on in the memory of what was taken before.
func (w *Writer) take(spare []parcel) (messages []parcel, last bool) {
	for {
		w.mu.Lock()
		messages, last = w.queue, w.err != nil
		w.busy = len(messages) > 0
		if w.busy {
			w.queue = spare
		}
		w.mu.Unlock()
		if len(messages) > 0 || last {
			return messages, last
		}
		<-w.wake
	}
}

func (w *Writer) writeAll(messages []parcel) bool {
	var batch []byte
	for len(messages) > 0 {
		var next []byte
		var n int
		next, n, batch = gather(messages, batch)
		if _, err := w.dst.Write(next); err != nil {
			w.fail(err)
			return false
		}
		w.budget.release(len(next))
		for _, written := range messages[:n] {
			recycle(written.memory)
		}
		messages = messages[n:]
	}
	return true
}

// gather takes what goes into the next write, of so many messages: one large one, or
// several small ones copied together.
func gather(messages []parcel, scratch []byte) (next []byte, n int, batch []byte) {
	if len(messages) == 1 || len(messages[0].message)+len(messages[1].message) > batchSize {
		return messages[0].message, 1, scratch
	}
	batch = scratch[:0]
	for n < len(messages) && len(batch)+len(messages[n].message) <= batchSize {
		batch = append(batch, messages[n].message...)
		n++
	}
	return batch, n, batch
}

package front

import (
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/tracecontext"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// stream carries messages to a client over HTTP, in order: those of one POST with the response
// last, or, in the stream of the GET, those that belong to no POST. One connection at a time reads
// them; when it breaks, another may continue.
type stream struct {
	number  uint64 // in the session; 0 is the stream of the GET
	request []byte // the id of the request that it answers
	spill   *spillShare
	trace   tracecontext.Carrier // of the POST; zero unless requests are traced
	remote  string               // address that the POST came from

	wake chan struct{} // holds a token when there is something new

	mu     sync.Mutex
	events []event       // sequence numbers without a gap
	last   uint64        // sequence number of the newest event, from 1
	taken  uint64        // sequence number of the newest event that was written
	kept   int64         // bytes of events that were written and are kept
	closed bool          // nothing more will come
	gone   bool          // no connection will come
	lost   chan struct{} // closed when another connection takes over; nil without one

	errorCode int // of the response; 0 for a result

	unattachedSince time.Time // zero while a connection is there; guarded by postStreams.mu
}

// event is one message of a stream.
type event struct {
	sequence uint64
	message  spilledMessage
	answer   bool // the response, the last of the stream of a POST
}

// Limits of one stream.
const (
	// Events that were written are kept up to these, in case the client did not get them.
	replayEvents = 64
	replayBytes  = 64 << 10
	// maxWaiting is how many messages may wait for the client, besides the response.
	maxWaiting = 10_000
)

func newStream(spill *spillShare, number uint64, request []byte) *stream {
	return &stream{number: number, request: request, spill: spill, wake: make(chan struct{}, 1)}
}

// notify implements replyPath. A notification without room is dropped: servers must not wait for
// a client.
func (st *stream) notify(message outgoing) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.push(message.encode(), false); st.gone {
		return err
	}
	return nil
}

// respond implements replyPath.
func (st *stream) respond(r response) {
	code := r.errorCode()
	message := r.encode()
	st.mu.Lock()
	defer st.mu.Unlock()
	if message != nil {
		st.errorCode = code
		if err := st.push(message, true); err != nil && !st.gone {
			text := "The answer was dropped, for want of room: " + err.Error() + ". The call may have run."
			st.add(unaccounted(wire.ErrorResponse(st.request, protocol.CodeInternalError, text)), true)
		}
	}
	st.closed = true
	st.signal()
}

// tryNotify implements notifier.
func (st *stream) tryNotify(message outgoing) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.push(message.encode(), false) == nil
}

// push adds a message if there is room. Called with mu held.
func (st *stream) push(message []byte, answer bool) error {
	if st.gone || st.closed || !answer && st.last-st.taken >= maxWaiting {
		return errUnread
	}
	kept, err := st.spill.store(message)
	if err != nil {
		return err
	}
	st.add(kept, answer)
	return nil
}

// add adds an event. Called with mu held.
func (st *stream) add(message spilledMessage, answer bool) {
	st.last++
	st.events = append(st.events, event{sequence: st.last, message: message, answer: answer})
	st.signal()
}

func (st *stream) signal() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// after returns the event after a sequence number, or the first that is still there. Without one,
// ended says that there will be none.
func (st *stream) after(sequence uint64) (next event, found, ended bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.events) == 0 || sequence >= st.last {
		return event{}, false, st.closed || st.gone
	}
	first := st.events[0].sequence
	return st.events[max(sequence+1, first)-first], true, false
}

// markWritten records that an event was written, and frees those that need not be kept.
func (st *stream) markWritten(e event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if e.sequence <= st.taken {
		return // it was written again
	}
	st.taken = e.sequence
	st.kept += e.message.size
	for len(st.events) > 0 && st.events[0].sequence <= st.taken &&
		(st.kept > replayBytes || st.taken-st.events[0].sequence >= replayEvents) {
		st.kept -= st.events[0].message.size
		st.events[0].message.free()
		st.events[0] = event{}
		st.events = st.events[1:]
	}
}

// lastWritten returns the sequence number of the newest event that was written.
func (st *stream) lastWritten() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.taken
}

// attach makes a connection the one that reads the messages; lost is closed when another one
// attaches.
func (st *stream) attach() (lost chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.lost != nil {
		close(st.lost)
	}
	st.lost = make(chan struct{})
	return st.lost
}

// detach ends the attachment, unless another connection has taken over.
func (st *stream) detach(lost chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.lost == lost {
		st.lost = nil
	}
	st.signal() // the token that this connection received may have been for the next one
}

// isUnread reports whether there are messages that no connection reads.
func (st *stream) isUnread() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.lost == nil && !st.gone && st.taken < st.last
}

// attached reports whether a connection reads the messages.
func (st *stream) attached() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.lost != nil
}

// drop frees everything: no connection will come.
func (st *stream) drop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for i := range st.events {
		st.events[i].message.free()
	}
	st.events = nil
	st.gone = true
	st.signal()
}

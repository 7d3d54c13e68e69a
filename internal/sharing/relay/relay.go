// Package relay forwards one client's messages to a workbench and back. If the connection breaks, it
// reconnects and restores the client's session.
package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Conn is a connection to a workbench. Close ends a pending read.
type Conn interface {
	io.ReadWriteCloser
	// CloseWrite closes the sending direction.
	CloseWrite() error
}

// Options are the two ends of a relay.
type Options struct {
	In  io.ReadCloser  // written by the client; the relay closes it
	Out io.WriteCloser // read by the client; the relay closes it

	// Dial connects to the workbench, which continues the session of Resume. It is called again whenever the connection
	// breaks, and may block until ctx ends.
	Dial func(ctx context.Context, resume Resume) (Conn, error)

	MaxMessage int          // limit in bytes of one message; default wire.DefaultLimit
	Log        *slog.Logger // default: discard
}

// Resume is the state of the session that a workbench continues. The zero value starts a new one.
type Resume struct {
	Opened    []string // toolboxes that the client opened, in that order
	LastAsked uint64   // the last question that the client was asked
	// Broken is the number of consecutive connections that broke soon after they were made.
	Broken int
}

// Limits.
const (
	queueLimit = 4 << 20 // bytes queued for one side
	// longestAnswer is the size of a message from a workbench. It has limits of its own, and a message made of several
	// may exceed those.
	longestAnswer = 1 << 30

	introductionTime = 30 * time.Second // for the handshake of a restored session
	steadyAfter      = 10 * time.Second // after which a connection counts as working

	maxBroken  = 8                      // consecutive connections that break within steadyAfter; then the relay gives up
	firstPause = 100 * time.Millisecond // before the second attempt to connect again; it doubles

	// How a relay ends, in at most the sum of these.
	answerTime = 3 * time.Second        // for responses of the workbench that are still due
	partTime   = time.Second            // of these, for queued messages of the client
	flushTime  = 300 * time.Millisecond // for the last messages of both sides
	readTime   = 100 * time.Millisecond // for a read in progress when the relay ends
)

// relay connects one client with one workbench at a time.
type relay struct {
	options Options
	log     *slog.Logger
	out     *wire.Writer // to the client

	over    context.Context // ends when the relay has to end
	isOver  context.CancelFunc
	record  record
	changed chan struct{} // holds a token when link is new; for the client's reader
	wanted  chan struct{} // holds a token while the client's reader waits for a link

	mu       sync.Mutex
	link     *link       // for the client's messages; nil without one
	done     bool        // the client sends nothing more
	lastCall *time.Timer // the deadline of responses; nil unless done
}

// ErrBroken is the error if connections to the workbench keep breaking.
var ErrBroken = errors.New("the connection to the workbench broke repeatedly")

// Run relays until the client closes its side or ctx ends, and still forwards the responses to requests read by then.
// Errors are those of Dial, or ErrBroken.
func Run(ctx context.Context, options Options) error {
	if options.MaxMessage <= 0 {
		options.MaxMessage = wire.DefaultLimit
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	r := &relay{
		options: options, log: options.Log, out: wire.NewWriter(options.Out, queueLimit),
		changed: make(chan struct{}, 1), wanted: make(chan struct{}, 1), record: newRecord(),
	}
	r.over, r.isOver = context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	tasks.Go(func() { // a client that cannot be written to is gone
		select {
		case <-ctx.Done():
			r.finish()
		case <-r.out.Closed():
			r.finish()
			r.isOver()
		case <-r.over.Done():
		}
	})
	read := make(chan struct{})
	err := r.connect(Resume{})
	if err == nil {
		go func() { // ends with In, which is closed below
			defer close(read)
			r.readClient()
			r.finish()
		}()
		err = r.serve()
	} else {
		close(read)
	}
	done := r.isDone()
	r.isOver()
	tasks.Wait()
	if r.lastCall != nil {
		r.lastCall.Stop()
	}
	r.flush()
	_ = options.Out.Close()
	waitBounded(readTime, func() { _ = options.In.Close(); <-read })
	if done { // errors do not matter to a client that is gone
		return nil
	}
	return err
}

// waitBounded waits for a task that may hang, such as a read from a console. It then leaves the task to the end of the
// program.
func waitBounded(limit time.Duration, task func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		task()
	}()
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	}
}

// flush waits until the last responses are written.
func (r *relay) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := r.out.Close(ctx); err != nil {
		r.log.Warn("the client did not read its last responses")
	}
}

// serve forwards the messages of the workbench, over one connection after another, until the client is done.
func (r *relay) serve() error {
	broken := 0
	for {
		link := r.current()
		link.pump(r)
		r.dropLink(link)
		if r.isDone() {
			return nil
		}
		r.answerLost(link)
		broken++
		if time.Since(link.made) >= steadyAfter {
			broken = 0
		}
		if broken > maxBroken {
			return ErrBroken
		}
		if link.ended {
			broken = 0
			r.log.Info("the workbench ended; the next message of the client starts a new one")
			r.awaitNeed()
		} else {
			r.log.Warn("the connection to the workbench broke; reconnecting")
			r.pause(broken)
		}
		if err := r.connect(r.record.resumeState(broken)); err != nil {
			return err
		}
	}
}

// awaitNeed waits until the client has something to send.
func (r *relay) awaitNeed() {
	select {
	case <-r.wanted:
	case <-r.over.Done():
	}
}

// pause delays the next attempt after repeated failures.
func (r *relay) pause(broken int) {
	if broken < 2 {
		return
	}
	timer := time.NewTimer(firstPause << (broken - 2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.over.Done():
	}
}

// connect makes a connection and restores the client's session on it.
func (r *relay) connect(resume Resume) error {
	conn, err := r.options.Dial(r.over, resume)
	if err != nil {
		return err
	}
	link := newLink(conn)
	link.unwatch = context.AfterFunc(r.over, link.abandon)
	if err := link.restoreSession(r); err != nil {
		// The next read fails, and serve connects again.
		r.log.Warn("the session could not be restored", "reason", err)
		link.abandon()
	}
	r.mu.Lock()
	r.link = link
	done := r.done
	r.mu.Unlock()
	if done {
		link.closeSending()
	}
	select { // the need is met
	case <-r.wanted:
	default:
	}
	putToken(r.changed)
	return nil
}

// putToken puts a token into the channel unless it holds one.
func putToken(tokens chan struct{}) {
	select {
	case tokens <- struct{}{}:
	default:
	}
}

func (r *relay) current() *link {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.link
}

func (r *relay) isDone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// finish signals to the workbench that the client sends nothing more, and starts the deadline of its responses.
func (r *relay) finish() {
	r.mu.Lock()
	first, link := !r.done, r.link
	r.done = true
	if first {
		r.lastCall = time.AfterFunc(answerTime, r.isOver)
	}
	r.mu.Unlock()
	if !first {
		return
	}
	if link == nil { // no response is due
		r.isOver()
		return
	}
	link.closeSending()
}

// dropLink closes a connection completely.
func (r *relay) dropLink(link *link) {
	r.mu.Lock()
	r.link = nil
	r.mu.Unlock()
	link.abandon()
	link.unwatch()
	close(link.gone)
}

// answerLost answers the requests that nobody else will answer.
func (r *relay) answerLost(link *link) {
	requests, questions := r.record.removeLost(link)
	for _, id := range requests {
		r.send(lostResponse(id))
	}
	for _, id := range questions {
		r.send(wire.Notification(protocol.NotifyCancelled, append(append([]byte(`{"requestId":`), id...), `,"reason":"the workbench that asked has ended"}`...)))
	}
}

// lostResponse returns the response to a request that nobody else will answer.
func lostResponse(id []byte) []byte {
	return wire.ErrorResponse(id, protocol.CodeInternalError,
		"The connection to the workbench broke off before it answered. The request may have been carried out or not: look before you send it again.")
}

// send sends a message to the client. It blocks while too much is queued.
func (r *relay) send(message []byte) {
	if err := r.out.Write(r.over, message); err != nil {
		r.log.Debug("could not write to the client", "reason", err)
	}
}

// readClient forwards the client's messages until it closes its side.
func (r *relay) readClient() {
	reader := wire.NewReader(r.options.In, r.options.MaxMessage)
	for {
		frame, err := reader.Next()
		if tooLong, ok := errors.AsType[*wire.TooLongError](err); ok {
			r.log.Warn("skipped a message of the client", "reason", err)
			r.send(wire.ErrorResponse(tooLong.ID, protocol.CodeInvalidRequest, "Invalid request: "+tooLong.Error()))
			continue
		}
		if err != nil {
			return
		}
		for again := true; again; {
			link := r.awaitLink()
			if link == nil {
				return
			}
			again = !r.forward(link, frame)
		}
	}
}

// forward sends a frame of the client on a connection. It reports false if the connection broke before anything of the
// frame was written.
func (r *relay) forward(link *link, frame wire.Frame) bool {
	requests, ok := r.record.recordSending(link, frame)
	if !ok {
		return false
	}
	if err := link.writer.Write(r.over, append(frame.Bytes(), '\n')); err != nil {
		if !r.record.removeUnsent(requests) {
			return true
		}
		select {
		case <-link.gone:
		case <-r.over.Done():
		}
		return false
	}
	for _, id := range r.record.recordSent(link, requests) {
		r.send(lostResponse(id))
	}
	return true
}

// awaitLink returns the current connection, or the next one; nil if there will be none.
func (r *relay) awaitLink() *link {
	for {
		if link := r.current(); link != nil {
			return link
		}
		putToken(r.wanted)
		select {
		case <-r.changed:
		case <-r.over.Done():
			return nil
		}
	}
}

// Package downstream is one live session with one MCP server: the handshake, and
// requests whose messages arrive in the server's order with the response last.
package downstream

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Options say how a session is held.
type Options struct {
	Stdin  io.WriteCloser // the server's input; the session closes it
	Stdout io.ReadCloser  // the server's output; the session closes it
	// Remote is where the server is, if it is no process with Stdin and Stdout.
	Remote *Remote

	MaxMessage int           // limit in bytes of one message; default wire.DefaultLimit
	Patience   time.Duration // how long a call may be without a sign of life; default 5 minutes
	Version    string        // the workbench's version, told to the server
	// Capabilities are those of the client, as it declared them; default {}.
	Capabilities []byte

	// Hops is the mark of the connection, which a workbench that it leads back to knows itself
	// by; see package hops. It is sent as a header. Default: none.
	Hops string
	// MarkMessages puts it into the first messages as well, for what only forwards these.
	MarkMessages bool

	// Modern is the era in which a dual-era server is addressed. Default: the legacy one.
	Modern bool
	// Opening is what the handshake begins with.
	Opening Opening
	// InputTaken reports whether the server has read all that was written to Stdin, if
	// that is known. Default: it is not.
	InputTaken func() (taken, known bool)

	// ToolsChanged is called when the server says that its tools changed, or when they may
	// have without a word. It must not block. Default: nothing.
	ToolsChanged func()
	// Asked is called with a question of the server; caller is whose request it belongs to,
	// as far as that is known. Without one, several says that it may be that of several.
	// It must not block. Default: every question is refused.
	Asked func(question *Question, caller Caller, several bool)
	// Noticed is called with a notification that belongs to no request, or to which one is
	// not known; caller and several are as above. It must not block. Default: nothing.
	Noticed func(message wire.Message, caller Caller, several bool)
	Log     *slog.Logger // default: discard
}

// Session is safe for concurrent use. It ends when the server closes its output or cannot
// be reached, when nothing can be written any more, or by Close.
type Session struct {
	options Options
	log     *slog.Logger

	transport transport

	revision protocol.Revision
	eras     Eras
	hasTools bool
	offer    wire.Payload // what the server said of itself in the handshake
	info     wire.Payload // in the offer of the legacy era
	modern   atomic.Bool  // revision is of the modern era; for the reader
	reserved []byte       // members for the _meta of every request; nil in the legacy era

	mirrors atomic.Pointer[mirrors] // of the tools that were listed last; nil if there are none

	watches watches       // of resources and tasks; in the modern era
	level   atomic.Int32  // the rank of the least severe log messages that were asked for, from 1; 0 for none
	asking  chan struct{} // held by the one who asks for them

	began time.Time
	life  context.Context // ends with the session
	end   context.CancelFunc

	goroutines sync.WaitGroup // none is added once err is set
	ended      atomic.Bool    // err is set; so that who only asks that need not wait

	mu        sync.Mutex
	err       error // why the session ended; nil while it lives
	pending   map[uint64]pending
	questions map[string]*Question // of the server that are not answered yet, by id
	lastID    uint64
	watchdog  *time.Timer // ends silent requests; nil while none may be due
}

const defaultPatience = 5 * time.Minute // without a sign of life before a call fails; timeouts.call

// endless is how many times the limit a message may be long before the server is given
// up: it would be read for ever, and never answer again.
const endless = 4

// ErrClosed is the error of a session that was closed by us.
var ErrClosed = errors.New("the session was closed")

// ErrOutputClosed is the error of a session whose server closed its output, most
// often by exiting.
var ErrOutputClosed = errors.New("the server closed its output")

// ErrInputBroken is the error of a session whose server takes no input any more.
var ErrInputBroken = errors.New("the server does not take input any more")

// Connect does the handshake with a server, which was just started or is remote. It blocks until
// the server answered or ctx ends. On an error the session is closed; an *OpeningError
// says that the server may well be usable with another opening.
func Connect(ctx context.Context, options Options) (*Session, error) {
	if options.Patience <= 0 {
		options.Patience = defaultPatience
	}
	if options.Remote != nil && options.Remote.SSE {
		options.Opening = InitializeOnly // this transport is older than the other era
	}
	if options.MaxMessage <= 0 {
		options.MaxMessage = wire.DefaultLimit
	}
	s := &Session{
		began:   time.Now(),
		options: options,
		log:     options.Log,
		pending: make(map[uint64]pending), questions: make(map[string]*Question),
		asking: make(chan struct{}, 1),
	}
	s.life, s.end = context.WithCancel(context.Background())
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if s.transport, err = newTransport(s); err != nil {
		return nil, err
	}
	if err = s.transport.open(ctx); err == nil {
		err = s.handshake(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Revision returns the revision that both sides agreed on.
func (s *Session) Revision() protocol.Revision { return s.revision }

// Capabilities returns what the server declared that it can do.
func (s *Session) Capabilities() wire.Payload { return s.offer.Member("capabilities") }

// Patience returns how long a call may be without a sign of life.
func (s *Session) Patience() time.Duration { return s.options.Patience }

// ServerInfo returns how a server of the legacy era introduced itself.
func (s *Session) ServerInfo() wire.Payload { return s.info }

// Instructions returns what the server says of how to use it; "" if nothing.
func (s *Session) Instructions() string {
	text, _ := s.offer.Member("instructions").Text()
	return text
}

// ServerName returns what the server calls itself; "" if it does not say.
func (s *Session) ServerName() string {
	text, _ := s.introduction().Member("name").Text()
	return text
}

// ServerVersion returns the version that the server says it has; "" if it says none.
func (s *Session) ServerVersion() string {
	text, _ := s.introduction().Member("version").Text()
	return text
}

// introduction is how the server introduced itself, in either era.
func (s *Session) introduction() wire.Payload {
	if info := s.ServerInfo(); !info.IsAbsent() {
		return info
	}
	return s.offer.Member("_meta").Member(protocol.MetaServerInfo)
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.life.Done() }

// Err returns why the session ended; nil while it lives.
func (s *Session) Err() error {
	if !s.ended.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close ends the session, and with it every request in flight, and waits for its
// goroutines. It may be called more than once. The server's process is not ours.
func (s *Session) Close() {
	if s.Err() == nil {
		s.transport.flush()
	}
	s.finish(ErrClosed)
	s.transport.close()
	s.goroutines.Wait()
}

// run starts a goroutine that Close waits for, unless the session has ended.
func (s *Session) run(task func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.goroutines.Go(task)
	}
}

// finish ends the session for a reason, unless it has ended already.
func (s *Session) finish(err error) {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	s.err = err
	s.ended.Store(true)
	if s.watchdog != nil {
		s.watchdog.Stop()
	}
	unanswered := s.pending
	s.pending = make(map[uint64]pending)
	open := s.questions
	s.questions = make(map[string]*Question)
	s.mu.Unlock()
	s.end()
	for _, q := range open {
		q.withdrawn(wire.Payload{})
	}
	for _, p := range unanswered {
		p.sink.Done(wire.Message{}, err)
	}
}

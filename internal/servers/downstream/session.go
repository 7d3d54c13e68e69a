// Package downstream holds one live session with one MCP server: the handshake, and requests whose messages arrive in
// the server's order with the response last.
package downstream

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Options configure a session.
type Options struct {
	Stdin  io.WriteCloser // the server's input; the session closes it
	Stdout io.ReadCloser  // the server's output; the session closes it
	// Remote is the address of a server that is not a process with Stdin and Stdout.
	Remote *Remote

	MaxMessage int           // size limit of one message in bytes; default wire.DefaultLimit
	Patience   time.Duration // longest silence of a call; default 5 minutes
	Version    string        // the workbench's version, sent to the server
	// Capabilities are those of the client, as declared; default {}.
	Capabilities []byte

	// Hops is the mark of the connection, by which a workbench recognises itself; see package hops. It is sent as a
	// header. Default: none.
	Hops string
	// MarkMessages also puts it into the first messages, for programs that only forward messages.
	MarkMessages bool

	// Modern is the era in which a dual-era server is addressed. Default: legacy.
	Modern bool
	// Opening is the strategy of the handshake.
	Opening Opening
	// InputTaken reports whether the server has read everything written to Stdin, if that is known. Default: unknown.
	InputTaken func() (taken, known bool)

	// ToolsChanged is called when the server reports that its tools changed, or when a change may have been missed. It
	// must not block. Default: none.
	ToolsChanged func()
	// OnQuestion is called with a question of the server; caller is the client whose request it belongs to. If that is
	// unknown, several means that it may belong to one of several clients. It must not block. Default: every question
	// is refused.
	OnQuestion func(question *Question, caller Caller, several bool)
	// OnNotification is called with a notification that belongs to no request, or to an unknown one; caller and several are as
	// above. It must not block. Default: none.
	OnNotification func(message wire.Message, caller Caller, several bool)
	// Taps is where the session's messages can be observed. Default: nowhere.
	Taps *TapPoint
	Log  *slog.Logger // default: discard
}

// Session is safe for concurrent use. It ends when the server closes its output or cannot be reached, when writing
// fails, or by Close.
type Session struct {
	options Options
	log     *slog.Logger

	transport transport

	revision protocol.Revision
	eras     Eras
	hasTools bool
	offer    wire.Payload // the result of the handshake
	info     wire.Payload // the serverInfo of the legacy era
	modern   atomic.Bool  // whether revision is modern; for the reader
	reserved []byte       // members for the _meta of every request; nil in the legacy era

	mirrors atomic.Pointer[mirrors] // of the tools listed last; nil if there are none

	watches   watches       // of resources and tasks; in the modern era
	level     atomic.Int32  // rank of the requested log level, from 1; 0 if none was requested
	levelLock chan struct{} // held while a log level is requested

	began      time.Time
	life       context.Context // ends with the session
	cancelLife context.CancelFunc

	goroutines sync.WaitGroup // none is added once err is set
	ended      atomic.Bool    // whether err is set, readable without the lock

	mu        sync.Mutex
	err       error // why the session ended; nil while it lives
	pending   map[uint64]pending
	questions map[string]*Question // unanswered questions of the server, by id
	lastID    uint64
	watchdog  *time.Timer // fails silent requests; nil while none can be due
}

const defaultPatience = 5 * time.Minute // without a sign of life before a call fails; timeouts.call

// endless is the multiple of the size limit at which the server is given up: it would be read forever, and never answer
// again.
const endless = 4

// ErrClosed means that the workbench closed the session.
var ErrClosed = errors.New("the session was closed")

// ErrOutputClosed means that the server closed its output, usually by exiting.
var ErrOutputClosed = errors.New("the server closed its output")

// ErrInputBroken means that the server no longer accepts input.
var ErrInputBroken = errors.New("the server no longer accepts input")

// Connect performs the handshake with a new process or a remote server. It blocks until the server has answered or ctx
// ends. On an error the session is closed; an *OpeningError means that the server may work with another opening.
func Connect(ctx context.Context, options Options) (*Session, error) {
	if options.Patience <= 0 {
		options.Patience = defaultPatience
	}
	if options.Remote != nil && options.Remote.SSE {
		options.Opening = InitializeOnly // this transport is older than the modern era
	}
	if options.MaxMessage <= 0 {
		options.MaxMessage = wire.DefaultLimit
	}
	s := &Session{
		began:   time.Now(),
		options: options,
		log:     options.Log,
		pending: make(map[uint64]pending), questions: make(map[string]*Question),
		levelLock: make(chan struct{}, 1),
	}
	s.life, s.cancelLife = context.WithCancel(context.Background())
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

// Revision returns the negotiated revision.
func (s *Session) Revision() protocol.Revision { return s.revision }

// Peer is the other side of a session.
type Peer struct {
	Revision protocol.Revision
	Host     string // of a remote server; "" for a process
	Port     int    // of a remote server; 0 for a process
}

// Peer returns the other side of the session.
func (s *Session) Peer() Peer {
	peer := Peer{Revision: s.revision}
	if s.options.Remote == nil {
		return peer
	}
	if address, err := url.Parse(s.options.Remote.URL); err == nil {
		peer.Host = address.Hostname()
		peer.Port, _ = strconv.Atoi(address.Port())
		if peer.Port == 0 && address.Scheme == "https" {
			peer.Port = 443
		} else if peer.Port == 0 {
			peer.Port = 80
		}
	}
	return peer
}

// Capabilities returns the capabilities that the server declared.
func (s *Session) Capabilities() wire.Payload { return s.offer.Member("capabilities") }

// Patience returns the longest silence of a call.
func (s *Session) Patience() time.Duration { return s.options.Patience }

// ServerInfo returns the serverInfo of a legacy server.
func (s *Session) ServerInfo() wire.Payload { return s.info }

// Instructions returns the server's instructions, or "".
func (s *Session) Instructions() string {
	text, _ := s.offer.Member("instructions").Text()
	return text
}

// ServerName returns the server's own name, or "".
func (s *Session) ServerName() string {
	text, _ := s.introduction().Member("name").Text()
	return text
}

// ServerVersion returns the server's version, or "".
func (s *Session) ServerVersion() string {
	text, _ := s.introduction().Member("version").Text()
	return text
}

// introduction returns the serverInfo in either era.
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

// Close ends the session and every request in flight, and waits for its goroutines. It may be called more than once. It
// does not end the server's process.
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

// finish ends the session with an error, unless it has ended already.
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
	s.cancelLife()
	for _, q := range open {
		q.withdrawn(wire.Payload{})
	}
	for _, p := range unanswered {
		p.sink.Done(wire.Message{}, err)
	}
}

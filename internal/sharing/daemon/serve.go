package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// ServeOptions configure the shared workbench.
type ServeOptions struct {
	Listener net.Listener // closed at the end
	Key      string       // required from clients
	Lineage  string       // of the workbenches that it may be replaced by
	Version  string
	Idle     time.Duration // ends a workbench without clients
	// NewIdle delivers changes of Idle; nil: none.
	NewIdle <-chan time.Duration
	// Session serves one client until it closes its side, or for a bounded time after ctx ends. known is the client's
	// description in its hello.
	Session func(ctx context.Context, conn io.ReadWriteCloser, hello *Hello, known front.StdioOptions) error
	Reload  func() // does not block
	Log     *slog.Logger
}

// maxClients is the number of concurrent clients of a shared workbench.
const maxClients = 1000

// unreadTime is how long a client may leave its messages unread while others may be waiting for the same servers.
const unreadTime = 30 * time.Second

type server struct {
	options ServeOptions
	changed chan struct{} // holds a token when clients or stopping changed

	mu       sync.Mutex
	clients  int
	stopping bool // no further clients are accepted
	retiring bool // it ends without a client: another one has taken over
}

// Serve serves clients until there has been none for the idle time, a stop is requested, or ctx ends. Open sessions get
// time to end.
func Serve(ctx context.Context, options ServeOptions) error {
	s := &server{options: options, changed: make(chan struct{}, 1)}
	serving, stop := context.WithCancel(ctx)
	var sessions sync.WaitGroup
	accepting := make(chan error, 1)
	go func() { accepting <- s.accept(serving, &sessions) }()
	err := s.wait(ctx, accepting)
	_ = options.Listener.Close()
	stop()
	if err == nil {
		<-accepting
	}
	sessions.Wait()
	return err
}

// wait returns when the workbench has to end.
func (s *server) wait(ctx context.Context, accepting <-chan error) error {
	limit, alone := s.options.Idle, time.Now() // alone is since when there has been no client
	idle := time.NewTimer(limit)
	defer idle.Stop()
	for {
		select {
		case <-s.changed:
			clients, stopping := s.state()
			switch {
			case s.isRetired():
				s.options.Log.Info("shutting down", "reason", "another version has taken over")
				return nil
			case stopping:
				s.options.Log.Info("shutting down", "reason", "it was told to")
				return nil
			case clients > 0:
				idle.Stop()
			default:
				alone = time.Now()
				idle.Reset(limit)
			}
		case limit = <-s.options.NewIdle:
			if clients, _ := s.state(); clients == 0 {
				idle.Reset(time.Until(alone.Add(limit)))
			}
		case <-idle.C:
			if s.retire() {
				s.options.Log.Info("shutting down", "reason", "no client for "+limit.String())
				return nil
			}
		case err := <-accepting:
			return err
		case <-ctx.Done():
			s.stop()
			return nil
		}
	}
}

func (s *server) state() (clients int, stopping bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients, s.stopping
}

// retire refuses further clients, unless one is connected.
func (s *server) retire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = s.stopping || s.clients == 0
	return s.stopping
}

// acceptPause is the pause after a temporary error of Accept, such as too many open files.
const acceptPause = 100 * time.Millisecond

func (s *server) accept(ctx context.Context, sessions *sync.WaitGroup) error {
	for {
		conn, err := s.options.Listener.Accept()
		if err == nil {
			sessions.Go(func() { s.receive(ctx, conn) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		s.options.Log.Warn("a client could not connect", "reason", err)
		select {
		case <-time.After(acceptPause):
		case <-ctx.Done():
			return err
		}
	}
}

// receive reads the hello of a connection and handles it. It closes the connection.
func (s *server) receive(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }() // again, after a session
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	defer stop()
	hello, refusal := s.readHello(conn)
	if hello == nil {
		return
	}
	if refusal == "" && hello.Order == "" && !s.addClient() {
		return // the bridge starts another workbench
	}
	if refusal == "" && hello.Order == Retire {
		s.retireFor(conn, hello)
		return
	}
	answer := welcome{Protocol: helloVersion, Version: s.options.Version, PID: os.Getpid(), Refused: refusal}
	written := writeLine(conn, answer) == nil && conn.SetDeadline(time.Time{}) == nil
	switch {
	case refusal != "":
		s.options.Log.Warn("refused a client", "reason", refusal)
	case hello.Order == Reload:
		s.options.Reload()
	case hello.Order == Stop:
		s.stop()
	default:
		defer s.removeClient()
		if written && stop() { // from here on the session ends by itself
			s.session(ctx, conn, hello)
		}
	}
}

// readHello reads the hello; nil if there is none to answer.
func (s *server) readHello(conn net.Conn) (hello *Hello, refusal string) {
	if err := runtimedir.CheckPeer(conn); err != nil {
		s.options.Log.Warn("refused a client", "reason", err)
		return nil, ""
	}
	if conn.SetDeadline(time.Now().Add(helloTime)) != nil {
		return nil, ""
	}
	hello = &Hello{}
	if err := readLine(conn, hello); err != nil {
		return nil, "" // possibly a check whether the workbench runs
	}
	switch {
	case hello.Order == Retire:
		return hello, ""
	case hello.Protocol != helloVersion:
		return hello, fmt.Sprintf("it speaks version %d of the protocol, and this workbench (%s) version %d: use one version of mcp-workbench for both", hello.Protocol, s.options.Version, helloVersion)
	case hello.Key != "" && hello.Key != s.options.Key:
		return hello, "this workbench is of another version or configuration"
	case hello.Order != "" && hello.Order != Reload && hello.Order != Stop:
		return hello, "it gives an unknown order"
	}
	if clients, _ := s.state(); clients >= maxClients {
		return hello, "this workbench has too many clients"
	}
	return hello, ""
}

func (s *server) session(ctx context.Context, conn net.Conn, hello *Hello) {
	log := s.options.Log.With("folder", hello.Folder)
	log.Debug("a client connected")
	known := front.StdioOptions{
		Origin: front.Origin{Folder: existing(hello.Folder)}, Audience: front.Audience{Caller: config.CallerShared}, Opened: hello.Opened, LastAsked: hello.LastAsked,
		Mark: relay.Mark, Farewell: []byte(relay.Farewell), Patience: unreadTime,
	}
	if hello.Terminal != nil { // it has no bridge that understands more than the protocol
		known.Mark, known.Farewell, known.Audience = nil, nil, hello.Terminal.audience()
	}
	err := s.options.Session(ctx, conn, hello, known)
	log.Debug("a client left", "reason", err)
}

func (t *Terminal) audience() front.Audience {
	audience := front.Audience{Terminal: true, Caller: config.CallerTerminal}
	for _, place := range t.Servers {
		audience.Servers = append(audience.Servers, toolbox.Ref{Toolbox: place.Toolbox, Server: place.Server})
	}
	return audience
}

// existing returns a folder if it exists; a client on another machine may name any.
func existing(folder string) string {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return ""
	}
	return folder
}

func (s *server) addClient() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.clients++
	s.signalChange()
	return true
}

func (s *server) removeClient() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients--
	s.signalChange()
}

func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	s.signalChange()
}

func (s *server) signalChange() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

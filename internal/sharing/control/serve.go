package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

const (
	headerTime = 5 * time.Second  // for the headers of a request
	writeTime  = 10 * time.Second // for an answer to be read
	closeTime  = time.Second      // for open requests when the workbench ends
	maxClients = 32               // commands served at once; others wait
)

// Serve answers commands about a workbench until ctx ends.
func Serve(ctx context.Context, dir runtimedir.Dir, subject Subject) error {
	listener, err := dir.Listen(prefix + strconv.Itoa(os.Getpid()))
	if err != nil {
		return err
	}
	for _, path := range sockets(dir) {
		removeStaleSocket(path)
	}
	return serveUntil(ctx, &ownListener{Listener: listener, places: make(chan struct{}, maxClients)}, subject)
}

// serveUntil answers on a listener until ctx ends.
func serveUntil(ctx context.Context, listener net.Listener, subject Subject) (err error) {
	server := &http.Server{
		Handler: noteActions(handler(subject), subject), ReadHeaderTimeout: headerTime, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	server.SetKeepAlivesEnabled(false)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err = <-served:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err = server.Shutdown(closing); err != nil {
		err = server.Close()
	}
	if served := <-served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// ownListener accepts a limited number of connections, from programs of this user only.
type ownListener struct {
	net.Listener
	places chan struct{}
}

func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if err := runtimedir.CheckPeer(conn); err != nil {
			_ = conn.Close()
			continue
		}
		select {
		case l.places <- struct{}{}:
			return &placedConn{Conn: conn, leave: func() { <-l.places }}, nil
		default:
			_ = conn.Close() // the command tries again, or reports it
		}
	}
}

// placedConn releases its place when it is closed, which may happen more than once.
type placedConn struct {
	net.Conn
	leave func()
}

func (c *placedConn) Close() error {
	err := c.Conn.Close()
	if !errors.Is(err, net.ErrClosed) {
		c.leave()
	}
	return err
}

func handler(subject Subject) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+statusPath, func(w http.ResponseWriter, _ *http.Request) { answer(w, subject.Inspect()) })
	mux.HandleFunc("GET "+logsPath, func(w http.ResponseWriter, r *http.Request) { logs(w, r, subject) })
	mux.HandleFunc("POST "+restartPath, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if err := subject.Restart(r.Context(), query.Get(toolboxParameter), query.Get(serverParameter)); err != nil {
			refuse(w, err)
			return
		}
		answer(w, struct{}{})
	})
	mux.HandleFunc("GET "+historyPath, func(w http.ResponseWriter, r *http.Request) { calls(w, r, subject) })
	mux.HandleFunc("GET "+questionsPath, func(w http.ResponseWriter, r *http.Request) { questions(w, r, subject) })
	mux.HandleFunc("POST "+answerPath, func(w http.ResponseWriter, r *http.Request) { answerQuestion(w, r, subject) })
	handleTrials(mux, subject)
	mux.Handle("GET "+watchPath, newWatches(subject))
	handleRunning(mux, subject)
	metrics := subject.Metrics()
	mux.HandleFunc("GET "+metricsPath, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
		metrics.ServeHTTP(w, r)
	})
	handleRecordings(mux, subject)
	mux.HandleFunc("POST "+hintsPath, func(w http.ResponseWriter, _ *http.Request) {
		subject.ReviewHints()
		answer(w, struct{}{})
	})
	mux.HandleFunc("GET "+changesPath, func(w http.ResponseWriter, r *http.Request) { changes(w, r, subject) })
	mux.HandleFunc("POST "+acceptPath, func(w http.ResponseWriter, r *http.Request) { accept(w, r, subject) })
	mux.HandleFunc("GET "+loginsPath, func(w http.ResponseWriter, _ *http.Request) { logins(w, subject) })
	mux.HandleFunc("POST "+stopPath, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, struct{}{})
		subject.End()
	})
	return mux
}

// answer writes a value. An error means that the command is gone.
func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	_ = json.NewEncoder(w).Encode(value)
}

// refusal is an error to send to a command.
type refusal struct {
	Error string       `json:"error"`
	Hint  string       `json:"hint,omitempty"`
	Code  toolbox.Code `json:"code,omitempty"`
}

func refuse(w http.ResponseWriter, err error) {
	refused := refusal{Error: err.Error()}
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		refused = refusal{known.Message, known.Hint, known.Code}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(refused)
}

// logs writes the last lines of a server and, with follow, all further ones.
func logs(w http.ResponseWriter, r *http.Request, subject Subject) {
	query := r.URL.Query()
	box, server := query.Get(toolboxParameter), query.Get(serverParameter)
	lines, next, more, err := subject.Journal(box, server, 0)
	if err != nil {
		refuse(w, err)
		return
	}
	if last, err := strconv.Atoi(query.Get(linesParameter)); err == nil && last >= 0 && last < len(lines) {
		lines = lines[len(lines)-last:]
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, encoder := http.NewResponseController(w), json.NewEncoder(w)
	for {
		_ = out.SetWriteDeadline(time.Now().Add(writeTime))
		for _, line := range lines {
			if encoder.Encode(line) != nil {
				return
			}
		}
		if out.Flush() != nil || query.Get(followParameter) == "" {
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
		if lines, next, more, err = subject.Journal(box, server, next); err != nil {
			return // it is no longer configured
		}
	}
}

package front

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// Times of the end of a server over HTTP.
const (
	defaultDrain = answerTime            // for requests in flight at the end; http.drain
	drainPause   = 20 * time.Millisecond // between two looks for sessions without requests in flight
	// returnTime is after how long clients whose stream was ended at the end come back, and up to twice as long: not all at once.
	returnTime = time.Second
)

// drain lets the requests in flight finish, for as long as Options.Drain says. The listener stays open: clients answer
// the questions of their requests, cancel them, and come back for responses. Nothing new begins. A session ends as soon as nothing
// of it is in flight, and so do the streams that only listen.
func (h *httpServer) drain() {
	h.draining.Store(true)
	for _, client := range h.statelessClients.all() {
		client.subscriptions.close() // with a result
	}
	end := time.NewTimer(h.options.Drain)
	defer end.Stop()
	pause := time.NewTicker(drainPause)
	defer pause.Stop()
	var ending sync.WaitGroup
	defer ending.Wait()
	for h.endQuiet(&ending) {
		select {
		case <-pause.C:
		case <-end.C:
			return
		case <-h.options.Hurry:
			return
		}
	}
}

// endQuiet ends sessions with nothing in flight, and reports whether anything is left.
func (h *httpServer) endQuiet(ending *sync.WaitGroup) (isBusy bool) {
	for _, client := range h.sessions.all() {
		client.endHeld()
		// The order matters: a POST counts before it looks whether it may begin a request.
		if client.exchanges.Load() > 0 || client.requests.count() > 0 || client.posts.isUnread() {
			isBusy = true
			continue
		}
		h.sessions.remove(client)
		ending.Go(func() { h.endSession(client) })
	}
	return isBusy || h.posts.Load() > 0 || h.server.suspended.count() > 0
}

// endHeld ends the requests that wait for a person before they are sent, and for whose answers no connection waits: nobody may
// come for a long time, and nothing is lost.
func (c *httpSession) endHeld() {
	for _, r := range c.requests.appendAll(nil) {
		if running, ok := r.canceller.Running(); !ok || !running.IsHeld || !r.suspension.mu.TryLock() {
			continue // or the lock is held for a moment: until the next look
		}
		st, ok := r.reply.to.(*stream) // not one of a batch, whose others may be answered
		r.suspension.mu.Unlock()
		if ok && c.posts.isDeserted(st) {
			st.drop() // nobody has to come for the answer
			r.cancel(errGivenUp)
		}
	}
}

// shutDown ends what is left, all of it at the same time.
func (h *httpServer) shutDown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime+closeTime)
	defer cancel()
	var stopping sync.WaitGroup
	stopping.Go(func() { _ = server.Shutdown(ctx) }) // closes the listener at once, and waits for the requests that end below
	var ending sync.WaitGroup
	for _, client := range h.sessions.all() {
		ending.Go(func() { h.endSession(client) })
	}
	ending.Go(func() { h.statelessClients.finish(nil, 0) })
	ending.Wait()
	stopping.Wait()
	_ = server.Close() // what is left does not end by itself
}

// endSession cancels what is left of a session, and removes it.
func (h *httpServer) endSession(client *httpSession) {
	h.sessions.remove(client)
	client.get.respond(noResponse) // its connection ends
	client.finish(nil, 0)
	h.server.remove(client.session)
}

// refuseNew refuses what would begin something while the server ends.
func refuseNew(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, protocol.CodeInternalError, "The workbench is shutting down: it finishes what has begun, and begins nothing new")
}

// beginsWork reports whether a message of a session is a request that would begin something.
func beginsWork(message *wire.Message) bool {
	return message.IsRequest() && string(message.Method) != protocol.MethodPing
}

// comeBack tells a client when to connect again after its stream has ended.
func comeBack(out *output) {
	out.text(fmt.Sprintf("retry: %d\n\n", (returnTime + rand.N(returnTime)).Milliseconds()))
}

// ready answers whether the server can be used now: with a line for each reason why not.
func (h *httpServer) ready(w http.ResponseWriter, r *http.Request) {
	var reasons []string
	if h.draining.Load() {
		reasons = append(reasons, "the workbench is shutting down")
	}
	if h.options.Ready != nil {
		reasons = append(reasons, h.options.Ready()...)
	}
	h.health(w, r, reasons)
}

// health answers a health check.
func (h *httpServer) health(w http.ResponseWriter, r *http.Request, reasons []string) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
	case len(reasons) > 0:
		http.Error(w, strings.Join(reasons, "\n"), http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	}
}

package rig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

const sessionHeader = "Mcp-Session-Id"

// serveStreamable serves Streamable HTTP. The first requests go to a process that has no
// session yet, until one of them is initialize.
func (a *adapter) serveStreamable(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	in := a.find(r.Header.Get(sessionHeader))
	isFirst := r.Header.Get(sessionHeader) == "" && r.Method == http.MethodPost
	if isFirst {
		in, err = a.fresh(r.Header)
	}
	switch {
	case err != nil:
		w.WriteHeader(http.StatusInternalServerError)
	case in == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodPost:
		a.post(in, w, r, body)
	case r.Method == http.MethodGet:
		e := newExchange("", w)
		in.listen(e)
		a.await(in, e, r)
	case r.Method == http.MethodDelete:
		in.kill()
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (a *adapter) post(in *instance, w http.ResponseWriter, r *http.Request, body []byte) {
	var m request
	if json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if m.ID == nil || m.Method == "" {
		a.deliver(in, body)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "initialize" {
		a.adopt(in)
		w.Header().Set(sessionHeader, in.id)
	}
	e := newExchange(string(m.ID), w)
	in.add(e)
	a.deliver(in, body)
	a.await(in, e, r)
}

// deliver hands a message to the process, without which the connection breaks.
func (a *adapter) deliver(in *instance, body []byte) {
	if in.tell(body) != nil {
		panic(http.ErrAbortHandler)
	}
}

// await keeps a response open until it is complete. If the process ends before that, the
// connection breaks.
func (a *adapter) await(in *instance, e *exchange, r *http.Request) {
	defer e.leave()
	defer in.remove(e)
	select {
	case <-e.ended:
		return
	case <-r.Context().Done():
		return
	case <-a.ended:
	case <-in.dead:
	}
	select {
	case <-e.ended: // it was the last thing
	default:
		panic(http.ErrAbortHandler)
	}
}

// serveSSE serves HTTP with one stream of events for everything that the server says.
func (a *adapter) serveSSE(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		a.stream(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	in := a.find(r.URL.Query().Get("session"))
	switch {
	case err != nil:
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case in == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		a.deliver(in, bytes.TrimSpace(body))
		w.WriteHeader(http.StatusAccepted)
	}
}

func (a *adapter) stream(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	in, err := a.start(r.Header)
	if err == nil {
		a.sessions[in.id] = in
	}
	a.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	defer in.kill()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(w, "event: endpoint\ndata: /messages?session=%s\n\n", in.id)
	_ = http.NewResponseController(w).Flush() // a client that is gone shows soon
	e := newExchange("", w)
	e.begun, e.events = true, true
	in.listen(e) // from now on the response is written by another goroutine
	a.await(in, e, r)
}

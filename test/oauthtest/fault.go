package oauthtest

import (
	"io"
	"net/http"
	"time"
)

// Hold makes requests of a kind wait, from now on, until release is called. Waiting returns when the first one waits.
func (p *Provider) Hold(kind string) (waiting <-chan struct{}, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hold, held := make(chan struct{}), make(chan struct{})
	p.holds[kind], p.held[kind] = hold, held
	return held, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.holds[kind] == hold {
			delete(p.holds, kind)
			close(hold)
		}
	}
}

// faultOf returns the fault that a request of the kind has, after it waited as told.
func (p *Provider) faultOf(r *http.Request, kind string) (Fault, bool) {
	p.mu.Lock()
	fault, ok := p.options.Faults[kind]
	hold := p.holds[kind]
	if held := p.held[kind]; hold != nil && held != nil {
		close(held)
		delete(p.held, kind)
	}
	before := p.faulted[kind]
	p.faulted[kind]++
	p.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	if !ok || before < fault.After || fault.Times > 0 && before >= fault.After+fault.Times {
		return Fault{}, false
	}
	if fault.Milliseconds > 0 {
		select {
		case <-time.After(time.Duration(fault.Milliseconds) * time.Millisecond):
		case <-r.Context().Done():
		}
	}
	return fault, true
}

// handle runs a request of a kind with its faults, and logs it. What answers returns the status.
func (p *Provider) handle(w http.ResponseWriter, r *http.Request, event *Event, answer func(w http.ResponseWriter) int) {
	event.Verb, event.Path = r.Method, r.URL.Path
	p.begin(event)
	fault, faulty := p.faultOf(r, event.Kind)
	switch {
	case faulty && fault.Status != 0:
		event.Status = fault.Status
		p.end(event)
		fault.write(w)
	case faulty && fault.Cut:
		answer(&nowhere{header: make(http.Header)})
		p.end(event)
		panic(http.ErrAbortHandler)
	default:
		// Logged before the answer is out: who has the answer finds it in the log.
		late := &buffered{ResponseWriter: w}
		event.Status = answer(late)
		p.end(event)
		late.flush()
	}
}

func (f Fault) write(w http.ResponseWriter) {
	kind := f.Type
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Status)
	for {
		if _, err := io.WriteString(w, f.Body); err != nil || !f.Endless {
			return
		}
	}
}

// nowhere takes an answer that nobody gets.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n *nowhere) WriteHeader(int)             {}

// buffered keeps an answer until flush.
type buffered struct {
	http.ResponseWriter
	status int
	body   []byte
}

func (b *buffered) WriteHeader(status int) { b.status = status }

func (b *buffered) Write(p []byte) (int, error) {
	b.body = append(b.body, p...)
	return len(p), nil
}

func (b *buffered) flush() {
	if b.status != 0 {
		b.ResponseWriter.WriteHeader(b.status)
	}
	_, _ = b.ResponseWriter.Write(b.body) // the client may be gone
}

package rig

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"sync"
)

// instance is one process of an adapter.
type instance struct {
	id   string
	cmd  *exec.Cmd
	dead chan struct{} // closed when nothing more comes from it
	gone bool          // the same, for those who hold the adapter's lock

	writing sync.Mutex
	stdin   io.WriteCloser

	mu      sync.Mutex // guards what follows
	pending []*exchange
	own     *exchange // of the GET; nil without one
	waiting [][]byte  // lines for it
}

// maxWaiting bounds the lines that wait for a GET.
const maxWaiting = 10_000

func (in *instance) kill() { _ = in.cmd.Process.Kill() } // it may be gone

// tell writes a message to the process as a line.
func (in *instance) tell(message []byte) error {
	in.writing.Lock()
	defer in.writing.Unlock()
	_, err := in.stdin.Write(append(bytes.TrimRight(message, "\r\n"), '\n'))
	return err
}

// maxLost is how much a process may write to nobody before it is at its end, as it would
// be with a pipe.
const maxLost = 1 << 20

// relay passes on what the process writes, however long a line is.
func (in *instance) relay(out io.Reader) {
	pieces := bufio.NewReaderSize(out, 1<<16)
	var target *exchange
	begins, lost := true, 0
	for {
		piece, err := pieces.ReadSlice('\n')
		text := bytes.TrimSuffix(piece, []byte("\n"))
		ends := len(text) < len(piece)
		if begins && len(text) > 0 {
			target = in.route(text, ends)
		}
		if len(text) > 0 && !target.write(text) {
			lost += len(text)
		}
		if ends && (!begins || len(text) > 0) {
			target.endLine()
		}
		if begins = ends; err != nil && !errors.Is(err, bufio.ErrBufferFull) || lost > maxLost {
			return
		}
	}
}

// Beginnings of lines, as all played servers write them.
var (
	answerHead = regexp.MustCompile(`^\{"jsonrpc":"2\.0","id":([^,]+),"(result|error)"`)
	changeHead = []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"`)
)

// route finds where a line goes that begins with head: an answer to the request that it
// answers, other things to the newest request, and what remains to the stream of the GET.
// Without that, whole lines wait for it; nil takes what nobody can get.
func (in *instance) route(head []byte, whole bool) *exchange {
	in.mu.Lock()
	defer in.mu.Unlock()
	if match := answerHead.FindSubmatch(head); match != nil {
		for i, e := range in.pending {
			if e.id == string(match[1]) {
				in.pending = slices.Delete(in.pending, i, i+1)
				e.begin(true)
				return e
			}
		}
	}
	if n := len(in.pending); n > 0 && !bytes.HasPrefix(head, changeHead) {
		in.pending[n-1].begin(false)
		return in.pending[n-1]
	}
	if in.own == nil {
		if whole && len(in.waiting) < maxWaiting {
			in.waiting = append(in.waiting, bytes.Clone(head))
		}
		return nil
	}
	in.own.begin(false)
	return in.own
}

func (in *instance) add(e *exchange) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending = append(in.pending, e)
}

func (in *instance) remove(e *exchange) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending = slices.DeleteFunc(in.pending, func(other *exchange) bool { return other == e })
	if in.own == e {
		in.own = nil
	}
}

// listen makes the stream of a GET the one for what belongs to no request.
func (in *instance) listen(e *exchange) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.own = e
	e.begin(false)
	for _, line := range in.waiting {
		e.write(line)
		e.endLine()
	}
	in.waiting = nil
}

// exchange is a response that is being written, by the one goroutine that reads from the
// process. What is written to nil, or after the client has gone, goes nowhere.
type exchange struct {
	id    string        // of the request; "" for the stream of a GET
	ended chan struct{} // closed when the answer was written

	mu     sync.Mutex // guards what follows
	w      http.ResponseWriter
	begun  bool
	answer bool // the line that is being written is the answer
	events bool // the response is a stream of events
	inLine bool
	gone   bool
}

func newExchange(id string, w http.ResponseWriter) *exchange {
	return &exchange{id: id, w: w, ended: make(chan struct{})}
}

// begin says what kind of line comes next. An answer that comes alone is the body.
func (e *exchange) begin(answer bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
	if e.begun || e.gone {
		return
	}
	e.begun, e.events = true, !answer
	kind := "application/json"
	if e.events {
		kind = "text/event-stream"
	}
	e.w.Header().Set("Content-Type", kind)
	e.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(e.w).Flush() // a client that is gone shows soon
}

// write writes a piece of a line; it reports whether anybody can have got it.
func (e *exchange) write(text []byte) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.events && !e.inLine {
		e.put([]byte("event: message\ndata: "))
	}
	e.inLine = true
	e.put(text)
	return !e.gone
}

// put is called with mu held.
func (e *exchange) put(text []byte) {
	if !e.gone {
		_, err := e.w.Write(text)
		e.gone = err != nil
	}
}

func (e *exchange) endLine() {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.events {
		e.put([]byte("\n\n"))
		if !e.gone {
			_ = http.NewResponseController(e.w).Flush() // a client that is gone shows soon
		}
	}
	if e.inLine = false; e.answer {
		close(e.ended)
	}
}

// leave ends the writing; the handler returns after it.
func (e *exchange) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone = true
}

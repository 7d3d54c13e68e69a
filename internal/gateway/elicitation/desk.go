// Package elicitation has people at the page answer questions of servers for clients that cannot be asked. What is asked and
// answered is kept in memory only, and never logged.
package elicitation

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	maxWaiting         = 100             // questions of servers that wait for a person at the page at once; further ones are refused
	maxWaitingOfClient = 20              // questions to one client that wait at the page at once; further ones are refused, so that others find room
	maxQuestion        = 64 << 10        // bytes of a question that a person at the page is asked; a longer one is refused
	maxWaitingBytes    = 512 << 10       // of all questions that wait for a person at the page; further ones are refused
	maxMessage         = 8 << 10         // bytes of its message that are shown; the rest is not
	reportTime         = 5 * time.Second // how often a client learns that its call still waits for a person at the page
	idLength           = 6               // characters of an id; those of calls that wait for approval have fewer
	answerHint         = "mcp-workbench ui"
)

// Desk is where questions wait for people. It is safe for concurrent use.
type Desk struct {
	options  Options
	settings atomic.Pointer[config.Elicitation]

	mu      sync.Mutex
	closed  bool
	waiting []*entry // the oldest first
	waits   sync.WaitGroup
}

// Options configure a desk.
type Options struct {
	// Mask hides the secrets of the configuration in a text.
	Mask func(text string) string
	// Reachable says that commands of the user can reach this workbench; otherwise nobody could answer.
	Reachable bool
	// Changed is called when other questions wait than before. It must not block. Default: nothing.
	Changed func()
}

// New makes a desk. Close must be called.
func New(options Options, settings config.Elicitation) *Desk {
	if options.Changed == nil {
		options.Changed = func() {}
	}
	d := &Desk{options: options}
	d.Configure(settings)
	return d
}

// Configure changes the settings, for clients and questions that come later.
func (d *Desk) Configure(settings config.Elicitation) { d.settings.Store(&settings) }

// TakesQuestions reports whether people answer for clients that connect now. A nil desk takes none.
func (d *Desk) TakesQuestions() bool {
	return d != nil && d.options.Reachable && d.settings.Load().Page
}

// Close refuses all questions that wait, and all later ones.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.refuseAll("The workbench ends", func(*entry) bool { return true })
	d.waits.Wait()
}

// Waiting describes a question that waits. Its texts come from clients and servers.
type Waiting struct {
	ID       string
	Since    time.Time
	Deadline time.Time // then it is refused
	Caller   string    // of the request, as a rule of the policy names it
	Client   string    // the name that the client gave itself; may be empty
	About    toolbox.Ref
	Message  string          // secrets masked
	Schema   json.RawMessage // of the form, secrets masked; nil if a page is to be opened
	URL      string          // the page to open; "" for a form
}

// entry is a question that waits.
type entry struct {
	Waiting
	desk     *Desk
	client   *fleet.ClientProfile
	of       any // the request; nil without one
	question *downstream.Question
	schema   wire.Payload  // as the server sent it
	over     chan struct{} // closed when it does not wait any more
}

// Ask has a question wait for a person; it takes the question over, and does not block. A question of a request waits until
// Ended is called for it; of is nil without one.
func (d *Desk) Ask(question *downstream.Question, client *fleet.ClientProfile, of any) {
	e, problem := d.newEntry(question, client)
	if problem == "" {
		e.of = of
		problem = d.add(e)
	}
	if problem != "" {
		question.Refuse(protocol.CodeInternalError, problem)
		return
	}
	question.OnWithdraw(func(wire.Payload) { d.remove(e) })
}

// newEntry reads a question. A problem says why nobody can be asked.
func (d *Desk) newEntry(question *downstream.Question, client *fleet.ClientProfile) (e *entry, problem string) {
	params := question.Params
	if len(params.Bytes()) > maxQuestion {
		return nil, fmt.Sprintf("The question is longer than %d KiB, and was not shown to anybody", maxQuestion>>10)
	}
	message, _ := params.Member("message").Text()
	now := time.Now()
	e = &entry{
		desk: d, client: client, question: question, over: make(chan struct{}),
		Waiting: Waiting{
			Since: now, Deadline: now.Add(d.settings.Load().Timeout), Caller: client.Caller(), Client: client.Name(), About: question.About,
			Message: cut(hidden.Clean(d.options.Mask(message)), maxMessage),
		},
	}
	if mode, _ := params.Member("mode").Text(); mode == "url" {
		address, _ := params.Member("url").Text()
		if e.URL = d.options.Mask(address); !isPage(e.URL) {
			return nil, "The address to open is not one of a page on the web (http or https)"
		}
		return e, ""
	}
	e.schema = wire.Raw(slices.Clone(params.Member("requestedSchema").Bytes()))
	if problem := checkForm(e.schema); problem != "" {
		return nil, problem
	}
	if e.Schema = json.RawMessage(d.options.Mask(string(e.schema.Bytes()))); !json.Valid(e.Schema) {
		return nil, "The form has a secret of the configuration, and was not shown to anybody"
	}
	return e, ""
}

// isPage reports whether an address is of a page that a browser can open.
func isPage(address string) bool {
	page, err := url.Parse(address)
	return err == nil && (page.Scheme == "https" || page.Scheme == "http") && page.Host != "" && page.User == nil && !hidden.Has(address)
}

// cut returns at most so many bytes of a text, in whole characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// add has a question wait; a problem says why it cannot.
func (d *Desk) add(e *entry) (problem string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ofClient, size := 0, e.size()
	for _, other := range d.waiting {
		size += other.size()
		if other.client == e.client {
			ofClient++
		}
	}
	switch {
	case d.closed:
		return "The workbench ends"
	case len(d.waiting) >= maxWaiting || ofClient >= maxWaitingOfClient || size > maxWaitingBytes:
		return "Too many questions wait for a person already: answer them with '" + answerHint + "'"
	}
	e.ID = d.newID()
	d.waiting = append(d.waiting, e)
	d.waits.Go(e.wait)
	d.options.Changed()
	return ""
}

// size is how much of a list of questions this one takes: the list is sent as a whole after each change.
func (e *entry) size() int { return len(e.Message) + len(e.Schema) + len(e.URL) }

// newID returns an id that no other question has. Called with mu held.
func (d *Desk) newID() string {
	for {
		id := strings.ToLower(rand.Text())[:idLength]
		if !slices.ContainsFunc(d.waiting, func(e *entry) bool { return e.ID == id }) {
			return id
		}
	}
}

// wait tells the client that its call waits, until it does not, or the time is over.
func (e *entry) wait() {
	deadline := time.NewTimer(time.Until(e.Deadline))
	defer deadline.Stop()
	tick := time.NewTicker(reportTime)
	defer tick.Stop()
	for {
		if e.question.Report != nil {
			e.question.Report(fmt.Sprintf("waiting for the answer to a question of server '%s/%s' (%s)", e.About.Toolbox, e.About.Server, answerHint))
		}
		select {
		case <-tick.C:
		case <-e.over:
			return
		case <-deadline.C:
			e.refuse(fmt.Sprintf("Nobody answered the question within %s. A person can answer with '%s'", e.Deadline.Sub(e.Since), answerHint))
			return
		}
	}
}

// refuse ends the wait without an answer.
func (e *entry) refuse(why string) {
	if e.desk.remove(e) {
		e.question.Refuse(protocol.CodeInternalError, why)
	}
}

// remove removes a question, and reports whether it still waited; only then may the caller answer it.
func (d *Desk) remove(e *entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.Index(d.waiting, e)
	if at < 0 {
		return false
	}
	d.waiting = slices.Delete(d.waiting, at, at+1)
	close(e.over)
	d.options.Changed()
	return true
}

// ClientLeft refuses the questions to a client that is gone.
func (d *Desk) ClientLeft(client *fleet.ClientProfile) {
	if d != nil {
		d.refuseAll("The client is gone", func(e *entry) bool { return e.client == client })
	}
}

// Ended refuses the questions of a request that has ended.
func (d *Desk) Ended(request any) {
	d.refuseAll("The call has ended", func(e *entry) bool { return e.of == request })
}

func (d *Desk) refuseAll(why string, which func(*entry) bool) {
	var open []*entry
	d.mu.Lock()
	for _, e := range d.waiting {
		if which(e) {
			open = append(open, e)
		}
	}
	d.mu.Unlock()
	for _, e := range open {
		e.refuse(why)
	}
}

// Waiting returns the questions that wait, the oldest first.
func (d *Desk) Waiting() []Waiting {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Waiting, len(d.waiting))
	for i, e := range d.waiting {
		all[i] = e.Waiting
	}
	return all
}

// Has reports whether a question waits under an id.
func (d *Desk) Has(id string) bool { return d.find(id) != nil }

func (d *Desk) find(id string) *entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.waiting {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// ErrNotWaiting means that no question waits under an id, or that another person was faster.
var ErrNotWaiting = errors.New("no question waits under this ID: it was answered or withdrawn, its call ended, or it never existed")

// Answer answers a question with a result of elicitation/create. One whose content is not as the form asks is refused, and the
// question still waits.
func (d *Desk) Answer(id string, result []byte) error {
	e := d.find(id)
	if e == nil {
		return ErrNotWaiting
	}
	clean, err := e.check(result)
	if err != nil {
		return err
	}
	if !d.remove(e) {
		return ErrNotWaiting
	}
	e.question.Answer(wire.Message{Result: wire.Raw(clean)})
	return nil
}

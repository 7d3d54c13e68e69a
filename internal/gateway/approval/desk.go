// Package approval asks people about calls that the policy does not decide alone: through the client that sent the call,
// with the command 'approve' at a terminal, or on the page. It remembers what they allowed for a while.
package approval

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/subject"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	maxWaiting         = 100 // calls of a workbench that wait for a person at once; further ones are refused
	maxWaitingOfCaller = 50  // calls of one caller that wait at once; further ones are refused, so that others find room
)

// Desk is where the calls of a workbench wait for people. It is safe for concurrent use.
type Desk struct {
	options Options
	memory  *memory

	mu       sync.Mutex
	closed   bool
	rules    uint64                   // how often the policy has changed
	waiting  []*entry                 // the oldest first
	watchers map[chan struct{}]string // and the way by which each would answer; "" if it just looks
	changed  chan struct{}            // closed when the watchers have changed
}

// Options configure a desk.
type Options struct {
	// Mask hides the secrets of the configuration in a text.
	Mask func(text string) string
	// Reachable says that commands of the user can reach this workbench, so that 'approve' and the page can answer.
	Reachable bool
	// Observer is told about questions and answers. Default: nobody.
	Observer Observer
}

// New makes a desk. Close must be called.
func New(options Options) *Desk {
	return &Desk{options: options, memory: newMemory(), watchers: make(map[chan struct{}]string), changed: make(chan struct{})}
}

// Close refuses all calls that wait, and all later ones.
func (d *Desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, e := range d.waiting {
		e.decide(decision{answer: No, by: byStop})
	}
}

// Waiting describes a call that waits for a person. Its texts come from clients and tools, and are not safe to be shown at
// a terminal as they are.
type Waiting struct {
	ID       string // short, to be typed
	Since    time.Time
	Deadline time.Time // then the call is denied
	Caller   string    // as a rule of the policy names it
	Client   string    // the name that the client gave itself; may be empty
	Ref      toolbox.Ref
	Shown    string // the arguments: one line each, secrets masked, long values by their shape; "" without arguments
	Rule     string // which rule asks, and where it stands
	Because  string // the reason that the rule gives, and what does not hold; may be empty
	// Via are the ways by which a person can answer beside the client: config.AskTerminal and config.AskPage, in the order of
	// the policy.
	Via []string
}

// entry is a call that waits.
type entry struct {
	Waiting
	isListed bool                 // a terminal or a page may decide about it; guarded by the desk's lock
	rules    uint64               // those of the desk when it came; guarded by the desk's lock
	session  *fleet.ClientProfile // may be nil
	subject  subject.Subject
	decided  chan decision // gets one
}

// decision ends a wait.
type decision struct {
	answer Answer
	by     decider
}

// decider is who decided about a call.
type decider uint8

const (
	byClient    decider = iota + 1 // a person who was asked through the client
	byTerminal                     // a person who used the command 'approve'
	byPage                         // a person who had the page
	byEarlier                      // answer, about another call of the session
	byStop                         // of the workbench
	byDismissal                    // of the form, without an answer
)

// deciders are the words for who decided.
var deciders = [...]string{"", "client", config.AskTerminal, config.AskPage, "earlier answer", "stop", "dismissal"}

// Unanswered is what an observer is told of a call that nobody decided about.
const Unanswered = "unanswered"

// Observer is told about the questions of a desk. Its methods must not block, or keep what they get.
type Observer interface {
	// Asked is called when a call begins to wait for a person.
	Asked(about *call.Call, waiting *Waiting)
	// Answered is called when the wait is over, or was not needed: with the answer or Unanswered, and with who gave it: client,
	// terminal, page, "earlier answer", stop, dismissal (of the form, without an answer), or "".
	Answered(about *call.Call, waiting *Waiting, answer, by string)
}

// decide has an effect once.
func (e *entry) decide(with decision) (first bool) {
	select {
	case e.decided <- with:
		return true
	default:
		return false
	}
}

// Waiting returns the calls that a person at a terminal or a page may decide about, the oldest first.
func (d *Desk) Waiting() []Waiting {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Waiting, 0, len(d.waiting))
	for _, e := range d.waiting {
		if e.isListed {
			all = append(all, e.Waiting)
		}
	}
	return all
}

// ErrNotWaiting means that no call waits under an ID, or that another person was faster.
var ErrNotWaiting = errors.New("no call waits under this ID: it was answered, cancelled or denied, or it never existed")

// NotViaError means that the policy does not let a call be answered by the way that was taken.
type NotViaError struct{ Via []string } // the ways by which it can be

func (e *NotViaError) Error() string {
	return "the policy lets this call be answered only via " + strings.Join(e.Via, " and ")
}

// Answer decides about a waiting call, for a person who answers by one of the ways that the policy names for it:
// config.AskTerminal or config.AskPage.
func (d *Desk) Answer(id string, answer Answer, via string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.IndexFunc(d.waiting, func(e *entry) bool { return e.isListed && e.ID == id })
	if at < 0 {
		return ErrNotWaiting
	}
	if ways := d.waiting[at].Via; !slices.Contains(ways, via) {
		return &NotViaError{ways}
	}
	by := byTerminal
	if via == config.AskPage {
		by = byPage
	}
	if !d.waiting[at].decide(decision{answer: answer, by: by}) {
		return ErrNotWaiting
	}
	d.waiting[at].isListed = false // now, so that nobody is asked about it any more
	d.tellWatchers()
	return nil
}

// Subscribe is for a terminal or a page that watches, and whose person will answer by that way; with "", for who just looks.
// changes gets a value when the waiting calls may have changed since the last one was received. End must be called.
func (d *Desk) Subscribe(via string) (changes <-chan struct{}, end func()) {
	watcher := make(chan struct{}, 1)
	d.mu.Lock()
	d.watchers[watcher] = via
	d.tellOfWatchers()
	d.mu.Unlock()
	return watcher, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, watcher)
		d.tellOfWatchers()
	}
}

// tellOfWatchers wakes those who wait for a change of the watchers. Called with mu held.
func (d *Desk) tellOfWatchers() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// TellWatchers has all who watch look again, since something else changed that they show.
func (d *Desk) TellWatchers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tellWatchers()
}

// tellWatchers is called with mu held.
func (d *Desk) tellWatchers() {
	for watcher := range d.watchers {
		select {
		case watcher <- struct{}{}:
		default:
		}
	}
}

// isWatched reports whether somebody watches who would answer by one of some ways; changed is closed when that may have changed.
func (d *Desk) isWatched(ways []string) (watched bool, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, via := range d.watchers {
		watched = watched || slices.Contains(ways, via)
	}
	return watched, d.changed
}

// add has a call wait; it returns false if too many do. A call that only its client may decide about gets no ID.
func (d *Desk) add(e *entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	ofCaller := 0
	for _, other := range d.waiting {
		if other.Caller == e.Caller {
			ofCaller++
		}
	}
	if len(d.waiting) >= maxWaiting || ofCaller >= maxWaitingOfCaller {
		return false
	}
	if len(e.Via) > 0 {
		e.ID, e.isListed = d.newID(), true
	}
	e.rules = d.rules
	d.waiting = append(d.waiting, e)
	if d.closed {
		e.decide(decision{answer: No, by: byStop})
	}
	d.tellWatchers()
	return true
}

// PolicyChanged forgets what was approved under another policy, which may have had others asked.
func (d *Desk) PolicyChanged() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules++
	d.memory.forgetAll()
}

// remember keeps an answer that is about more than one call, and lets those go on that wait already.
func (d *Desk) remember(e *entry, answer Answer) {
	about := e.subject
	switch answer {
	case Same:
	case Session:
		about = about.WithAnyArguments()
	default:
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.rules != d.rules {
		return
	}
	d.memory.add(e.session, about)
	for _, other := range d.waiting {
		if other != e && d.memory.allows(other.session, other.subject) {
			other.decide(decision{answer: Once, by: byEarlier})
		}
	}
}

// remove removes a call that does not wait any more.
func (d *Desk) remove(e *entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := slices.Index(d.waiting, e); at >= 0 {
		d.waiting = slices.Delete(d.waiting, at, at+1)
		d.tellWatchers()
	}
}

// idLength is how many characters an ID has. Those of several workbenches are shown together.
const idLength = 5

// newID returns an ID that no other waiting call has. Called with mu held.
func (d *Desk) newID() string {
	for {
		id := strings.ToLower(rand.Text())[:idLength]
		if !slices.ContainsFunc(d.waiting, func(e *entry) bool { return e.ID == id }) {
			return id
		}
	}
}

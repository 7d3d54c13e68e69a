package front

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// suspendedCalls holds work that waits for answers of its clients. What a client gets to find it
// again, the state, is signed, runs out, is good for one use, and only together with what
// it was given for: the same caller, method and params.
type suspendedCalls struct {
	key    []byte // of the signatures; it ends with the process, as the work does
	prefix string // of the states that are signed with it

	mu       sync.Mutex
	waiting  map[ticketNumber]*suspendedCall
	byCaller map[string]int
	bytes    int // of the questions
}

type ticketNumber [16]byte

// suspendedCall is work that waits.
type suspendedCall struct {
	work  *work
	timer *time.Timer // ends it
	bytes int         // of its questions
}

// Limits of work that waits.
const (
	suspendTime       = 10 * time.Minute
	maxSuspended      = 1000
	maxSuspendedOfOne = 100      // caller
	maxSuspendedBytes = 64 << 20 // of questions
)

func newSuspendedCalls() *suspendedCalls {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails
	id := make([]byte, 9)
	rand.Read(id)
	return &suspendedCalls{
		key: key, prefix: statePrefix + base64.RawURLEncoding.EncodeToString(id) + ".",
		waiting: make(map[ticketNumber]*suspendedCall), byCaller: make(map[string]int),
	}
}

// statePrefix begins the states of all workbenches. An id of the key follows it.
const statePrefix = "mcp-workbench-1."

// isOurs reports whether a state claims to be signed here, and then must be. All others are
// those of servers of the modern era, which may be workbenches, too, and are passed on.
func (p *suspendedCalls) isOurs(state wire.Payload) bool {
	text, _ := state.Text()
	return strings.HasPrefix(text, p.prefix)
}

// add has work wait that has questions of so many bytes; it fails if too much does.
func (p *suspendedCalls) add(w *work, bytes int) (state string, ok bool) {
	var number ticketNumber
	rand.Read(number[:])
	expires := time.Now().Add(suspendTime)
	caller := w.statelessClient.caller
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) >= maxSuspended || p.byCaller[caller] >= maxSuspendedOfOne || p.bytes+bytes > maxSuspendedBytes {
		return "", false
	}
	p.byCaller[caller]++
	p.bytes += bytes
	p.waiting[number] = &suspendedCall{work: w, bytes: bytes, timer: time.AfterFunc(suspendTime, func() {
		if w := p.remove(number); w != nil {
			w.abandon(errUnanswered)
		}
	})}
	return p.sign(number, expires, w.binding), true
}

// claim returns the work that a state was given for, if it is what is asked for now.
func (p *suspendedCalls) claim(state string, binding digest) (*work, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(state, p.prefix))
	if err != nil || len(raw) != len(ticketNumber{})+8+sha256.Size {
		return nil, false
	}
	number := ticketNumber(raw[:16])
	expires := time.Unix(int64(binary.BigEndian.Uint64(raw[16:24])), 0)
	if !hmac.Equal([]byte(p.sign(number, expires, binding)), []byte(state)) || time.Now().After(expires) {
		return nil, false
	}
	w := p.remove(number)
	return w, w != nil
}

func (p *suspendedCalls) remove(number ticketNumber) *work {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.waiting[number]
	if !ok {
		return nil
	}
	delete(p.waiting, number)
	found.timer.Stop()
	p.bytes -= found.bytes
	caller := found.work.statelessClient.caller
	if p.byCaller[caller]--; p.byCaller[caller] == 0 {
		delete(p.byCaller, caller)
	}
	return found.work
}

// abandonAll ends what waits for a client that is gone.
func (p *suspendedCalls) abandonAll(client *statelessClient) {
	p.mu.Lock()
	var numbers []ticketNumber
	for number, candidate := range p.waiting {
		if candidate.work.statelessClient == client {
			numbers = append(numbers, number)
		}
	}
	p.mu.Unlock()
	for _, number := range numbers {
		if w := p.remove(number); w != nil {
			w.abandon(errGivenUp)
		}
	}
}

func (p *suspendedCalls) sign(number ticketNumber, expires time.Time, binding digest) string {
	state := binary.BigEndian.AppendUint64(number[:], uint64(expires.Unix()))
	mac := hmac.New(sha256.New, p.key)
	mac.Write(state)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(binding)))
	return p.prefix + base64.RawURLEncoding.EncodeToString(mac.Sum(state))
}

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

// suspendedCalls holds requests that wait for answers of their clients. The state that a client
// gets to find its request again is signed, expires, and is valid once, for the same caller,
// method and params.
type suspendedCalls struct {
	key    []byte // of the signatures; it ends with the process, as the requests do
	prefix string // of the states that are signed with it

	mu       sync.Mutex
	waiting  map[stateNumber]*request
	byCaller map[string]int
	bytes    int // of the questions
}

type stateNumber [16]byte

// Limits of requests that wait.
const (
	suspendTime       = 10 * time.Minute // for the answers to a suspended call; then it is cancelled
	maxSuspended      = 1000             // suspended calls of all clients; beyond, questions are refused
	maxSuspendedOfOne = 100              // suspended calls of one caller; beyond, questions are refused
	maxSuspendedBytes = 64 << 20         // questions of all suspended calls; beyond, questions are refused
)

func newSuspendedCalls() *suspendedCalls {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails
	id := make([]byte, 9)
	rand.Read(id)
	return &suspendedCalls{
		key: key, prefix: statePrefix + base64.RawURLEncoding.EncodeToString(id) + ".",
		waiting: make(map[stateNumber]*request), byCaller: make(map[string]int),
	}
}

// statePrefix begins the states of all workbenches. An id of the key follows it.
const statePrefix = "mcp-workbench-1."

// isOurs reports whether a state claims to be signed here, and then must be. All others are
// those of servers of the modern era, which may be workbenches, too, and are passed on.
func (s *suspendedCalls) isOurs(state wire.Payload) bool {
	text, _ := state.Text()
	return strings.HasPrefix(text, s.prefix)
}

// add holds a request that has questions of so many bytes; it fails if too much is held. The
// client counts as busy meanwhile.
func (s *suspendedCalls) add(r *request, bytes int) (state string, ok bool) {
	var number stateNumber
	rand.Read(number[:])
	expires := time.Now().Add(suspendTime)
	caller := r.session.stateless.caller
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) >= maxSuspended || s.byCaller[caller] >= maxSuspendedOfOne || s.bytes+bytes > maxSuspendedBytes {
		return "", false
	}
	r.session.idle.hold()
	s.byCaller[caller]++
	s.bytes += bytes
	s.waiting[number] = r
	r.suspension.bytes = bytes
	r.suspension.expiry = time.AfterFunc(suspendTime, func() {
		if r := s.remove(number); r != nil {
			r.abandon(errUnanswered)
		}
	})
	return s.sign(number, expires, r.suspension.binding), true
}

// claim removes and returns the request that a state was given for, if the binding is the same.
func (s *suspendedCalls) claim(state string, binding digest) (*request, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(state, s.prefix))
	if err != nil || len(raw) != len(stateNumber{})+8+sha256.Size {
		return nil, false
	}
	number := stateNumber(raw[:16])
	expires := time.Unix(int64(binary.BigEndian.Uint64(raw[16:24])), 0)
	if !hmac.Equal([]byte(s.sign(number, expires, binding)), []byte(state)) || time.Now().After(expires) {
		return nil, false
	}
	r := s.remove(number)
	return r, r != nil
}

func (s *suspendedCalls) remove(number stateNumber) *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.waiting[number]
	if !ok {
		return nil
	}
	delete(s.waiting, number)
	r.suspension.expiry.Stop()
	s.bytes -= r.suspension.bytes
	caller := r.session.stateless.caller
	if s.byCaller[caller]--; s.byCaller[caller] == 0 {
		delete(s.byCaller, caller)
	}
	r.session.idle.release()
	return r
}

// count returns how many calls wait for answers.
func (s *suspendedCalls) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// abandonAll ends the requests of a client that is gone.
func (s *suspendedCalls) abandonAll(client *session) {
	s.mu.Lock()
	var numbers []stateNumber
	for number, candidate := range s.waiting {
		if candidate.session == client {
			numbers = append(numbers, number)
		}
	}
	s.mu.Unlock()
	for _, number := range numbers {
		if r := s.remove(number); r != nil {
			r.abandon(errGivenUp)
		}
	}
}

func (s *suspendedCalls) sign(number stateNumber, expires time.Time, binding digest) string {
	state := binary.BigEndian.AppendUint64(number[:], uint64(expires.Unix()))
	mac := hmac.New(sha256.New, s.key)
	mac.Write(state)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(binding)))
	return s.prefix + base64.RawURLEncoding.EncodeToString(mac.Sum(state))
}

package identity

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limits of the memory of tokens.
const (
	maxKnown    = 10_000           // verified tokens that are kept; a further one replaces the one that was not used for longest
	maxOwn      = 1000             // likewise, of one person; a further one replaces one of the same person
	maxInactive = 1024             // tokens kept that the provider called inactive; a further one replaces any
	maxNew      = 2048             // tokens being verified that were not good before; a further one is refused for now
	answerTime  = time.Minute      // that the provider's answer about a token counts; then it is asked again
	afterTime   = 10 * time.Minute // that an expired token is kept: calls that it began may still run
	verifyTime  = 20 * time.Second // for the verification of a token, with all that has to be fetched for it
)

// digest identifies a token.
type digest [sha256.Size]byte

// verified is a token that the provider issued. Its fields do not change once it is known.
type verified struct {
	digest digest
	claims *claims
	key    *key      // that signed it; nil: the provider was asked
	token  string    // for the next question; "" with a key
	asked  time.Time // when the provider answered
	// Where it stands in the lists of tokens.
	place, ownPlace *list.Element
	own             *list.List

	mu     sync.Mutex
	rules  *rules // that person is made by
	person Person
	due    time.Time // when Holds may ask again
}

// under returns whom a token is of, by the rules in force, and its audience.
func (t *verified) under(rules *rules) (Person, []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rules != rules {
		t.rules, t.person = rules, t.claims.person
		t.person.Toolboxes = rules.toolboxes(t.claims.members)
		t.person.Credential = t.digest.credential(t.person.Toolboxes)
	}
	return t.person, t.claims.audience
}

// isOld reports whether the provider has to be asked about a token again.
func (t *verified) isOld(now time.Time) bool { return t.key == nil && now.Sub(t.asked) >= answerTime }

// isDue reports, once in a while, that the provider has to be asked about a token again.
func (t *verified) isDue(now time.Time) bool {
	if !t.isOld(now) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.due) {
		return false
	}
	t.due = now.Add(retryPause)
	return true
}

// credential returns an identifier of a token and of what it allows: it is another one when that changes.
func (d digest) credential(toolboxes []string) string {
	allowed := "*"
	if toolboxes != nil {
		allowed = strings.Join(toolboxes, "\x00") + "\x00"
	}
	what := sha256.Sum256([]byte(allowed))
	return hex.EncodeToString(d[:]) + hex.EncodeToString(what[:8])
}

// tokens are those that were verified, and those that are being verified.
type tokens struct {
	mu       sync.Mutex
	known    map[digest]*verified
	order    *list.List            // of known: used last, first
	byPerson map[string]*list.List // the same, of each person: nobody's tokens make others' forgotten, and so end what they do
	inactive map[digest]inactive
	flights  map[digest]*flight
	new      int // flights of tokens that were not good before: strangers can cause any number of them
}

// inactive is what the provider said of a token.
type inactive struct {
	until    time.Time // when it has to be asked again
	wasKnown bool      // the token was good before
}

func newTokens() *tokens {
	return &tokens{known: make(map[digest]*verified), order: list.New(), byPerson: make(map[string]*list.List), inactive: make(map[digest]inactive), flights: make(map[digest]*flight)}
}

// flight is a verification, for all who wait for it.
type flight struct {
	done    chan struct{}
	isNew   bool      // the token was not good before
	token   *verified // after done
	refusal *Refusal
}

// known returns a token that is valid now, whatever for. Requests with the same token share one verification.
func (v *Verifier) known(ctx context.Context, token string) (*verified, *Refusal) {
	if len(token) > maxToken {
		return nil, refuse(reasonLong)
	}
	v.provider.use()
	digest, now := digest(sha256.Sum256([]byte(token))), time.Now()
	if found, refusal := v.tokens.find(digest, now, v.provider); found != nil || refusal != nil {
		return found, refusal
	}
	if refusal := checkForm(token); refusal != nil {
		return nil, refusal
	}
	if v.questions == nil && !isJWT(token) {
		return nil, refuse(reasonOpaque)
	}
	flight := v.tokens.join(v, digest, token)
	select {
	case <-flight.done:
		return flight.token, flight.refusal
	case <-ctx.Done():
		return nil, unavailable(reasonLeft)
	}
}

// find returns a token that needs no verification, or why it is refused; neither if it has to be verified.
func (s *tokens) find(digest digest, now time.Time, provider *provider) (*verified, *Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLocked(digest, now, provider)
}

func (s *tokens) findLocked(digest digest, now time.Time, provider *provider) (*verified, *Refusal) {
	if said, ok := s.inactive[digest]; ok {
		if now.Before(said.until) {
			refusal := refuse(reasonInactive)
			refusal.wasKnown = said.wasKnown
			return nil, refusal
		}
		delete(s.inactive, digest)
	}
	found := s.known[digest]
	if found == nil {
		return nil, nil
	}
	s.use(found)
	if hasExpired(found.claims.person.Expires, now) {
		return nil, refuse(reasonExpired)
	}
	if found.key != nil {
		if set := provider.usable(); set == nil || !set.has(found.key) {
			return nil, nil
		}
	}
	if found.isOld(now) {
		return nil, nil
	}
	return found, nil
}

// of returns a token by its credential, and keeps it as one that is in use.
func (s *tokens) of(credential string, now time.Time) *verified {
	var d digest
	if len(credential) < 2*len(d) {
		return nil
	}
	if _, err := hex.Decode(d[:], []byte(credential[:2*len(d)])); err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.known[d]
	if found == nil || now.After(found.claims.person.Expires.Add(afterTime)) {
		return nil
	}
	s.use(found)
	return found
}

// join returns the verification of a token, which it begins if there is none.
func (s *tokens) join(v *Verifier, digest digest, token string) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.flights[digest]; f != nil {
		return f
	}
	f := &flight{done: make(chan struct{}), isNew: s.known[digest] == nil}
	if f.token, f.refusal = s.findLocked(digest, time.Now(), v.provider); f.token != nil || f.refusal != nil { // since the caller looked
		close(f.done)
		return f
	}
	isStarted := (!f.isNew || s.new < maxNew) && v.work.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, verifyTime)
		defer cancel()
		token, refusal := v.verify(ctx, token, f.isNew)
		s.finish(f, digest, token, refusal)
	})
	if !isStarted {
		f.refusal = unavailable(reasonUnavailable)
		close(f.done)
		return f
	}
	s.flights[digest] = f
	if f.isNew {
		s.new++
	}
	return f
}

func (v *Verifier) verify(ctx context.Context, token string, isNew bool) (*verified, *Refusal) {
	if isJWT(token) {
		return v.verifyAccess(ctx, token)
	}
	return v.questions.ask(ctx, token, isNew, v)
}

// finish ends a verification. What is known of a token is forgotten if it is refused, and stays if nobody could be asked.
func (s *tokens) finish(f *flight, digest digest, token *verified, refusal *Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flights, digest)
	if f.isNew {
		s.new--
	}
	f.token, f.refusal = token, refusal
	defer close(f.done)
	switch {
	case refusal == nil:
		token.digest = digest
		s.remember(token)
	case refusal.Status == http.StatusUnauthorized:
		refusal.wasKnown = s.known[digest] != nil
		s.forget(digest)
		if refusal.Reason == reasonInactive {
			s.callInactive(digest, inactive{time.Now().Add(answerTime), refusal.wasKnown})
		}
	}
}

// use notes that a token is in use. The caller holds mu.
func (s *tokens) use(token *verified) {
	s.order.MoveToFront(token.place)
	token.own.MoveToFront(token.ownPlace)
}

func (s *tokens) remember(token *verified) {
	s.forget(token.digest)
	person := token.claims.person.ID
	switch own := s.byPerson[person]; {
	case own != nil && own.Len() >= maxOwn:
		s.forget(own.Back().Value.(digest))
	case len(s.known) >= maxKnown:
		s.forget(s.order.Back().Value.(digest))
	}
	if token.own = s.byPerson[person]; token.own == nil {
		token.own = list.New()
		s.byPerson[person] = token.own
	}
	token.place, token.ownPlace = s.order.PushFront(token.digest), token.own.PushFront(token.digest)
	s.known[token.digest] = token
}

func (s *tokens) forget(digest digest) {
	old := s.known[digest]
	if old == nil {
		return
	}
	s.order.Remove(old.place)
	if old.own.Remove(old.ownPlace); old.own.Len() == 0 {
		delete(s.byPerson, old.claims.person.ID)
	}
	delete(s.known, digest)
}

// callInactive keeps for a while what the provider said, so that a client that repeats such a token does not reach it.
func (s *tokens) callInactive(digest digest, said inactive) {
	if len(s.inactive) >= maxInactive {
		for one := range s.inactive {
			delete(s.inactive, one)
			break
		}
	}
	s.inactive[digest] = said
}

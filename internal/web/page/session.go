package page

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	codeTime    = time.Minute // until the code of a link ends
	sessionIdle = time.Hour   // without a request, until a session ends
	maxCodes    = 8           // links that may still be used; a further one ends the oldest
	maxSessions = 32          // sessions; a further one ends the one that was not used for longest
	secretBytes = 32
)

// sessions are the codes of links and the sessions that were opened with one. Only hashes are kept.
type sessions struct {
	mu    sync.Mutex // guards the following fields
	codes []kept     // oldest first
	open  []kept     // in the order of their last use
}

// kept is a secret that somebody else has.
type kept struct {
	digest [sha256.Size]byte
	at     time.Time // made, or last used

	isExposed bool // a link that a program gets as an argument
}

func newSessions() *sessions { return &sessions{} }

func newSecret() (text string, k kept) {
	var random [secretBytes]byte
	_, _ = rand.Read(random[:]) // never fails: it would end the program
	text = base64.RawURLEncoding.EncodeToString(random[:])
	return text, kept{digest: sha256.Sum256([]byte(text)), at: time.Now()}
}

// newCode returns the code of a new link.
func (s *sessions) newCode(isExposed bool) string {
	text, code := newSecret()
	code.isExposed = isExposed
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes = append(s.codes[max(0, len(s.codes)-maxCodes+1):len(s.codes):len(s.codes)], code)
	return text
}

// find returns the link of a code, which stays as it is.
func (s *sessions) find(code string) (found kept, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found, ok = take(slices.Clone(s.codes), code, codeTime)
	return found, ok
}

// exchange returns the token of a new session for a code, which then has been used.
func (s *sessions) exchange(code string) (token string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.codes, _, ok = take(s.codes, code, codeTime); !ok {
		return "", false
	}
	token, opened := newSecret()
	s.open = append(s.open[max(0, len(s.open)-maxSessions+1):len(s.open):len(s.open)], opened)
	return token, true
}

// use reports whether a session is open, and has been used now.
func (s *sessions) use(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, used, ok := take(s.open, token, sessionIdle)
	if ok {
		used.at = time.Now()
		left = append(left, used)
	}
	s.open = left
	return ok
}

// take removes a secret from a list, and those that have ended. It compares with all of them, and always as long.
func take(all []kept, text string, lifetime time.Duration) (left []kept, taken kept, ok bool) {
	digest := sha256.Sum256([]byte(text))
	left = slices.DeleteFunc(all, func(k kept) bool {
		ended := time.Since(k.at) >= lifetime
		if subtle.ConstantTimeCompare(k.digest[:], digest[:]) == 0 {
			return ended
		}
		taken, ok = k, !ended
		return true
	})
	return left, taken, ok
}

// bearer returns the token of a request.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	return token, strings.EqualFold(scheme, "bearer") && token != ""
}

// Link returns a link that opens the page once, for a minute. The base is the scheme, host and port. What stands behind
// the # reaches no log of a server.
func (p *Page) Link(base string) string { return base + Path + "#once=" + p.sessions.newCode(false) }

// LinkToPass returns a link for a program that gets it as an argument, where other users of this machine may read it.
func (p *Page) LinkToPass(base string) string {
	return base + Path + "#once=" + p.sessions.newCode(true)
}

// openSession exchanges the code of a link for the token of a session.
func (p *Page) openSession(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Code string `json:"code"`
	}
	if !isJSON(r) || json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSmallBody)).Decode(&body) != nil {
		refuse(w, http.StatusBadRequest, "A session is opened with JSON that has a code", "")
		return
	}
	// A code that is refused can still be used: whoever may not use it must not end it either.
	link, ok := p.sessions.find(body.Code)
	if ok {
		if refusal := p.checkPeer(r, link.isExposed); refusal != nil {
			answer(w, http.StatusForbidden, *refusal)
			return
		}
	}
	token, ok := p.sessions.exchange(body.Code)
	if !ok {
		answer(w, http.StatusForbidden, problem{
			Error: "This link was used already, or is older than a minute", Needs: "link",
			Hint: "Open a new link. Where 'mcp-workbench ui' runs, the Enter key prints one.",
		})
		return
	}
	answer(w, http.StatusOK, struct {
		Token string `json:"token"`
	}{token})
}

func isJSON(r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

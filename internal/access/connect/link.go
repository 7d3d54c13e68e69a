package connect

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"
)

// This file is the life of a link.

// secret returns a value for one browser that only this link can make. Each purpose has another one. So nothing has to be
// kept of browsers that only look, such as programs that scan links.
func (l *Link) secret(purpose, browser string) string {
	mac := hmac.New(sha256.New, l.key)
	mac.Write([]byte(purpose + "\x00" + browser))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// newCookie returns a cookie for a browser.
func (l *Link) newCookie() string {
	text := rand.Text()
	return text + "." + l.secret("cookie", text)
}

// isOwn reports whether a cookie is one that this link has made.
func (l *Link) isOwn(cookie string) bool {
	text, mac, ok := strings.Cut(cookie, ".")
	return ok && isEqual(mac, l.secret("cookie", text))
}

// state returns the parameter 'state' for a browser at the identity provider.
func (l *Link) state(cookie string) string { return l.handle + "." + l.secret("state", cookie) }

// nonce and verifier are for the ID token and the code that a browser is to bring.
func (l *Link) nonce(cookie string) string    { return l.secret("nonce", cookie) }
func (l *Link) verifier(cookie string) string { return l.secret("verifier", cookie) }

func isEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// claim makes an answer of the identity provider the one that counts. It is false for any other one.
func (l *Link) claim() bool {
	l.pages.mu.Lock()
	defer l.pages.mu.Unlock()
	if l.phase != waiting || l.pages.isClosed {
		return false
	}
	l.phase = checking
	return true
}

// phaseNow returns how far the link is, and for the phase linking the browser and its attempt.
func (l *Link) phaseNow() (phase, string, Attempt) {
	l.pages.mu.Lock()
	defer l.pages.mu.Unlock()
	return l.phase, l.cookie, l.attempt
}

// goOn lets the person sign in at the server, in the browser with the cookie and in no other one.
func (l *Link) goOn(cookie string, attempt Attempt) error {
	p := l.pages
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return errStopped
	}
	l.phase, l.cookie, l.attempt = linking, cookie, attempt
	p.byState[sha256.Sum256([]byte(attempt.State()))] = l
	p.running.Go(l.await)
	return nil
}

// await ends the link with the login at the server.
func (l *Link) await() {
	notice, err := l.attempt.Wait(l.pages.life)
	if errors.Is(err, context.Canceled) && l.pages.life.Err() != nil {
		err = errStopped
	}
	l.attempt.Close()
	l.pages.mu.Lock()
	l.notice = notice
	l.pages.mu.Unlock()
	l.end(err, "")
}

// expire ends a link that nobody used, and forgets one that has ended.
func (l *Link) expire() {
	p := l.pages
	p.mu.Lock()
	isUnused, isOver := l.phase == waiting, l.phase == ended
	if isOver {
		p.forget(l)
	}
	p.mu.Unlock()
	if isUnused {
		l.end(errLate, "")
	}
}

// forget removes a link. Called with mu held.
func (p *Pages) forget(l *Link) {
	delete(p.byID, l.id)
	delete(p.byHandle, l.handle)
	account := l.request.Person.Account()
	own := slices.DeleteFunc(p.byPerson[account], func(other *Link) bool { return other == l })
	if p.byPerson[account] = own; len(own) == 0 {
		delete(p.byPerson, account)
	}
}

// end ends the link, once, and tells how. Other is the subject of somebody else who opened it.
func (l *Link) end(err error, other string) {
	if l.finish(err, func() { l.pages.report(l, other) }) && err == nil {
		l.pages.endOthers(l)
	}
}

// finish ends the link, once, and has that reported before anybody goes on. The link is remembered for some time, to say so to
// whoever opens it.
func (l *Link) finish(err error, report func()) bool {
	p := l.pages
	p.mu.Lock()
	if l.phase == ended {
		p.mu.Unlock()
		return false
	}
	if l.attempt != nil {
		delete(p.byState, sha256.Sum256([]byte(l.attempt.State())))
	}
	l.phase, l.err = ended, err
	if l.timer.Reset(linkTime); p.isClosed {
		l.timer.Stop()
	}
	p.mu.Unlock()
	if err == nil && l.request.Made != nil {
		l.request.Made()
	}
	report()
	close(l.done)
	return true
}

// endOthers ends the other links of a person for a server that the person has signed in to: what waits for them goes on.
func (p *Pages) endOthers(made *Link) {
	p.mu.Lock()
	var others []*Link
	for _, l := range p.byPerson[made.request.Person.Account()] {
		if l != made && l.phase == waiting && l.request.Address == made.request.Address {
			l.phase = checking
			others = append(others, l)
		}
	}
	p.mu.Unlock()
	for _, l := range others {
		l.finish(nil, func() {}) // it is one login
	}
}

func (p *Pages) report(l *Link, other string) {
	event := Event{Person: l.request.Person, Toolbox: l.request.Toolbox, Server: l.request.Server, Err: l.err, Other: other}
	log := p.options.Log.With("toolbox", event.Toolbox, "server", event.Server, "person", event.Person.Subject)
	switch {
	case other != "":
		log.Warn("somebody else opened a person's link to sign in to a server; nothing was linked", "other", other)
	case event.Err == nil:
		log.Info("a person signed in to a server")
	case errors.Is(event.Err, errLate), errors.Is(event.Err, errStopped):
		log.Debug("a person did not sign in to a server", "reason", event.Err)
		return // nothing happened
	default:
		log.Warn("a person could not sign in to a server", "reason", event.Err)
	}
	p.options.Ended(event)
}

// left returns how long the cookie of a browser is needed: until the link expires, and for the login at the server.
func (l *Link) left() time.Duration { return max(time.Until(l.until), 0) + linkTime }

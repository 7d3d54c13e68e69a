package fleet

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// This file handles servers that wait for a login, which only a person can give. Such a server is not tried again before
// something has changed in the store of logins.

// loginNeeded is why a server needs a login, and what it was that did not suffice.
type loginNeeded struct {
	err   *LoginNeededError
	stamp credentials.Stamp // of the store
}

// usedLogin is the login that a start or a session uses.
type usedLogin struct {
	stamp credentials.Stamp // of the store
	id    string            // changes with the account; "" without a login
}

func (s *Server) currentLogin() usedLogin {
	if s.signIn == nil {
		return usedLogin{}
	}
	stamp, id := s.signIn.Current()
	return usedLogin{stamp, id}
}

// needsLogin records that a login is needed, if that is what an error says of a server that used a login. Called with mu
// held.
func (s *Server) needsLogin(err error, used usedLogin) bool {
	needed, ok := errors.AsType[*LoginNeededError](err)
	if !ok {
		return false
	}
	now := s.currentLogin()
	if now.id != used.id && now.id != "" {
		now.stamp = used.stamp // somebody logged in meanwhile, which ends the state
	}
	s.login, s.failure, s.failures = &loginNeeded{needed, now.stamp}, nil, 0
	if !s.signIn.isPersonal() { // a person's login is told to the server; see signedIn
		s.fleet.logins.add(s)
	}
	return true
}

// awaitsLogin returns why the server cannot be used before a person logs in; nil if that is not the case, or not any more.
// Called with mu held.
func (s *Server) awaitsLogin() *LoginNeededError {
	if s.login == nil || s.signIn.Stamp() != s.login.stamp {
		return nil
	}
	return s.login.err
}

// lacksLogin returns why the next call will need a login, as far as the store tells: the session was begun with a login that
// is gone or cannot be renewed. It is for those who look; calls find it out, since the server may do without. Called with mu
// held.
func (s *Server) lacksLogin() *LoginNeededError {
	if needed := s.lacksOwnLogin(); needed != nil {
		return needed
	}
	if needed := s.awaitsLogin(); needed != nil {
		return needed
	}
	if s.running == nil || s.running.login.id == "" {
		return nil
	}
	now := s.signIn.Status()
	isKnown := now.Err == nil // otherwise the next call says why it is not
	switch {
	case isKnown && now.State == oauth.StateNone:
		return s.loginNeeded(&downstream.LoginError{Reason: "the login was removed"})
	case isKnown && now.State == oauth.StateLoginNeeded:
		return s.loginNeeded(&downstream.LoginError{Reason: now.Reason})
	}
	return nil
}

// loginOf returns the login that requests of an instance use now. Called with mu held.
func (s *Server) loginOf(in *instance) string {
	if s.login == nil {
		return s.signIn.Login()
	}
	if s.awaitsLogin() != nil {
		return in.login.id
	}
	return s.currentLogin().id // what was waited for counts at once
}

// replace ends a session whose login is not the current one any more, as soon as its calls have ended: the server knows
// another user by it. Called with mu held.
func (s *Server) replace(in *instance) {
	s.retire(in)
	s.login = nil
	signal(in.replaced)
}

// noteLogin records that a request of a session failed for want of a login. The session goes on: there may be requests that
// need none.
func (s *Server) noteLogin(in *instance, needed *LoginNeededError) {
	if needed.Err.Scopes != nil || needed.Err.Final {
		return // this request alone is refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == in && s.login == nil {
		s.needsLogin(needed, in.login)
	}
}

// NeedsLogin returns why only a person can make a configured server usable for a client; nil if it needs no login as far as
// is known, from whichever client with the same account.
func (s *Server) NeedsLogin(p *ClientProfile) *LoginNeededError {
	if hasOwnAccounts(&s.config) {
		return s.needsOwnLogin(p)
	}
	signIn := s.preview(p).signIn
	for _, variant := range s.allVariants() {
		if signIn == nil || variant.signIn != signIn {
			continue
		}
		variant.mu.Lock()
		needed := variant.lacksLogin()
		variant.mu.Unlock()
		if needed != nil {
			return needed
		}
	}
	return nil
}

// LoginNeededError says that a server cannot be used, or not for this request, until a person has logged in.
type LoginNeededError struct {
	Toolbox, Server string
	Err             *downstream.LoginError

	// Config is the configuration that the server is in.
	Config *config.Config

	server *Server
	page   string // where a person logs in to an account of their own; "": none was made
}

func (s *Server) loginNeeded(err *downstream.LoginError) *LoginNeededError {
	return &LoginNeededError{Toolbox: s.toolbox, Server: s.Name(), Err: err, Config: s.fleet.options.Config, server: s}
}

// Command returns the command that logs in.
func (e *LoginNeededError) Command() string {
	return trust.Command(e.Config, "login", e.Toolbox+"/"+e.Server)
}

// LoginNeededPrefix begins the text of a LoginNeededError, unless another login would not help. The reason follows it, and
// then after a semicolon what to do.
const LoginNeededPrefix = "login needed: "

func (e *LoginNeededError) Error() string {
	if e.Err.Final {
		return e.Err.Reason + "; " + e.Advice()
	}
	return LoginNeededPrefix + e.Err.Reason + "; " + e.Advice()
}

// FinalAdvice is the Advice if another login would not help.
const FinalAdvice = "another login would not help: ask those who run the server for the right to do this"

// Advice returns what to do, without a capital letter and a full stop.
func (e *LoginNeededError) Advice() string {
	switch {
	case e.isOwn():
		return e.ownAdvice()
	case e.Err.Final:
		return FinalAdvice
	case e.Config != nil && e.Config.LoginAdvice != "":
		return e.Config.LoginAdvice
	case e.Err.Unchallenged:
		return fmt.Sprintf("run: %s (or, if it takes a fixed token, put it into the server's 'headers', such as %s)",
			e.Command(), `{"Authorization": "Bearer ${TOKEN}"}`)
	}
	return "run: " + e.Command()
}

// Hint tells a client what to do; "" if another login would not help.
func (e *LoginNeededError) Hint() string {
	switch {
	case e.Err.Final:
		return ""
	case e.page != "":
		return ownHint
	case e.isOwn():
		return ""
	}
	return loginHint
}

// Remedy returns the command that logs in, or what to do instead.
func (e *LoginNeededError) Remedy() string {
	if e.isOwn() {
		return e.Advice()
	}
	return e.Command()
}

const loginHint = "Ask the user to run this command in a terminal. Then make the same call again: there is no need to start anything anew."

// Unwrap returns the error of the session.
func (e *LoginNeededError) Unwrap() error { return e.Err }

// lookInterval is the time between two looks at the store while a server waits for a login.
const lookInterval = time.Second

// loginWatch looks for logins while servers wait for one.
type loginWatch struct {
	fleet *Fleet

	mu      sync.Mutex
	servers map[*Server]struct{}
	active  bool // a goroutine looks
}

// add has a server watched until it does not wait for a login any more.
func (w *loginWatch) add(s *Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.servers == nil {
		w.servers = make(map[*Server]struct{})
	}
	w.servers[s] = struct{}{}
	if !w.active {
		w.active = w.fleet.run(w.look)
	}
}

func (w *loginWatch) look() {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-w.fleet.life.Done():
			return
		}
		changed, done := w.takeChanged()
		for _, server := range changed {
			server.log.Info("the logins have changed; trying the server again")
			server.StartInBackground()
		}
		if done {
			return
		}
	}
}

// takeChanged removes the servers that do not wait any more, and returns those of them that can be tried again. done means
// that no server is left and the goroutine has to end.
func (w *loginWatch) takeChanged() (changed []*Server, done bool) {
	w.mu.Lock()
	servers := w.servers
	w.servers = make(map[*Server]struct{})
	w.mu.Unlock()
	for server := range servers { // without the lock, which is taken after that of a server
		server.mu.Lock()
		waited, waits := server.login != nil, server.awaitsLogin() != nil
		if !waits {
			server.login = nil
		}
		server.mu.Unlock()
		switch {
		case server.isDismissed() || !waited:
		case waits:
			w.add(server)
		default:
			changed = append(changed, server)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.active = len(w.servers) > 0
	return changed, !w.active
}

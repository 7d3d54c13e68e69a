package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// This file has people log in to servers by way of a page in their browser.

// signIn is how the workbench signs in to a server. Variants with the same account share it.
type signIn struct {
	*oauth.Credentials
	fleet  *Fleet
	server *Server        // the configured one; only where each person has an account of their own
	person connect.Person // whose account it is, in that case; zero: nobody's

	mu    sync.Mutex
	login *Login // under way; nil: none
}

// signInTo returns how to sign in to a server of an environment; nil: not at all.
func (f *Fleet) signInTo(toolbox string, server *config.Server, environ []string) *signIn {
	if f.options.OAuth == nil || server.Fault != nil || !server.SignsIn() {
		return nil
	}
	login := f.options.OAuth.For(oauth.Server{
		Toolbox: toolbox, Name: server.Name, URL: server.URL, Settings: server.OAuth, Version: f.options.Version,
		Confidential: f.confidentialOf(server, environ),
	})
	if hasOwnAccounts(server) {
		login = login.WithAccount(credentials.SharedAccount)
	}
	return &signIn{fleet: f, Credentials: login}
}

// Login is a login under way, which all requests that need it wait for.
type Login struct {
	signIn *signIn
	begun  chan struct{} // closed when the page is there, or the login could not be begun
	ended  chan struct{}
	page   string
	err    error // why it failed; set before ended is closed
	stop   context.CancelFunc
	link   *connect.Link // the login of a person at their own account, to which only page belongs besides; nil: another one

	// Guarded by the mu of signIn:
	users     int // who have not closed it
	abandoned bool
}

var errLoginEnded = errors.New("nobody waits for it any more")

// Begin begins a login, or joins the one that is under way. Nothing is opened. Close it.
func (e *LoginNeededError) Begin(ctx context.Context) (*Login, error) {
	if e.isOwn() {
		return e.server.signIn.beginOwn()
	}
	for {
		login, isOver, err := e.server.signIn.join()
		if err != nil {
			return nil, err
		}
		until := login.begun
		if isOver { // its port is free when it has ended
			until = login.ended
		}
		select {
		case <-until:
		case <-ctx.Done():
			login.Close()
			return nil, context.Cause(ctx)
		}
		switch {
		case isOver:
			login.Close()
		case login.page == "":
			login.Close()
			return nil, login.err
		default:
			return login, nil
		}
	}
}

// join returns the login that is under way, or begins one; isOver means that it is about to end. Close it.
func (s *signIn) join() (login *Login, isOver bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.login == nil {
		life, stop := context.WithCancel(s.fleet.life)
		login := &Login{signIn: s, begun: make(chan struct{}), ended: make(chan struct{}), stop: stop}
		if !s.fleet.run(func() { login.run(life) }) {
			stop()
			return nil, false, errStopping
		}
		s.login = login
	}
	s.login.users++
	return s.login, s.login.abandoned, nil
}

// run is the goroutine of a login.
func (l *Login) run(ctx context.Context) {
	defer l.stop()
	page := func(address string) {
		l.page = address
		close(l.begun)
	}
	err := l.attempt(ctx, page)
	if ctx.Err() != nil {
		err = errLoginEnded
	}
	l.err = err
	if l.page == "" {
		close(l.begun)
	}
	l.signIn.mu.Lock()
	l.signIn.login = nil
	l.signIn.mu.Unlock()
	close(l.ended)
}

// attempt tells the address of the page, and returns when somebody has logged in, or why nobody has.
func (l *Login) attempt(ctx context.Context, page func(address string)) error {
	_, before := l.signIn.Current()
	tried, err := l.signIn.Begin(ctx, oauth.LoginOptions{})
	if err != nil {
		return err
	}
	defer tried.Close()
	page(tried.Page())
	waiting, stop := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() { l.lookElsewhere(waiting, stop, before) })
	_, err = tried.Wait(waiting)
	stop()
	looking.Wait()
	if err != nil && l.isElsewhere(before) {
		return nil
	}
	return err
}

// lookElsewhere ends the wait when somebody has logged in by other means, such as the command.
func (l *Login) lookElsewhere(ctx context.Context, stop context.CancelFunc, before string) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for !l.isElsewhere(before) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
	stop()
}

func (l *Login) isElsewhere(before string) bool {
	_, now := l.signIn.Current()
	return now != "" && now != before
}

// Page returns the address of the page to open, which leads on to the authorization server. It is on this machine, unless
// each person has an account of their own.
func (l *Login) Page() string { return l.page }

// Done is closed when somebody has logged in, or the login failed.
func (l *Login) Done() <-chan struct{} {
	if l.link != nil {
		return l.link.Done()
	}
	return l.ended
}

// Err returns why a login failed that has ended; nil if it did not.
func (l *Login) Err() error {
	if l.link != nil {
		return l.link.Err()
	}
	return l.err
}

// Close ends the login, unless others wait for it, or it is that of a person who may still come.
func (l *Login) Close() {
	if l.link != nil {
		return
	}
	l.signIn.mu.Lock()
	defer l.signIn.mu.Unlock()
	if l.users--; l.users == 0 {
		l.abandoned = true
		l.stop()
	}
}

// Address returns the address of a remote server as it is configured, which may have secrets; "" for others.
func (s *Server) Address() string { return s.config.URL }

// LoginStatus returns the state of the login to the server, from the store alone; ok is false if there is no login to
// it. It may read a file.
func (s *Server) LoginStatus() (status oauth.Status, ok bool) {
	if s.signIn == nil {
		return status, false
	}
	return s.signIn.Status(), true
}

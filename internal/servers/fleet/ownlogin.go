package fleet

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// This file is about servers at which each person has an account of their own. Nothing is sent to such a server but in the
// name of a person who has signed in to it.

// UsePages has people sign in to their own accounts on these pages. Without them, they cannot.
func (f *Fleet) UsePages(pages *connect.Pages) { f.pages.Store(pages) }

// signIns are how people sign in to one server.
type signIns struct {
	mu        sync.Mutex
	byAccount map[string]*signIn
}

// maxSignIns is for how many people the login to one server is kept in memory; beyond it, all are read from the store again.
const maxSignIns = 5_000

// HasOwnAccounts reports whether each person has an account of their own at the server.
func (s *Server) HasOwnAccounts() bool { return hasOwnAccounts(&s.config) }

// who returns the person whose client it is; ok is false if it is nobody who is known at an identity provider.
func (p *ClientProfile) who() (person connect.Person, ok bool) {
	if p == nil || p.options.Issuer == "" {
		return person, false
	}
	subject, ok := strings.CutPrefix(p.options.Caller, config.CallerPerson)
	return connect.Person{Issuer: p.options.Issuer, Subject: subject, Name: p.options.PersonName}, ok && subject != ""
}

// signInFor returns how a client signs in to a configured server at which each person has an account: as its person, or as
// nobody.
func (s *Server) signInFor(p *ClientProfile) *signIn {
	person, ok := p.who()
	if !ok || s.signIn == nil {
		return s.signIn
	}
	account := person.Account()
	all := &s.variants.signIns
	all.mu.Lock()
	defer all.mu.Unlock()
	known, ok := all.byAccount[account]
	if !ok {
		if all.byAccount == nil || len(all.byAccount) >= maxSignIns {
			all.byAccount = make(map[string]*signIn)
		}
		known = &signIn{fleet: s.fleet, server: s, person: person, Credentials: s.signIn.WithAccount(account)}
		all.byAccount[account] = known
	}
	return known
}

// isPersonal reports whether it is the account of one person.
func (s *signIn) isPersonal() bool { return s != nil && s.person != connect.Person{} }

// needsPerson returns why a remote server cannot be used for a caller who is no person; nil if it can.
func (s *Server) needsPerson(caller string) *LoginNeededError {
	if !hasOwnAccounts(&s.config) || s.config.URL == "" || s.signIn.isPersonal() {
		return nil
	}
	who := "this request is nobody's"
	name := func(prefix string) string { return hidden.Clean(strings.TrimPrefix(caller, prefix)) }
	switch {
	case caller == config.CallerStdio:
		who = "a client that is started on the machine of the workbench has not signed in as a person"
	case caller == config.CallerShared:
		who = "a client of a shared workbench has not signed in as a person"
	case caller == config.CallerTerminal:
		who = "a command in a terminal has not signed in as a person"
	case strings.HasPrefix(caller, config.CallerToken):
		who = "the token '" + name(config.CallerToken) + "' of the workbench belongs to no person"
	case strings.HasPrefix(caller, config.CallerCertificate):
		who = "the certificate '" + name(config.CallerCertificate) + "' belongs to no person"
	}
	return s.loginNeeded(&downstream.LoginError{Reason: "each person has an account of their own at this server, and " + who, Final: true})
}

// lacksOwnLogin returns why the person whose variant this is has to log in before the server is asked anything; nil if there
// is a login, or it is not a matter of one person.
func (s *Server) lacksOwnLogin() *LoginNeededError {
	if !s.signIn.isPersonal() || s.signIn.HasLogin() {
		return nil
	}
	return s.loginNeeded(&downstream.LoginError{Reason: "you have not signed in to it yet, and each person has an account of their own there"})
}

// needsOwnLogin is NeedsLogin for a server at which each person has an account.
func (s *Server) needsOwnLogin(p *ClientProfile) *LoginNeededError {
	if p == nil || s.signIn == nil {
		return nil // it is nobody's matter
	}
	variant := s.preview(p)
	if needed := variant.needsPerson(p.Caller()); needed != nil {
		return needed
	}
	variant.mu.Lock()
	defer variant.mu.Unlock()
	return variant.lacksLogin()
}

// isOwn reports whether the login is that of a person to an account of their own.
func (e *LoginNeededError) isOwn() bool { return e.server != nil && hasOwnAccounts(&e.server.config) }

// IsOwn reports whether the login is that of a person to an account of their own, whose page can be opened from anywhere.
func (e *LoginNeededError) IsOwn() bool { return e.isOwn() && !e.Err.Final }

// ownAdvice is Advice for such a login.
func (e *LoginNeededError) ownAdvice() string {
	switch {
	case e.page != "":
		return "open " + e.page + " and make the call again"
	case e.server.signIn.isPersonal() && e.Err.Final:
		return FinalAdvice
	case !e.server.signIn.isPersonal():
		return "connect with a client that signs in at the identity provider of the workbench"
	case e.server.fleet.pages.Load() == nil:
		return "this workbench has no page to sign in on; those who run it have to set 'http.oauth.clientId'"
	}
	return "open its toolbox, or call one of its tools, which brings a link to sign in with"
}

const ownHint = "Give the user this address. It is for them alone, works once and for 10 minutes. Then make the same call again: there is no need to start anything anew."

// WithPage returns the error with the address of the page for a login to a person's own account, where that is what is
// needed; otherwise the error as it is.
func (e *LoginNeededError) WithPage() *LoginNeededError {
	if !e.IsOwn() || !e.server.signIn.isPersonal() {
		return e
	}
	linked := *e
	link, err := e.server.signIn.link()
	if err != nil {
		failed := *e.Err
		failed.Reason += "; no link could be made: " + err.Error()
		linked.Err = &failed
		return &linked
	}
	linked.page = link.Address()
	return &linked
}

// beginOwn begins the login of a person, or joins it. It waits for the person, whoever else waits.
func (s *signIn) beginOwn() (*Login, error) {
	link, err := s.link()
	if err != nil {
		return nil, err
	}
	return &Login{signIn: s, page: link.Address(), link: link}, nil
}

// link returns the link with which the person signs in.
func (s *signIn) link() (*connect.Link, error) {
	if !s.isPersonal() {
		return nil, errors.New("only a person can sign in")
	}
	return s.fleet.pages.Load().Link(connect.Request{
		Person: s.person, Toolbox: s.server.toolbox, Server: s.server.Name(), Address: s.server.config.URL, Begin: s.beginHosted, Made: s.signedIn,
	})
}

// beginHosted prepares the login at the authorization server.
func (s *signIn) beginHosted(ctx context.Context, redirectURI string) (connect.Attempt, error) {
	if s.server.isDismissed() {
		return nil, errDismissed
	}
	attempt, err := s.Begin(ctx, oauth.LoginOptions{RedirectURI: redirectURI})
	if err != nil {
		return nil, err
	}
	return hostedAttempt{attempt}, nil
}

// hostedAttempt implements connect.Attempt.
type hostedAttempt struct{ *oauth.Attempt }

func (a hostedAttempt) Wait(ctx context.Context) (notice string, err error) {
	outcome, err := a.Attempt.Wait(ctx)
	if err == nil && len(outcome.Missing) > 0 {
		notice = "not granted, although requested: " + strings.Join(outcome.Missing, ", ")
	}
	return notice, err
}

// signedIn has the person's sessions use the login at once.
func (s *signIn) signedIn() {
	for _, variant := range s.server.allVariants()[1:] {
		if !variant.signIn.isPersonal() || variant.signIn.person.Account() != s.person.Account() {
			continue
		}
		variant.signIn.Current() // read from the store
		if !variant.isDismissed() {
			variant.StartInBackground()
		}
	}
}

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// This file is about servers at which each person has an account of their own.

// withRedirectURI adds to the refusal of a login which redirect URI an authorization server has to know, if people sign in there
// on the page of the workbench.
func (r remote) withRedirectURI(cfg *config.Config, err error) error {
	known, ok := errors.AsType[*toolbox.Error](err)
	if !ok || !r.server.HasOwnAccounts() || cfg.HTTP.OAuth == nil {
		return err
	}
	more := *known
	more.Hint += "\nIf a client has to be registered by hand, its redirect URI is " + connect.RedirectURI(cfg.HTTP.OAuth.Resource, r.server.URL)
	return &more
}

// logoutFlags say whose logins are removed.
type logoutFlags struct {
	loginFlags
	person   string
	everyone bool
}

func (f *logoutFlags) isForPeople() bool { return f.person != "" || f.everyone }

// accounts returns the accounts of the people that are to be signed out.
func (f *logoutFlags) accounts(l *logins, found remote) ([]string, error) {
	if f.everyone {
		return l.of(found, "").People()
	}
	if l.config.HTTP.OAuth == nil {
		return nil, &toolbox.Error{
			Code: toolbox.LoginNotNeeded, Message: "The configuration names no identity provider ('http.oauth'), so that it is not known who a subject is",
			Hint: "To sign out everybody: --everyone",
		}
	}
	return []string{credentials.PersonAccount(l.config.HTTP.OAuth.Issuer, f.person)}, nil
}

// logoutPeople signs people out of their own accounts at a server.
func (l *logins) logoutPeople(cmd *cobra.Command, found remote, ref string, flags logoutFlags) error {
	name := "'" + tty.CleanLine(ref) + "'"
	if !flags.isForPeople() {
		return &toolbox.Error{
			Code: toolbox.LoginNotNeeded, Message: fmt.Sprintf("Server %s has an account for each person, and it is not said who is to be signed out", name),
			Hint: "Name one: --person SUBJECT, as in the audit log. Or all: --everyone",
		}
	}
	accounts, err := flags.accounts(l, found)
	if err != nil {
		return err
	}
	people, notices := 0, []string{}
	for _, account := range accounts {
		result, err := l.of(found, account).Logout(cmd.Context())
		if err != nil {
			return err
		}
		if notices = append(notices, result.Notices...); result.Logins > 0 {
			people++
			l.record(audit.PersonLogout(found.toolbox, found.server.Name, flags.person))
		}
	}
	if flags.everyone {
		if err := l.of(found, "").ForgetRegistrations(cmd.Context()); err != nil {
			return err
		}
	}
	if isJSON(cmd) {
		if err := writeJSON(cmd, newSignedOut(ref, "", people, notices, l.mask)); err != nil {
			return err
		}
	}
	screen := screenOf(cmd)
	switch {
	case people == 0 && flags.everyone:
		fmt.Fprintf(screen, "Nobody has a login to %s.\n", name)
	case people == 0:
		fmt.Fprintf(screen, "'%s' has no login to %s.\n", tty.CleanLine(flags.person), name)
	default:
		fmt.Fprintf(screen, "%s Signed %s out of %s.\n", screen.Paint(tty.Good, "✓"), toolbox.Count(people, "person", "people"), name)
	}
	for _, notice := range notices {
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), screen.Wrap(tty.Clean(l.mask(notice)), 2))
	}
	return nil
}

// ownStatus is the state of a server at which each person has an account: how many have a login.
func (l *logins) ownStatus(s *loginStatus, one remote) {
	s.State = statePerPerson
	people, err := l.of(one, "").People()
	if s.People = len(people); err != nil {
		s.Reason = l.mask(unusableReason(err))
	}
}

// usedLogins are the logins that servers of the configuration use.
type usedLogins struct {
	accounts map[credentials.Key]bool // without the issuer
	people   map[string]bool          // servers at which each person has an account
}

func (u *usedLogins) add(one remote) {
	server, err := credentials.CanonicalServer(one.server.URL)
	switch {
	case err != nil || !one.server.SignsIn():
	case one.server.HasOwnAccounts():
		u.people[server] = true
	default:
		u.accounts[credentials.Key{Server: server, Account: one.account()}] = true
	}
}

func (u *usedLogins) has(c *credentials.Credential) bool {
	if credentials.IsPersonal(c.Account) {
		return u.people[c.Server]
	}
	return u.accounts[credentials.Key{Server: c.Server, Account: c.Account}]
}

// unusedPeople returns the logins of people that no server uses, one row for each server.
func (l *logins) unusedPeople(kept []*credentials.Credential) (rows []loginStatus) {
	at, known := make(map[string]int), make(map[credentials.Key]bool)
	for _, one := range kept {
		person := credentials.Key{Server: one.Server, Account: one.Account}
		if known[person] {
			continue
		}
		known[person] = true
		i, ok := at[one.Server]
		if !ok {
			i = len(rows)
			at[one.Server] = i
			rows = append(rows, loginStatus{URL: l.mask(plain(one.Server)), State: statePerPerson})
		}
		rows[i].People++
	}
	return rows
}

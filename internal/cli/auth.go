package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

func newAuth(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth",
		Short: "Show the logins to remote servers",
		Long: `Show the logins to remote servers. To sign in: mcp-workbench login SERVER. To sign out:
mcp-workbench logout SERVER.`,
		Example:                    "  mcp-workbench auth status",
		Args:                       noArguments,
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuthStatus(g))
	return cmd
}

func newAuthStatus(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the login to each remote server",
		Long: `Show the state of the login to each remote server of the configuration, and logins that no
server uses. Servers without a login are asked whether they need one, for 3 seconds at
most. Tokens are never shown.

  signed in              there is a token; it is renewed when it expires, if that is possible
  expired, will refresh  the token is renewed with the next call
  expired                the token of a login that no server uses; it cannot be renewed
  login needed           only a person can go on: mcp-workbench login SERVER
  not needed             the server answers without a login
  not signed in          there is no login, and the server could not be asked: mcp-workbench
                         doctor SERVER says why
  unusable               the login that is kept cannot be read; login --fresh replaces it
  fixed header           'headers' in the configuration have the token
  automatic              'oauth.grant' gets tokens without a person
  per person             each person has an account; ACCOUNT says how many have a login
  off                    "oauth": false`,
		Example: `  mcp-workbench auth status
  mcp-workbench auth status --json | jq -r '.servers[] | .state'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAuthStatus(cmd, g, asJSON) },
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	return cmd
}

// authReport is the output of 'auth status --json'.
type authReport struct {
	Folder  string        `json:"folder"`           // where logins are kept
	Sealed  string        `json:"sealed,omitempty"` // where the key comes from that they are encrypted with
	Servers []loginStatus `json:"servers"`
	Unused  []loginStatus `json:"unused"` // logins that no server of the configuration uses
}

// loginStatus is the login of one server. It has no secrets.
type loginStatus struct {
	Server    string     `json:"server,omitempty"` // TOOLBOX/SERVER; "" for a login that no server uses
	URL       string     `json:"url"`
	State     string     `json:"state"`
	Reason    string     `json:"reason,omitempty"`
	Account   string     `json:"account,omitempty"`
	People    int        `json:"people,omitempty"` // with a login, where each has an account of their own
	Issuer    string     `json:"issuer,omitempty"`
	ClientID  string     `json:"clientId,omitempty"`
	Scopes    []string   `json:"scopes,omitempty"`
	Wanted    []string   `json:"wantedScopes,omitempty"` // that a refused call needs
	Expires   *time.Time `json:"expires,omitempty"`      // of the token
	Renewable bool       `json:"renewable,omitempty"`
	Command   string     `json:"command,omitempty"` // that signs in, or shows why that is not possible yet

	purpose string // of the command
}

// States of a login that the command adds to those of package oauth.
const (
	stateRefresh     = "expired, will refresh"
	stateNotNeeded   = "not needed"
	stateNotSignedIn = "not signed in"
	stateFixed       = "fixed header"
	stateAutomatic   = "automatic"
	stateUnusable    = "unusable"
	statePerPerson   = "per person"
)

func runAuthStatus(cmd *cobra.Command, g *globals, asJSON bool) error {
	loaded, log, err := g.loadForTerminal(cmd.Context(), cmd.OutOrStdout(), os.Stderr)
	if err != nil {
		return err
	}
	logins := openLogins(loaded.Config, log)
	defer logins.Close()
	report, err := logins.report(cmd.Context(), loaded.Config)
	if ended := context.Cause(cmd.Context()); ended != nil {
		return ended
	}
	if asJSON {
		return errors.Join(writeJSON(cmd, report), err)
	}
	report.print(screenOf(cmd))
	return err
}

// report returns the state of all logins. Along with it, it returns why some cannot be read.
func (l *logins) report(ctx context.Context, cfg *config.Config) (*authReport, error) {
	r := &authReport{
		Folder: credentials.Folder(config.StateDir()), Sealed: cfg.Credentials.Seal,
		Servers: []loginStatus{}, Unused: []loginStatus{},
	}
	all := remotes(cfg)
	r.Servers = make([]loginStatus, len(all))
	var asking sync.WaitGroup
	used := usedLogins{make(map[credentials.Key]bool), make(map[string]bool)}
	for i, one := range all {
		used.add(one)
		asking.Go(func() { r.Servers[i] = l.status(ctx, one) })
	}
	asking.Wait()
	kept, err := l.store.All()
	var people []*credentials.Credential
	for _, one := range kept {
		switch {
		case !isLogin(one) || used.has(one):
		case credentials.IsPersonal(one.Account):
			people = append(people, one)
		default:
			r.Unused = append(r.Unused, l.unused(one))
		}
	}
	r.Unused = append(r.Unused, l.unusedPeople(people)...)
	return r, err
}

// status returns the state of the login to one server.
func (l *logins) status(ctx context.Context, one remote) loginStatus {
	s := loginStatus{Server: one.Ref(), URL: l.mask(plain(one.server.URL))}
	if one.server.OAuth == nil && one.server.HasOwnToken() {
		s.State = stateFixed
		return s
	}
	if one.server.SignsIn() && one.server.HasOwnAccounts() {
		l.ownStatus(&s, one)
		return s
	}
	login := l.of(one, "")
	status := login.Status()
	s.fill(status)
	switch {
	case status.Err != nil:
		s.State, s.Reason = stateUnusable, unusableReason(status.Err)
	case s.State == string(oauth.StateNone):
		s.ask(ctx, login)
	}
	switch {
	case s.State == stateUnusable:
		s.Command, s.purpose = trust.Command(l.config, "login", one.Ref(), "--fresh"), "to replace it by a new login"
	case s.State == stateNotSignedIn:
		s.Command, s.purpose = trust.Command(l.config, "doctor", one.Ref()), "to see why"
	case s.State == string(oauth.StateLoginNeeded) || len(s.Wanted) > 0:
		s.Command, s.purpose = trust.Command(l.config, "login", one.Ref()), "to sign in"
	}
	s.Reason = l.mask(s.Reason)
	return s
}

// unusableReason says what is wrong with a login; the error itself also says how to mend it.
func unusableReason(err error) string {
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		return known.Message
	}
	return err.Error()
}

// ask finds out whether a server without a login needs one.
func (s *loginStatus) ask(ctx context.Context, login *oauth.Credentials) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	switch isNeeded, err := login.AsksForLogin(ctx); {
	case err != nil:
		s.State, s.Reason = stateNotSignedIn, "the server could not be asked whether it needs a login"
	case isNeeded:
		s.State, s.Reason = string(oauth.StateLoginNeeded), "the server asks for a login"
	default:
		s.State = stateNotNeeded
	}
}

// fill takes over what package oauth says.
func (s *loginStatus) fill(from oauth.Status) {
	s.State, s.Reason, s.Account, s.Issuer, s.ClientID = string(from.State), from.Reason, from.Account, from.Issuer, from.ClientID
	s.Scopes, s.Wanted, s.Renewable = from.Scopes, from.Wanted, from.Refreshable
	if !from.Expires.IsZero() {
		s.Expires = &from.Expires
	}
	switch from.State {
	case oauth.StateExpired:
		s.State = stateRefresh
	case oauth.StateMachine:
		s.State = stateAutomatic
	}
}

// unused returns the state of a login that no server uses.
func (l *logins) unused(c *credentials.Credential) loginStatus {
	s := loginStatus{
		URL: l.mask(plain(c.Server)), State: string(oauth.StateSignedIn), Reason: c.Dead, Account: c.Account, Issuer: c.Issuer,
		ClientID: c.Client.ID, Scopes: c.Granted, Renewable: c.Refresh != "" && c.Dead == "",
	}
	isExpired := !c.Expires.IsZero() && !time.Now().Before(c.Expires)
	switch {
	case c.Dead != "":
		s.State = string(oauth.StateLoginNeeded)
	case isExpired && s.Renewable:
		s.State = stateRefresh
	case isExpired:
		s.State = string(oauth.StateExpired)
	}
	if !c.Expires.IsZero() {
		s.Expires = &c.Expires
	}
	return s
}

func (r *authReport) print(screen *tty.Screen) {
	if len(r.Servers) == 0 {
		fmt.Fprintln(screen, "The configuration has no remote servers. To add one: mcp-workbench add URL")
	} else {
		rows := make([][]tty.Cell, len(r.Servers))
		for i, s := range r.Servers {
			rows[i] = append([]tty.Cell{{Text: s.Server, Style: tty.Name}}, s.cells()...)
		}
		screen.Table([]string{"SERVER", "STATE", "ACCOUNT", "ISSUER", "SCOPES", "EXPIRES"}, rows)
	}
	for _, s := range r.Servers {
		if s.Reason != "" {
			fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), screen.Wrap(tty.CleanLine(s.Server+": "+s.advice()), 2))
		}
	}
	if len(r.Unused) > 0 {
		fmt.Fprintln(screen, "\nLogins that no server of this configuration uses:")
		rows := make([][]tty.Cell, len(r.Unused))
		for i, s := range r.Unused {
			rows[i] = append([]tty.Cell{{Text: s.URL}}, s.cells()...)
		}
		screen.Table([]string{"URL", "STATE", "ACCOUNT", "ISSUER", "SCOPES", "EXPIRES"}, rows)
		fmt.Fprintln(screen, "To remove one: mcp-workbench logout URL [--account NAME]")
		if slices.ContainsFunc(r.Unused, func(s loginStatus) bool { return s.State == statePerPerson }) {
			fmt.Fprintln(screen, "To remove those of people: mcp-workbench logout URL --everyone")
		}
	}
	how := "in files that only you can read"
	if r.Sealed != "" {
		how = "encrypted with a key (" + r.Sealed + ")"
	}
	if r.Folder != "" {
		fmt.Fprintf(screen, "\nLogins are kept in %s, %s.\n", shortenHome(r.Folder), how)
	}
}

func (s *loginStatus) advice() string {
	if s.Command == "" {
		return s.Reason
	}
	return s.Reason + "; " + s.purpose + ": " + s.Command
}

func (s *loginStatus) cells() []tty.Cell {
	style := tty.Plain
	switch s.State {
	case string(oauth.StateSignedIn), stateRefresh:
		style = tty.Good
	case string(oauth.StateLoginNeeded), stateNotSignedIn:
		style = tty.Caution
	case stateUnusable:
		style = tty.Bad
	}
	expires := "-"
	if s.Expires != nil {
		expires = s.Expires.Local().Format(tokenTime)
		if s.Renewable {
			expires += ", renewed"
		}
	}
	account := cmp.Or(s.Account, "-")
	if s.State == statePerPerson {
		account = toolbox.Count(s.People, "person", "people")
	}
	return []tty.Cell{
		{Text: s.State, Style: style},
		{Text: account},
		{Text: cmp.Or(s.Issuer, "-")},
		{Text: cmp.Or(strings.Join(s.Scopes, " "), "-")},
		{Text: expires},
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/forms"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/console"
)

// remote is a remote server of the configuration.
type remote struct {
	toolbox string
	server  *config.Server
}

// Ref returns TOOLBOX/SERVER.
func (r remote) Ref() string { return r.toolbox + "/" + r.server.Name }

// account returns the account that the configuration names; "" is the default one.
func (r remote) account() string {
	if r.server.OAuth == nil {
		return ""
	}
	return r.server.OAuth.Account
}

// remotes returns the remote servers in the order of the configuration.
func remotes(cfg *config.Config) (all []remote) {
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			if box.Servers[i].URL != "" {
				all = append(all, remote{box.Name, &box.Servers[i]})
			}
		}
	}
	return all
}

// plain returns an address without the parts that may contain a secret.
func plain(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	return webclient.Plain(u)
}

// findRemote finds the server named by TOOLBOX/SERVER, by its own name if only one remote server has it, or by the name of a
// toolbox with one remote server.
func findRemote(cfg *config.Config, ref string) (remote, error) {
	all := remotes(cfg)
	named := &toolbox.Named{What: "remote server", Where: "in the configuration", Code: toolbox.ReferenceNotFound, List: "mcp-workbench auth status"}
	var inToolbox []remote
	for _, r := range all {
		named.Servers = append(named.Servers, toolbox.Place{Toolbox: r.toolbox, Server: r.server.Name})
		if r.toolbox == strings.TrimSuffix(ref, "/") {
			inToolbox = append(inToolbox, r)
		}
	}
	at, err := named.Find(ref, toolbox.ServerOnly)
	if known, ok := errors.AsType[*toolbox.Error](err); ok && known.Code == toolbox.ReferenceNotFound {
		if len(inToolbox) == 1 {
			return inToolbox[0], nil
		}
		if local := notRemote(cfg, ref); local != nil {
			return remote{}, local
		}
	}
	for _, r := range all {
		if err == nil && r.toolbox == at.Toolbox && r.server.Name == at.Server {
			return r, nil
		}
	}
	return remote{}, err
}

// notRemote returns why a server of the configuration is not a remote one; nil if there is no such server.
func notRemote(cfg *config.Config, ref string) error {
	at, err := cfg.Places().Find(ref, toolbox.ServerOnly)
	if err != nil {
		return nil //nolint:nilerr // a login may be of a server that is not configured
	}
	if _, err := cfg.OnlyAt(at); err != nil {
		return err
	}
	return &toolbox.Error{
		Code:    toolbox.LoginNotNeeded,
		Message: fmt.Sprintf("Server '%s' runs on this machine; the workbench signs in to remote servers only", tty.CleanLine(at.String())),
		Hint:    "If the program itself needs a login, its documentation says how.",
	}
}

// refuseLogin refuses a server that no person signs in to.
func (r remote) refuseLogin() error {
	refused := func(why, hint string) error {
		return &toolbox.Error{Code: toolbox.LoginNotNeeded, Message: fmt.Sprintf("Server '%s' %s", tty.CleanLine(r.Ref()), why), Hint: hint}
	}
	settings := r.server.OAuth
	switch {
	case r.server.SignsIn() && r.server.HasOwnAccounts():
		return refused(`has an account for each person ("accounts": "per-person")`, "Nobody can sign in for others: a person's first call brings a link to sign in with. To see how many have: mcp-workbench auth status")
	case r.server.SignsIn() && settings != nil && settings.Grant != "":
		return refused(fmt.Sprintf("gets its tokens without a person, by \"grant\": \"%s\"", settings.Grant), "To see whether it works: mcp-workbench doctor "+tty.CleanLine(r.Ref()))
	case r.server.SignsIn():
		return nil
	case settings != nil:
		return refused(`has "oauth": false in the configuration`, `Remove that key to sign in.`)
	}
	return refused("has a token in its 'headers', which is sent as it is", `Remove the header Authorization to sign in, or add "oauth": true to use both.`)
}

// logins are the logins of this user.
type logins struct {
	*oauth.Manager
	store  *credentials.Store
	config *config.Config

	mu      sync.Mutex
	secrets []string // of the configuration, and tokens
	events  []audit.Entry

	host *process.Host // of commands that print secrets; nil until one is needed
}

// openLogins opens the logins of this user. They must be closed.
func openLogins(cfg *config.Config, log *slog.Logger) *logins {
	store := credentials.Open(credentials.Folder(config.StateDir()), credentials.Options{Seal: cfg.Credentials, Log: log})
	l := &logins{store: store, config: cfg, secrets: slices.Clone(cfg.Secrets)}
	l.Manager = oauth.New(oauth.Options{Store: store, Environ: os.Environ(), Log: log, Secrets: l.hide, Ended: func(server oauth.Server, err error) {
		l.record(audit.Login(server.Toolbox, server.Name, err))
	}})
	return l
}

// record keeps an event for the audit log, which is written in the end.
func (l *logins) record(event audit.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
}

// Close ends the use of the logins, and records what was done.
func (l *logins) Close() {
	l.Manager.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.host != nil {
		_ = l.host.Close(context.Background()) // bounded; what is left is ended by its guard
	}
	for _, event := range l.events {
		recordEvent(context.Background(), l.config.Audit, event)
	}
	l.events = nil
}

// hide adds values that are not shown.
func (l *logins) hide(values ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.secrets = append(l.secrets, values...)
}

// mask hides secrets in a text.
func (l *logins) mask(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return secret.NewMasker(l.secrets).Mask(text)
}

// confidentialOf returns how to get the secrets that the settings of a server name; nil if they name none.
func (l *logins) confidentialOf(server *config.Server) oauth.Confidential {
	if server.OAuth == nil || len(server.Deferred) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.host == nil {
		l.host = process.NewHost(process.HostOptions{StateDir: config.StateDir()})
	}
	return &forms.Login{Resolver: forms.New(l.host), Server: server, Hide: l.hide}
}

// of returns the login of a server, under another account than the configured one if it is not empty.
func (l *logins) of(r remote, account string) *oauth.Credentials {
	settings := r.server.OAuth
	if account != "" {
		changed := config.OAuth{}
		if settings != nil {
			changed = *settings
		}
		changed.Account = account
		settings = &changed
	}
	return l.For(oauth.Server{Toolbox: r.toolbox, Name: r.server.Name, URL: r.server.URL, Settings: settings, Version: Version, Confidential: l.confidentialOf(r.server)})
}

// loginProblem returns why the login to a server that is kept cannot be used; nil if it can, or there is none.
func loginProblem(c *console.Console, at string) error {
	found, err := findRemote(c.Config, at)
	if err != nil || !found.server.SignsIn() {
		return nil // the server is not signed in to
	}
	logins := openLogins(c.Config, c.Log)
	defer logins.Close()
	known, ok := errors.AsType[*toolbox.Error](logins.of(found, "").Status().Err)
	if !ok || known.Code != toolbox.LoginsSealed && known.Code != toolbox.LoginsUnusable {
		return nil
	}
	named := *known
	named.Hint = strings.ReplaceAll(known.Hint, credentials.LoginCommand, trust.Command(c.Config, "login", found.Ref()))
	return &named
}

// askTime is how long a server may take to answer whether it needs a login.
const askTime = 3 * time.Second

// needLogin asks servers of a configuration file, all at once, whether they need a login, and returns those that do and have
// none, and those that did not answer.
func needLogin(ctx context.Context, path string, isWanted func(toolbox, server string) bool) (needed, unanswered []remote) {
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return nil, nil
	}
	logins := openLogins(cfg, slog.New(slog.DiscardHandler))
	defer logins.Close()
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	all := remotes(cfg)
	isNeeded, isSilent := make([]bool, len(all)), make([]bool, len(all))
	var asking sync.WaitGroup
	for i, one := range all {
		if one.server.Disabled || !isWanted(one.toolbox, one.server.Name) || one.refuseLogin() != nil {
			continue
		}
		login := logins.of(one, "")
		if login.Status().State != oauth.StateNone {
			continue
		}
		asking.Go(func() {
			asks, err := login.AsksForLogin(ctx)
			isNeeded[i], isSilent[i] = asks && err == nil, err != nil
		})
	}
	asking.Wait()
	for i, one := range all {
		if isNeeded[i] {
			needed = append(needed, one)
		}
		if isSilent[i] {
			unanswered = append(unanswered, one)
		}
	}
	return needed, unanswered
}

// loginCommand returns the command that signs in to a server of a configuration file.
func loginCommand(one remote, path string) string { return commandOn(path, "login", one.Ref()) }

// commandOn returns a command on a configuration file, which it names unless it is found without.
func commandOn(path string, words ...string) string {
	on := &config.Config{Path: path}
	if path != config.UserPath(os.Getenv) {
		places, err := config.Find("", os.Getenv)
		on.Named = err != nil || len(places) == 0 || places[0].Path != path
	}
	return trust.Command(on, words...)
}

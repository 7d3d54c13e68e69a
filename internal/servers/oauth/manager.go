package oauth

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Server is the configured server that a login is for.
type Server struct {
	Toolbox, Name string
	URL           string
	Settings      *config.OAuth // nil: the defaults
	Version       string        // of the workbench

	// Confidential gets the secrets that the settings only name; nil if they name none.
	Confidential Confidential
}

// Confidential gets the secrets of settings when they are needed.
type Confidential interface {
	// Fill returns the settings with their secrets.
	Fill(ctx context.Context) (*config.OAuth, error)
	// Forget is called when an authorization server refuses the client with these secrets.
	Forget()
}

// Options configure a Manager.
type Options struct {
	Store *credentials.Store
	// Environ is where proxies and certificate authorities are read from.
	Environ []string
	Log     *slog.Logger
	// Secrets receives tokens and other secrets, so that they are masked. May be nil.
	Secrets func(values ...string)
	// Ended is told how each login of a person ended. It must not block. May be nil.
	Ended func(server Server, err error)
}

// minHidden is how many bytes a token has to have to be masked.
const minHidden = 8

// Manager makes the credentials of remote servers.
type Manager struct {
	options Options

	mu       sync.Mutex
	isClosed bool
	running  sync.WaitGroup // refreshes under way
}

// New returns a manager. Close it.
func New(options Options) *Manager {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager{options: options}
}

// Close waits for refreshes under way, which are bounded: the authorization server may have replaced the refresh token
// already, and the new one has to be saved. No further refresh begins.
func (m *Manager) Close() {
	m.mu.Lock()
	m.isClosed = true
	m.mu.Unlock()
	m.running.Wait()
}

// run runs a refresh in a goroutine that Close waits for. It returns false if the manager is closed.
func (m *Manager) run(refresh func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isClosed {
		return false
	}
	m.running.Go(refresh)
	return true
}

// hide has secrets masked. Short ones are none that anybody can keep, and would mask the words of others.
func (m *Manager) hide(values ...string) {
	values = slices.DeleteFunc(values, func(value string) bool { return len(value) < minHidden })
	if m.options.Secrets != nil && len(values) > 0 {
		m.options.Secrets(values...)
	}
}

// For returns the credentials of a server.
func (m *Manager) For(server Server) *Credentials {
	c := &Credentials{manager: m, server: server, begun: time.Now()}
	if server.Settings != nil {
		c.settings = *server.Settings
	}
	c.renewer = c.refreshStored
	if c.isMachine() {
		c.renewer = c.grantToken
	}
	c.problem = c.prepare()
	return c
}

// WithAccount returns the credentials of another account at the same server.
func (c *Credentials) WithAccount(account string) *Credentials {
	other := &Credentials{
		manager: c.manager, server: c.server, settings: c.settings, address: c.address, canonical: c.canonical, guard: c.guard, problem: c.problem, begun: time.Now(),
	}
	other.settings.Account = account
	other.renewer = other.refreshStored
	if other.isMachine() {
		other.renewer = other.grantToken
	}
	return other
}

// withSecret returns a client with the secret that the configuration names, which it has to show now.
func (c *Credentials) withSecret(ctx context.Context, client credentials.Client) (credentials.Client, error) {
	if !c.isNamed(client) {
		return client, nil
	}
	settings, err := c.server.Confidential.Fill(ctx)
	if err != nil {
		return client, &TemporaryError{"The secret of the client is missing: " + err.Error(), err}
	}
	client.Secret = settings.ClientSecret
	return client, nil
}

// isNamed reports whether the secret of a client is only named as yet.
func (c *Credentials) isNamed(client credentials.Client) bool {
	return c.server.Confidential != nil && client.Source == credentials.SourceConfigured && client.Secret != ""
}

// forgetSecret is called when an authorization server refuses a client, whose secret may be another one by now.
func (c *Credentials) forgetSecret() {
	if c.server.Confidential != nil {
		c.server.Confidential.Forget()
	}
}

// prepare checks the address of the server. Errors do not quote it: it may contain a secret.
func (c *Credentials) prepare() (err error) {
	if c.canonical, err = credentials.CanonicalServer(c.server.URL); err != nil {
		return err
	}
	if c.address, err = url.Parse(c.server.URL); err != nil {
		return errors.New("the address of the server cannot be parsed")
	}
	c.guard, err = webclient.NewGuard(c.address, c.guardOptions(c.settings.AuthorizationServer, c.settings.Issuer))
	return err
}

// guardOptions are the options of a guard which trusts some addresses of the configuration.
func (c *Credentials) guardOptions(trusted ...string) webclient.Options {
	return webclient.Options{
		Environ: c.manager.options.Environ, Log: c.manager.options.Log, Version: c.server.Version, Trusted: trusted,
	}
}

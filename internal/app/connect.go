package app

import (
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// openPages returns the pages on which people sign in to their own accounts at servers; nil if the configuration has no client
// at the identity provider for them.
func (a *App) openPages(settings *config.HTTPOAuth, provider connect.Provider) (*connect.Pages, error) {
	if settings == nil || settings.ClientID == "" {
		return nil, nil
	}
	pages, err := connect.New(connect.Options{
		Settings: *settings, Provider: provider, Log: a.log,
		Explain: func(err error) (message, hint string) {
			message, hint = oauth.Explain(err)
			return a.Mask(message), a.Mask(hint)
		},
		Ended: func(e connect.Event) {
			a.audit.Add(audit.PersonLogin(e.Toolbox, e.Server, e.Person.Subject, e.Other, e.Err))
		},
	})
	if err != nil {
		return nil, err
	}
	a.fleet.UsePages(pages)
	return pages, nil
}

// closePages ends the logins of people. A login whose answer is there is finished, as long as there is time.
func closePages(pages *connect.Pages) {
	done := make(chan struct{})
	go func() { // ends with what is under way, which is bounded
		pages.Close()
		close(done)
	}()
	patience := time.NewTimer(stopTime)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	}
}

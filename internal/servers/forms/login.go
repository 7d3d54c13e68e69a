package forms

import (
	"context"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Login gets the secrets that the settings of a login name; see oauth.Confidential.
type Login struct {
	Resolver *Resolver
	Server   *config.Server
	Environ  []string
	Hide     func(values ...string) // has secrets masked
}

// Fill returns the settings with their secrets.
func (l *Login) Fill(ctx context.Context) (*config.OAuth, error) {
	return l.Server.FillOAuth(func(form config.Form) (string, error) {
		value, err := l.Resolver.Value(ctx, form, l.Environ)
		if err == nil {
			l.Hide(config.SecretsIn(value)...)
		}
		return value, err
	})
}

// Forget has commands run again for the secrets.
func (l *Login) Forget() { l.Resolver.Forget(l.Server.Forms(), l.Environ) }

package fleet

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/forms"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// This file gets the secrets that definitions name by forms such as ${keyring:NAME}. A definition is stored, compared and
// shown as it is written; values are in the start of a process, in the headers of a remote session, and in the masker.

// held are the secrets that servers were started with, for the masker.
type held struct {
	all map[*Server]*heldValues
}

// heldValues are the secrets of the last two starts with different ones: what was started with the earlier ones may still
// end, and print.
type heldValues struct{ now, before []string }

func (h *held) set(s *Server, values []string) (changed bool) {
	known := h.all[s]
	switch {
	case known == nil:
		if h.all == nil {
			h.all = make(map[*Server]*heldValues)
		}
		h.all[s] = &heldValues{now: values}
		return len(values) > 0
	case slices.Equal(known.now, values):
		return false
	}
	known.now, known.before = values, known.now
	return true
}

// secrets returns the secrets of servers that are configured, or still run.
func (h *held) secrets() (all []string) {
	for server, values := range h.all {
		if server.isDismissed() && server.lives.Load() == 0 {
			delete(h.all, server)
			continue
		}
		all = append(append(all, values.now...), values.before...)
	}
	return all
}

// environ returns the environment that the server's commands for secrets run in, and that it inherits from.
func (s *Server) environ() []string {
	if s.differs != nil {
		return s.differs.environ
	}
	return s.fleet.options.Environ
}

// fill returns the definition with the values of its secrets, for one start. They are masked from now on.
func (s *Server) fill(ctx context.Context) (*config.Server, error) {
	if len(s.config.Deferred) == 0 {
		return &s.config, nil
	}
	var values []string
	filled, err := s.config.Fill(func(form config.Form) (string, error) {
		value, err := s.fleet.forms.Value(ctx, form, s.environ())
		if err == nil {
			values = append(values, config.SecretsIn(value)...)
		}
		return value, err
	})
	s.fleet.mu.Lock()
	if s.fleet.held.set(s, values) {
		s.fleet.mask()
	}
	s.fleet.mu.Unlock()
	if err != nil {
		return nil, missingSecret(err)
	}
	return &filled, nil
}

// missingSecret converts an error of a form. It has no text of the server, and nothing of a secret.
func missingSecret(err error) error {
	if missing, ok := errors.AsType[*forms.Error](err); ok {
		bare := *missing
		bare.Hint = ""
		return &Failure{reason: bare.Error(), hint: missing.Hint, cause: err}
	}
	if errors.Is(err, context.Canceled) {
		return errStopping
	}
	return &Failure{reason: err.Error(), hint: "store another value of the secret", cause: err}
}

// forgetSecrets has commands for the server's secrets run again at its next start.
func (s *Server) forgetSecrets() {
	if len(s.config.Deferred) > 0 {
		s.fleet.forms.Forget(s.config.Forms(), s.environ())
	}
}

// isDenied reports whether a server refuses who we are, as far as an error says.
func isDenied(err error) bool {
	if status, ok := errors.AsType[*downstream.StatusError](err); ok {
		return status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden
	}
	_, ok := errors.AsType[*LoginNeededError](err)
	return ok
}

// noteDenial ends a session that the server does not accept any more, if its secrets can be got anew: the next request
// begins another one with them.
func (s *Server) noteDenial(in *instance, err error) {
	if len(s.config.Deferred) == 0 || s.config.URL == "" || !isDenied(err) {
		return
	}
	s.forgetSecrets()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == in {
		s.retire(in)
		signal(in.replaced)
	}
}

// runsCommands reports whether a definition names secrets that commands print. What they print depends on their whole
// environment.
func runsCommands(server *config.Server) bool {
	return slices.ContainsFunc(server.Forms(), func(form config.Form) bool { return form.Kind == config.FormExec })
}

// asCompared returns a definition with everything of the environment that matters to it.
func asCompared(server *config.Server) *config.Server {
	if !runsCommands(server) {
		return server
	}
	compared := *server
	compared.InheritEnv = config.InheritEnv{All: true}
	return &compared
}

// confidentialOf returns how to get the secrets of a login; nil if its settings name none.
func (f *Fleet) confidentialOf(server *config.Server, environ []string) oauth.Confidential {
	if server.OAuth == nil || len(server.Deferred) == 0 {
		return nil
	}
	return &forms.Login{Resolver: f.forms, Server: server, Environ: environ, Hide: f.Hide}
}

package app

import (
	"errors"
	"reflect"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Environment returns the environment of a client; nil if it equals that of the workbench. Call leave when the client
// is gone.
func (a *App) Environment(environ []string) (made *fleet.Environment, leave func()) {
	if environ == nil || slices.Equal(environ, a.environ) {
		return nil, func() {}
	}
	a.elsewhere.mu.Lock()
	defer a.elsewhere.mu.Unlock()
	if a.elsewhere.all == nil {
		a.elsewhere.all = make(map[*fleet.Environment][]string)
	}
	cfg, unread := a.configIn(environ, a.config.Load())
	made = a.fleet.NewEnvironment(environ, cfg, unread)
	a.elsewhere.all[made] = environ
	return made, func() {
		a.elsewhere.mu.Lock()
		defer a.elsewhere.mu.Unlock()
		delete(a.elsewhere.all, made)
		made.Close()
	}
}

// configIn returns the configuration loaded with an environment, nil if that equals the workbench's, and why parts of
// it cannot be loaded.
func (a *App) configIn(environ []string, own *config.Config) (cfg *config.Config, unread *config.Error) {
	if a.load == nil {
		return nil, nil
	}
	cfg, err := a.load(environ)
	if cfg != nil && reflect.DeepEqual(cfg.Toolboxes, own.Toolboxes) {
		return nil, nil
	}
	if err != nil {
		a.log.Warn("the configuration cannot be loaded with the environment of a client; that client cannot use its servers", "reason", err)
		unread = faultFor(err, own.Path)
	}
	return cfg, unread
}

// faultFor converts the error of a configuration into the fault of its servers.
func faultFor(err error, file string) *config.Error {
	if fault, ok := errors.AsType[*config.Error](err); ok && len(fault.Problems) > 0 {
		return fault
	}
	return &config.Error{Code: toolbox.ConfigInvalid, File: file, Problems: []config.Problem{{
		Message: "cannot be read with the environment variables of this client: " + err.Error(),
	}}}
}

// reloadEnvironments reloads the configuration of all environments.
func (a *App) reloadEnvironments(own *config.Config) {
	a.elsewhere.mu.Lock()
	defer a.elsewhere.mu.Unlock()
	for made, environ := range a.elsewhere.all {
		cfg, unread := a.configIn(environ, own)
		made.SetConfig(cfg, unread)
	}
}

package app

import (
	"reflect"
	"slices"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
)

// Environment makes the environment of a client that was not started from where the workbench
// was; nil if it is the same. Call leave when the client is gone.
func (a *App) Environment(environ []string) (made *fleet.Environment, leave func()) {
	if environ == nil || slices.Equal(environ, a.environ) {
		return nil, func() {}
	}
	a.elsewhere.mu.Lock()
	defer a.elsewhere.mu.Unlock()
	if a.elsewhere.all == nil {
		a.elsewhere.all = make(map[*fleet.Environment][]string)
	}
	made = a.fleet.NewEnvironment(environ, a.configIn(environ, a.config.Load()))
	a.elsewhere.all[made] = environ
	return made, func() {
		a.elsewhere.mu.Lock()
		defer a.elsewhere.mu.Unlock()
		delete(a.elsewhere.all, made)
		made.Close()
	}
}

// configIn returns the configuration as it is in an environment; nil if it is that of the
// workbench, or cannot be read there.
func (a *App) configIn(environ []string, own *config.Config) *config.Config {
	if a.load == nil {
		return nil
	}
	cfg, err := a.load(environ)
	if err != nil {
		a.log.Warn("the configuration cannot be read with the variables of a client, which gets those of the workbench", "reason", err)
		return nil
	}
	if reflect.DeepEqual(cfg.Toolboxes, own.Toolboxes) {
		return nil
	}
	return cfg
}

// reloadEnvironments has all environments follow the configuration.
func (a *App) reloadEnvironments(own *config.Config) {
	a.elsewhere.mu.Lock()
	defer a.elsewhere.mu.Unlock()
	for made, environ := range a.elsewhere.all {
		made.SetConfig(a.configIn(environ, own))
	}
}

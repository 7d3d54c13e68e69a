// Package app puts the workbench together from its parts, and takes it apart again.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/front"
	"github.com/mcp-workbench/mcp-workbench/internal/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/process"
	"github.com/mcp-workbench/mcp-workbench/internal/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// Options say how the workbench is set up.
type Options struct {
	Config   *config.Config
	Version  string
	Environ  []string     // what servers may inherit from; default os.Environ()
	StateDir string       // where running process trees are noted; "" : nowhere
	Log      *slog.Logger // default: discard
}

// App is one workbench. New makes it, ServeStdio runs it for a client, Stop ends it.
type App struct {
	front *front.Server

	stopping sync.Once
	stopErr  error
	stops    []stopStep // run last to first
}

// stopStep undoes one step of New.
type stopStep struct {
	name string
	stop func(context.Context) error
}

// stopTime bounds Stop, whatever its context says.
const stopTime = 2200 * time.Millisecond

// New puts a workbench together. It starts no server.
func New(options Options) (*App, error) {
	if err := Check(options.Config); err != nil {
		return nil, err
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Environ == nil {
		options.Environ = os.Environ()
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program cannot find itself, which it needs for its helper processes: %w", err)
	}
	a := &App{}
	dynamic := options.Config.ToolMode == config.Dynamic
	host := process.NewHost(process.HostOptions{Log: options.Log, StateDir: options.StateDir})
	a.onStop("processes", host.Close)
	servers := fleet.New(fleet.Options{
		Config: options.Config, Host: host, Executable: executable,
		Environ: options.Environ, Version: options.Version,
		Masker: secret.NewMasker(options.Config.Secrets), Log: options.Log,
		ToolsChanged: func(name string) {
			if dynamic { // otherwise clients see the same tools as before
				a.front.ToolsChanged(name)
			}
		},
	})
	a.onStop("servers", servers.Stop)
	a.front = front.New(front.Options{
		Surface: metatool.New(servers, dynamic),
		Version: options.Version, MaxMessage: options.Config.MaxMessageSize, Log: options.Log,
	})
	return a, nil
}

// Check refuses a configuration that is valid, but asks for what this version does not
// have.
func Check(cfg *config.Config) error {
	if cfg.ToolMode == config.Direct {
		return &toolbox.Error{
			Message: "The configuration's 'toolMode' is \"direct\", which this version of the workbench does not have",
			Hint:    `Use "proxy" or "dynamic".`,
		}
	}
	return nil
}

func (a *App) onStop(name string, stop func(context.Context) error) {
	a.stops = append(a.stops, stopStep{name, stop})
}

// ServeStdio serves one client until it closes its side or ctx ends. It closes in and out.
func (a *App) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return a.front.ServeStdio(ctx, in, out)
}

// Stop ends all that New and clients started, in reverse order, in bounded time. Calling
// it again returns what the first call did.
func (a *App) Stop(ctx context.Context) error {
	a.stopping.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, stopTime)
		defer cancel()
		var errs []error
		for i := len(a.stops) - 1; i >= 0; i-- {
			if err := a.stops[i].stop(ctx); err != nil {
				errs = append(errs, fmt.Errorf("could not stop the %s: %w", a.stops[i].name, err))
			}
		}
		a.stopErr = errors.Join(errs...)
	})
	return a.stopErr
}

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// isShared reports whether the client uses a workbench that others use as well. Without a file
// there is nothing worth sharing. One that is not trusted may be, and one that is broken may be
// mended.
func (s *service) isShared() bool {
	return (s.globals.shared || s.config.Shared.On) && s.config.Path != ""
}

// maxDeaths is how often in a row the shared workbench may end soon after it was reached
// before its client is served by this process.
const maxDeaths = 3

// sharing is one client's part in a shared workbench.
type sharing struct {
	service *service
	build   daemon.Build
	config  *config.Config // the last one that could be read
	joined  bool           // was there before

	alone       sync.WaitGroup // the workbench of this process's own, if there is one
	stopAlone   context.CancelFunc
	aloneOrders chan os.Signal // what hangUps is to it

	mu     sync.Mutex
	socket string // of the shared workbench; "" while there is none
	key    string
	places []config.Place // of its files
	conn   io.Closer      // to it
}

// runShared serves the client by the shared workbench, which is started if needed, and
// started again when it died.
func (s *service) runShared(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	b := &sharing{service: s, config: s.config, stopAlone: func() {}, aloneOrders: make(chan os.Signal, 1)}
	var err error
	if b.build, err = daemon.ThisBuild(); err != nil {
		return err
	}
	orders, stop := context.WithCancel(ctx)
	var passing sync.WaitGroup
	passing.Go(func() { b.passOrders(orders) })
	err = relay.Run(ctx, relay.Options{In: in, Out: out, Dial: b.dial, MaxMessage: s.config.MaxMessageSize, Log: s.log})
	stop()
	passing.Wait()
	b.stopAlone()
	b.alone.Wait()
	return err
}

// passOrders passes orders to reload on to the workbench that serves the client.
func (b *sharing) passOrders(ctx context.Context) {
	for {
		select {
		case order := <-b.service.hangUps:
			b.mu.Lock()
			socket, key, conn, before := b.socket, b.key, b.conn, b.places
			b.mu.Unlock()
			if socket == "" {
				leave(b.aloneOrders, order)
				continue
			}
			if now, err := b.service.globals.sharedPlaces(); err == nil && !slices.Equal(now, before) {
				_ = conn.Close() // the next connection is to the workbench of these files
				continue
			}
			if err := daemon.Tell(ctx, socket, key, daemon.Reload); err != nil {
				b.service.log.Warn("the order to reload did not reach the shared workbench", "reason", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// leave leaves an order where it is taken from, unless there is one already.
func leave(orders chan<- os.Signal, order os.Signal) {
	select {
	case orders <- order:
	default:
	}
}

// dial connects to the shared workbench. Where that is not possible, one of our own serves
// the client, so that it has one in any case.
func (b *sharing) dial(ctx context.Context, resume relay.Resume) (relay.Conn, error) {
	if wasUsable := b.service.isUsable(); b.joined || !wasUsable {
		next, err := b.service.globals.load(b.service.setup)
		if err != nil {
			return nil, err
		}
		b.service.setup, b.config = next, next.config
		if !next.isUsable() {
			b.leaveShared()
			return b.serveAlone(resume) // until it is mended
		}
		if !wasUsable {
			resume.Broken = 0
		}
	}
	err := errors.New("it ended again and again")
	if resume.Broken < maxDeaths {
		var conn relay.Conn
		if conn, err = b.join(ctx, resume); err == nil {
			return conn, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	b.leaveShared()
	tty.Remark(b.service.stderr, "the shared workbench cannot be used, so this client gets one of its own: "+err.Error())
	return b.serveAlone(resume)
}

// leaveShared notes that this process serves the client.
func (b *sharing) leaveShared() {
	b.mu.Lock()
	b.socket = ""
	b.mu.Unlock()
}

func (b *sharing) join(ctx context.Context, resume relay.Resume) (relay.Conn, error) {
	folder, _ := os.Getwd() // without one, that of the first client has to do
	target, places, err := b.target(folder)
	if err != nil {
		return nil, err
	}
	conn, err := daemon.Connect(ctx, target, daemon.Hello{
		Version: Version, Folder: folder, Environ: os.Environ(), Opened: resume.Opened, LastAsked: resume.LastAsked,
	})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.socket, b.key, b.places, b.conn = target.Socket(), target.Key, places, conn
	b.mu.Unlock()
	if !b.joined {
		logWarnings(b.service.log, b.config)
		tellFaults(b.service.stderr, b.config)
		b.joined = true
	}
	return conn, nil
}

// target is the workbench for the configuration as it is now, and the places of its files.
func (b *sharing) target(folder string) (daemon.Target, []config.Place, error) {
	g := b.service.globals
	return g.sharedTarget(b.build, b.config, folder)
}

// sharedTarget is the workbench that clients with a configuration share, and the places of its
// files; the first of its clients works in the folder.
func (g *globals) sharedTarget(build daemon.Build, cfg *config.Config, folder string) (daemon.Target, []config.Place, error) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return daemon.Target{}, nil, err
	}
	key, places, err := g.identify(build, cfg)
	if err != nil {
		return daemon.Target{}, nil, err
	}
	args := []string{"daemon"}
	for _, place := range places {
		switch {
		case place.Origin == config.Local:
			args = append(args, "--project", place.Path)
		case len(places) == 1:
			args = append(args, "--config", place.Path)
		default:
			args = append(args, "--user", place.Path)
		}
	}
	args = append(args, "--folder", folder)
	if g.toolbox != "" {
		args = append(args, "--toolbox", g.toolbox)
	}
	if g.logLevel != "" {
		args = append(args, "--log-level", g.logLevel)
	}
	return daemon.Target{Dir: dir, Key: key, Log: daemon.LogPath(config.StateDir(), key), Args: args, Folder: rootFolder()}, places, nil
}

// sharedPlaces are those by whose files clients share a workbench. The folder counts only where
// it has a file. Then the user's belongs to it even if it is not there: it may be later.
func (g *globals) sharedPlaces() ([]config.Place, error) {
	all, err := g.candidates()
	if places := config.Existing(all); len(places) == 0 || places[0].Origin != config.Local {
		return places, err
	}
	return all, err
}

// identify returns the key of the workbench that clients with a configuration share, and the
// places of its files.
func (g *globals) identify(build daemon.Build, cfg *config.Config) (key string, places []config.Place, err error) {
	if places, err = g.sharedPlaces(); err != nil {
		return "", nil, err
	}
	return daemon.Identity{
		Version: Version, Build: build, Config: cfg, Places: places, Toolbox: g.toolbox, Environ: os.Environ(),
	}.Key(), places, nil
}

// rootFolder is where a workbench works that belongs to no folder: it must not keep one from
// being removed or unmounted.
func rootFolder() string {
	if runtime.GOOS == "windows" {
		return os.Getenv("SystemRoot")
	}
	return "/"
}

// serveAlone serves the client by a workbench in this process.
func (b *sharing) serveAlone(resume relay.Resume) (relay.Conn, error) {
	b.stopAlone()
	b.alone.Wait()
	near, far, err := socketPair()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.stopAlone = cancel
	began := make(chan error, 2) // the second one matters to nobody
	own := *b.service
	own.hangUps = b.aloneOrders
	if !own.isUsable() {
		own.mended = func(next *config.Config) bool {
			if app.CheckToolbox(next, own.globals.toolbox) != nil || app.CheckLock(next) != nil {
				return false // which a workbench would not start with
			}
			// The connection breaks off, before what the client listens to is answered, and the next
			// one is to the shared workbench.
			_ = far.Close()
			cancel()
			return true
		}
	}
	b.alone.Go(func() {
		defer func() { _ = far.Close() }() // again, where it was served
		err := own.run(ctx, "stdio", func(ctx context.Context, workbench *app.App) error {
			began <- nil
			workbench.Prefetch()
			return workbench.ServeBridged(ctx, far, front.Pipe{Opened: resume.Opened, LastAsked: resume.LastAsked, Mark: relay.Mark})
		})
		began <- err
	})
	if err := <-began; err != nil {
		_ = near.Close()
		return nil, err
	}
	return near, nil
}

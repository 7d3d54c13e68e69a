package service

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/daemon"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/relay"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
)

// IsShared reports whether the client uses the shared workbench. Without a configuration file there is nothing to
// share. An untrusted or broken file may become usable.
func (s *Service) IsShared() bool {
	return (s.options.Shared || s.Config.Shared.On) && s.Config.Path != ""
}

// maxDeaths is the number of consecutive times that the shared workbench may end soon after a connect; then this
// process serves its client itself.
const maxDeaths = 3

// sharing connects one client to the shared workbench, or serves it alone.
type sharing struct {
	service *Service
	build   daemon.Build
	config  *config.Config // the last one that could be loaded
	joined  bool           // it was connected before

	alone       sync.WaitGroup // the workbench in this process, if any
	stopAlone   context.CancelFunc
	aloneOrders chan os.Signal // its requests to reload

	mu     sync.Mutex
	socket string // of the shared workbench; "" without one
	key    string
	places []config.Place // of its files
	conn   io.Closer      // to it
}

// RunShared serves the client through the shared workbench, which it starts when needed and restarts after a crash.
func (s *Service) RunShared(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	b := &sharing{service: s, config: s.Config, stopAlone: func() {}, aloneOrders: make(chan os.Signal, 1)}
	var err error
	if b.build, err = daemon.ThisBuild(); err != nil {
		return err
	}
	orders, stop := context.WithCancel(ctx)
	var passing sync.WaitGroup
	passing.Go(func() { b.forwardReloads(orders) })
	err = relay.Run(ctx, relay.Options{In: in, Out: out, Dial: b.dial, MaxMessage: s.Config.MaxMessageSize, Log: s.log})
	stop()
	passing.Wait()
	b.stopAlone()
	b.alone.Wait()
	return err
}

// forwardReloads forwards requests to reload to the workbench that serves the client.
func (b *sharing) forwardReloads(ctx context.Context) {
	for {
		select {
		case order := <-b.service.hangUps:
			b.mu.Lock()
			socket, key, conn, before := b.socket, b.key, b.conn, b.places
			b.mu.Unlock()
			if socket == "" {
				offerSignal(b.aloneOrders, order)
				continue
			}
			if now, err := b.service.options.sharedPlaces(); err == nil && !slices.Equal(now, before) {
				_ = conn.Close() // the next connection is to the workbench of these files
				continue
			}
			if err := daemon.SendOrder(ctx, socket, key, daemon.Reload); err != nil {
				b.service.log.Warn("the shared workbench did not receive the request to reload", "reason", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// offerSignal sends a signal unless the channel holds one already.
func offerSignal(orders chan<- os.Signal, order os.Signal) {
	select {
	case orders <- order:
	default:
	}
}

// dial connects to the shared workbench, with a workbench in this process as the fallback.
func (b *sharing) dial(ctx context.Context, resume relay.Resume) (relay.Conn, error) {
	if wasUsable := b.service.IsUsable(); b.joined || !wasUsable {
		next, err := b.service.options.Loader.Load(b.service.Loaded)
		if err != nil {
			return nil, err
		}
		b.service.Loaded, b.config = next, next.Config
		if !next.IsUsable() {
			b.leaveShared()
			return b.serveAlone(resume) // until the file can be used
		}
		if !wasUsable {
			resume.Broken = 0
		}
	}
	err := errors.New("it ended repeatedly")
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
	tty.Remark(b.service.stderr, "the shared workbench cannot be used, so this client gets its own: "+err.Error())
	return b.serveAlone(resume)
}

// leaveShared records that this process serves the client.
func (b *sharing) leaveShared() {
	b.mu.Lock()
	b.socket = ""
	b.mu.Unlock()
}

func (b *sharing) join(ctx context.Context, resume relay.Resume) (relay.Conn, error) {
	folder, _ := os.Getwd() // without one, the first client's is used
	target, places, err := b.service.options.SharedTarget(b.build, b.config, folder)
	if err != nil {
		return nil, err
	}
	conn, err := daemon.Connect(ctx, target, daemon.Hello{
		Version: b.service.options.Version, Folder: folder, Environ: os.Environ(), Opened: resume.Opened, LastAsked: resume.LastAsked,
	})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.socket, b.key, b.places, b.conn = target.Socket(), target.Key, places, conn
	b.mu.Unlock()
	if !b.joined {
		b.service.options.TakeOver(ctx, target, b.config)
		logWarnings(b.service.log, b.config)
		loader.WriteFaults(b.service.stderr, b.config)
		b.joined = true
	}
	return conn, nil
}

// SharedTarget returns the shared workbench of a configuration, and the places of its files. folder is that of its
// first client.
func (o *Options) SharedTarget(build daemon.Build, cfg *config.Config, folder string) (daemon.Target, []config.Place, error) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return daemon.Target{}, nil, err
	}
	key, places, err := o.identify(build, cfg)
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
	if o.Toolbox != "" {
		args = append(args, "--toolbox", o.Toolbox)
	}
	if o.LogLevel != "" {
		args = append(args, "--log-level", o.LogLevel)
	}
	return daemon.Target{Dir: dir, Key: key, Log: daemon.LogPath(config.StateDir(), key), Args: args, Folder: rootFolder()}, places, nil
}

// sharedPlaces returns the places whose files identify a shared workbench. The working folder counts
// only if it has a file; then the user's file belongs to it even if it does not exist yet.
func (o *Options) sharedPlaces() ([]config.Place, error) {
	all, err := o.Loader.Candidates()
	if places := config.Existing(all); len(places) == 0 || places[0].Origin != config.Local {
		return places, err
	}
	return all, err
}

// identify returns the key of the shared workbench of a configuration, and the places of its files.
func (o *Options) identify(build daemon.Build, cfg *config.Config) (key string, places []config.Place, err error) {
	if places, err = o.sharedPlaces(); err != nil {
		return "", nil, err
	}
	return daemon.Identity{
		Version: o.Version, Build: build, Config: cfg, Places: places, Toolbox: o.Toolbox, Environ: os.Environ(),
	}.Key(), places, nil
}

// lineage identifies the shared workbench of a configuration, whatever the build.
func (o *Options) lineage(cfg *config.Config) (string, error) {
	places, err := o.sharedPlaces()
	return daemon.Identity{Config: cfg, Places: places, Toolbox: o.Toolbox, Environ: os.Environ()}.Lineage(), err
}

// TakeOver tells shared workbenches of other builds to end once nobody uses them, and the user about them.
func (o *Options) TakeOver(ctx context.Context, target daemon.Target, cfg *config.Config) {
	lineage, err := o.lineage(cfg)
	if err != nil {
		return // the connection has the same problem
	}
	for _, other := range daemon.TakeOver(ctx, target, o.Version, lineage) {
		tty.Remark(o.Stderr, other.String())
	}
}

// rootFolder is the working folder of a shared workbench: it must not keep another folder from being
// removed or unmounted.
func rootFolder() string {
	if runtime.GOOS == "windows" {
		return os.Getenv("SystemRoot")
	}
	return "/"
}

// serveAlone serves the client with a workbench in this process.
func (b *sharing) serveAlone(resume relay.Resume) (relay.Conn, error) {
	b.stopAlone()
	b.alone.Wait()
	near, far, err := relay.NewPair()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.stopAlone = cancel
	began := make(chan error, 2) // nobody needs the second one
	own := *b.service
	own.hangUps = b.aloneOrders
	if !own.IsUsable() {
		own.mended = func(next *config.Config) bool {
			if app.CheckToolbox(next, own.options.Toolbox) != nil || app.CheckLock(next) != nil {
				return false // a workbench would not start with it
			}
			// The connection breaks before the requests that the client listens with are answered, and the next one is
			// to the shared workbench.
			_ = far.Close()
			cancel()
			return true
		}
	}
	b.alone.Go(func() {
		defer func() { _ = far.Close() }() // again, if it was served
		err := own.Run(ctx, "stdio", func(ctx context.Context, workbench *app.App) error {
			began <- nil
			workbench.Prefetch()
			return workbench.ServeBridged(ctx, far, front.StdioOptions{
				// What the client can use must not depend on whether the shared workbench can be reached.
				Audience: front.Audience{Caller: config.CallerShared}, Opened: resume.Opened, LastAsked: resume.LastAsked, Mark: relay.Mark,
			})
		})
		began <- err
	})
	if err := <-began; err != nil {
		_ = near.Close()
		return nil, err
	}
	return near, nil
}

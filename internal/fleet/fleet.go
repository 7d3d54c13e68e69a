// Package fleet looks after every configured server's life: it starts a server when
// it is first needed, once for all who wait, starts it again after it died, backs
// off from one that keeps failing, and stops it.
package fleet

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/process"
	"github.com/mcp-workbench/mcp-workbench/internal/secret"
)

// Options say what a fleet works with.
type Options struct {
	Config     *config.Config
	Host       *process.Host
	Executable string   // this program, which also plays the built-in servers
	Environ    []string // what children may inherit from
	Version    string   // told to servers
	Masker     *secret.Masker
	Log        *slog.Logger // default: discard

	// ToolsChanged is called when the tools of a running server changed. It must not
	// block. Default: nothing.
	ToolsChanged func(toolbox string)
}

// Fleet holds all toolboxes in the order of the configuration. It is safe for
// concurrent use.
type Fleet struct {
	options   Options
	toolboxes []*Toolbox
	byName    map[string]*Toolbox

	life context.Context // ends when Stop begins
	stop context.CancelFunc
	work sync.WaitGroup // one goroutine per server that is starting or running

	mu      sync.Mutex
	stopped bool // no goroutine may be added to work any more
}

// stopTime is how long the stop of one server may take before everything of it is
// killed at once.
const stopTime = 1500 * time.Millisecond

// New makes a fleet; it starts nothing.
func New(options Options) *Fleet {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.ToolsChanged == nil {
		options.ToolsChanged = func(string) {}
	}
	f := &Fleet{options: options, byName: make(map[string]*Toolbox)}
	f.life, f.stop = context.WithCancel(context.Background())
	for _, box := range options.Config.Toolboxes {
		t := &Toolbox{Name: box.Name, Description: box.Description, byName: make(map[string]*Server)}
		for _, server := range box.Servers {
			if server.Disabled {
				t.disabled = append(t.disabled, server.Name)
				continue
			}
			s := newServer(f, box.Name, server)
			t.Servers = append(t.Servers, s)
			t.byName[server.Name] = s
		}
		f.toolboxes = append(f.toolboxes, t)
		f.byName[box.Name] = t
	}
	return f
}

// Toolboxes returns all toolboxes in the order of the configuration.
func (f *Fleet) Toolboxes() []*Toolbox { return f.toolboxes }

// Toolbox returns the toolbox of that name.
func (f *Fleet) Toolbox(name string) (*Toolbox, bool) {
	t, ok := f.byName[name]
	return t, ok
}

// Stop stops all servers in parallel, and waits for them until ctx ends. Nothing can
// be started afterwards.
func (f *Fleet) Stop(ctx context.Context) error {
	f.mu.Lock()
	f.stopped = true
	f.mu.Unlock()
	f.stop()
	done := make(chan struct{})
	go func() { // ends with the servers' own goroutines, whose waits are bounded
		f.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run starts a server's goroutine, unless the fleet is being stopped.
func (f *Fleet) run(task func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return false
	}
	f.work.Go(task)
	return true
}

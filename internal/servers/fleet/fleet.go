// Package fleet runs the configured servers. It starts a server on first use, once for all who wait for it, restarts it
// after a crash, backs off while it keeps failing, and stops it when it is idle or no longer configured. Clients that
// differ in what a server can notice get sessions of their own.
package fleet

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/connect"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/forms"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Options configure a Fleet.
type Options struct {
	Config     *config.Config
	Host       *process.Host
	Executable string       // this program, which also runs the built-in servers
	Environ    []string     // that servers may inherit from
	Folder     string       // working folder of servers without a configured one, unless the client has one; default: our own
	Version    string       // sent to servers
	Log        *slog.Logger // default: discard

	// Idle is the timeouts.idle of servers that do not configure it. Default: never.
	Idle time.Duration
	// Hops marks connections to servers. Default: the marks of the clients are passed on.
	Hops *hops.Self

	// OAuth signs in to remote servers. Default: the headers of the configuration have to do.
	OAuth *oauth.Manager

	// Baseline detects changed tool definitions. Default: one in memory.
	Baseline *catalog.Baseline

	// Copies caches tools and lists between runs. Default: no cache.
	Copies *catalog.Copies

	// Restrictions say which tools clients may see and use; nil: all. See Restrict.
	Restrictions *catalog.Restrictions

	// ToolsChanged is called when the tools of a running server change, and when a server starts with other tools than
	// before; then before those who wait for the start. The scope says for which clients. It must not block. Default: nothing.
	ToolsChanged func(toolbox string, whom Scope)

	// ListsChanged is called when the other lists of a configured server may have changed for the clients in a scope, with the
	// notification that says so. It must not block. Default: nothing.
	ListsChanged func(server *Server, notification string, whom Scope)

	// Events is told what happens to servers. Default: nobody.
	Events Events
}

// Events is told what happens to servers, each with all its variants. Its methods must not block.
type Events interface {
	// ServerStarted is called after a start, which took a time and may have failed.
	ServerStarted(toolbox, server string, took time.Duration, err error)
	// ServerCrashed is called when a server has ended by itself that was ready.
	ServerCrashed(toolbox, server string)
	// ServerEnded is called when a server that was ready has ended, for whatever reason: how long it was ready, and whether
	// it ended by itself.
	ServerEnded(toolbox, server string, after time.Duration, crashed bool)
	// DefinitionsChanged is called when definitions of tools, or instructions, are other ones than before.
	DefinitionsChanged(toolbox, server string, changes []catalog.Change)
}

// Fleet holds all toolboxes in the order of the configuration. It is safe for
// concurrent use.
type Fleet struct {
	options      Options
	table        atomic.Pointer[table]
	masker       atomic.Pointer[secret.Masker]
	restrictions atomic.Pointer[catalog.Restrictions]

	prefetches atomic.Int64  // rounds so far
	changes    atomic.Uint64 // see Changes

	names toolbox.Names
	views views

	logins loginWatch
	pages  atomic.Pointer[connect.Pages] // see UsePages
	memory memoryGuard
	forms  *forms.Resolver // of the secrets that definitions name

	life context.Context // ends when Stop begins
	stop context.CancelFunc
	work sync.WaitGroup // one goroutine per server that is starting or running

	mu             sync.Mutex
	stopped        bool // no goroutine may be added to work
	environments   map[*Environment]struct{}
	variantSecrets variantSecrets
	past           []string // secrets of the previous configuration, which dismissed servers may still print
	tokens         []string // see Hide
	held           held     // secrets that definitions name
}

// table holds the toolboxes of one configuration. It never changes.
type table struct {
	config    *config.Config
	toolboxes []*Toolbox
	disabled  []*Toolbox // all of their servers are
	byName    map[string]*Toolbox
}

// stopTime is how long a server may take to stop before all its processes are killed.
const stopTime = 1500 * time.Millisecond

// New makes a fleet; it starts nothing.
func New(options Options) *Fleet {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.ToolsChanged == nil {
		options.ToolsChanged = func(string, Scope) {}
	}
	if options.ListsChanged == nil {
		options.ListsChanged = func(*Server, string, Scope) {}
	}
	if options.Baseline == nil {
		options.Baseline = catalog.NewBaseline("", options.Log)
	}
	if options.Copies == nil {
		options.Copies = catalog.NewCopies("", options.Log)
	}
	f := &Fleet{options: options, forms: forms.New(options.Host)}
	f.logins.fleet, f.memory.fleet, f.memory.read = f, f, process.Measure
	f.restrictions.Store(options.Restrictions)
	f.life, f.stop = context.WithCancel(context.Background())
	f.masker.Store(secret.NewMasker(options.Config.Secrets))
	f.table.Store(f.tabulate(options.Config, &table{config: options.Config}))
	return f
}

// Apply reloads the configuration. Servers with an unchanged definition keep running, with their calls; the others are
// dismissed: they end when their calls have ended. It starts nothing and does not block.
func (f *Fleet) Apply(cfg *config.Config) {
	defer f.memory.rouse() // there may be a limit now
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.table.Load()
	after := f.tabulate(cfg, before)
	f.past = before.config.Secrets
	f.table.Store(after)
	f.changes.Add(1)
	f.mask()
	for _, box := range before.toolboxes {
		for _, server := range box.Servers {
			if kept, ok := after.server(box.Name, server.Name()); !ok || kept != server {
				server.dismiss()
			}
		}
	}
}

// mask updates the masker with all known secrets. Called with mu held.
func (f *Fleet) mask() {
	secrets := slices.Concat(f.table.Load().config.Secrets, f.past)
	for e := range f.environments {
		secrets = append(secrets, e.secrets()...)
	}
	secrets = append(secrets, f.variantSecrets.secrets()...)
	secrets = append(secrets, f.tokens...)
	secrets = append(secrets, f.held.secrets()...)
	f.masker.Store(secret.NewMasker(secrets))
}

// Limits of the secrets of logins that are masked. Tokens are replaced again and again; the oldest have expired.
const (
	maxTokens     = 4000    // secrets that are masked; the oldest are dropped
	maxTokenBytes = 2 << 20 // of all of them together: the masker is made anew with each token
)

// Hide masks the secrets of a login, such as its tokens, in what servers say.
func (f *Fleet) Hide(values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, value := range values {
		if value != "" && !slices.Contains(f.tokens, value) {
			f.tokens = append(f.tokens, value)
		}
	}
	first, size := len(f.tokens), 0
	for first > 0 && len(f.tokens)-first < maxTokens && size+len(f.tokens[first-1]) <= maxTokenBytes {
		first--
		size += len(f.tokens[first])
	}
	f.tokens = slices.Delete(f.tokens, 0, first)
	f.mask()
}

// tabulate makes the table of a configuration, and reuses the unchanged servers of the previous one.
func (f *Fleet) tabulate(cfg *config.Config, before *table) *table {
	t := &table{config: cfg, byName: make(map[string]*Toolbox)}
	for _, box := range cfg.Toolboxes {
		b := &Toolbox{Name: box.Name, Description: box.Description, byName: make(map[string]*Server)}
		for _, definition := range box.Servers {
			if definition.Disabled {
				b.disabled = append(b.disabled, definition.Name)
				continue
			}
			server, ok := before.server(box.Name, definition.Name)
			instances := instancesOf(cfg, &definition)
			if !ok || !reflect.DeepEqual(server.config, definition) || instances != server.instances || cfg.MaxMessageSize != before.config.MaxMessageSize {
				replaced := server
				server = newServer(f, box.Name, definition, instances, cfg.MaxMessageSize)
				if ok {
					server.taps = replaced.taps
				}
			}
			b.Servers = append(b.Servers, server)
			b.byName[definition.Name] = server
		}
		t.byName[box.Name] = b
		if b.IsDisabled() {
			t.disabled = append(t.disabled, b)
		} else {
			t.toolboxes = append(t.toolboxes, b)
		}
	}
	return t
}

func (t *table) server(toolbox, name string) (*Server, bool) {
	box, ok := t.byName[toolbox]
	if !ok {
		return nil, false
	}
	return box.Server(name)
}

// Toolboxes returns all toolboxes in the order of the configuration, except those whose servers are all disabled: they
// have nothing to offer.
func (f *Fleet) Toolboxes() []*Toolbox { return f.table.Load().toolboxes }

// DisabledToolboxes returns the toolboxes whose servers are all disabled.
func (f *Fleet) DisabledToolboxes() []*Toolbox { return f.table.Load().disabled }

// Toolbox returns the toolbox of that name, also one whose servers are all disabled.
func (f *Fleet) Toolbox(name string) (*Toolbox, bool) {
	t, ok := f.table.Load().byName[name]
	return t, ok
}

// Stop stops all servers in parallel, and waits for them until ctx ends. No server can be started afterwards.
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

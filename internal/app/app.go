// Package app builds a workbench from its parts, serves clients with it, reloads it and stops it.
package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/access/identity"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/elicitation"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/ledger"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/metatool"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/passthrough"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/policy"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/telemetry"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Options configure a workbench.
type Options struct {
	Config  *config.Config
	Version string
	Environ []string // for servers to inherit from; default os.Environ()
	// Load reads the configuration with the variables of another environment, for clients with their own. Default: the
	// same for all.
	Load     func(environ []string) (*config.Config, error)
	Folder   string        // working folder of servers without one; default: the current folder
	Idle     time.Duration // timeouts.idle of servers that do not configure it; default: never
	StateDir string        // for records of process trees, cached definitions, and counted calls; "": none
	Log      *slog.Logger  // default: discard

	// Toolbox is the only toolbox to serve; "": all.
	Toolbox string

	// Transparent shows a client the servers' instructions instead of the workbench's.
	Transparent bool

	// Admit refuses a client by the mark of its connection; see package hops. Default: one that
	// leads this workbench back to itself is refused.
	Admit func(mark string) error

	// Reachable says that commands of the user can reach this workbench; see control.Serve. Otherwise 'approve' cannot
	// answer for it.
	Reachable bool

	// Withheld is the notice to clients why files of the configuration are not used. Config contains nothing of these
	// files, so nothing of them can be started.
	Withheld string

	// Refusal ends every request, which is recorded as any other that is refused; nil: the stages decide.
	Refusal *call.Failure
}

// App is one workbench. New makes it, ServeStdio runs it for a client, Reload changes its configuration, Stop ends it.
type App struct {
	fleet      *fleet.Fleet
	front      *front.Server
	toolbox    string // the only one to serve; "": all
	isClear    bool   // see Options.Transparent
	refusal    *call.Failure
	version    string
	started    time.Time
	log        *slog.Logger
	config     atomic.Pointer[config.Config]
	router     atomic.Pointer[call.Router]
	policy     atomic.Pointer[policy.Policy] // nil: everything is allowed
	meter      *meter.Meter
	history    *history.History
	usage      usageLooks
	keeping    keeping
	recordings *recording.Book
	telemetry  *telemetry.Sender // nil: nothing is sent
	ledger     *ledger.Ledger
	desk       *approval.Desk
	people     *elicitation.Desk
	rounds     *policy.Rounds
	trials     trials
	audit      *audit.Log   // nil: nothing is recorded
	auditAt    string       // folder of the audit log
	auditStage *audit.Stage // nil without a log
	mustAudit  bool         // calls that cannot be recorded are refused
	withheld   atomic.Value // string: why files of the configuration are not used
	files      atomic.Pointer[fileState]
	changing   sync.Mutex                        // held while the configuration in use changes
	gate       atomic.Pointer[httpauth.Gate]     // nil unless clients are served over HTTP
	tokens     atomic.Pointer[httpauth.Store]    // of these clients; nil without
	verifier   atomic.Pointer[identity.Verifier] // of the people among them; nil without

	environ   []string
	load      func(environ []string) (*config.Config, error) // may be nil
	elsewhere struct {
		mu  sync.Mutex
		all map[*fleet.Environment][]string
	}

	stopping sync.Once
	stopErr  error
	stops    []stopStep // run last to first
}

// fileState is how the files of the configuration relate to what is in use.
type fileState struct {
	loaded  time.Time // when the configuration in use was read
	problem string    // why the files as they are now are not in use; "": they are
}

// stopStep undoes one step of New.
type stopStep struct {
	name string
	stop func(context.Context) error
}

// stopTime is the time limit of Stop, whatever its context.
const stopTime = 2200 * time.Millisecond

// New builds a workbench. It starts no server.
func New(options Options) (*App, error) {
	if err := CheckToolbox(options.Config, options.Toolbox); err != nil && options.Withheld == "" {
		return nil, err
	}
	restrictions, err := restrictionsOf(options.Config)
	if err != nil {
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
		return nil, fmt.Errorf("the path of this program is unknown, and its helper processes need it: %w", err)
	}
	a := &App{toolbox: options.Toolbox, isClear: options.Transparent, refusal: options.Refusal, version: options.Version, started: time.Now(), log: options.Log, environ: options.Environ, load: options.Load}
	a.config.Store(options.Config)
	a.files.Store(&fileState{loaded: a.started})
	a.withheld.Store(options.Withheld)
	a.prepareStages(&options)
	host := process.NewHost(process.HostOptions{Log: options.Log, StateDir: options.StateDir})
	a.onStop("processes", host.Close)
	self := NewSelf(options.StateDir)
	if options.Admit == nil {
		options.Admit = func(mark string) error { return a.refuseLoop(self, mark) }
	}
	logins := oauth.New(oauth.Options{
		Store:   credentials.Open(credentials.Folder(options.StateDir), credentials.Options{Seal: options.Config.Credentials, Log: options.Log}),
		Environ: options.Environ, Log: options.Log,
		Secrets: func(values ...string) { a.fleet.Hide(values...) }, Ended: a.loginEnded(),
	})
	a.onStop("logins", func(ctx context.Context) error { return closeLogins(ctx, logins) })
	a.fleet = fleet.New(fleet.Options{
		Config: options.Config, Host: host, Executable: executable, Hops: self, OAuth: logins,
		Environ: options.Environ, Folder: options.Folder, Idle: options.Idle, Version: options.Version, Log: options.Log,
		Baseline:     catalog.NewBaseline(definitionsDir(options.StateDir), options.Log),
		Copies:       catalog.NewCopies(definitionsDir(options.StateDir), options.Log),
		Restrictions: restrictions, Events: a.serverEvents(),
		ToolsChanged: func(name string, whom fleet.Scope) { a.front.ToolsChanged(name, whom) },
		ListsChanged: func(server *fleet.Server, notification string, whom fleet.Scope) {
			a.front.ListsChanged(server, notification, whom)
		},
	})
	a.keeping.folder = options.StateDir
	a.keepHistory(options.Config)
	a.openRecordings(&options)
	a.onStop("history", a.stopKeeping) // after the servers, with which the last calls end
	a.onStop("servers", a.fleet.Stop)
	a.front = front.New(front.Options{
		Surface: a.surface, Forwarder: a.forwarder, RootsMatter: a.fleet.AsksForRoots, Admit: options.Admit, Answered: a.telemetry.Answered(), SessionEnded: a.meter.ClientLeft,
		Version: options.Version, MaxMessage: options.Config.MaxMessageSize, Log: options.Log, People: a.people,
	})
	a.onStop("approvals", func(context.Context) error {
		a.desk.Close()
		a.people.Close()
		return nil
	})
	a.telemetry.Start()
	return a, nil
}

// prepareStages makes what every request passes on its way to a server.
func (a *App) prepareStages(options *Options) {
	a.meter, a.history = meter.New(a.started), history.New(a.Mask)
	a.ledger = ledger.New(options.StateDir)
	a.rounds = policy.NewRounds()
	a.prepareTelemetry()
	a.openAudit(options)
	a.desk = approval.New(a.deskOptions(options))
	a.people = elicitation.New(elicitation.Options{Mask: a.Mask, Reachable: options.Reachable, Changed: a.desk.TellWatchers}, options.Config.Elicitation)
	a.router.Store(call.NewRouter(a.stages(options.Config)))
}

// Desk returns where calls wait for approval.
func (a *App) Desk() *approval.Desk { return a.desk }

// mode returns how an audience sees tools.
func (a *App) mode(audience front.Audience) config.ToolMode {
	switch {
	case audience.Terminal:
		return config.Proxy
	case audience.Only != "":
		return config.Direct
	}
	return a.config.Load().ToolMode
}

// forwarder returns the forwarder of an audience, for everything except tools.
func (a *App) forwarder(audience front.Audience) *passthrough.Forwarder {
	return passthrough.New(passthrough.Options{
		Router: a.router.Load(), Visible: a.view(audience), Mode: a.mode(audience), OpenedOnly: a.config.Load().ListOpened, Log: a.log,
	})
}

// surface returns the tools that an audience sees.
func (a *App) surface(audience front.Audience) *metatool.Surface {
	cfg := a.config.Load()
	discovery := cfg.Discovery
	if audience.Terminal {
		discovery = config.Discovery{Search: true, AutoOpen: a.refusal != nil}
	}
	return metatool.New(metatool.Options{
		Router: a.router.Load(), Visible: a.view(audience), Mode: a.mode(audience), Discovery: discovery, Notice: a.withheld.Load().(string),
		Reads: a.reads, ListOpened: cfg.ListOpened, ServerInstructions: a.isClear,
	})
}

// view returns the part of the fleet that an audience may see.
func (a *App) view(audience front.Audience) metatool.Toolboxes {
	if audience.Servers != nil {
		return a.fleet.Part(audience.Servers)
	}
	visible := audience.Toolboxes
	for _, only := range []string{a.toolbox, audience.Only} {
		switch {
		case only == "":
		case visible == nil || slices.Contains(visible, only):
			visible = []string{only}
		default:
			visible = []string{}
		}
	}
	if visible == nil {
		return a.fleet
	}
	return a.fleet.View(visible)
}

// Reload switches to another checked configuration: servers whose definition did not change keep
// running, and clients are notified if their list of tools changes. Withheld is as in Options. On an
// error nothing has changed.
func (a *App) Reload(cfg *config.Config, withheld string) error {
	if err := CheckToolbox(cfg, a.toolbox); err != nil && withheld == "" {
		return err
	}
	restrictions, err := restrictionsOf(cfg)
	if err != nil {
		return err
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	former := a.config.Load()
	before, now := former.HTTP, cfg.HTTP
	cfg = a.keepPeople(cfg, before.OAuth)
	a.front.Change(func() {
		a.reloadEnvironments(cfg) // first, so that no new server is seen with an old environment
		a.fleet.Restrict(restrictions)
		a.fleet.Apply(cfg)
		a.config.Store(cfg)
		a.people.Configure(cfg.Elicitation)
		a.reroute(former, cfg)
		a.meter.Retain(func(toolbox, name string) bool {
			_, ok := a.Server(toolbox, name)
			return ok
		})
		a.withheld.Store(withheld)
	})
	a.files.Store(&fileState{loaded: time.Now()})
	a.keepHistory(cfg)
	a.audit.Add(audit.Reload(cfg.Path, nil))
	a.Prefetch()
	if cfg.Credentials != former.Credentials {
		a.log.Warn("'credentials' stays as it was until the next start")
	}
	if cfg.Audit != former.Audit {
		a.log.Warn("'audit' stays as it was until the next start")
	}
	a.reloadHTTP(before, now)
	return nil
}

// ReviewHints takes over what a person accepted since the last reload; see AcceptHints.
func (a *App) ReviewHints() { a.front.Change(a.fleet.ReviewHints) }

// Withhold changes the notice to clients of a workbench that uses nothing of its configuration.
func (a *App) Withhold(notice string) {
	a.front.Change(func() { a.withheld.Store(notice) })
}

// Prefetch connects servers that are not in the cache, if the configuration enables it.
func (a *App) Prefetch() {
	if a.config.Load().Prefetch {
		a.fleet.Prefetch(a.view(front.Audience{}).Toolboxes())
	}
}

// definitionsDir is the folder of the cache of tool definitions.
func definitionsDir(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, "definitions")
}

func (a *App) onStop(name string, stop func(context.Context) error) {
	a.stops = append(a.stops, stopStep{name, stop})
}

// ServeStdio serves one client until it closes its side or ctx ends. It closes in and out.
func (a *App) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	a.Prefetch()
	return a.front.ServeStdio(ctx, in, out, front.StdioOptions{Audience: front.Audience{Caller: config.CallerStdio}})
}

// ServeTerminal serves a command of a person at a terminal, as ServeStdio does: the tools are called in the same way in
// every mode, and results are not shortened.
func (a *App) ServeTerminal(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return a.front.ServeStdio(ctx, in, out, front.StdioOptions{Audience: front.Audience{Terminal: true, Caller: config.CallerTerminal}})
}

// ServeBridged serves one of several clients over a connection, as ServeStdio does. Call Prefetch
// before the first.
func (a *App) ServeBridged(ctx context.Context, conn io.ReadWriteCloser, known front.StdioOptions) error {
	return a.front.ServeStdio(ctx, conn, conn, known)
}

package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/journal"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Inspector lets commands of the same user inspect and control a workbench. It implements
// control.Subject.
type Inspector struct {
	App     *App
	Serving string           // whom; see control.Workbench
	Stop    func()           // starts to end the program
	Log     *journal.Journal // the last lines of its own log
}

// Inspect implements control.Subject.
func (i Inspector) Inspect() control.Workbench {
	seen := i.overview()
	leaders, copies := []int{seen.PID}, make(copyKeys)
	for _, status := range i.App.fleet.Status() {
		seen.Servers = append(seen.Servers, row(copies.next(status.Toolbox, status.Server), &status))
		if status.PID != 0 {
			leaders = append(leaders, status.PID)
		}
	}
	uses := i.App.usage.read(leaders, time.Now())
	seen.Memory = uses[seen.PID].memory
	for n := range seen.Servers {
		server := &seen.Servers[n]
		use := uses[server.PID]
		server.Memory, server.CPU, server.CPUTime = use.memory, use.cpuPercent, use.cpuSeconds
		seen.Memory -= server.Memory // its servers are child processes
	}
	seen.Memory = max(seen.Memory, 0)
	return seen
}

// overview is what Inspect returns, without the servers.
func (i Inspector) overview() control.Workbench {
	folder := i.folder()
	cfg := i.App.config.Load()
	seen := control.Workbench{
		PID: os.Getpid(), Version: i.App.version, Serving: i.Serving, Config: cfg.Path, Project: cfg.ProjectPath(),
		Notice: i.App.withheld.Load().(string),
		Folder: folder, Audit: i.App.auditAt, Started: i.App.started, Clients: i.clients(folder), Allocations: allocations(), Servers: []control.Server{},
		Activity: i.App.activity(time.Now()), ActivityTime: meter.Window.Seconds(),
		Asked: len(i.App.people.Waiting()),
	}
	for _, one := range i.App.desk.Waiting() {
		seen.Waiting++
		if !slices.Contains(one.Via, config.AskTerminal) {
			seen.WaitingPage++
		}
	}
	if state := i.App.files.Load(); state != nil {
		seen.Loaded, seen.Problem = state.loaded, state.problem
	}
	return seen
}

// folder is the one that the workbench works in; "" for one that is shared, and if it is gone.
func (i Inspector) folder() (folder string) {
	if i.Serving != control.Shared {
		folder, _ = os.Getwd()
	}
	return folder
}

// copyKeys gives keys to sessions with servers, in the order of the fleet; see control.Server.
type copyKeys map[string]int

func (k copyKeys) next(box, server string) string {
	key := box + "/" + server
	if k[key]++; k[key] > 1 {
		return key + "#" + strconv.Itoa(k[key])
	}
	return key
}

// row is the state of one session with a server, as commands get it.
func row(key string, status *fleet.Status) control.Server {
	return control.Server{
		Key: key, Toolbox: status.Toolbox, Name: status.Server, State: string(status.State), PID: status.PID,
		Uptime: seconds(status.Uptime), Remote: status.Remote, Requests: status.Requests, Starts: status.Starts, Restarts: status.Restarts, Failures: status.Failures, Tools: status.Tools,
		Revision: status.Revision, LastError: status.LastError, Since: status.Since, NextTry: seconds(status.NextTry),
		Clients: status.Clients, Why: why(status.For),
	}
}

// clients returns the clients. One that started the workbench works in the same folder.
func (i Inspector) clients(folder string) []control.ConnectedClient {
	all := []control.ConnectedClient{}
	for _, client := range i.App.front.Clients() {
		seen := control.ConnectedClient{
			ID: strconv.FormatUint(client.ID, 10), Name: client.Name, Version: client.Version, Folder: client.Folder, Since: client.Since, Opened: client.Opened,
		}
		if name, ok := strings.CutPrefix(client.Caller, config.CallerToken); ok {
			seen.Token = name
		} else if name, ok := strings.CutPrefix(client.Caller, config.CallerPerson); ok {
			seen.Person, seen.PersonName = name, client.Display
		} else if name, ok := strings.CutPrefix(client.Caller, config.CallerCertificate); ok {
			seen.Certificate = name
		}
		if client.Modern {
			seen.Era = "modern"
		}
		if i.Serving == "stdio" {
			seen.Folder = cmp.Or(seen.Folder, folder)
		}
		all = append(all, seen)
	}
	return all
}

// activity returns the counters of each server that received requests, in the order of the configuration.
func (a *App) activity(now time.Time) []meter.Server {
	all := []meter.Server{}
	for _, box := range a.fleet.Toolboxes() {
		for _, server := range box.Servers {
			if counted := a.meter.Read(box.Name, server.Name(), now); len(counted.Requests) > 0 {
				all = append(all, counted)
			}
		}
	}
	return all
}

func why(common fleet.Common) control.Why {
	w := control.Why{
		Folder: common.Folder, Roots: common.Roots, Capabilities: common.Capabilities,
		Environment: common.Environment, Command: common.Command, Behind: common.Behind, Person: common.Person,
	}
	if common.Modern {
		w.Era = "modern"
	}
	if common.Alone {
		w.Client = "one"
	}
	return w
}

// allocations returns the number of objects allocated since the start. Small ones that share a block count separately.
func allocations() uint64 {
	seen := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/tiny/allocs:objects"}}
	metrics.Read(seen)
	return seen[0].Value.Uint64() + seen[1].Value.Uint64()
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// Journal implements control.Subject.
func (i Inspector) Journal(box, server string, number uint64) ([]control.Line, uint64, <-chan struct{}, error) {
	read := i.Log.Since
	if box != "" || server != "" {
		found, err := i.server(box, server)
		if err != nil {
			return nil, 0, nil, err
		}
		read = found.Journal
	}
	written, next, more := read(number)
	lines := make([]control.Line, len(written))
	for n, line := range written {
		lines[n] = control.Line(line)
	}
	return lines, next, more, nil
}

// Restart implements control.Subject.
func (i Inspector) Restart(ctx context.Context, box, server string) error {
	found, err := i.server(box, server)
	if err != nil {
		return err
	}
	return found.Restart(ctx)
}

// History implements control.Subject.
func (i Inspector) History(after uint64) ([]history.Record, uint64, <-chan struct{}) {
	return i.App.history.Read(after)
}

// ReviewHints implements control.Subject.
func (i Inspector) ReviewHints() { i.App.ReviewHints() }

// End implements control.Subject.
func (i Inspector) End() { i.Stop() }

func (i Inspector) server(box, name string) (*fleet.Server, error) {
	if found, ok := i.App.fleet.Toolbox(box); ok {
		for _, server := range found.Servers {
			if server.Name() == name {
				return server, nil
			}
		}
	}
	return nil, &toolbox.Error{Code: toolbox.ServerNotFound, Message: fmt.Sprintf("There is no server '%s/%s' in this workbench", box, name)}
}

// Mask returns text with the secrets of the configuration and of logins masked.
func (a *App) Mask(text string) string { return a.fleet.Mask(text) }

package app

import (
	"net/http"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/front"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/exposition"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/meter"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

// Metrics returns everything that is counted, for what collects metrics.
func (a *App) Metrics() meter.Snapshot { return a.meter.Snapshot() }

// rightFor returns the right that a token needs for a path.
func rightFor(path string) httpauth.Right {
	switch {
	case path == front.MetricsPath:
		return httpauth.Metrics
	case strings.HasPrefix(path, front.PagePath):
		return httpauth.Page
	}
	return httpauth.Calls
}

// visibleTo returns the toolboxes of the token of a request; nil: all.
func visibleTo(r *http.Request) []string {
	who, _ := httpauth.IdentityFrom(r.Context())
	return who.Toolboxes
}

// metricsHandler answers with the metrics of the toolboxes that a reader may see; nil: all of them for everybody.
func (a *App) metricsHandler(visible func(*http.Request) []string) http.Handler {
	return exposition.NewHandler(exposition.Options{Read: a.measured, Mask: a.Mask, Visible: visible, Log: a.log})
}

// Metrics implements control.Subject.
func (i Inspector) Metrics() http.Handler { return i.App.metricsHandler(nil) }

// measured returns what is shown as metrics.
func (a *App) measured() exposition.Measured {
	questions, isLocked := a.questionsByServer(), a.lockedToolboxes()
	seen := exposition.Measured{Version: a.version, Counted: a.Metrics()}
	places := make(map[toolbox.Ref]int)  // in seen.Servers
	servers := make(map[int]toolbox.Ref) // by process id
	var leaders []int
	for _, status := range a.fleet.Status() {
		of := toolbox.Ref{Toolbox: status.Toolbox, Server: status.Server}
		at, ok := places[of]
		if !ok {
			at = len(seen.Servers)
			places[of] = at
			seen.Servers = append(seen.Servers, exposition.Server{
				Toolbox: status.Toolbox, Name: status.Server, States: make(map[fleet.State]int), Questions: questions[of], IsLocked: isLocked[status.Toolbox],
			})
		}
		seen.Servers[at].States[status.State]++
		if status.PID != 0 {
			servers[status.PID] = of
			leaders = append(leaders, status.PID)
		}
	}
	for pid, use := range process.Measure(leaders) {
		seen.Servers[places[servers[pid]]].Memory += use.Memory
	}
	return seen
}

// questionsByServer counts the calls that wait for a person, by toolbox and server.
func (a *App) questionsByServer() map[toolbox.Ref]int {
	all := make(map[toolbox.Ref]int)
	for _, one := range a.desk.Waiting() {
		all[toolbox.Ref{Toolbox: one.Ref.Toolbox, Server: one.Ref.Server}]++
	}
	return all
}

// lockedToolboxes are those of which only approved tools are offered.
func (a *App) lockedToolboxes() map[string]bool {
	cfg := a.config.Load()
	all := make(map[string]bool)
	for _, file := range cfg.Files {
		for _, box := range cfg.Toolboxes {
			if file.Locked && box.File == file.Path {
				all[box.Name] = true
			}
		}
	}
	return all
}

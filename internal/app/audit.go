package app

import (
	"context"
	"path/filepath"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/gateway/approval"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// AuditOptions returns where and how a configuration has events recorded.
func AuditOptions(settings config.Audit, stateDir, version string) audit.Options {
	options := audit.Options{Folder: settings.Folder, Keys: stateDir, Required: settings.Required, Keep: settings.Keep, Version: version}
	if options.Folder == "" && stateDir != "" {
		options.Folder = filepath.Join(stateDir, "audit")
	}
	return options
}

// openAudit begins the audit log, if the configuration has one. It stays as it is until the workbench ends: what changes the
// file must not be able to end the record of it.
func (a *App) openAudit(options *Options) {
	if !options.Config.Audit.On {
		return
	}
	with := AuditOptions(options.Config.Audit, options.StateDir, options.Version)
	with.Log, with.Mask = options.Log, a.Mask
	a.audit, a.auditAt = audit.Open(with), with.Folder
	a.auditStage, a.mustAudit = audit.NewStage(a.audit), with.Required
	a.onStop("audit log", a.closeAudit)
}

// closeAudit ends the audit log. If it cannot be written, that is logged: it is no failure of what the workbench did.
func (a *App) closeAudit(ctx context.Context) error {
	if err := a.audit.Close(ctx); err != nil {
		a.log.Warn("the last events are missing in the audit log", "count", a.audit.Unwritten(), "reason", err)
	}
	return nil
}

// deskOptions returns the options of the desk, whose questions are recorded.
func (a *App) deskOptions(options *Options) approval.Options {
	desk := approval.Options{Mask: a.Mask, Reachable: options.Reachable}
	if a.auditStage != nil {
		desk.Observer = a.auditStage
	}
	return desk
}

// ReloadFailed records that a changed configuration could not be used.
func (a *App) ReloadFailed(err error) {
	a.files.Store(&fileState{a.files.Load().loaded, a.Mask(err.Error())})
	a.audit.Add(audit.Reload(a.config.Load().Path, err))
}

// FilesApplied records that the files are as the configuration in use, whatever was wrong with them before.
func (a *App) FilesApplied() { a.files.Store(&fileState{loaded: a.files.Load().loaded}) }

// PageActed implements control.Subject.
func (i Inspector) PageActed(did control.PageAction) {
	i.App.audit.Add(audit.PageAction(did.Caller, did.Action, did.About, did.Failed))
}

// loginEnded returns who is told of the end of logins; nil if nobody is.
func (a *App) loginEnded() func(oauth.Server, error) {
	if a.audit == nil {
		return nil
	}
	return func(server oauth.Server, err error) { a.audit.Add(audit.Login(server.Toolbox, server.Name, err)) }
}

// tokenRefused returns who is told of refused requests; nil if nobody is.
func (a *App) tokenRefused() func(remote string, who httpauth.Identity, reason string) {
	if a.audit == nil {
		return nil
	}
	refusals := audit.NewRefusals(a.audit)
	return func(remote string, who httpauth.Identity, reason string) {
		caller := ""
		if who.Kind != httpauth.Anonymous {
			caller = who.Caller()
		}
		refusals.Add(remote, caller, reason)
	}
}

// serverEvents returns who is told what happens to servers.
func (a *App) serverEvents() fleet.Events {
	if a.audit == nil {
		return a.meter
	}
	return allEvents{a.meter, a.audit}
}

// allEvents tells several what happens to servers.
type allEvents []fleet.Events

func (all allEvents) ServerStarted(toolbox, server string, took time.Duration, err error) {
	for _, one := range all {
		one.ServerStarted(toolbox, server, took, err)
	}
}

func (all allEvents) ServerCrashed(toolbox, server string) {
	for _, one := range all {
		one.ServerCrashed(toolbox, server)
	}
}

func (all allEvents) ServerEnded(toolbox, server string, after time.Duration, crashed bool) {
	for _, one := range all {
		one.ServerEnded(toolbox, server, after, crashed)
	}
}

func (all allEvents) DefinitionsChanged(toolbox, server string, changes []catalog.Change) {
	for _, one := range all {
		one.DefinitionsChanged(toolbox, server, changes)
	}
}

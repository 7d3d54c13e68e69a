// Package lockdiff compares the tools and instructions of servers with workbench.lock, and updates the lock with the
// accepted ones.
package lockdiff

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// Update compares the offers with the locks of all files of a configuration, prints the differences,
// and writes the locks. Tools that are not accepted are returned as an error.
func Update(cfg *config.Config, accepted []string, ask func() ([]app.Offer, error), out io.Writer) (*Report, error) {
	used, masker := make([]bool, len(accepted)), secret.NewMasker(cfg.Secrets)
	locks := make([]lockFile, len(cfg.Files)) // one per file, with its toolboxes
	for i, file := range cfg.Files {
		before, err := app.ReadLock(file)
		if err != nil {
			return nil, err
		}
		locks[i] = lockFile{before: before, accepted: accepted, used: used, masker: masker, out: tty.Cleaned(out)}
	}
	offers, err := ask()
	if err != nil {
		return nil, err
	}
	for i := range accepted {
		accepted[i] = fullName(accepted[i], offers)
	}
	for i, file := range cfg.Files {
		locks[i].compareAll(cfg, file, offers)
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, &toolbox.Error{
			Code:    toolbox.ToolNotFound,
			Message: fmt.Sprintf("--accept %s matches no tool; nothing was written", trust.Quote(accepted[i])),
			Hint:    "Name it as TOOLBOX/SERVER/TOOL, as 'mcp-workbench lock' lists it.",
		}
	}
	var errs []error
	report := &Report{Locks: []ReportedLock{}}
	for i, file := range cfg.Files {
		locks[i].printRemoved()
		err := locks[i].write(file)
		if !isNotWritten(err) {
			fmt.Fprintln(locks[i].out, enforcement(file))
		}
		errs = append(errs, err)
		report.Locks = append(report.Locks, locks[i].report(file))
	}
	return report, errors.Join(errs...)
}

func isNotWritten(err error) bool {
	known, ok := errors.AsType[*toolbox.Error](err)
	return ok && known.Code == toolbox.LockNotWritten
}

// enforcement says what the lock of a file does: it is just a record unless a configuration file enforces it.
func enforcement(file config.File) string {
	if !file.Locked {
		return fmt.Sprintf(`It is not enforced: clients can use every tool, and a changed one is only marked as changed. "locked": true at the top of %s enforces it.`, file.Path)
	}
	by := ""
	if file.LockedBy != "" && file.LockedBy != file.Path {
		by = " in " + file.LockedBy
	}
	return fmt.Sprintf(`It is enforced ("locked": true%s): clients see and use only tools and instructions that match it; others are withheld until they are accepted here.`, by)
}

// fullName returns the reference of what --accept names: a tool, the instructions of a server, a server or a toolbox, each in a form that
// only one has. What is not found, or not unique, stays as it is.
func fullName(name string, offers []app.Offer) string {
	places := &toolbox.Named{}
	var tools []string
	for _, offer := range offers {
		at := toolbox.Place{Toolbox: offer.Toolbox, Server: offer.Server}
		places.Servers = append(places.Servers, at)
		if !slices.Contains(places.Toolboxes, offer.Toolbox) {
			places.Toolboxes = append(places.Toolboxes, offer.Toolbox)
		}
		if path := instructionsPath(offer.Toolbox, offer.Server); name == path || name == offer.Server+instructionsSuffix {
			tools = append(tools, path)
		}
		if offer.Tools == nil {
			continue
		}
		for _, tool := range offer.Tools.Tools {
			switch full := at.String() + "/" + tool.Name; name {
			case full:
				return full
			case offer.Server + "/" + tool.Name, tool.Name:
				tools = append(tools, full)
			}
		}
	}
	at, err := places.Find(name, toolbox.ToolboxFirst)
	switch {
	case err == nil:
		return at.String()
	case len(tools) == 1:
		return tools[0]
	}
	return name
}

// lockFile makes the new lock of one configuration file, and prints the differences to the old one.
type lockFile struct {
	before   *catalog.Lock // nil without one
	after    catalog.Lock
	accepted []string // the values of --accept
	used     []bool   // which of them matched
	masker   *secret.Masker
	out      io.Writer

	changes []Change
	written bool
	waiting []string // tools and instructions to accept
	failed  int      // servers that could not be connected
}

// compareAll compares the servers in the order of the file. Approvals of a server that did not answer stay, and so do
// those of a toolbox that another file overrides.
func (l *lockFile) compareAll(cfg *config.Config, file config.File, offers []app.Offer) {
	for _, name := range file.Toolboxes {
		at := slices.IndexFunc(cfg.Toolboxes, func(box config.Toolbox) bool { return box.Name == name && box.File == file.Path })
		if at < 0 {
			l.keepToolbox(name)
			continue
		}
		for _, server := range cfg.Toolboxes[at].Servers {
			l.compareServer(name, server.Name, offers)
		}
	}
}

func (l *lockFile) keepToolbox(box string) {
	if l.before == nil {
		return
	}
	for _, server := range l.before.Servers {
		if server.Toolbox == box {
			l.after.Servers = append(l.after.Servers, server)
		}
	}
}

func (l *lockFile) compareServer(box, server string, offers []app.Offer) {
	var was catalog.LockedServer
	known := false
	if l.before != nil {
		was, known = l.before.Find(box, server)
	}
	for _, offer := range offers {
		if offer.Toolbox != box || offer.Server != server {
			continue
		}
		if offer.Err == nil {
			l.compareOffer(offer, was, known)
			return
		}
		l.failed++
		l.changes = append(l.changes, Change{"failed", box + "/" + server, offer.Err.Error()})
		fmt.Fprintf(l.out, "failed   %s: %v\n", trust.Quote(box+"/"+server), offer.Err)
	}
	if known {
		l.after.Servers = append(l.after.Servers, was)
	}
}

// compareOffer decides what is approved of a server. was is the server's entry in the old lock, if it is known.
func (l *lockFile) compareOffer(offer app.Offer, was catalog.LockedServer, known bool) {
	locked := catalog.LockedServer{Toolbox: offer.Toolbox, Server: offer.Server, Version: l.masker.Mask(offer.Tools.ServerVersion)}
	locked.Instructions = l.compareInstructions(offer, was, known)
	offered := make(map[string]bool)
	for _, tool := range offer.Tools.Tools {
		offered[tool.Name] = true
		path := offer.Toolbox + "/" + offer.Server + "/" + tool.Name
		before, approved := was.Find(tool.Name)
		now := tool.Record(l.masker.Mask)
		named := l.accepts(offer.Toolbox, offer.Server, path)
		switch {
		case approved && before.IsOf(tool):
		case known && !named:
			l.requireAccept(path, approved)
			if !approved {
				continue
			}
			now = before
		case approved:
			l.print("accepted", path)
		default:
			l.print("added", path)
		}
		locked.Tools = append(locked.Tools, catalog.LockedTool{Name: tool.Name, Record: now})
	}
	for _, tool := range was.Tools {
		if !offered[tool.Name] {
			l.print("removed", offer.Toolbox+"/"+offer.Server+"/"+tool.Name)
		}
	}
	if known && was.Version != locked.Version {
		l.changes = append(l.changes, Change{"version", offer.Toolbox + "/" + offer.Server, locked.Version})
		fmt.Fprintf(l.out, "version  %s: %s, was %s\n", trust.Quote(offer.Toolbox+"/"+offer.Server), trust.Quote(locked.Version), trust.Quote(was.Version))
	}
	l.after.Servers = append(l.after.Servers, locked)
}

// instructionsPath is the name of the instructions of a server for --accept.
func instructionsPath(box, server string) string { return box + "/" + server + instructionsSuffix }

const instructionsSuffix = ":instructions"

// compareInstructions decides which instructions of a server are approved. A lock written before
// instructions were locked approves them all.
func (l *lockFile) compareInstructions(offer app.Offer, was catalog.LockedServer, known bool) *catalog.Record {
	path := instructionsPath(offer.Toolbox, offer.Server)
	before, now := was.Instructions, offer.Tools.InstructionsRecord(l.masker.Mask)
	named := l.accepts(offer.Toolbox, offer.Server, path)
	switch {
	case before == nil:
		if offer.Tools.HasInstructions() {
			l.print("added", path)
		}
	case before.Hash == now.Hash:
	case !offer.Tools.HasInstructions():
		l.print("removed", path)
	case known && !named:
		l.requireAccept(path, true)
		return before
	default:
		l.print("accepted", path)
	}
	return now
}

// accepts reports whether a tool, its server or its toolbox was accepted.
func (l *lockFile) accepts(box, server, path string) (named bool) {
	for i, name := range l.accepted {
		if name == path || name == box+"/"+server || name == box {
			l.used[i], named = true, true
		}
	}
	return named
}

func (l *lockFile) requireAccept(path string, approved bool) {
	what := "new"
	if approved {
		what = "changed"
	}
	l.print(what, path)
	l.waiting = append(l.waiting, path)
}

func (l *lockFile) print(what, path string) {
	l.changes = append(l.changes, Change{Change: what, Ref: path})
	fmt.Fprintf(l.out, "%-8s %s\n", what, trust.Quote(path))
}

// printRemoved lists servers that are no longer configured.
func (l *lockFile) printRemoved() {
	if l.before == nil {
		return
	}
	for _, server := range l.before.Servers {
		if _, ok := l.after.Find(server.Toolbox, server.Server); !ok {
			l.print("removed", server.Toolbox+"/"+server.Server)
		}
	}
}

// write writes the lock if it changed, and returns what has to be accepted or failed as an error.
func (l *lockFile) write(file config.File) error {
	path := file.LockPath()
	if l.before == nil || string(l.after.Encode()) != string(l.before.Encode()) {
		if _, err := app.WriteLock(file, &l.after); err != nil {
			return err
		}
		l.written = true
		fmt.Fprintf(l.out, "%s is written: %s\n", path, l.summary())
	} else {
		fmt.Fprintf(l.out, "%s stays as it is: %s\n", path, l.summary())
	}
	var errs []error
	if len(l.waiting) > 0 {
		command := []string{"mcp-workbench", "lock"}
		for _, name := range l.waiting[:min(len(l.waiting), 5)] {
			command = append(command, "--accept", name)
		}
		errs = append(errs, &toolbox.Error{
			Code:    toolbox.ToolsNotApproved,
			Message: l.waitingFor() + " not as the lock has it, and not approved",
			Hint:    "Review what the server offers now; then, for example: " + trust.Quote(command...),
		})
	}
	if l.failed > 0 {
		errs = append(errs, &toolbox.Error{
			Code:    toolbox.ServersFailed,
			Message: toolbox.Count(l.failed, "server", "servers") + " could not be asked; the old entries of the lock stay",
			Hint:    "The reasons are above.",
		})
	}
	return errors.Join(errs...)
}

// waitingFor counts the tools and instructions to accept.
func (l *lockFile) waitingFor() string {
	instructions := 0
	for _, path := range l.waiting {
		if strings.HasSuffix(path, ":instructions") {
			instructions++
		}
	}
	tools := len(l.waiting) - instructions
	switch {
	case instructions == 0:
		return toolbox.Count(tools, "tool is", "tools are")
	case tools == 0:
		return "The instructions of " + toolbox.Count(instructions, "server are", "servers are")
	}
	return toolbox.Count(tools, "tool", "tools") + " and the instructions of " + toolbox.Count(instructions, "server are", "servers are")
}

func (l *lockFile) summary() string {
	tools := 0
	for _, server := range l.after.Servers {
		tools += len(server.Tools)
	}
	return fmt.Sprintf("%s of %s approved", toolbox.Count(tools, "tool", "tools"), toolbox.Count(len(l.after.Servers), "server", "servers"))
}

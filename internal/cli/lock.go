package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/app/service"
	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

func newLock(g *globals) *cobra.Command {
	var accepted []string
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Write down which tools and instructions are approved",
		Long: `Starts every server and writes the definitions of its tools and its instructions into workbench.lock,
beside the file that has the server. Commit that file: a change is then seen in a review.
With "locked": true in the configuration, only tools and instructions that are as the file has
them can be seen and used.

A server that is not in the file yet is approved with all that it offers. Tools of other
servers that are new or changed, and changed instructions, are approved only when --accept names
them, or their server or toolbox; until then this command lists them and ends with 1.`,
		Example: `  mcp-workbench lock
  mcp-workbench lock --accept dev/shell/run
  mcp-workbench lock --accept dev/shell`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runLock(cmd.Context(), *g, accepted, cmd.OutOrStdout(), os.Stderr)
		},
	}
	cmd.Flags().StringArrayVar(&accepted, "accept", nil, "TOOLBOX/SERVER/TOOL, TOOLBOX/SERVER:instructions, TOOLBOX/SERVER or TOOLBOX to approve as they are now; may be repeated")
	mustComplete(cmd, "accept", completeTools(g))
	return cmd
}

func runLock(ctx context.Context, g globals, accepted []string, out, stderr io.Writer) (err error) {
	g.IgnoreLock = true
	s, err := g.Load(nil)
	if err == nil && s.Untrusted != nil {
		if err = s.Untrusted.Ask(ctx, out); err == nil {
			s, err = g.Load(nil)
		}
	}
	if err != nil {
		return err
	}
	if len(s.Broken) > 0 {
		return errors.Join(s.Broken...)
	}
	cfg := s.Config
	if len(cfg.Files) == 0 {
		return &toolbox.Error{
			Code:    toolbox.ConfigNotFound,
			Message: "There is no configuration to write a lock for",
			Hint:    "Write workbench-config.json, or name another file with --config.",
		}
	}
	used, masker := make([]bool, len(accepted)), secret.NewMasker(cfg.Secrets)
	locks := make([]locking, len(cfg.Files)) // one for each file, with its toolboxes
	for i, file := range cfg.Files {
		before, err := readLock(file)
		if err != nil {
			return err
		}
		locks[i] = locking{before: before, accepted: accepted, used: used, masker: masker, out: tty.Cleaned(out)}
	}
	offers, err := askAll(ctx, g, cfg, stderr)
	if err != nil {
		return err
	}
	for i, file := range cfg.Files {
		locks[i].takeAll(cfg, file, offers)
	}
	if i := slices.Index(used, false); i >= 0 {
		return &toolbox.Error{
			Code:    toolbox.ToolNotFound,
			Message: fmt.Sprintf("--accept %s names no tool that is offered; nothing was written", trust.Quote(accepted[i])),
			Hint:    "Name it as TOOLBOX/SERVER/TOOL, as 'mcp-workbench lock' lists it.",
		}
	}
	var errs []error
	for i, file := range cfg.Files {
		locks[i].removed()
		errs = append(errs, locks[i].finish(file.LockPath()))
	}
	return errors.Join(errs...)
}

// readLock returns the lock as it is; nil if there is none.
func readLock(file config.File) (*catalog.Lock, error) {
	data, err := file.ReadLock()
	if data == nil || err != nil {
		return nil, err
	}
	return app.ParseLock(file.LockPath(), data)
}

// askAll starts all servers and returns what they offer, approved or not.
func askAll(ctx context.Context, g globals, cfg *config.Config, stderr io.Writer) (_ []app.Offer, err error) {
	log, err := service.NewLogger(cmp.Or(g.logLevel, "error"), cfg, stderr)
	if err != nil {
		return nil, err
	}
	whole := *cfg
	whole.Files = nil // which say what is locked
	workbench, err := app.New(app.Options{Config: &whole, Version: Version, StateDir: config.StateDir(), Log: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, workbench.Stop(context.WithoutCancel(ctx))) }()
	return workbench.Offers(ctx), ctx.Err()
}

// locking makes a lock from the one before, and says what is different.
type locking struct {
	before   *catalog.Lock // nil if there was none
	after    catalog.Lock
	accepted []string // as they were given
	used     []bool   // which of them named something
	masker   *secret.Masker
	out      io.Writer

	waiting []string // tools and instructions that have to be accepted
	failed  int      // servers that could not be asked
}

// takeAll goes through the servers in the order of the file. Of one that was not asked, what
// was approved stays; so it does of a toolbox that is not used here, since another file has one
// of its name.
func (l *locking) takeAll(cfg *config.Config, file config.File, offers []app.Offer) {
	for _, name := range file.Toolboxes {
		at := slices.IndexFunc(cfg.Toolboxes, func(box config.Toolbox) bool { return box.Name == name && box.File == file.Path })
		if at < 0 {
			l.keep(name)
			continue
		}
		for _, server := range cfg.Toolboxes[at].Servers {
			l.takeServer(name, server.Name, offers)
		}
	}
}

func (l *locking) keep(box string) {
	if l.before == nil {
		return
	}
	for _, server := range l.before.Servers {
		if server.Toolbox == box {
			l.after.Servers = append(l.after.Servers, server)
		}
	}
}

func (l *locking) takeServer(box, server string, offers []app.Offer) {
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
			l.take(offer, was, known)
			return
		}
		l.failed++
		fmt.Fprintf(l.out, "failed   %s: %v\n", trust.Quote(box+"/"+server), offer.Err)
	}
	if known {
		l.after.Servers = append(l.after.Servers, was)
	}
}

// take decides what is approved of a server; was is what the lock had of it, if it is known.
func (l *locking) take(offer app.Offer, was catalog.LockedServer, known bool) {
	locked := catalog.LockedServer{Toolbox: offer.Toolbox, Server: offer.Server, Version: l.masker.Mask(offer.Tools.ServerVersion)}
	locked.Instructions = l.takeInstructions(offer, was, known)
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
			l.wait(path, approved)
			if !approved {
				continue
			}
			now = before
		case approved:
			l.say("accepted", path)
		default:
			l.say("added", path)
		}
		locked.Tools = append(locked.Tools, catalog.LockedTool{Name: tool.Name, Record: now})
	}
	for _, tool := range was.Tools {
		if !offered[tool.Name] {
			l.say("removed", offer.Toolbox+"/"+offer.Server+"/"+tool.Name)
		}
	}
	if known && was.Version != locked.Version {
		fmt.Fprintf(l.out, "version  %s: %s, was %s\n", trust.Quote(offer.Toolbox+"/"+offer.Server), trust.Quote(locked.Version), trust.Quote(was.Version))
	}
	l.after.Servers = append(l.after.Servers, locked)
}

// instructionsPath names the instructions of a server for --accept.
func instructionsPath(box, server string) string { return box + "/" + server + ":instructions" }

// takeInstructions decides which instructions of a server are approved. A lock from a time when they were not locked
// approved them all.
func (l *locking) takeInstructions(offer app.Offer, was catalog.LockedServer, known bool) *catalog.Record {
	path := instructionsPath(offer.Toolbox, offer.Server)
	before, now := was.Instructions, offer.Tools.Instructed(l.masker.Mask)
	named := l.accepts(offer.Toolbox, offer.Server, path)
	switch {
	case before == nil:
		if offer.Tools.HasInstructions() {
			l.say("added", path)
		}
	case before.Hash == now.Hash:
	case !offer.Tools.HasInstructions():
		l.say("removed", path)
	case known && !named:
		l.wait(path, true)
		return before
	default:
		l.say("accepted", path)
	}
	return now
}

// accepts reports whether a tool was named, or its server or toolbox.
func (l *locking) accepts(box, server, path string) (named bool) {
	for i, name := range l.accepted {
		if name == path || name == box+"/"+server || name == box {
			l.used[i], named = true, true
		}
	}
	return named
}

func (l *locking) wait(path string, approved bool) {
	what := "new"
	if approved {
		what = "changed"
	}
	l.say(what, path)
	l.waiting = append(l.waiting, path)
}

func (l *locking) say(what, path string) { fmt.Fprintf(l.out, "%-8s %s\n", what, trust.Quote(path)) }

// removed tells of servers that are no longer configured.
func (l *locking) removed() {
	if l.before == nil {
		return
	}
	for _, server := range l.before.Servers {
		if _, ok := l.after.Find(server.Toolbox, server.Server); !ok {
			l.say("removed", server.Toolbox+"/"+server.Server)
		}
	}
}

// finish writes the lock, and says what is left to do.
func (l *locking) finish(path string) error {
	data := l.after.Encode()
	if l.before == nil || string(data) != string(l.before.Encode()) {
		if err := safefile.Replace(path, ".workbench-lock-*", data); err != nil {
			return &toolbox.Error{
				Code:    toolbox.LockNotWritten,
				Message: fmt.Sprintf("%s was not written: %v", path, err),
				Hint:    "The lock lies beside the configuration; its folder must be yours to write.",
				Cause:   err,
			}
		}
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
			Hint:    "Look at what the server says now; then, for example: " + trust.Quote(command...),
		})
	}
	if l.failed > 0 {
		errs = append(errs, &toolbox.Error{
			Code:    toolbox.ServersFailed,
			Message: toolbox.Count(l.failed, "server", "servers") + " could not be asked; what the lock had of it stays",
			Hint:    "The reasons stand above.",
		})
	}
	return errors.Join(errs...)
}

// waitingFor says what has to be accepted.
func (l *locking) waitingFor() string {
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

func (l *locking) summary() string {
	tools := 0
	for _, server := range l.after.Servers {
		tools += len(server.Tools)
	}
	return fmt.Sprintf("%s of %s approved", toolbox.Count(tools, "tool", "tools"), toolbox.Count(len(l.after.Servers), "server", "servers"))
}

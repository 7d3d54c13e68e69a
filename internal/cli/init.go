package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

type initOptions struct {
	from   []string
	output string
	yes    bool
	dryRun bool
	force  bool
	json   bool

	allProjects bool
}

func newInit(g *globals) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Import the servers of your MCP clients",
		Long: `Find the configuration files of MCP clients on this machine, group their servers into
toolboxes, and write workbench-config.json. Secrets in plain text are moved to a
workbench.env beside it, which only you can read, or, if you say so in a terminal, to the
system's keyring. The clients' own files are not changed.

Servers that a client has for one project only are imported if you run init in the folder of
that project. --all-projects imports those of all folders; without a "cwd", they run where
the client runs, not in the folder of their project.

The diff is shown before anything is written. Servers are added to an existing
configuration; --force replaces it. Afterwards remote servers are asked, for 3 seconds at
most, whether they need a login.

With --json, the result is one JSON object and nothing is asked: add --yes to write it,
or --dry-run to only see it.`,
		Example: `  mcp-workbench init
  mcp-workbench init --yes
  mcp-workbench init --from cursor --from .mcp.json --output team.json
  mcp-workbench init --json --dry-run | jq '.toolboxes[].servers[].name'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.json {
				return runInitJSON(cmd, g, o)
			}
			return runInit(cmd.Context(), g, o, screenOf(cmd), &initReport{})
		},
	}
	cmd.Flags().StringArrayVar(&o.from, "from", nil, "a client or a file to import servers from; may be repeated (default: all clients found)")
	cmd.Flags().BoolVar(&o.allProjects, "all-projects", false, "also import servers that clients start in projects of other folders only")
	cmd.Flags().StringVar(&o.output, "output", "", "configuration to write (default: --config, $WORKBENCH_CONFIG, then your configuration folder)")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "accept the proposal without asking")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show what would be written")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing configuration instead of adding to it")
	addJSONFlag(cmd, &o.json, "write JSON, and ask nothing")
	_ = cmd.RegisterFlagCompletionFunc("from", completion.Clients)
	return cmd
}

// runInitJSON writes the report as JSON, even after an error.
func runInitJSON(cmd *cobra.Command, g *globals, o initOptions) error {
	var report initReport
	err := runInit(cmd.Context(), g, o, tty.New(io.Discard, nil, os.Getenv), &report)
	if report.File == "" {
		return err
	}
	return errors.Join(writeJSON(cmd, report), err)
}

// runInit imports servers, shows each step on the screen, and fills the report.
func runInit(ctx context.Context, g *globals, o initOptions, screen *tty.Screen, report *initReport) error {
	target, err := g.target(o.output)
	if err != nil {
		return err
	}
	sources, err := readSources(ctx, target, o.from)
	if err != nil {
		return err
	}
	var elsewhere []clients.Source
	if !o.allProjects {
		sources, elsewhere = clients.OfFolder(sources)
	}
	*report = newInitReport(target, sources, elsewhere)
	if len(o.from) == 0 {
		found := projectFileNotes(sources)
		report.Notes = append(report.Notes, found...)
		defer showAtEnd(screen, found)
	}
	if len(sources) == 0 {
		nothingFound(screen, o.from, elsewhere)
		return nil
	}
	showSources(screen, sources, elsewhere)
	files, err := importer.ReadTarget(target, o.force)
	if err != nil {
		return err
	}
	if outline, err := files.Outline(); err == nil { // one that cannot be read is replaced with --force
		if err := configwrite.RefusePlain(target, outline); err != nil {
			return err
		}
	}
	plan, err := files.Plan(sources)
	if err != nil {
		return err
	}
	showPlan(screen, plan)
	if len(plan.Servers) == 0 {
		report.addPlan(plan, nil)
		fmt.Fprintf(screen, "\nThere is nothing to add to %s.\n", shortenHome(target))
		showNext(screen, target, sources)
		return nil
	}
	boxes, err := chooseToolboxes(ctx, screen, plan, o)
	if err != nil {
		return err
	}
	report.addPlan(plan, boxes)
	if report.Written, err = writeTarget(ctx, files, screen, plan, boxes, o); err != nil {
		return err
	}
	if o.dryRun {
		report.addPossibleLogins(screen, target, boxes)
		return nil
	}
	finishInit(screen, target, plan, boxes, files.Kept == nil)
	needed, unanswered := needLogin(ctx, target, func(toolbox, server string) bool { return isIn(boxes, toolbox, server) })
	report.addLogins(screen, target, needed)
	report.Notes = append(report.Notes, showUnanswered(screen, target, unanswered)...)
	showNext(screen, target, sources)
	return nil
}

// target is the configuration to write, as an absolute path.
func (g *globals) target(output string) (string, error) {
	for _, asked := range []string{output, g.ConfigPath, os.Getenv("WORKBENCH_CONFIG"), config.UserPath(os.Getenv)} {
		if asked != "" {
			return filepath.Abs(asked)
		}
	}
	return "", &toolbox.Error{
		Code:    toolbox.PlaceUnknown,
		Message: "HOME is not set, so there is no configuration folder",
		Hint:    "Name the file to write with --output.",
	}
}

// readSources reads the servers of the named sources, or of all clients. In the latter case unreadable
// files are only reported.
func readSources(ctx context.Context, target string, from []string) ([]clients.Source, error) {
	machine := clients.ThisMachine()
	var sources []clients.Source
	if len(from) == 0 {
		for _, client := range clients.All() {
			found, err := client.Read(machine)
			if err != nil {
				fmt.Fprintln(os.Stderr, tty.New(os.Stderr, nil, os.Getenv).Describe(err))
			}
			sources = append(sources, found...)
		}
	}
	for i, name := range from {
		if slices.Contains(from[:i], name) {
			continue
		}
		found, err := readSource(machine, name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, found...)
	}
	importer.RemoveLoops(ctx, sources, append([]string{target}, runningFiles(ctx)...))
	return slices.DeleteFunc(sources, func(s clients.Source) bool { return len(s.Servers)+len(s.Skipped)+len(s.Self) == 0 }), nil
}

// runningFiles returns the configuration files of the user and of running workbenches. A workbench
// that does not answer is left out.
func runningFiles(ctx context.Context) []string {
	var files []string
	if own := config.UserPath(os.Getenv); own != "" {
		files = append(files, own)
	}
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return files
	}
	running, _ := control.Find(ctx, dir)
	for _, client := range running {
		for _, file := range []string{client.Status.Config, client.Status.Project} {
			if file != "" {
				files = append(files, file)
			}
		}
	}
	return files
}

func readSource(machine clients.Machine, name string) ([]clients.Source, error) {
	client := clients.ByID(name)
	if client != nil {
		return client.Read(machine)
	}
	if !machine.Exists(name) {
		return nil, unknownClient(name, "'%s' is neither a known client nor a file")
	}
	file, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	return clients.ReadNamed(machine, file)
}

func unknownClient(name, message string) error {
	hint := "The clients are " + strings.Join(clients.IDs(), ", ") + "."
	if near := toolbox.Nearest(name, clients.IDs(), 1); len(near) > 0 {
		hint = "Did you mean '" + near[0] + "'? " + hint
	}
	return &toolbox.Error{
		Code:    toolbox.ClientUnknown,
		Message: fmt.Sprintf(message, tty.CleanLine(name)),
		Hint:    hint,
	}
}

func nothingFound(screen *tty.Screen, from []string, elsewhere []clients.Source) {
	if len(elsewhere) > 0 {
		fmt.Fprintln(screen, "No servers for this folder were found in the files of MCP clients.")
		showElsewhere(screen, elsewhere)
		return
	}
	if len(from) > 0 {
		fmt.Fprintln(screen, screen.Wrap("No servers were found in "+filesOf(from)+".", 0))
		return
	}
	fmt.Fprint(screen, `No MCP client with servers was found on this machine.

Add a server yourself, in one of these ways:
  mcp-workbench add files -- npx -y @modelcontextprotocol/server-filesystem ~/Documents
  mcp-workbench add https://example.com/mcp
Or import them from a file:
  mcp-workbench init --from FILE
Or try the built-in servers first:
  mcp-workbench try
`)
}

// filesOf returns where the servers of named sources were looked for.
func filesOf(from []string) string {
	var files []string
	for _, name := range from {
		client := clients.ByID(name)
		if client == nil {
			files = append(files, shortenHome(name))
			continue
		}
		for _, file := range client.Files(clients.ThisMachine()) {
			files = append(files, fmt.Sprintf("%s of %s", shortenHome(file), client.Title))
		}
	}
	return strings.Join(files, ", ")
}

// writeTarget shows the diff of both files, asks, and writes them.
func writeTarget(ctx context.Context, f *importer.Target, screen *tty.Screen, plan *importer.Plan, boxes []importer.Toolbox, o initOptions) (written bool, err error) {
	next, err := f.Next(plan, boxes)
	if err != nil {
		return false, err
	}
	showDisabled(screen, boxes)
	fmt.Fprintln(screen)
	showDiff(screen, config.EnvPath(f.Path), importer.MaskedEnv(f.Before.Env), importer.MaskedEnv(next.Env), nil) // names only
	showDiff(screen, f.Path, f.Before.Data, next.Data, f.Masker(next))
	if o.dryRun {
		fmt.Fprintln(screen, "\nNothing was changed: this was a dry run.")
		return false, nil
	}
	fmt.Fprintln(screen)
	if o.json && !o.yes {
		return false, &toolbox.Error{
			Code:    toolbox.AnswerNeeded,
			Message: "Nothing was changed: --json does not ask",
			Hint:    "Add --yes to confirm the change, or --dry-run to only see it.",
		}
	}
	if err := confirm(ctx, screen, o.yes, "Write this?"); err != nil {
		return false, err
	}
	if err := keepInKeyring(ctx, plan.Kept); err != nil { // first: a server without its secret would not start
		return false, err
	}
	if err := f.Write(ctx, next); err != nil {
		return false, err
	}
	return true, nil
}

// finishInit reports what was written.
func finishInit(screen *tty.Screen, target string, plan *importer.Plan, boxes []importer.Toolbox, isNew bool) {
	fmt.Fprintf(screen, "\n%s %s is written.\n", screen.Paint(tty.Good, "✓"), shortenHome(target))
	if len(plan.Variables) > 0 {
		fmt.Fprintf(screen, "%s %s in workbench.env beside it, which only you can read.\n", screen.Paint(tty.Good, "✓"), toolbox.Count(len(plan.Variables), "secret is", "secrets are"))
	}
	showKept(screen, plan.Kept)
	if isNew {
		fmt.Fprintf(screen, "%s autoOpen: use_tool opens what it needs, for scripts and one-shot clients.\n", screen.Paint(tty.Good, "✓"))
		fmt.Fprintf(screen, "%s openDetail: opening lists signatures, a fraction of the tokens.\n", screen.Paint(tty.Good, "✓"))
	}
	for _, box := range boxes {
		for _, server := range box.Servers {
			if len(server.Unset) > 0 {
				fmt.Fprintf(screen, "%s '%s' is disabled until %s is set in workbench.env. Then: mcp-workbench enable %s\n", screen.Paint(tty.Caution, "!"),
					tty.CleanLine(server.Name), strings.Join(server.Unset, ", "), trust.Quote(box.Name+"/"+server.Name))
			}
		}
	}
}

// showNext shows the next steps.
func showNext(screen *tty.Screen, target string, sources []clients.Source) {
	command := "mcp-workbench"
	if target != config.UserPath(os.Getenv) {
		command += " --config " + trust.Quote(target)
	} else if places, err := config.Find("", os.Getenv); err == nil && len(places) > 0 && places[0].Origin == config.Local {
		fmt.Fprintf(screen, "%s In this folder, %s is on top of it.\n", screen.Paint(tty.Caution, "!"), shortenHome(places[0].Path))
	}
	steps := [][]tty.Cell{{{Text: command + " doctor", Style: tty.Name}, {Text: "check that each server starts"}}}
	if client := toConnect(sources); client != "" {
		steps = append(steps, []tty.Cell{{Text: command + " connect " + client, Style: tty.Name}, {Text: "add the workbench to the client"}})
	}
	fmt.Fprintln(screen, "\nNext:")
	screen.Table(nil, steps)
}

// toConnect returns the first client without the workbench; "" if all have it.
func toConnect(sources []clients.Source) string {
	has := make(map[*clients.Client]bool)
	for _, source := range sources {
		has[source.Client] = has[source.Client] || len(source.Self) > 0
	}
	connected := false
	for _, source := range sources {
		if source.Client == nil || source.Client.Retired != "" {
			continue
		}
		if !has[source.Client] {
			return source.Client.ID
		}
		connected = true
	}
	if connected {
		return ""
	}
	return "CLIENT"
}

// shortenHome abbreviates the home folder in a path.
func shortenHome(path string) string {
	path = tty.CleanLine(path)
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); err == nil && home != "" && ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// connector plans how clients get the workbench.
type connector struct {
	o             connectOptions
	g             *globals
	screen        *tty.Screen
	entry         clients.Entry // of a workbench that the client starts
	configuration string        // that it uses; "": the built-in one, or unknown because it is reached over HTTP
}

func newConnector(ctx context.Context, g *globals, o connectOptions, screen *tty.Screen) (*clientRun, error) {
	c := &connector{o: o, g: g, screen: screen}
	if o.address == "" {
		var err error
		if c.entry, c.configuration, err = g.entry(ctx, o, screen); err != nil {
			return nil, err
		}
	}
	return &clientRun{
		o: o, screen: screen, done: statusConnected, one: "Write this?", many: "Write these %d files?",
		plan: func(client *clients.Client) (*clientChange, error) { return c.plan(ctx, client) },
		finishAll: func(changed []*clientChange) {
			ids := make([]string, len(changed))
			for i, change := range changed {
				ids[i] = change.client.ID
			}
			fmt.Fprintf(screen, "  To undo: mcp-workbench connect %s --undo\n", strings.Join(ids, " "))
			showAfter(screen, changed)
		},
	}, nil
}

// connection is one client that is about to get the workbench.
type connection struct {
	*connector
	client  *clients.Client
	file    string
	sources []clients.Source
	overlap *importer.Overlap
	removed []importer.Known // the client's servers that are removed
	change  *clients.Change
	report  *clientReport

	wasAsked bool // a person decided about the removal
}

func (c *connector) plan(ctx context.Context, client *clients.Client) (*clientChange, error) {
	if client.Retired != "" {
		return nil, &toolbox.Error{
			Code:    toolbox.ClientRetired,
			Message: client.Retired,
			Hint:    "Its servers can still be imported: mcp-workbench init --from " + client.ID,
		}
	}
	n := &connection{connector: c, client: client}
	var err error
	if n.file, err = clientFile(ctx, clients.ThisMachine(), client, c.o, c.screen); err != nil {
		return nil, err
	}
	n.report = newClientReport(client, n.file)
	n.report.Name = c.o.name
	entry := c.entry
	if c.o.all && c.o.address != "" && !client.HasHTTP(n.file) {
		return n.passOver(), nil
	}
	if c.o.address != "" {
		if entry, err = c.o.remoteEntry(client, n.file); err != nil {
			return nil, err
		}
		n.report.Notes = append(n.report.Notes, c.o.remoteNotes(client, entry.Remote, n.file)...)
	}
	if n.sources, err = client.ReadFile(clients.ThisMachine(), n.file); err != nil {
		return nil, err
	}
	if clients.IsFile(n.file, c.configuration) {
		return nil, n.refuseOwnFile()
	}
	if err := n.findDuplicates(ctx, entry); err != nil {
		return nil, err
	}
	n.change, err = clients.NewChange(n.file, c.o.mode(), func(before []byte) ([]byte, error) {
		after, err := client.Put(n.file, before, entry)
		for _, known := range n.removed {
			if err == nil {
				after, err = known.Source.RemoveServer(after, known.Name)
			}
		}
		return after, err
	})
	if err != nil {
		return nil, err
	}
	n.change.HoldsToken = entry.Remote != nil && entry.Remote.Token != ""
	if !c.o.project && c.o.file == "" && !client.IsInstalled(clients.ThisMachine(), n.file) {
		n.report.Notes = append(n.report.Notes, fmt.Sprintf("%s does not seem to be installed here: %s does not exist.", client.Title, shortenHome(n.file)))
	}
	return &clientChange{
		client: client, report: n.report, isEmpty: n.change.IsEmpty(),
		idle: n.showIdle, show: n.show, write: n.write, finish: n.showDone,
	}, nil
}

// refuseOwnFile refuses to make the client's own file the configuration of the workbench in it.
func (n *connection) refuseOwnFile() error {
	return &toolbox.Error{
		Code:    toolbox.LeadsBack,
		Message: fmt.Sprintf("%s is the file of %s itself: with this configuration, the client would run every server in it twice", n.file, n.client.Title),
		Hint:    fmt.Sprintf("Import its servers, and connect without --config: mcp-workbench init --from %s", n.client.ID),
	}
}

// passOver leaves out a client that --all found and that cannot reach a workbench over HTTP.
func (n *connection) passOver() *clientChange {
	n.report.Notes = append(n.report.Notes, n.client.Title+" is left out: its file has no servers over HTTP.")
	return &clientChange{client: n.client, report: n.report, isEmpty: true, idle: func() error {
		showNotes(n.screen, n.report.Notes)
		return nil
	}}
}

// showIdle says that the client has the workbench already.
func (n *connection) showIdle() error {
	fmt.Fprintf(n.screen, "%s has the workbench already, in %s.\n", n.client.Title, shortenHome(n.file))
	n.showStays()
	n.showDoubled()
	return nil
}

func (n *connection) show() {
	showNotes(n.screen, n.report.Notes)
	showDiff(n.screen, n.file, n.change.Before, n.change.After, importer.Masker(n.file, [][]byte{n.change.Before, n.change.After}, n.sources))
	fmt.Fprintln(n.screen)
	n.showRemoved()
	n.showStays()
}

// showRemoved explains a removal that nobody asked for.
func (n *connection) showRemoved() {
	if len(n.removed) == 0 || n.o.removeImported || n.wasAsked {
		return
	}
	is, it := "is", "it"
	if len(n.removed) > 1 {
		is, it = "are", "them"
	}
	showNotes(n.screen, []string{fmt.Sprintf("%s %s removed from %s: the workbench has %s, and was seen to run %s. To keep %s there: --keep", joinNames(n.removed), is, n.client.Title, it, it, it)})
}

func showNotes(screen *tty.Screen, notes []string) {
	for _, note := range notes {
		fmt.Fprintf(screen, "%s %s\n", screen.Paint(tty.Caution, "!"), screen.Wrap(tty.CleanLine(note), 2))
	}
	if len(notes) > 0 {
		fmt.Fprintln(screen)
	}
}

func (n *connection) write() error {
	store, err := clients.OpenBackups()
	if err != nil {
		return err
	}
	if err := n.change.Write(store, n.client); err != nil {
		return err
	}
	n.report.Undo = "mcp-workbench connect " + n.client.ID + " --undo"
	return nil
}

// showDone prints what was done, how to undo it, and the next steps.
func (n *connection) showDone(isAlone bool) {
	fmt.Fprintf(n.screen, "%s %s has the workbench as '%s', in %s.\n", n.screen.Paint(tty.Good, "✓"), n.client.Title, tty.CleanLine(n.o.name), shortenHome(n.file))
	if isAlone {
		fmt.Fprintf(n.screen, "  To undo: %s\n", n.report.Undo)
	}
	n.showDoubled()
	if isAlone {
		fmt.Fprintf(n.screen, "\nNext: %s\nTo check that it works: %s\n", n.client.After, n.client.See)
	}
}

// findDuplicates finds the client's servers that the workbench has, too, and decides which of them to remove.
func (n *connection) findDuplicates(ctx context.Context, entry clients.Entry) (err error) {
	n.overlap = &importer.Overlap{}
	if n.o.address != "" {
		n.noteTaken(clients.Standing{Obstacle: "it is another workbench"})
		return nil // what a workbench elsewhere has is unknown
	}
	before, err := clients.ReadAll(n.file)
	if err != nil {
		return err
	}
	standing, err := n.client.Standing(n.file, before, entry)
	if err != nil {
		return err
	}
	n.noteTaken(standing)
	n.overlap, err = importer.FindOverlap(ctx, n.sources, importer.OverlapOptions{
		Config: n.configuration, Standing: standing, Working: seenWorking, Command: n.g.command,
	})
	if err != nil {
		return err
	}
	if n.o.removeImported {
		n.report.Stays = append(n.report.Stays, n.overlap.Stays...)
		if n.overlap.NoConfig {
			n.report.Notes = append(n.report.Notes, fmt.Sprintf("--remove-imported removes nothing from %s: without a configuration, the workbench has none of its servers. To import them: mcp-workbench init", n.client.Title))
		}
	}
	wanted, err := n.wantsRemoval(ctx)
	if err != nil || !wanted {
		return err
	}
	n.removed = n.overlap.Removable
	for _, known := range n.removed {
		n.report.Removed = append(n.report.Removed, known.Name)
		if known.Limited != "" {
			n.report.Notes = append(n.report.Notes, fmt.Sprintf("'%s' is limited to %s in %s; the workbench offers more of its tools. To limit it there, set the toolFilters of %s/%s.",
				known.Name, known.Limited, n.client.Title, known.Toolbox, known.Server))
		}
	}
	return nil
}

// noteTaken warns that the client may not get servers through the entry which an earlier connect took out of its file.
func (n *connection) noteTaken(standing clients.Standing) {
	store, err := clients.OpenBackups()
	if err != nil || standing == (clients.Standing{}) {
		return // without a store nothing is written
	}
	taken, err := n.client.TakenOut(store, n.file)
	if err != nil || len(taken) == 0 {
		return // a record that cannot be read is reported when it is needed
	}
	only := "this workbench"
	if standing.Obstacle == "" {
		only = "the toolbox '" + standing.Toolbox + "'"
	}
	n.report.Notes = append(n.report.Notes, fmt.Sprintf("An earlier connect took out %s: %s now has of them only what is in %s. To put them back: %s",
		strings.Join(takenNames(taken), ", "), n.client.Title, only, n.o.clientCommand("disconnect", n.client)))
}

// wantsRemoval reports whether the servers that both have are to be removed from the client's file. In a terminal a person is
// asked; otherwise the diff shows it, and is confirmed as a whole.
func (n *connection) wantsRemoval(ctx context.Context) (bool, error) {
	switch {
	case n.o.keep || len(n.overlap.Removable) == 0:
		return false, nil
	case n.o.removeImported || n.o.yes || n.o.dryRun || !n.screen.IsInteractive():
		return true, nil
	}
	it := map[bool]string{true: "it", false: "them"}[len(n.overlap.Removable) == 1]
	fmt.Fprintln(n.screen, n.screen.Wrap(fmt.Sprintf("%s also starts %s itself, which the workbench has and was seen to run.", n.client.Title, joinNames(n.overlap.Removable)), 0))
	wanted, err := n.screen.Confirm(ctx, fmt.Sprintf("Remove %s from %s? --undo restores %s.", it, n.client.Title, it), true)
	if errors.Is(err, tty.ErrNobody) {
		return true, nil
	}
	fmt.Fprintln(n.screen)
	n.wasAsked = true
	return wanted, err
}

// showStays names the servers that stay in the client's file although their removal was requested.
func (n *connection) showStays() {
	for _, s := range n.report.Stays {
		fmt.Fprintf(n.screen, "%s %s\n", n.screen.Paint(tty.Caution, "!"),
			n.screen.Wrap(fmt.Sprintf("%s stays in %s: %s", stayName(s), n.client.Title, tty.CleanLine(s.Reason)), 2))
	}
	if len(n.report.Stays) > 0 {
		fmt.Fprintln(n.screen)
	}
}

// stayName names a server that stays, with the project that it is for.
func stayName(s importer.Stay) string {
	name := "'" + tty.CleanLine(s.Name) + "'"
	if s.Project != "" {
		name += " of the project " + tty.CleanLine(shortenHome(s.Project))
	}
	return name
}

// showDoubled names the servers that both start, and how to remove them from the client's file.
func (n *connection) showDoubled() {
	left := len(n.overlap.Both) - len(n.removed)
	if left == 0 || n.o.removeImported {
		return
	}
	var both []importer.Known
	for _, known := range n.overlap.Both {
		if !containsKnown(n.removed, known) {
			both = append(both, known)
		}
	}
	steps := ""
	if left > len(n.overlap.Removable) || len(n.removed) > 0 {
		steps = n.g.command("doctor") + ", and then: "
	}
	fmt.Fprintf(n.screen, "  %s\n  To remove %s there: %smcp-workbench connect %s --remove-imported\n",
		n.screen.Wrap(fmt.Sprintf("%s also starts %s itself, which the workbench has.", n.client.Title, joinNames(both)), 2),
		map[bool]string{true: "it", false: "them"}[left == 1], steps, n.client.ID)
}

func containsKnown(all []importer.Known, one importer.Known) bool {
	for _, known := range all {
		if known.Source == one.Source && known.Name == one.Name {
			return true
		}
	}
	return false
}

func joinNames(all []importer.Known) string {
	names := make([]string, len(all))
	for i, known := range all {
		names[i] = projectName(known.Name, known.Source.Project)
	}
	return strings.Join(names, ", ")
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// clientChange is a planned change of one client's file.
type clientChange struct {
	client *clients.Client
	report *clientReport
	// isEmpty means that there is nothing to write; idle then says why, and does what is left to do.
	isEmpty bool
	idle    func() error
	show    func() // the diff, and what a person should know before confirming
	write   func() error
	finish  func(isAlone bool) // says what was done
}

// clientReport is what was done with a client, for scripts.
type clientReport struct {
	ID       string          `json:"id"`
	Title    string          `json:"title"`
	File     string          `json:"file"`
	Status   clientStatus    `json:"status"`
	Name     string          `json:"name,omitempty"` // of the workbench in the client
	Removed  []string        `json:"removed"`        // servers that were removed from the client's file
	Stays    []importer.Stay `json:"stays"`          // servers that stay although their removal was requested
	Notes    []string        `json:"notes"`          // what a person should know
	Undo     string          `json:"undo,omitempty"` // the command that reverts the change
	Next     string          `json:"next,omitempty"` // what makes the client load it
	Restored []string        `json:"restored"`       // servers that were put back into it
	Error    *failure        `json:"error,omitempty"`
}

// clientStatus is how the change of a client ended.
type clientStatus string

const (
	statusConnected    clientStatus = "connected"
	statusDisconnected clientStatus = "disconnected"
	statusReverted     clientStatus = "reverted"
	statusUnchanged    clientStatus = "unchanged" // there was nothing to change
	statusPlanned      clientStatus = "planned"   // it was not confirmed
	statusFailed       clientStatus = "failed"
)

func newClientReport(client *clients.Client, file string) *clientReport {
	return &clientReport{ID: client.ID, Title: client.Title, File: file, Status: statusPlanned, Removed: []string{}, Restored: []string{}, Stays: []importer.Stay{}, Notes: []string{}}
}

func (r *clientReport) fail(err error) {
	described := describeFailure(err)
	r.Status, r.Error = statusFailed, &described
}

// clientRun changes the files of clients: it plans all changes, shows them, asks once, and writes. A client that cannot be
// changed does not keep the others from being changed.
type clientRun struct {
	o      connectOptions
	screen *tty.Screen
	done   clientStatus
	one    string // the question about one file
	many   string // the question about several; %d is their number
	// plan returns nil for a client that --all passes over.
	plan func(client *clients.Client) (*clientChange, error)
	// none is the error if --all passes over all clients; nil: that is not an error.
	none error
	// finishAll says what concerns all clients that were changed.
	finishAll func(changed []*clientChange)
}

// run changes the clients, and reports what was done.
func (r *clientRun) run(cmd *cobra.Command, targets []*clients.Client) error {
	reports, err := r.change(cmd.Context(), targets)
	if !r.o.json || len(reports) == 0 {
		return err
	}
	written := writeJSON(cmd, struct {
		Clients []*clientReport `json:"clients"`
		DryRun  bool            `json:"dryRun"`
	}{reports, r.o.dryRun})
	return errors.Join(err, written)
}

func (r *clientRun) change(ctx context.Context, targets []*clients.Client) (reports []*clientReport, err error) {
	var planned []*clientChange
	var failed []error
	for _, client := range targets {
		c, err := r.plan(client)
		switch {
		case ctx.Err() != nil:
			return reports, ctx.Err()
		case err != nil:
			report := newClientReport(client, "")
			report.fail(err)
			reports, failed = append(reports, report), append(failed, err)
		case c != nil:
			reports, planned = append(reports, c.report), append(planned, c)
		}
	}
	if len(reports) == 0 {
		return nil, r.none
	}
	if len(planned) > 0 {
		r.showFailed(reports)
	}
	for i, c := range planned {
		if !c.isEmpty {
			c.show()
			continue
		}
		c.report.Status = statusUnchanged
		if err := c.idle(); err != nil {
			c.report.fail(err)
			failed = append(failed, err)
		}
		if i < len(planned)-1 {
			fmt.Fprintln(r.screen)
		}
	}
	planned = slices.DeleteFunc(planned, func(c *clientChange) bool { return c.isEmpty })
	failed = append(failed, r.writeAll(ctx, planned, len(targets) == 1)...)
	if len(failed) == 1 {
		return reports, failed[0]
	}
	return reports, errors.Join(failed...)
}

// showFailed names the clients that are left out, before a person confirms the rest.
func (r *clientRun) showFailed(reports []*clientReport) {
	for _, report := range reports {
		if report.Error != nil {
			fmt.Fprintf(r.screen, "%s %s\n\n", r.screen.Paint(tty.Bad, "✗"),
				r.screen.Wrap(report.Title+" is left out: "+tty.CleanLine(report.Error.Message), 2))
		}
	}
}

// writeAll asks, and writes the files.
func (r *clientRun) writeAll(ctx context.Context, planned []*clientChange, isAlone bool) (failed []error) {
	if len(planned) == 0 {
		return nil
	}
	if r.o.dryRun {
		fmt.Fprintln(r.screen, "Nothing was changed: this was a dry run.")
		return nil
	}
	question := r.one
	if len(planned) > 1 {
		question = fmt.Sprintf(r.many, len(planned))
	}
	if err := confirm(ctx, r.screen, r.o.yes, question); err != nil {
		return []error{err}
	}
	var changed []*clientChange
	for _, c := range planned {
		if err := c.write(); err != nil {
			c.report.fail(err)
			failed = append(failed, err)
			continue
		}
		c.report.Status, c.report.Next = r.done, c.client.After
		c.finish(isAlone)
		changed = append(changed, c)
	}
	if !isAlone && len(changed) > 0 {
		r.finishAll(changed)
	}
	return failed
}

// showAfter prints what makes each client load the change.
func showAfter(screen *tty.Screen, changed []*clientChange) {
	fmt.Fprintln(screen, "\nNext:")
	for _, c := range changed {
		fmt.Fprintf(screen, "  %s\n", screen.Wrap(c.client.Title+": "+c.client.After, 4))
	}
}

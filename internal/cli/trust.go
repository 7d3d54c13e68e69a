package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app/loader"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// trustFlags are the flags of trust.
type trustFlags struct{ yes, list, revoke, json bool }

func newTrust(g *globals) *cobra.Command {
	var flags trustFlags
	cmd := &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Allow the configuration of a folder to run programs",
		Long: `Show what a configuration would run, ask, and remember the answer. For each server this
shows the program that would really run, its arguments and folder, the values of its
variables, the variables it inherits from you, and those it sends elsewhere; its policy,
which can also restrict your own tools; and the values of the workbench.env beside the file.
What looks like a secret is masked.

A file in the working folder needs trust if the folder is under version control, or if
somebody else owns or can change the file or its folder: somebody else may have written
it. It needs trust again when it or the workbench.env beside it changes. A file named by
--config or $WORKBENCH_CONFIG, and one in your configuration folder, needs none.`,
		Example: `  mcp-workbench trust
  mcp-workbench trust project/workbench-config.json
  mcp-workbench trust --json
  mcp-workbench trust --list
  mcp-workbench trust --revoke project/workbench-config.json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return &usageError{err: fmt.Errorf("trust takes one file, not %d", len(args))}
			case flags.list && (len(args) > 0 || flags.revoke || flags.yes):
				return &usageError{err: errors.New("--list takes no file and no other flag but --json")}
			case flags.revoke && flags.yes:
				return &usageError{err: errors.New("--revoke asks nothing and takes no --yes")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if flags.list {
				return listTrusted(out, flags.json)
			}
			path, err := trustPath(g, args)
			if err != nil {
				return err
			}
			if flags.revoke {
				return revokeTrust(cmd, path, flags.json)
			}
			return runTrust(cmd.Context(), out, path, flags)
		},
	}
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask")
	addJSONFlag(cmd, &flags.json, "write the review as JSON without asking; trusts nothing without --yes")
	cmd.Flags().BoolVar(&flags.list, "list", false, "list the trusted files")
	cmd.Flags().BoolVar(&flags.revoke, "revoke", false, "revoke the trust of the file")
	return cmd
}

// trustPath returns the named file, else the one found here.
func trustPath(g *globals, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	places, err := g.Find()
	switch {
	case err != nil:
		return "", err
	case len(places) == 0:
		return "", &toolbox.Error{Code: toolbox.ConfigNotFound, Message: "There is no workbench-config.json here", Hint: "Name the file: mcp-workbench trust FILE"}
	case places[0].Origin == config.User:
		return "", &toolbox.Error{
			Code:    toolbox.TrustNotNeeded,
			Message: trust.Quote(places[0].Path) + " is in your configuration folder and needs no trust",
			Hint:    "Name another file: mcp-workbench trust FILE",
		}
	}
	return places[0].Path, nil
}

func runTrust(ctx context.Context, out io.Writer, path string, flags trustFlags) error {
	source, err := config.Read(path)
	if err != nil {
		return err
	}
	store := trust.NewStore(config.StateDir())
	verdict, err := store.Check(trust.FileOf(source))
	if err != nil {
		tty.Remark(os.Stderr, err.Error())
	}
	shown, err := loader.NewReview(source)
	if err != nil {
		return err
	}
	shown.Compare(verdict, store)
	if flags.json {
		trusted := verdict == trust.Trusted
		if flags.yes && !trusted {
			err = store.Add(shown.File())
			trusted = err == nil
		}
		return errors.Join(tty.WriteJSON(out, struct {
			*loader.Review
			Trusted bool `json:"trusted"` // now
		}{shown, trusted}), err)
	}
	screen := tty.New(out, nil, os.Getenv)
	shown.Print(screen)
	if verdict == trust.Trusted {
		fmt.Fprintln(screen, "It is trusted already.")
		return nil
	}
	if !flags.yes {
		if !tty.IsInteractive(out) {
			return &toolbox.Error{
				Code:    toolbox.AnswerNeeded,
				Message: "This is not a terminal, so nobody can be asked, and the file was not trusted",
				Hint:    "Run the command in a terminal, or with --yes once you have looked at the file.",
			}
		}
		if err := loader.ConfirmTrust(ctx, out); err != nil {
			return err
		}
	}
	// Record what was shown, even if the file has changed since.
	if err := store.Add(shown.File()); err != nil {
		return err
	}
	fmt.Fprintln(screen, "It is trusted until it changes. A running workbench uses it automatically.")
	return nil
}

// trustedFile is one entry of 'trust --list --json'.
type trustedFile struct {
	Path  string    `json:"path"`
	Time  time.Time `json:"time"`
	State string    `json:"state"` // trustCounts, or why it does not
}

const (
	trustCounts  = "trusted"
	trustChanged = "changed" // it or its variables, so that it needs trust again
	trustMissing = "missing"
	trustUnread  = "unreadable"
)

// stateOf reports whether the trust in a file counts as the file is now.
func stateOf(store *trust.Store, path string) string {
	source, err := config.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return trustMissing
	case err != nil:
		return trustUnread
	}
	if verdict, _ := store.Check(trust.FileOf(source)); verdict != trust.Trusted {
		return trustChanged
	}
	return trustCounts
}

func listTrusted(out io.Writer, asJSON bool) error {
	store := trust.NewStore(config.StateDir())
	records, err := store.List()
	if asJSON {
		files := make([]trustedFile, len(records))
		for i, record := range records {
			files[i] = trustedFile{record.Path, record.Time, stateOf(store, record.Path)}
		}
		return errors.Join(tty.WriteJSON(out, struct {
			Files []trustedFile `json:"files"`
		}{files}), err)
	}
	if len(records) == 0 && err == nil {
		fmt.Fprintln(out, "No file is trusted.")
	}
	if len(records) > 0 {
		rows := make([][]tty.Cell, len(records))
		for i, record := range records {
			state := tty.Cell{Text: stateOf(store, record.Path)}
			if state.Text != trustCounts {
				state.Style = tty.Caution
			}
			rows[i] = []tty.Cell{{Text: trust.Quote(record.Path), Style: tty.Name}, state, {Text: record.Time.Local().Format("2006-01-02 15:04")}}
		}
		tty.New(out, nil, os.Getenv).Table([]string{"FILE", "STATE", "SINCE"}, rows)
	}
	return err
}

func revokeTrust(cmd *cobra.Command, path string, asJSON bool) error {
	known, err := trust.NewStore(config.StateDir()).Revoke(path)
	if err != nil {
		return err
	}
	if !known {
		return &toolbox.Error{Code: toolbox.NotTrusted, Message: trust.Quote(path) + " was not trusted", Hint: "See: mcp-workbench trust --list"}
	}
	if asJSON {
		return writeJSON(cmd, struct {
			Path    string `json:"path"`
			Revoked bool   `json:"revoked"`
		}{path, true})
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is not trusted any more.\n", trust.Quote(path))
	return nil
}

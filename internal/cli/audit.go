package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/audit"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

func newAudit(g *globals) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show the audit log's state, verify it, or export it",
		Long: `Show where the audit log is, its last line and the key of its seals. The log records calls,
refusals, approvals, logins, changed definitions, tokens and reloads, never values. It is on
with "audit": true in your configuration file.

The head is the hash of the last line. Keep it elsewhere from time to time, with the public
key: 'audit verify --head HASH' then shows whether the log was cut off or written anew.`,
		Example: `  mcp-workbench audit
  mcp-workbench audit --json
  mcp-workbench audit verify
  mcp-workbench audit export --format ocsf > audit.jsonl`,
		Args: noArguments, SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error { return showAudit(cmd, g, asJSON) },
	}
	addJSONFlag(cmd, &asJSON, "write the state as JSON")
	cmd.AddCommand(newAuditVerify(g), newAuditExport(g))
	return cmd
}

// auditSettings returns how this user has events recorded. A file that cannot be used has no settings.
func auditSettings(g *globals) (config.Audit, audit.Options) {
	var settings config.Audit
	if s, err := g.Load(nil); err == nil {
		settings = s.Config.Audit
	}
	return settings, app.AuditOptions(settings, config.StateDir(), Version)
}

// auditPath returns the log that a command is about.
func auditPath(g *globals, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	_, options := auditSettings(g)
	if options.Folder == "" {
		return "", &toolbox.Error{
			Code: toolbox.NoStateFolder, Message: "There is no folder for the audit log: HOME and XDG_STATE_HOME are not set",
			Hint: "Name the folder of the log.",
		}
	}
	return options.Folder, nil
}

func showAudit(cmd *cobra.Command, g *globals, asJSON bool) error {
	settings, options := auditSettings(g)
	state, err := audit.ReadState(options.Folder)
	switch {
	case err != nil && settings.On:
		return auditUnusable(options.Folder, err)
	case err != nil:
		return auditUnreadable(options.Folder, err)
	}
	public := ""
	if key, err := audit.PublicKey(options.Keys); err == nil {
		public = hex.EncodeToString(key)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return auditUnreadable(options.Keys, err)
	}
	problem := ""
	if settings.On {
		if err := audit.Probe(options.Folder); err != nil {
			problem = err.Error()
		}
	}
	without := withoutAudit(cmd.Context(), g, settings, options.Folder)
	if asJSON {
		return writeJSON(cmd, struct {
			Time     string `json:"time"`
			On       bool   `json:"on"`
			Required bool   `json:"required"`
			Folder   string `json:"folder"`
			audit.State
			PublicKey string `json:"publicKey"`
			Problem   string `json:"problem,omitempty"` // why it cannot be written
			Without   []int  `json:"notRecording"`      // process ids; see withoutAudit
		}{time.Now().UTC().Format(time.RFC3339), settings.On, settings.Required, options.Folder, state, public, problem, without})
	}
	out := tty.Cleaned(cmd.OutOrStdout())
	mode := "off; turned on by \"audit\": true in a file"
	switch {
	case settings.Required:
		mode = "on, required: calls that cannot be recorded are refused"
	case settings.On:
		mode = "on"
	}
	fmt.Fprintf(out, "Audit:       %s\nFolder:      %s\n", mode, options.Folder)
	if problem != "" {
		fmt.Fprintf(out, "Problem:     it cannot be written: %s\n", problem)
	}
	for _, pid := range without {
		fmt.Fprintf(out, "Problem:     the workbench with process id %d began before the log was configured so, and does not write to it: restart it\n", pid)
	}
	if state.Seq == 0 {
		fmt.Fprintln(out, "Lines:       none")
		return nil
	}
	isSealed := "its last line is a seal"
	if !state.Sealed {
		isSealed = "lines follow the last seal"
	}
	fmt.Fprintf(out, "Lines:       %d, in %d %s (%d bytes); %s\nHead:        %s\nPublic key:  %s\n",
		state.Seq, state.Files, plural(state.Files, "file"), state.Bytes, isSealed, state.Head, public)
	return nil
}

// withoutAudit returns the process ids of running workbenches with the same configuration that do not write to its log: a workbench keeps
// the log that it began with.
func withoutAudit(ctx context.Context, g *globals, settings config.Audit, folder string) []int {
	without := []int{}
	s, err := g.Load(nil)
	if !settings.On || err != nil {
		return without
	}
	running, err := new(workbenchFlag).findQuietly(ctx)
	if err != nil {
		return without // none runs
	}
	for _, client := range running {
		seen := client.Status
		if seen.Version == Version && seen.Config == s.Config.Path && seen.Project == s.Config.ProjectPath() && seen.Audit != folder {
			without = append(without, seen.PID)
		}
	}
	return without
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func auditUnreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is none")
	}
	hint := "Name the folder of a log, or one of its files. Workbenches begin one with the first event, with \"audit\": true in your configuration file."
	return &toolbox.Error{Code: toolbox.AuditUnreadable, Message: fmt.Sprintf("The audit log at %s cannot be read: %v", path, err), Hint: hint, Cause: err}
}

// auditUnusable is the error of a folder in which no workbench can record anything.
func auditUnusable(folder string, err error) error {
	return &toolbox.Error{
		Code: toolbox.AuditUnreadable, Message: fmt.Sprintf("The audit log at %s can be neither read nor written: %v", folder, err), Cause: err,
		Hint: "Nothing is recorded there. Make it a folder that is yours to write, or change audit.folder in your configuration file.",
	}
}

func newAuditExport(g *globals) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "export [FOLDER|FILE]",
		Short: "Write an audit log in a format of other tools",
		Long: `Write each line of an audit log as one line of JSON to stdout: as an event of the class API
Activity (6003) of OCSF, or as an event of CloudEvents. Nothing is verified.`,
		Example: `  mcp-workbench audit export --format ocsf > audit.ocsf.jsonl
  mcp-workbench audit export --format cloudevents backup/audit-000001.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			for _, known := range audit.Formats {
				if format == known {
					return atMostOnePath("audit export")(cmd, args)
				}
			}
			return &usageError{err: fmt.Errorf("--format must be %s", strings.Join(audit.Formats, " or "))}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := auditPath(g, args)
			if err != nil {
				return err
			}
			if err := audit.Export(cmd.OutOrStdout(), path, format); err != nil {
				return auditUnreadable(path, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "format of the lines: "+strings.Join(audit.Formats, " or "))
	completion.Register(cmd, "format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return audit.Formats, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// recordEvent records what a command did, if the user has events recorded. The command has done it already, so that a log
// which cannot be written is only reported.
func recordEvent(ctx context.Context, settings config.Audit, entry audit.Entry) {
	if !settings.On {
		return
	}
	options := app.AuditOptions(settings, config.StateDir(), Version)
	if err := audit.Record(ctx, options, entry); err != nil {
		tty.Remark(os.Stderr, fmt.Sprintf("this is not in the audit log at %s, which cannot be written: %v", options.Folder, err))
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// restartTime and stopTime limit the wait of a command.
const (
	restartTime = 2 * time.Minute  // for a server to start again; then the command reports an error
	stopTime    = 30 * time.Second // for a workbench to end; then the command reports an error
)

func newRestart(g *globals) *cobra.Command {
	var which workbenchFlag
	var asJSON bool
	restart := &cobra.Command{
		Use:   "restart SERVER",
		Short: "Restart a server of a running workbench",
		Long: `Stop a server with all its child processes, and start it again. Its pending calls fail; a
server in backoff is tried at once.

` + serverWords,
		Example: `  mcp-workbench restart dev/github`,
		Args:    exactly("the name of one server"), ValidArgsFunction: completion.Running,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, server, err := which.server(cmd.Context(), g, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(tty.Cleaned(os.Stderr), "Restarting %s…\n", server.Ref())
			ctx, cancel := context.WithTimeout(cmd.Context(), restartTime)
			defer cancel()
			began := time.Now()
			if err := client.Restart(ctx, server); err != nil {
				if cmd.Context().Err() != nil {
					return err
				}
				return &toolbox.Error{
					Code: toolbox.RestartFailed, Message: fmt.Sprintf("Server '%s' did not restart: %v", server.Ref(), err),
					Hint: "To look at it step by step: " + trust.Quote("mcp-workbench", "doctor", server.Ref()), Cause: err,
				}
			}
			took := time.Since(began).Round(time.Millisecond)
			if asJSON {
				return writeJSON(cmd, restarted{server.Ref(), client.Status.PID, took.Seconds()})
			}
			fmt.Fprintf(tty.Cleaned(cmd.OutOrStdout()), "%s is ready again, after %s\n", server.Ref(), took)
			return nil
		},
	}
	which.define(restart)
	addJSONFlag(restart, &asJSON, "write the result as JSON")
	return restart
}

// restarted is the JSON of 'restart'.
type restarted struct {
	Server    string  `json:"server"`
	Workbench int     `json:"workbench"` // its process id
	Seconds   float64 `json:"seconds"`   // until it was ready
}

func newStop() *cobra.Command {
	var which workbenchFlag
	var all, asJSON bool
	stop := &cobra.Command{
		Use:   "stop",
		Short: "Stop a running workbench and its servers",
		Long: `Stop a running workbench as a signal would: pending calls get a moment to finish, servers
are stopped, nothing is left. A client that still needs the workbench starts it again.`,
		Example: `  mcp-workbench stop
  mcp-workbench stop --pid 4711
  mcp-workbench stop --all`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all && which.pid != 0 {
				return &usageError{err: errors.New("--all and --pid exclude each other")}
			}
			found, err := which.find(cmd.Context())
			if err == nil && !all && len(found) > 1 {
				err = control.SeveralRunning(found, "Several workbenches are running", "Stop one of them, or all with --all")
			}
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), stopTime)
			defer cancel()
			done := stopped{[]stoppedWorkbench{}}
			for _, client := range found {
				if stopErr := client.Stop(ctx); stopErr != nil {
					err = errors.Join(err, fmt.Errorf("the workbench with process id %d: %w", client.Status.PID, stopErr))
					continue
				}
				done.Workbenches = append(done.Workbenches, stoppedWorkbench{client.Status.PID, client.Status.Serving, client.Status.Config, client.Status.Folder})
				fmt.Fprintf(tty.Cleaned(textOf(cmd)), "stopped %d (%s)\n", client.Status.PID, client.Status.Describe())
			}
			if asJSON {
				return errors.Join(writeJSON(cmd, done), err)
			}
			return err
		},
	}
	which.define(stop)
	stop.Flags().BoolVar(&all, "all", false, "stop all workbenches")
	addJSONFlag(stop, &asJSON, "write the result as JSON")
	return stop
}

// stopped is the JSON of 'stop'.
type stopped struct {
	Workbenches []stoppedWorkbench `json:"workbenches"`
}

type stoppedWorkbench struct {
	PID     int    `json:"pid"`
	Serving string `json:"serving"` // as in ps
	Config  string `json:"config,omitempty"`
	Folder  string `json:"folder,omitempty"`
}

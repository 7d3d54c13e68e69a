package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/pastcalls"
)

type historyFlags struct {
	workbenchFlag
	query          pastcalls.Query
	follow, asJSON bool
}

func newHistory() *cobra.Command {
	var flags historyFlags
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show the last calls, how they ended and what took time",
		Long: `Show the last calls of all running workbenches, the oldest first: when each began, the
client, the tool, how it ended, and how long it took. A wide terminal shows the parts of that
time (the start of the server, the server, a person who had to answer, the workbench's own),
the size of the arguments and of the result, and the names and kinds of the arguments. Values
of arguments and results are never recorded.

A workbench remembers its last 4,096 calls while it runs. With "history": {"keep": "7d"} in
your configuration, calls are also written to files, and shown for workbenches that ended.

Where there is nothing to ask, that is an error; with --json nothing is written, and the
exit status is 0.`,
		Example: `  mcp-workbench history
  mcp-workbench history -f                 keep printing calls as they end
  mcp-workbench history --errors --limit 5
  mcp-workbench history --slow 1s --json   for scripts: a JSON object per line`,
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.query.Limit < 1 || flags.query.Slow < 0 {
				return &usageError{err: errors.New("--limit must be at least 1, and --slow not below 0")}
			}
			flags.query.PID, flags.query.Folder = flags.pid, history.Folder(config.StateDir())
			return flags.run(cmd)
		},
	}
	cmd.Flags().IntVar(&flags.pid, "pid", 0, "process id of the workbench, running or not (default: all)")
	cmd.Flags().BoolVarP(&flags.follow, "follow", "f", false, "keep printing calls as they end")
	cmd.Flags().BoolVar(&flags.query.Errors, "errors", false, "only calls that failed")
	cmd.Flags().DurationVar(&flags.query.Slow, "slow", 0, "only calls that took that long or longer, such as 1s")
	cmd.Flags().IntVarP(&flags.query.Limit, "limit", "n", 100, "number of last calls to show")
	addJSONFormFlag(cmd, &flags.asJSON, jsonLines, "write each call as a JSON object on a line")
	completion.Register(cmd, "slow", cobra.FixedCompletions([]cobra.Completion{"100ms", "1s", "10s", "1m"}, cobra.ShellCompDirectiveNoFileComp))
	completion.Register(cmd, "pid", completion.Workbenches)
	completion.Register(cmd, "limit", cobra.NoFileCompletions)
	return cmd
}

func (f *historyFlags) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	running, absent := f.find(ctx)
	if problem, ok := errors.AsType[*toolbox.Error](absent); absent != nil && (!ok || problem.Code != toolbox.NotRunning) {
		return absent
	}
	calls, err := f.query.Find(ctx, running)
	if err != nil {
		tty.Remark(os.Stderr, err.Error())
	}
	screen := screenOf(cmd)
	printer := pastcalls.NewPrinter(screen)
	show := printer.Print
	if f.asJSON {
		show = func(records ...history.Record) { writeLines(cmd.OutOrStdout(), records) }
	}
	if len(calls.Records) > 0 {
		show(calls.Records...)
	} else if err := f.explainNothing(screen, calls.HasAny, absent); err != nil {
		return err
	}
	if !f.follow {
		return nil
	}
	ctx, stop := tty.WhileWritable(ctx, cmd.Root().OutOrStdout())
	defer stop()
	return f.query.Follow(ctx, f.findQuietly, calls, func(one history.Record) { show(one) })
}

// explainNothing says why no calls are shown. A script gets nothing, which is a valid answer.
func (f *historyFlags) explainNothing(screen *tty.Screen, hasOthers bool, absent error) error {
	switch {
	case f.follow && !f.asJSON:
		fmt.Fprintln(screen, screen.Paint(tty.Faint, "Waiting for calls. Press Ctrl-C to quit."))
	case f.follow, f.asJSON && (absent == nil || f.pid == 0 || hasOthers):
	case hasOthers:
		fmt.Fprintln(screen, "No such calls.")
	case absent != nil && f.pid == 0:
		return &toolbox.Error{
			Code: toolbox.NotRunning, Message: "No workbench of yours is running, and none that ended kept its calls",
			Hint: `To keep calls for workbenches that end, set "history": {"keep": "7d"} at the top of your configuration`,
		}
	case absent != nil:
		return absent
	default:
		fmt.Fprintln(screen, "No calls yet.")
	}
	return nil
}

// writeLines writes calls for scripts.
func writeLines(out io.Writer, records []history.Record) {
	for i := range records {
		_ = writeJSONLine(out, shownCall(records[i])) // who does not read gets nothing
	}
}

// shownCall is a history.Record with the names of this program's JSON: files of the history have others.
type shownCall struct {
	PID           int       `json:"pid"`
	Seq           uint64    `json:"seq"`
	Lost          uint64    `json:"lost,omitempty"`
	Time          time.Time `json:"time"`
	Client        string    `json:"client,omitempty"`
	Caller        string    `json:"caller,omitempty"`
	Toolbox       string    `json:"toolbox"`
	Server        string    `json:"server"`
	Method        string    `json:"method"`
	Tool          string    `json:"tool,omitempty"`
	Prompt        string    `json:"prompt,omitempty"`
	Outcome       string    `json:"outcome"`
	ErrorType     string    `json:"errorType,omitempty"`
	Took          float64   `json:"tookSeconds"`
	InWorkbench   float64   `json:"workbenchSeconds"`
	InStart       float64   `json:"startSeconds"`
	AtServer      float64   `json:"serverSeconds"`
	Waited        float64   `json:"waitedSeconds"`
	RequestBytes  int       `json:"requestBytes"`
	ResponseBytes int       `json:"responseBytes"`
	Arguments     string    `json:"arguments,omitempty"`
	Memory        int64     `json:"memoryBytes,omitempty"`
	CPU           float64   `json:"cpuPercent,omitempty"`
	MemoryLimit   int64     `json:"memoryLimitBytes,omitempty"`
	LimitKey      string    `json:"memoryLimitKey,omitempty"`
}

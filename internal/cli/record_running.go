package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/completion"
)

// runningRecord are the flags of record for a server of a running workbench.
type runningRecord struct {
	workbenchFlag
	running bool
	span    time.Duration
}

// lookPause is the time between two looks at a recording.
const lookPause = time.Second

func (r *runningRecord) define(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.running, "running", false, "record a server of a running workbench, without a client of its own")
	cmd.Flags().DurationVar(&r.span, "for", recording.DefaultSpan, "with --running: how long, up to "+recording.LongestSpan.String())
	cmd.Flags().IntVar(&r.pid, "pid", 0, "with --running: process id of the workbench (default: the only one)")
	completion.Register(cmd, "for", cobra.FixedCompletions([]cobra.Completion{"1m", "5m", "15m", "1h"}, cobra.ShellCompDirectiveNoFileComp))
	completion.Register(cmd, "pid", completion.Workbenches)
}

// check refuses flags that do not go together.
func (r *runningRecord) check(cmd *cobra.Command, o *recordOptions) error {
	switch flags := cmd.Flags(); {
	case !r.running && (flags.Changed("for") || flags.Changed("pid")):
		return &usageError{err: errors.New("--for and --pid are for --running")}
	case !r.running:
		return nil
	case len(o.command) > 0:
		return &usageError{err: errors.New("record --running takes a server, not a command")}
	case r.span < time.Second || r.span > recording.LongestSpan:
		return &usageError{err: fmt.Errorf("--for must be from 1s to %s", recording.LongestSpan)}
	}
	if o.server == "" {
		o.file, o.server = "", o.file
	}
	return nil
}

// run records a server until the time is over or the command is interrupted, and copies the recording to the file, if there
// is one: the workbench keeps its own.
func (r *runningRecord) run(ctx context.Context, g *globals, o recordOptions, screen *tty.Screen) error {
	client, server, err := r.server(ctx, g, o.server)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(o.file); err == nil && o.file != "" && !o.force {
		return recordingExists(o.file, nil)
	}
	info, err := client.Record(ctx, server, r.span)
	if err != nil {
		return err
	}
	progress := screen.Live(1).Line(0)
	last := info
	look := time.NewTicker(lookPause)
	defer look.Stop()
	for last.Running {
		progress.Show(progressOf(last, time.Now()))
		select {
		case <-ctx.Done():
			if last, err = client.StopRecording(context.WithoutCancel(ctx), info.Name); err != nil {
				last.Running = false
			}
			continue
		case <-look.C:
		}
		last = found(ctx, client, last)
	}
	if o.file == "" {
		o.file = info.Path
	} else if err := copyRecording(o, info.Path); err != nil {
		return err
	}
	progress.Done(fmt.Sprintf("Recorded %s of %s in %s%s", toolbox.Count(last.Messages, "message", "messages"), server.Ref(), o.file, endOf(last)))
	if last.Messages == 0 {
		screen.Instruct("Nothing was sent to the server meanwhile.\n")
	}
	return nil
}

// found returns what has become of a recording. If the workbench has ended, so has the recording.
func found(ctx context.Context, client *control.Client, last control.RecordingInfo) control.RecordingInfo {
	all, err := client.Recordings(ctx)
	for _, info := range all {
		if info.Name == last.Name {
			return info
		}
	}
	last.Running = err != nil && ctx.Err() != nil // then it is stopped
	return last
}

func progressOf(info control.RecordingInfo, now time.Time) string {
	left := max(0, info.Until.Sub(now).Round(time.Second))
	text := fmt.Sprintf("Recording %s/%s: %s, %s left; Ctrl-C ends it", info.Toolbox, info.Server, toolbox.Count(info.Messages, "message", "messages"), left)
	if info.Waiting {
		text = fmt.Sprintf("Waiting for a request to %s/%s, %s left; Ctrl-C ends it", info.Toolbox, info.Server, left)
	}
	return tty.CleanLine(text)
}

// endOf says what a person should know of the end of a recording.
func endOf(info control.RecordingInfo) string {
	text := ""
	switch info.Ended {
	case "full":
		text = "; it ended because it has its largest size"
	case "failed":
		text = "; it is not complete, because the workbench could not write it"
	case "shutdown", "":
		text = "; it ended with the workbench"
	}
	if info.Lost > 0 {
		text += fmt.Sprintf("; %s are missing, because there were too many", toolbox.Count(info.Lost, "message", "messages"))
	}
	return text
}

// copyRecording copies the file of a workbench, which may have ended by now.
func copyRecording(o recordOptions, from string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return recordingUnwritable(o.file, err)
	}
	defer src.Close()
	dst, err := createRecording(o)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Close()); err != nil {
		return recordingUnwritable(o.file, err)
	}
	return nil
}

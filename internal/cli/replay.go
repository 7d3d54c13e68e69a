package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
)

func newReplay() *cobra.Command {
	var timing, strict, force bool
	var page string
	replay := &cobra.Command{
		Use:   "replay FILE",
		Short: "Replay a recorded session to a client, without the server",
		Long: `Play the server's part of a session that 'mcp-workbench record' wrote, on stdin and stdout.
A request gets the response of the recorded request with the same method and arguments,
with its progress, messages and questions. If it is repeated, it gets the next recorded
response, and in the end always the last. A request that is not in the recording gets an
error that says what differs; it is also reported on stderr.

With --html, write the session to a file for a browser instead: it shows the messages on a
timeline, and loads nothing.`,
		Example: `  mcp-workbench replay session.jsonl
  mcp-workbench replay --timing demo.jsonl      as fast as it was
  mcp-workbench replay --strict test.jsonl      exit status 1 if something did not match
  mcp-workbench replay --html session.html session.jsonl`,
		Args: exactly("one file, which 'mcp-workbench record' wrote"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if page != "" {
				return writePage(args[0], recordOptions{file: page, force: force}, os.Stderr)
			}
			return runReplay(cmd.Context(), args[0], timing, strict, os.Stdin, os.Stdout, os.Stderr)
		},
	}
	replay.Flags().BoolVar(&timing, "timing", false, "keep the timing of the recording")
	replay.Flags().BoolVar(&strict, "strict", false, "exit with status 1 if something did not match")
	replay.Flags().StringVar(&page, "html", "", "write the session to this HTML file, and serve nothing")
	replay.Flags().BoolVar(&force, "force", false, "with --html: replace the file if it exists")
	return replay
}

// writePage writes a recording as an HTML file.
func writePage(path string, to recordOptions, stderr io.Writer) error {
	if _, err := openRecording(path); err != nil {
		return err
	}
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := createRecording(to)
	if err != nil {
		return err
	}
	if err := errors.Join(recording.WriteHTML(dst, src), dst.Close()); err != nil {
		return recordingUnwritable(to.file, err)
	}
	tty.Remark(stderr, "wrote "+to.file+", which opens in a browser; it has what was recorded, so read it before you share it")
	return nil
}

func runReplay(ctx context.Context, path string, timing, strict bool, stdin, stdout *os.File, stderr io.Writer) error {
	recorded, err := openRecording(path)
	if err != nil {
		return err
	}
	holds := fmt.Sprintf("%s holds %s to %s; replay serves", path, toolbox.Count(recorded.Requests(), "request", "requests"), recorded.Header.Server)
	if err := needClient(stdin, holds); err != nil {
		return err
	}
	player := recording.NewPlayer(recorded)
	player.Timing = timing
	player.OnMismatch = func(sentence string) { tty.Remark(stderr, sentence) }
	played, err := player.Serve(ctx, wire.Pollable(stdin), wire.Pollable(stdout))
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "mcp-workbench: replayed %s; not in the recording: %d; answers that differ: %d\n",
		toolbox.Count(played.Answered, "request", "requests"), played.Unmatched, played.Different)
	if strict && played.Unmatched+played.Different > 0 {
		return &toolbox.Error{Code: toolbox.ReplayMismatch, Message: "The session differed from the recording", Hint: "The differences are above."}
	}
	return nil
}

func openRecording(path string) (*recording.Recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &toolbox.Error{Code: toolbox.RecordingInvalid, Message: "The recording cannot be opened: " + err.Error(), Hint: "To make one: mcp-workbench record FILE", Cause: err}
	}
	defer file.Close()
	recorded, err := recording.Read(file)
	if stored.IsNewer(err) {
		return nil, stored.Recording.CheckFile(path)
	}
	if err != nil {
		return nil, &toolbox.Error{
			Code: toolbox.RecordingInvalid, Message: fmt.Sprintf("%s is not a recording that can be played: %v", path, err),
			Hint: "Make one with: mcp-workbench record FILE", Cause: errors.Unwrap(err),
		}
	}
	return recorded, nil
}

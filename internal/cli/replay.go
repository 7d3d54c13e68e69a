package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/recording"
)

func newReplay() *cobra.Command {
	var timing, strict bool
	replay := &cobra.Command{
		Use:   "replay FILE",
		Short: "Serve a client from a recorded session, without the server",
		Long: `Play the server's part of a session that 'mcp-workbench record' wrote, on stdin and
stdout. A request is answered as the recorded one of the same method and arguments was,
with its progress, messages and questions; asked again, it gets the next recorded answer,
and the last one from then on. What the recording does not have is answered with an error
that says what is different, and told on stderr.`,
		Example: `  mcp-workbench replay session.jsonl
  mcp-workbench replay --timing demo.jsonl      as fast as it was
  mcp-workbench replay --strict test.jsonl      exit with 1 if something did not match`,
		Args: exactly("one file, which 'mcp-workbench record' wrote"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReplay(cmd.Context(), args[0], timing, strict, os.Stdin, os.Stdout, os.Stderr)
		},
	}
	replay.Flags().BoolVar(&timing, "timing", false, "keep the pauses of the recording")
	replay.Flags().BoolVar(&strict, "strict", false, "end with exit code 1 if something did not match")
	return replay
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
	player.Tell = func(sentence string) { tty.Remark(stderr, sentence) }
	played, err := player.Serve(ctx, wire.Pollable(stdin), wire.Pollable(stdout))
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "mcp-workbench: replayed %s; not in the recording: %d; answers that differ: %d\n",
		toolbox.Count(played.Answered, "request", "requests"), played.Unmatched, played.Different)
	if strict && played.Unmatched+played.Different > 0 {
		return &toolbox.Error{Code: toolbox.ReplayMismatch, Message: "The session was not the recorded one", Hint: "The lines above say what was different."}
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
	if err != nil {
		return nil, &toolbox.Error{
			Code: toolbox.RecordingInvalid, Message: fmt.Sprintf("%s is not a recording that can be played: %v", path, err),
			Hint: "Make one with: mcp-workbench record FILE", Cause: errors.Unwrap(err),
		}
	}
	return recorded, nil
}

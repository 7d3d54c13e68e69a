package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// betweenRole makes this program the client that the suite starts: it puts a workbench
// between the suite's server and the real client.
const betweenRole = "between"

// betweenTime is shorter than what the suite grants a client: it would only kill the shell
// around us, and leave the workbench behind.
const betweenTime = clientTime - 15*time.Second

// between takes the workbench, the client and the address of the suite's server.
func between(arguments []string) int {
	if len(arguments) != 3 {
		fmt.Fprintln(os.Stderr, "usage: conformance between WORKBENCH CLIENT URL")
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), betweenTime)
	defer cancel()
	err := runBetween(ctx, arguments[0], arguments[1], arguments[2])
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runBetween(ctx context.Context, binary, client, server string) error {
	folder, err := os.MkdirTemp("", "workbench-between-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	configuration, err := writeConfiguration(folder, map[string]any{"url": server})
	if err != nil {
		return err
	}
	workbench, url, err := startWorkbench(ctx, binary, configuration, filepath.Join(folder, "state"))
	if err != nil {
		return err
	}
	defer workbench.stop()
	cmd := exec.CommandContext(ctx, client, url)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.WaitDelay = stopTime
	return cmd.Run()
}

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

// betweenTime is shorter than what the suite grants a client: it would only kill the shell
// around us, and leave the workbench behind.
const betweenTime = clientTime - 15*time.Second

// between puts a workbench between the suite's server and the real client.
func between(binary, client, server string) int {
	ctx, cancel := context.WithTimeout(context.Background(), betweenTime)
	defer cancel()
	err := runBetween(ctx, binary, client, server)
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

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Bounds of the waits for a process.
const (
	startTime = 30 * time.Second
	stopTime  = 6 * time.Second
)

// process is a program that runs until it is stopped.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// start runs a program; its stderr goes line by line to heard, which may be nil.
func start(heard func(line string), environment []string, command ...string) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.WaitDelay = stopTime
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if heard != nil {
				heard(lines.Text())
			}
		}
		_, _ = io.Copy(io.Discard, stderr)
		_ = cmd.Wait()
	}()
	return p, nil
}

// stop ends the program and waits for its end.
func (p *process) stop() {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		_ = p.cmd.Process.Kill()
	}
	select {
	case <-p.done:
	case <-time.After(stopTime):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// startServer runs a server and waits until it takes connections.
func startServer(ctx context.Context, address string, environment []string, command ...string) (*process, error) {
	p, err := start(nil, environment, command...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = connection.Close()
			return p, nil
		}
		select {
		case <-p.done:
			return nil, fmt.Errorf("%s ended at once", command[0])
		case <-ctx.Done():
			p.stop()
			return nil, fmt.Errorf("%s does not listen on %s", command[0], address)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// listening begins the line in which the workbench tells its address.
const listening = "mcp-workbench: listening on "

// startWorkbench serves a configuration and returns the address of its one toolbox.
func startWorkbench(ctx context.Context, binary, configuration, state string) (*process, string, error) {
	address := make(chan string, 1)
	var told []string
	p, err := start(func(line string) {
		if found, ok := strings.CutPrefix(line, listening); ok {
			address <- found
		}
		if len(told) < 50 {
			told = append(told, line)
		}
	}, []string{"XDG_STATE_HOME=" + state}, binary, "serve", "--config", configuration, "--listen", "127.0.0.1:0", "--no-auth")
	if err != nil {
		return nil, "", err
	}
	select {
	case found := <-address:
		return p, found + "/" + toolboxName, nil
	case <-p.done:
		return nil, "", errors.New("the workbench ended at once:\n" + strings.Join(told, "\n"))
	case <-ctx.Done():
	case <-time.After(startTime):
	}
	p.stop()
	return nil, "", errors.New("the workbench does not say where it listens:\n" + strings.Join(told, "\n"))
}

// freeAddress returns an address of this machine that nothing listens on, for programs that
// cannot tell which one they took.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := listener.Addr().String()
	return address, listener.Close()
}

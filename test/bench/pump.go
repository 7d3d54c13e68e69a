package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// runPump starts an echo server and forwards lines both ways: the floor for any process
// that stands between a client and a server.
func runPump(args []string) error {
	flags := flag.NewFlagSet("pump", flag.ContinueOnError)
	overHTTP := flags.Bool("http", false, "serve HTTP on a free port, which is printed")
	modern := flags.Bool("modern", false, "start an echo server of the modern era")
	if err := flags.Parse(args); err != nil {
		return err
	}
	echoArgs := []string{"echo"}
	if *modern {
		echoArgs = append(echoArgs, "-modern")
	}
	server, err := start(os.Args[0], echoArgs...)
	if err != nil {
		return err
	}
	if *overHTTP {
		return pumpHTTP(server)
	}
	down := make(chan error, 1)
	go func() {
		down <- forward(bufio.NewReaderSize(wire.Pollable(os.Stdin), lineBuffer), server.stdin)
		server.stdin.Close()
	}()
	err = forward(server.stdout, wire.Pollable(os.Stdout))
	return errors.Join(err, <-down, server.wait())
}

func forward(from *bufio.Reader, to io.Writer) error {
	for {
		line, err := readLine(from)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}

// pumpHTTP forwards each POST to the server as a line, and its answer back.
func pumpHTTP(server *peer) error {
	var mu, writing sync.Mutex // apart: answers have to be read while a write waits
	waiting := make(map[string]chan []byte)
	read := make(chan error, 1)
	go func() {
		for {
			line, err := readLine(server.stdout)
			if err != nil {
				read <- err
				return
			}
			mu.Lock()
			waiter := waiting[string(idOf(line))]
			mu.Unlock()
			if waiter != nil {
				waiter <- bytes.Clone(line)
			}
		}
	}()
	err := serveHTTP("", func(r *http.Request, line []byte) ([]byte, error) {
		id := string(idOf(line))
		waiter := make(chan []byte, 1)
		mu.Lock()
		waiting[id] = waiter
		mu.Unlock()
		writing.Lock()
		_, err := server.stdin.Write(line)
		writing.Unlock()
		if err != nil || id == "" {
			return nil, err
		}
		defer func() {
			mu.Lock()
			delete(waiting, id)
			mu.Unlock()
		}()
		select {
		case answer := <-waiter:
			return answer, nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
	server.stdin.Close()
	<-read
	return errors.Join(err, server.wait())
}

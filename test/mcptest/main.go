package mcptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// Main is a program that serves on stdin and stdout: SPEC.json [LOG [ARGS]]. Events are
// appended to the log, which is SPEC.log unless told; see Server.Log. It also says there
// what it was started with: "cwd FOLDER", "arg TEXT" for each of ARGS, and "env NAME=value"
// or "env NAME is not set" for each of Server.Env. The returned code is its exit code.
//
// With -http FILE or -sse FILE before all that it serves on a port of 127.0.0.1 and writes
// its address into the file; "fd:3" instead of a file is a listening socket that it was
// started with, as a service on demand, which ends when it is not used any more.
func Main(args []string) int {
	serve := serveOnPipes
	if len(args) > 1 && (args[0] == "-http" || args[0] == "-sse") {
		transport, where := args[0][1:], args[1]
		serve = func(s *Server) error { return s.serveOnPort(transport, where) }
		args = args[2:]
	}
	if len(args) < 1 {
		fmt.Fprintln(os.Stderr, "usage: fakeserver [-http FILE | -sse FILE] SPEC.json [LOG [ARGS]]")
		return 2
	}
	server, err := Load(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeserver:", err)
		return 2
	}
	path := strings.TrimSuffix(args[0], ".json") + ".log"
	if len(args) > 1 {
		path = args[1]
	}
	if err := server.logTo(path); err != nil {
		fmt.Fprintln(os.Stderr, "fakeserver:", err)
		return 2
	}
	server.catch()
	server.tellCircumstances(args[min(2, len(args)):])
	err = serve(server)
	if exit, ok := errors.AsType[*Exit](err); ok {
		return exit.Code
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeserver:", err)
		return 1
	}
	return 0
}

func serveOnPipes(s *Server) error {
	// Without its Close: that would not end a Read that is under way.
	return s.Serve(struct{ io.Reader }{os.Stdin}, os.Stdout)
}

// paths are where servers over HTTP are found.
var paths = map[string]string{"http": "/mcp", "sse": "/sse"}

func (s *Server) serveOnPort(transport, where string) error {
	var listener net.Listener
	var err error
	if fd, ok := strings.CutPrefix(where, "fd:"); ok {
		s.EndWhenUnused = true
		listener, err = inherited(fd)
	} else {
		listener, err = announced(where, paths[transport])
	}
	if err != nil {
		return err
	}
	if transport == "sse" {
		return s.ServeSSE(listener)
	}
	return s.ServeStreamable(listener)
}

func inherited(fd string) (net.Listener, error) {
	number, err := strconv.Atoi(fd)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(number), "listener")
	defer file.Close()
	return net.FileListener(file)
}

// announced listens, and writes the address whole: who waits for the file can read it.
func announced(file, path string) (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("http://%s%s\n", listener.Addr(), path)
	if err := os.WriteFile(file+".new", []byte(address), 0o600); err != nil {
		return nil, err
	}
	return listener, os.Rename(file+".new", file)
}

// logTo appends to a log file, which also tells how often the server was started.
func (s *Server) logTo(path string) error {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.Number = bytes.Count(append([]byte("\n"), before...), []byte("\nstart ")) + 1
	s.Log, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

// catch logs a SIGTERM, and ends the process then, or not. A broken pipe is an error of
// write and nothing more, so that a fake can outlive its client.
func (s *Server) catch() {
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		for range signals {
			_, _ = s.Log.Write([]byte("signal SIGTERM\n"))
			if !s.IgnoreSIGTERM {
				os.Exit(143)
			}
		}
	}()
}

func (s *Server) tellCircumstances(args []string) {
	var told bytes.Buffer
	dir, _ := os.Getwd() // an empty one says enough
	fmt.Fprintln(&told, "cwd", dir)
	for _, arg := range args {
		fmt.Fprintln(&told, "arg", arg)
	}
	for _, name := range s.Env {
		if value, ok := os.LookupEnv(name); ok {
			fmt.Fprintf(&told, "env %s=%s\n", name, value)
		} else {
			fmt.Fprintf(&told, "env %s is not set\n", name)
		}
	}
	_, _ = s.Log.Write(told.Bytes()) // a test that needs the log misses the lines
}

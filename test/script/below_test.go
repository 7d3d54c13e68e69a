//go:build unix

package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// This file is the servers' side over HTTP: a fake is a service that is started when
// somebody connects to it, and again after it ended, as systemd and inetd do it. So
// "start" in its log means the same as over stdio: that the workbench wanted it.

// entry is how configurations of scripts name a fake, with what only a process has.
var entry = regexp.MustCompile(`"command"\s*:\s*"fakeserver"\s*,\s*"args"\s*:\s*(\[[^\]]*\])`)

// rewriteConfigurations turns fakes into services in all files of the script that name
// them: its folder is a copy that is thrown away.
func (s *state) rewriteConfigurations() error {
	s.services = make(map[string]*service)
	return filepath.WalkDir(s.dir, func(path string, file fs.DirEntry, err error) error {
		if err != nil || !file.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !namesFake(text) {
			return err
		}
		info, err := file.Info()
		if err != nil {
			return err
		}
		changed, err := s.rewrite(text, filepath.Dir(path))
		return errors.Join(err, os.WriteFile(path, changed, info.Mode()))
	})
}

// namesFake reports whether there is something to rewrite.
func namesFake(text []byte) bool {
	for _, found := range entry.FindAllSubmatch(text, -1) {
		if isPlain(string(found[1])) {
			return true
		}
	}
	return false
}

// isPlain is false for arguments of which only the workbench knows what they are.
func isPlain(args string) bool { return !strings.Contains(args, "${") }

func (s *state) rewrite(text []byte, folder string) ([]byte, error) {
	seen := make(map[string]int)
	var errs []error
	changed := entry.ReplaceAllFunc(text, func(found []byte) []byte {
		args := string(entry.FindSubmatch(found)[1])
		if !isPlain(args) {
			return found
		}
		// The same entry in another file of the script is the same service.
		seen[args]++
		service, err := s.service(fmt.Sprintf("%s %d", args, seen[args]), args, folder)
		if err != nil {
			errs = append(errs, err)
			return found
		}
		if s.pairing.below == overSSE {
			return fmt.Appendf(nil, `"transport": "sse", "url": "http://%s/sse"`, service.address)
		}
		return fmt.Appendf(nil, `"url": "http://%s/mcp"`, service.address)
	})
	return changed, errors.Join(errs...)
}

// service is one fake, and the socket that outlives its processes.
type service struct {
	address string
	socket  *os.File
	command func() *exec.Cmd

	stopping *os.File // its other end is closed to stop
	stopper  *os.File
	over     chan struct{}

	mu      sync.Mutex
	process *os.Process
	stopped bool
}

// maxStarts bounds a service that ends before it takes a connection.
const maxStarts = 200

func (s *state) service(key, args, folder string) (*service, error) {
	if known := s.services[key]; known != nil {
		return known, nil
	}
	var words []string
	if err := json.Unmarshal([]byte(args), &words); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close() // the socket lives on in its file
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		return nil, err
	}
	one := &service{address: listener.Addr().String(), socket: socket, over: make(chan struct{})}
	if one.stopping, one.stopper, err = os.Pipe(); err != nil {
		return nil, err
	}
	one.command = func() *exec.Cmd {
		cmd := exec.Command("fakeserver", append([]string{"-" + s.pairing.below, "fd:3"}, words...)...)
		cmd.Env, cmd.Dir, cmd.ExtraFiles = s.env, s.dir, []*os.File{socket}
		if _, err := os.Stat(filepath.Join(s.dir, words[0])); err != nil {
			cmd.Dir = folder
		}
		return cmd
	}
	s.services[key] = one
	go one.serve()
	return one, nil
}

// serve starts the fake whenever somebody waits at its socket and no process is there.
func (s *service) serve() {
	defer close(s.over)
	defer s.socket.Close()
	for range maxStarts {
		waiting := []unix.PollFd{
			{Fd: int32(s.socket.Fd()), Events: unix.POLLIN},
			{Fd: int32(s.stopping.Fd()), Events: unix.POLLIN},
		}
		for {
			if _, err := unix.Poll(waiting, -1); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		cmd := s.command()
		if !s.start(cmd) {
			return
		}
		_ = cmd.Wait() // its log tells all
	}
}

func (s *service) start(cmd *exec.Cmd) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || cmd.Start() != nil {
		return false
	}
	s.process = cmd.Process
	return true
}

func (s *service) stop() {
	s.mu.Lock()
	s.stopped = true
	s.stopper.Close()
	if s.process != nil {
		_ = s.process.Kill() // it may have ended
	}
	s.mu.Unlock()
	<-s.over
	s.stopping.Close()
}

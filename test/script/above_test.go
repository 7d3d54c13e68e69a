//go:build unix

package script

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
)

// This file is the client's side over HTTP.

// servedOutput is the file for the stdout of a workbench that serves over HTTP, which
// has nothing to say there.
const servedOutput = "stdout-of-serve"

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// overHTTP starts a workbench that listens, with a client that makes each line a POST.
// One that ends before it listens leaves a client that gets nothing.
func (s *state) overHTTP(cmd *exec.Cmd) error {
	output, err := os.Create(filepath.Join(s.dir, servedOutput))
	if err != nil {
		return err
	}
	defer output.Close()
	cmd.Stdout = output
	if err := s.run(cmd); err != nil {
		return err
	}
	s.client, s.hangUp = mcptest.NewClient(new(bytes.Buffer), strings.NewReader("")), func() {}
	address := ""
	err = mcptest.Eventually(replyTime, func() error {
		if found := listening.FindSubmatch(s.stderr()); found != nil {
			address = string(found[1])
			return nil
		}
		select {
		case <-s.exited:
			return nil
		default:
			return errors.New("the workbench does not listen")
		}
	})
	if err != nil || address == "" {
		return err
	}
	s.address = address
	s.connect()
	return nil
}

// connect has the client of the script be one over HTTP of the workbench that listens, with its token if it has one.
func (s *state) connect() {
	var header http.Header
	if s.token != "" {
		header = http.Header{"Authorization": {"Bearer " + s.token}}
	}
	client := mcptest.NewHTTPClient(s.address, header)
	s.client, s.hangUp = client.Client, client.Close
}

// makeToken makes a token before the workbench is started, which would know it only after a while. The first one is
// that of the client that starts it.
func (s *state) makeToken(name string) error {
	cmd := exec.Command("mcp-workbench", "token", "add", name)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.Output()
	if s.tokens == nil {
		s.tokens = make(map[string]string)
	}
	s.tokens[name] = strings.TrimSpace(string(out))
	s.token = cmp.Or(s.token, s.tokens[name])
	return err
}

// join has the client be one more of the workbench that listens already: [-raw] [-token NAME]. It begins a session
// unless it is raw.
func (s *state) join(args []string) error {
	raw := false
	for ; len(args) > 0; args = args[1:] {
		switch {
		case args[0] == "-raw":
			raw = true
		case args[0] == "-token" && len(args) > 1 && s.tokens[args[1]] != "":
			s.token = s.tokens[args[1]]
			args = args[1:]
		default:
			return errors.New("usage: mcp join [-raw] [-token NAME], with a token of mcp start")
		}
	}
	s.connect()
	if raw {
		return nil
	}
	return s.initialize(newestLegacy)
}

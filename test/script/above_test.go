//go:build unix

package script

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/mcptest"
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
	err = eventually(replyTime, func() error {
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
	client := mcptest.NewHTTPClient(address, nil)
	s.client, s.hangUp = client.Client, client.Close
	return nil
}

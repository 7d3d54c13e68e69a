//go:build unix

package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// This file is a remote server that wants a login, with its authorization server: test/oauthtest.

// What files of a script say instead of the addresses that the provider gets when it is started.
const (
	providerURL    = "http://provider/mcp"
	providerIssuer = "http://issuer"
)

// providerLog is the log of the MCP server, for the command fake. It does not end in .log, since the process in it is
// that of the tests.
const providerLog = "provider-server"

// providerAuthority is the file with the authority of a provider with https.
const providerAuthority = "provider-ca.pem"

var providerCommands = map[string]struct {
	least int
	run   func(s *state, args []string) error
}{
	"change":   {1, func(s *state, args []string) error { return s.provider.ChangeJSON([]byte(args[0])) }},
	"count":    {2, (*state).providerCount},
	"wait":     {2, (*state).providerWait},
	"got":      {3, (*state).providerGot},
	"callback": {2, (*state).providerCallback},
	"paste":    {0, (*state).providerPaste},
	"proxied":  {0, (*state).providerProxied},
	"mint":     {2, (*state).providerMint},
	"revoke":   {1, func(s *state, args []string) error { s.provider.RevokeMinted(args[0]); return nil }},
}

// provider is the command of that name: start [OPTIONS.json], and then what is above.
func provider(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(stateKey{}).(*state)
	if len(args) == 0 {
		ts.Fatalf("usage: provider COMMAND [ARGS]; see README.md")
	}
	if args[0] == "start" {
		ts.Check(s.startProvider(args[1:]))
		ts.Setenv("PROVIDER", s.provider.URL())
		ts.Setenv("ISSUER", s.provider.Issuer())
		ts.Setenv("PROXY", s.provider.Proxy())
		return
	}
	command, ok := providerCommands[args[0]]
	switch {
	case s.provider == nil:
		ts.Fatalf("no provider was started")
	case !ok && len(args) == 1 && !neg && s.provider.Do(args[0]):
		return
	case !ok || len(args)-1 < command.least:
		ts.Fatalf("provider %s: no such command, or too few arguments", args[0])
	}
	err := command.run(s, args[1:])
	if err != nil && !neg {
		ts.Fatalf("%v\nrequests:\n%s", err, s.requests())
	}
	if err == nil && neg {
		ts.Fatalf("this holds, and it should not")
	}
}

// startProvider starts it and puts its addresses into the files of the script, whose folder is a copy.
func (s *state) startProvider(args []string) error {
	if s.provider != nil {
		return errors.New("a provider was started already")
	}
	var options oauthtest.Options
	if len(args) > 0 {
		text, err := os.ReadFile(filepath.Join(s.dir, args[0]))
		if err != nil {
			return err
		}
		if options, err = oauthtest.Parse(text); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	log, err := os.Create(filepath.Join(s.dir, providerLog))
	if err != nil {
		return err
	}
	options.ServerLog = log
	if s.provider, err = oauthtest.New(options); err != nil {
		return err
	}
	if authority := s.provider.Authority(); authority != nil {
		if err := os.WriteFile(filepath.Join(s.dir, providerAuthority), authority, 0o600); err != nil {
			return err
		}
	}
	replace := strings.NewReplacer(providerURL, s.provider.URL(), providerIssuer, s.provider.Issuer())
	return filepath.WalkDir(s.dir, func(path string, file fs.DirEntry, err error) error {
		if err != nil || !file.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte(providerURL)) && !bytes.Contains(text, []byte(providerIssuer)) {
			return nil
		}
		info, err := file.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(replace.Replace(string(text))), info.Mode())
	})
}

// requests is the log of the provider in short lines.
func (s *state) requests() string {
	var text strings.Builder
	for _, event := range s.provider.Events() {
		fmt.Fprintf(&text, "%d %s %s %s %s %d %s\n", event.Number, event.Kind, event.Verb, event.Path, event.Method, event.Status, event.Error)
	}
	return text.String()
}

// providerCount compares how many requests of a kind there were: KIND N.
func (s *state) providerCount(args []string) error {
	want, err := strconv.Atoi(args[1])
	if n := s.provider.Count(args[0]); err != nil || n != want {
		return fmt.Errorf("%d requests of the kind %s, want %s", n, args[0], args[1])
	}
	return nil
}

// providerWait waits until there were so many: KIND N.
func (s *state) providerWait(args []string) error {
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return mcptest.Eventually(replyTime, func() error {
		if n := s.provider.Count(args[0]); n < want {
			return fmt.Errorf("%d requests of the kind %s, want at least %d", n, args[0], want)
		}
		return nil
	})
}

// providerGot compares what the last request of a kind has at a path: KIND PATH JSON.
func (s *state) providerGot(args []string) error {
	event, err := json.Marshal(s.provider.Last(args[0]))
	if err != nil {
		return err
	}
	value, err := pick(event, args[1])
	if err != nil || string(value) != args[2] {
		return fmt.Errorf("%s is %s, want %s: %w", args[1], value, args[2], err)
	}
	return nil
}

// providerMint makes a token of a person for this workbench: NAME JSON. It is in the file NAME.token.
func (s *state) providerMint(args []string) error {
	var mint oauthtest.Mint
	decoder := json.NewDecoder(strings.NewReader(args[1]))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&mint); err != nil {
		return err
	}
	token, err := s.provider.Mint(mint)
	if err != nil {
		return err
	}
	if s.tokens == nil {
		s.tokens = make(map[string]string)
	}
	s.tokens[args[0]] = token
	return os.WriteFile(filepath.Join(s.dir, args[0]+".token"), []byte(token+"\n"), 0o600)
}

// providerProxied compares the hosts that the proxy was asked for, in alphabetical order: HOST...
func (s *state) providerProxied(args []string) error {
	if got := s.provider.Proxied(); !slices.Equal(got, args) {
		return fmt.Errorf("the proxy was asked for %q, want %q", got, args)
	}
	return nil
}

var authorizationRequest = regexp.MustCompile(`http://\S+/authorize\?\S+`)

// callbackIn logs in at the address in a text, as a person on another machine, and returns the address of the redirect.
func callbackIn(text string) (string, error) {
	address := authorizationRequest.FindString(text)
	if address == "" {
		return "", errors.New("there is no address of an authorization request")
	}
	return oauthtest.Callback(address)
}

// providerCallback writes the address that a person would paste: IN OUT.
func (s *state) providerCallback(args []string) error {
	var text []byte
	if err := mcptest.Eventually(replyTime, func() (err error) {
		if text, err = os.ReadFile(filepath.Join(s.dir, args[0])); err == nil && !authorizationRequest.Match(text) {
			err = errors.New("there is no address of an authorization request")
		}
		return err
	}); err != nil {
		return err
	}
	address, err := callbackIn(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, args[1]), []byte(address+"\n"), 0o600)
}

// providerPaste logs in at the address on the screen, and types the address of the redirect there.
func (s *state) providerPaste([]string) error {
	if s.screen == nil {
		return errors.New("there is no screen")
	}
	var text string
	if err := mcptest.Eventually(replyTime, func() (err error) {
		text, err = s.screen.tmux("capture-pane", "-p", "-J") // with lines that the screen broke as one
		if err == nil && !authorizationRequest.MatchString(text) {
			err = errors.New("there is no address of an authorization request")
		}
		return err
	}); err != nil {
		return err
	}
	address, err := callbackIn(text)
	if err != nil {
		return err
	}
	return s.screen.enter([]string{address})
}

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// browserRole makes this program the browser that the workbench opens.
const browserRole = "browser"

// Names of what is found about calls with a login.
const (
	loginTime        = "use_tool over HTTP with a login / with a fixed header, p50"
	loginAllocations = "allocations of a call with a login, more than with a fixed header"
)

// loginRounds is how often both ways are measured, in turn: they differ by little.
const loginRounds = 25

// measureLogin compares a call to a server with a login, whose token is good, with one to the same server with a fixed
// header, in the same rounds.
func (b *bench) measureLogin() (err error) {
	// The echo server names this one's authorization server.
	provider, err := oauthtest.New(oauthtest.Options{ClientOptions: oauthtest.ClientOptions{ResourceParameter: "ignored"}})
	if err != nil {
		return err
	}
	defer provider.Close()
	server, err := startHTTP(b.self, "echo", "-http", "-issuer", provider.Issuer())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	l := &lane{name: "login"}
	defer func() { err = errors.Join(err, l.stop()) }()
	if err := b.login(map[string]any{"url": server.address}); err != nil {
		return err
	}
	if err := b.addWorkbench(b.binary, "login", "stdio", "proxy", map[string]any{"url": server.address}, l.add); err != nil {
		return err
	}
	fixed := map[string]any{"url": server.address, "headers": map[string]any{"Authorization": "Bearer a-token-that-is-about-as-long-as-others"}}
	if err := b.addWorkbench(b.binary, "header", "stdio", "proxy", fixed, l.add); err != nil {
		return err
	}
	l.loads = []load{{"10 B", 1, 10, 400}}
	if err := l.measure(loginRounds); err != nil {
		return err
	}
	found := l.ratios(l.loads[0], l.way("login"), l.way("header"))
	b.note(loginTime, found.p50, "x", fmt.Sprintf("CPU of the workbench %.2fx; median of %d rounds", found.cpu, loginRounds))
	b.note(loginAllocations, found.allocs, "", "")
	return nil
}

// login is what a person does once.
func (b *bench) login(server map[string]any) error {
	config, err := b.configure("proxy", map[string]any{serverName: server})
	if err != nil {
		return err
	}
	cmd := exec.Command(b.binary, "login", boxName+"/"+serverName, "--config", config)
	cmd.Env = append(slices.Clone(b.env), "BROWSER="+b.self+" "+browserRole)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("login: %w\n%s", err, out)
	}
	return nil
}

func runBrowser(args []string) error {
	if oauthtest.Browse(args, os.Stderr) != 0 {
		return errors.New("the login failed")
	}
	return nil
}

// protected lets those through to a handler who have a token, any one, and tells the others where to log in.
func protected(address, issuer string, next http.Handler) http.Handler {
	const metadata = "/.well-known/oauth-protected-resource/mcp"
	origin := "http://" + address
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == metadata:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"resource":"%s/mcp","authorization_servers":["%s"]}`, origin, issuer)
		case !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "):
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s%s"`, origin, metadata))
			w.WriteHeader(http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

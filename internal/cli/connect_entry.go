package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// command returns a command line for the same configuration, to paste.
func (g *globals) command(words ...string) string {
	if g.ConfigPath != "" {
		words = append([]string{"--config", g.ConfigPath}, words...)
	}
	return trust.Quote(append([]string{"mcp-workbench"}, words...)...)
}

// seenWorking returns the servers of a file whose cached tool lists match the current configuration: doctor or a call
// started them, and they answered.
func seenWorking(ctx context.Context, configuration string) (map[toolbox.Ref]bool, error) {
	cfg, err := config.Load(configuration, os.Environ())
	if err != nil {
		return nil, err
	}
	seen, err := app.Remembered(ctx, cfg, config.StateDir())
	works := make(map[toolbox.Ref]bool)
	for _, server := range seen {
		works[toolbox.Ref{Toolbox: server.Toolbox, Server: server.Server}] = true
	}
	return works, err
}

// entry returns how a client starts this workbench, and the configuration that it will use; "" for the built-in
// default. A configuration that the client would not find is passed with --config.
func (g *globals) entry(ctx context.Context, o connectOptions, screen *tty.Screen) (clients.Entry, string, error) {
	launch, err := clients.OwnLaunch()
	if err != nil {
		return clients.Entry{}, "", err
	}
	e := clients.Entry{Name: o.name, Command: launch.Command, Runner: launch.Runner, Args: []string{}}
	if launch.Note != "" {
		showNotes(screen, []string{launch.Note})
	}
	path, args, err := g.clientConfig(ctx, screen)
	if err != nil {
		return e, "", err
	}
	e.Args = append(e.Args, args...)
	if o.shared {
		e.Args = append(e.Args, "--shared")
	}
	if o.toolbox == "" {
		return e, path, nil
	}
	loaded, err := g.Load(nil)
	if err == nil {
		err = app.CheckToolbox(loaded.Config, o.toolbox)
	}
	e.Args = append(e.Args, "--toolbox", o.toolbox)
	return e, path, err
}

// clientConfig returns the configuration that a client will use, and the arguments that name it.
func (g *globals) clientConfig(ctx context.Context, screen *tty.Screen) (path string, args []string, err error) {
	places, err := g.Find()
	if err != nil {
		return "", nil, err
	}
	if len(places) == 0 {
		showNotes(screen, []string{"There is no configuration yet: the client will see the built-in servers. To create one: mcp-workbench init"})
		return "", nil, nil
	}
	// The client finds the user's file, and the project's if it exists.
	path = places[len(places)-1].Path
	switch places[len(places)-1].Origin {
	case config.Local:
		// A file named by --config needs no trust, so ask now.
		if _, err := g.LoadAsking(ctx, screen.Writer); err != nil {
			return "", nil, err
		}
		return path, []string{"--config", path}, nil
	case config.Named:
		return path, []string{"--config", path}, nil
	case config.User:
		if os.Getenv("XDG_CONFIG_HOME") != "" { // clients do not pass it on
			return path, []string{"--config", path}, nil
		}
	}
	return path, nil, nil
}

var tokenVariableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkAddress refuses an address that no client could use, and flags that have no effect with one.
func (o *connectOptions) checkAddress(g *globals, local string) error {
	parsed, err := url.Parse(o.address)
	switch {
	case local != "":
		return &usageError{err: fmt.Errorf("%s is for a workbench that the client starts; with --http it has no effect", local)}
	case g.ConfigPath != "":
		return &usageError{err: errors.New("--config is for a workbench that the client starts; one over HTTP has its own configuration")}
	case err != nil || !isAddress(o.address) || parsed.Host == "":
		return &usageError{err: errors.New("--http takes the address of a workbench, such as http://127.0.0.1:7420/mcp")} // it may hold a secret
	case parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "":
		return &usageError{err: errors.New("--http takes an address without a password, a query or a fragment; name the token with --token-env or --token-file")}
	case o.tokenVariable != "" && !tokenVariableName.MatchString(o.tokenVariable):
		return &usageError{err: errors.New("--token-env takes the name of an environment variable, such as WORKBENCH_TOKEN, not the token")}
	}
	return nil
}

// remoteEntry returns how a client reaches a workbench over HTTP. The token is in the entry only if the client cannot refer
// to a variable, or if it was given as a file.
func (o *connectOptions) remoteEntry(client *clients.Client, file string) (clients.Entry, error) {
	remote := &clients.Remote{URL: strings.TrimRight(o.address, "/")}
	if o.toolbox != "" {
		remote.URL += "/" + url.PathEscape(o.toolbox)
	}
	e := clients.Entry{Name: o.name, Remote: remote}
	var err error
	switch {
	case !client.HasHTTP(file): // it is refused, whatever the token
	case o.tokenFile != "":
		remote.Token, err = readToken(o.tokenFile)
	case o.tokenVariable != "" && client.RefersToVariables():
		remote.Variable = o.tokenVariable
	case o.tokenVariable != "":
		if remote.Token = strings.TrimSpace(os.Getenv(o.tokenVariable)); remote.Token == "" || strings.ContainsAny(remote.Token, " \t\r\n") {
			err = &toolbox.Error{
				Code:    toolbox.TokenNeeded,
				Message: fmt.Sprintf("The file of %s cannot refer to a variable, so the token has to be written into it, and %s holds none here", client.Title, o.tokenVariable),
				Hint:    "Set the variable, or name a file with the token: --token-file FILE",
			}
		}
	}
	if err == nil && remote.Token != "" && o.project {
		err = &toolbox.Error{
			Code:    toolbox.ClientFileRefused,
			Message: file + " was left as it is: a project's file is for everybody who works on it, and a token is not",
			Hint:    "Leave out --project, or use --token-env with a client whose file can refer to a variable.",
		}
	}
	return e, err
}

// remoteNotes returns what a person should know about the token and the address.
func (o *connectOptions) remoteNotes(client *clients.Client, remote *clients.Remote, file string) (notes []string) {
	parsed, err := url.Parse(remote.URL)
	if err == nil && (parsed.Path == "" || parsed.Path == "/") {
		notes = append(notes, "The address has no path: that of 'serve' ends in /mcp.")
	}
	switch {
	case remote.Token != "":
		notes = append(notes, fmt.Sprintf("The token is written into %s, which only you can read then.", shortenHome(file)))
	case remote.Variable != "" && os.Getenv(remote.Variable) == "":
		notes = append(notes, fmt.Sprintf("%s reads the token from the variable %s, which is not set here: set it where the client is started.", client.Title, remote.Variable))
	case remote.Variable != "":
		notes = append(notes, fmt.Sprintf("%s reads the token from the variable %s: it must be set where the client is started.", client.Title, remote.Variable))
	default:
		notes = append(notes, "No token is given, which is right for a workbench whose clients sign in (http.oauth). Another one that wants a token refuses the client. To name one: --token-env VARIABLE or --token-file FILE")
	}
	if err == nil && parsed.Scheme == "http" && !isLoopback(parsed.Hostname()) && (remote.Token != "" || remote.Variable != "") {
		notes = append(notes, "The address is not encrypted (http://), so others in the network can read the token.")
	}
	return notes
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

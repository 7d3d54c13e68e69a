package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// Names of what is found about calls of people.
const (
	personTime        = "use_tool over HTTP with a JWT / with a token of the workbench, p50"
	personAllocations = "allocations of a call with a JWT, more than with a token of the workbench"
)

// tokenRounds is how often both ways are measured, in turn: they differ by little.
const tokenRounds = 25

// tokenResource is the address of the workbench as its clients know it. It need not be the one that it listens on.
const tokenResource = "https://mcp.example.com/mcp"

// measureTokens compares a call of a person, who has a JWT of an identity provider, with the same call with a token of the
// workbench, in the same rounds and with the same configuration. The JWT is verified with the first request.
func (b *bench) measureTokens() (err error) {
	provider, err := oauthtest.New(oauthtest.Options{})
	if err != nil {
		return err
	}
	defer provider.Close()
	jwt, err := provider.Mint(oauthtest.Mint{Subject: "ada", Audience: []string{tokenResource}, Scope: "mcp:dev", Lifetime: 24 * 60 * 60})
	if err != nil {
		return err
	}
	config, err := b.write(map[string]any{
		"http": map[string]any{"oauth": map[string]any{
			"resource": tokenResource, "issuer": provider.Issuer(), "toolboxes": map[string]any{"mcp:dev": []string{boxName}},
		}},
		"toolboxes": map[string]any{boxName: map[string]any{"description": "bench", "mcpServers": map[string]any{
			serverName: map[string]any{"command": b.self, "args": []string{"echo"}},
		}}},
	})
	if err != nil {
		return err
	}
	own, err := b.ownToken(config)
	if err != nil {
		return err
	}
	l := &lane{name: "token", loads: []load{{"10 B", 1, 10, 400}}}
	defer func() { err = errors.Join(err, l.stop()) }()
	for _, way := range []struct{ name, bearer string }{{"person", jwt}, {"token", own}} {
		p, err := startServe(b.env, b.binary, way.bearer, "--config", config)
		if err := b.addStarted(b.binary, way.name, "proxy", p, err, l.add); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	if err := l.measure(tokenRounds); err != nil {
		return err
	}
	found := l.ratios(l.loads[0], l.way("person"), l.way("token"))
	b.note(personTime, found.p50, "x", fmt.Sprintf("CPU of the workbench %.2fx; median of %d rounds", found.cpu, tokenRounds))
	b.note(personAllocations, found.allocs, "", "")
	return nil
}

// ownToken makes a token of the workbench.
func (b *bench) ownToken(config string) (string, error) {
	cmd := exec.Command(b.binary, "token", "add", "bench", "--config", config)
	cmd.Env = b.env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("token add: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

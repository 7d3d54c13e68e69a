package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The revisions whose scenarios are run, one of each era.
const (
	legacyRevision = "2025-11-25"
	modernRevision = "2026-07-28"
)

// firstRevision is the first one with logins, for which the suite has no set of requirements: these are its scenarios.
const firstRevision = "2025-03-26"

var firstScenarios = []scenario{
	{"auth/2025-03-26-oauth-metadata-backcompat", true, true},
	{"auth/2025-03-26-oauth-endpoint-fallback", true, true},
}

// What one scenario may take. Clients start all at once, each with a workbench of its own.
const (
	serverTime = 30 * time.Second
	clientTime = 40 * time.Second
)

// results are the checks of each scenario that ran.
type results map[string][]check

// check is one statement of the suite about the subject.
type check struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
}

// scenario is what the suite's revision asks for.
type scenario struct {
	name   string
	client bool
	scored bool
}

// selection is what the suite runs: everything that the revision requires, or one scenario.
type selection struct{ revision, scenario string }

func (s selection) arguments() []string {
	if s.scenario == "" {
		return []string{"--requirements", s.revision}
	}
	// Extensions belong to no revision.
	return []string{"--scenario", s.scenario, "--spec-version", s.revision, "--force"}
}

func (t *tools) testServer(ctx context.Context, what selection, url, saved string) (results, error) {
	found, err := t.suiteRun(ctx, what, saved, "server", "--url", url, "--timeout", milliseconds(serverTime))
	stripped := make(results, len(found))
	for name, checks := range found {
		// The suite puts its side before the names of the folders, for servers only.
		stripped[strings.TrimPrefix(name, "server-")] = checks
	}
	return stripped, err
}

func (t *tools) testClient(ctx context.Context, what selection, command, saved string) (results, error) {
	if what.revision != firstRevision || what.scenario != "" {
		return t.suiteRun(ctx, what, saved, "client", "--command", command, "--timeout", milliseconds(clientTime))
	}
	found := make(results)
	for _, one := range firstScenarios {
		what.scenario = one.name
		more, err := t.testClient(ctx, what, command, filepath.Join(saved, path.Base(one.name)))
		if err != nil {
			return nil, err
		}
		maps.Copy(found, more)
	}
	return found, nil
}

// testWorkbench runs the suite's client scenarios against the workbench.
func (t *tools) testWorkbench(ctx context.Context, what selection, saved string) (results, error) {
	folder, err := os.MkdirTemp(t.scratch, "client-")
	if err != nil {
		return nil, err
	}
	failures := filepath.Join(folder, "failures")
	found, err := t.testClient(ctx, what, strings.Join([]string{t.self, clientRole, t.workbench, t.goClient, failures}, " "), saved)
	if err != nil {
		return nil, err
	}
	return found, found.addFailures(failures)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10)
}

// suiteRun runs the suite and reads what it saved. Its exit code says only that something failed,
// which the checks say better.
func (t *tools) suiteRun(ctx context.Context, what selection, saved string, arguments ...string) (results, error) {
	arguments = append([]string{t.suite}, arguments...)
	arguments = append(arguments, what.arguments()...)
	arguments = append(arguments, "--output-dir", saved)
	cmd := exec.CommandContext(ctx, t.node, arguments...)
	cmd.WaitDelay = stopTime
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the suite was stopped: %w", context.Cause(ctx))
	}
	found, err := readResults(saved)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("the suite saved no results; it said:\n%s", out)
	}
	return found, err
}

// timestamp is what the suite puts behind the name of a scenario.
var timestamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// readResults reads every checks.json below a folder. The names of some scenarios have a slash,
// which is a folder there.
func readResults(folder string) (results, error) {
	found := make(results)
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "checks.json" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		name, err := filepath.Rel(folder, filepath.Dir(file))
		if err != nil {
			return err
		}
		name = timestamp.ReplaceAllString(filepath.ToSlash(name), "")
		found[name] = checks
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	return found, err
}

// requirements asks the suite what a revision requires.
func (t *tools) requirements(ctx context.Context, revision string) ([]scenario, error) {
	out, err := exec.CommandContext(ctx, t.node, t.suite, "list", "--requirements", revision).Output()
	if err != nil {
		return nil, fmt.Errorf("the suite does not list its scenarios: %w", err)
	}
	return parseRequirements(out), nil
}

// parseRequirements reads the suite's list: two headed lists of what is scored, and then what is
// only reported, each with its side in brackets.
func parseRequirements(text []byte) []scenario {
	var found []scenario
	client, scored := false, true
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		name, isItem := strings.CutPrefix(line, "- ")
		switch {
		case strings.HasPrefix(line, "Server scenarios"):
			client = false
		case strings.HasPrefix(line, "Client scenarios"):
			client = true
		case strings.HasPrefix(line, "Run and reported"):
			scored = false
		case isItem && scored:
			found = append(found, scenario{name, client, true})
		case isItem:
			name, side, _ := strings.Cut(name, " ")
			found = append(found, scenario{name, side == "[client]", false})
		}
	}
	return found
}

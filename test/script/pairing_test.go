//go:build unix

package script

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/sandbox"
)

// This file runs the same scripts with other transports: above the workbench, between
// it and its client, and below, between it and its servers.

const (
	overStdio  = "stdio"
	overHTTP   = "http"
	overSSE    = "sse"
	overShared = "shared" // stdio above, to a bridge to the shared workbench
)

type pairing struct{ above, below string }

func (p pairing) String() string { return p.above + "-" + p.below }

// pairings are all but the one that TestScripts is about.
var pairings = []pairing{
	{overStdio, overHTTP},
	{overStdio, overSSE},
	{overHTTP, overStdio},
	{overHTTP, overHTTP},
	{overHTTP, overSSE},
	{overShared, overStdio},
}

// pairingVariable names the pairings to run, such as "http-sse,http-stdio", or "all".
const pairingVariable = "PAIRING"

func TestPairings(t *testing.T) {
	wanted := strings.Split(os.Getenv(pairingVariable), ",")
	if wanted[0] == "" {
		t.Skipf("set %s to 'all' or to names such as %s; 'make pairings' does", pairingVariable, pairings[0])
	}
	ran := 0
	for _, p := range pairings {
		if wanted[0] == "all" || slices.Contains(wanted, p.String()) {
			ran++
			t.Run(p.String(), func(t *testing.T) {
				t.Parallel()
				runPairing(t, p)
			})
		}
	}
	if ran == 0 {
		t.Errorf("%s=%s names none of %v", pairingVariable, os.Getenv(pairingVariable), pairings)
	}
}

// runPairing runs all scripts, each as the subtest FOLDER/NAME, and reports at the end how
// many of them ran.
func runPairing(t *testing.T, p pairing) {
	count := &counts{}
	t.Cleanup(func() {
		fmt.Printf("%s: %d scripts passed, %d failed, %d skipped\n", p, count.passed.Load(), count.failed.Load(), count.skipped.Load())
	})
	reportScriptsOutsideFolders(t)
	for _, folder := range folders(t) {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			scripts := p.scripts(t, folder)
			if len(scripts) == 0 {
				return // without files, RunT looks for scripts in a directory
			}
			testscript.RunT(counted{t, count}, testscript.Params{
				Files:              scripts,
				RequireUniqueNames: true,
				Setup:              p.setup,
				Condition:          p.condition,
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"mcp":      mcp,
					"fake":     fake,
					"provider": provider,
					"term":     term,
					"web":      web,

					"certificate": certificate,
					"page":        page,
				},
			})
		})
	}
}

// folders are the subjects of the scripts.
func folders(t *testing.T) []string {
	t.Helper()
	scripts, err := filepath.Glob("*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, script := range scripts {
		folders = append(folders, filepath.Dir(script))
	}
	return slices.Compact(folders)
}

// reportScriptsOutsideFolders fails for scripts that would not run.
func reportScriptsOutsideFolders(t *testing.T) {
	t.Helper()
	outside, err := filepath.Glob("*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range outside {
		t.Errorf("%s is in no folder and does not run: move it into one of test/script/{%s}, by its subject (see test/script/README.md)",
			script, strings.Join(folders(t), ","))
	}
}

// scripts are those of a folder that the pairing can make a difference to.
func (p pairing) scripts(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var concerned []string
	for _, script := range all {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if p == (pairing{overStdio, overStdio}) ||
			p.above != overStdio && bytes.Contains(text, []byte("\nmcp start")) || p.below != overStdio && namesFake(text) {
			concerned = append(concerned, script)
		}
	}
	return concerned
}

// condition is true for the names of this pairing: [above-http], [below-stdio].
func (p pairing) condition(name string) (bool, error) {
	side, transport, _ := strings.Cut(name, "-")
	known := []string{overStdio, overHTTP, overSSE}
	switch {
	case side == "above" && slices.Contains([]string{overStdio, overHTTP, overShared}, transport):
		return transport == p.above, nil
	case side == "below" && slices.Contains(known, transport):
		return transport == p.below, nil
	}
	if name == "sandbox" { // on CI, where a skipped test would go unnoticed, they have to be there
		return len(sandbox.Gaps()) == 0 || os.Getenv("CI") != "", nil
	}
	return false, fmt.Errorf("unknown condition '%s'", name)
}

type counts struct{ passed, failed, skipped atomic.Int32 }

// counted is a test whose scripts are counted.
type counted struct {
	*testing.T
	count *counts
}

func (c counted) Verbose() bool { return testing.Verbose() }

func (c counted) Run(name string, script func(testscript.T)) {
	c.T.Run(name, func(t *testing.T) {
		t.Cleanup(func() {
			switch {
			case t.Failed():
				c.count.failed.Add(1)
			case t.Skipped():
				c.count.skipped.Add(1)
			default:
				c.count.passed.Add(1)
			}
		})
		script(counted{t, c.count})
	})
}

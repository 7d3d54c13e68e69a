package faults

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

// pairing is what the client and the played servers of a test are reached over.
type pairing struct{ above, below rig.Transport }

func (p pairing) String() string { return string(p.above) + "-" + string(p.below) }

// usual is the pairing that every row runs with; the others run when they are asked for,
// and with rows that are samples.
var usual = pairing{rig.Stdio, rig.Stdio}

var others = []pairing{
	{rig.HTTP, rig.Stdio},
	{rig.Stdio, rig.HTTP},
	{rig.Stdio, rig.SSE},
	{rig.HTTP, rig.HTTP},
	{rig.HTTP, rig.SSE},
}

// pairingVariable names the pairings to run instead of the usual one, such as
// "http-sse,http-stdio", or "all".
const pairingVariable = "FAULTS_PAIRING"

// wanted returns the pairings that a row runs with.
func wanted(sample bool) ([]pairing, error) {
	named := os.Getenv(pairingVariable)
	switch {
	case named == "all":
		return others, nil
	case named == "" && sample:
		return append([]pairing{usual}, others...), nil
	case named == "":
		return []pairing{usual}, nil
	}
	var found []pairing
	for name := range strings.SplitSeq(named, ",") {
		i := slices.IndexFunc(append([]pairing{usual}, others...), func(p pairing) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("%s=%s names none of %v", pairingVariable, name, others)
		}
		found = append(found, append([]pairing{usual}, others...)[i])
	}
	return found, nil
}

// trait says of a row with which pairings it runs.
type trait struct {
	sample       bool          // with all, always
	above, below rig.Transport // with these only, if they are given
	reason       string
}

// sample is a row that is enough to notice that a pairing does not work at all.
var sample = trait{sample: true}

// aboveOnly is for rows that make sense with one transport of the client only.
func aboveOnly(transport rig.Transport, reason string) trait {
	return trait{above: transport, reason: reason}
}

// belowOnly is for rows that make sense with one transport of the servers only.
func belowOnly(transport rig.Transport, reason string) trait {
	return trait{below: transport, reason: reason}
}

// row runs the test of one row beside the others, with all pairings that are wanted.
func row(t *testing.T, name string, test func(t *testing.T, p pairing), traits ...trait) {
	t.Helper()
	pairings, err := wanted(slices.Contains(traits, sample))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairings {
		full := name
		if p != usual {
			full += " over " + p.String()
		}
		t.Run(full, func(t *testing.T) {
			for _, trait := range traits {
				if trait.above != "" && trait.above != p.above || trait.below != "" && trait.below != p.below {
					t.Skip(trait.reason)
				}
			}
			t.Parallel()
			test(t, p)
		})
	}
}

// Reasons for which rows are skipped with some pairings.
var (
	ownProcess = belowOnly(rig.Stdio, "it is about a process that the workbench starts itself")
	ownWebsite = belowOnly(rig.Stdio, "it brings a server over HTTP of its own")
	noServer   = belowOnly(rig.Stdio, "no server misbehaves in it, so that what is below makes no difference")
	onStdin    = aboveOnly(rig.Stdio, "over HTTP the workbench has no stdin whose end would mean something")
	noClient   = aboveOnly(rig.Stdio, "it is about the start of the workbench, which clients have no part in")
)

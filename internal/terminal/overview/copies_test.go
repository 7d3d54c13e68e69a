package overview

import (
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Of copies, ps tells what they do not have in common.
func TestReasonsOf(t *testing.T) {
	server := func(name string, why control.Why) control.Server {
		return control.Server{Toolbox: "dev", Name: name, Why: why}
	}
	able := []string{"elicitation", "roots"}
	for _, test := range []struct {
		name    string
		servers []control.Server
		want    []string
	}{
		{"one of each", []control.Server{server("a", control.Why{Folder: "/a", Capabilities: able}), server("b", control.Why{})}, nil},
		{"folders", []control.Server{
			server("a", control.Why{Folder: "/x", Capabilities: able}), server("a", control.Why{Folder: "/y", Capabilities: able}), server("b", control.Why{Folder: "/x"}),
		}, []string{"folder /x", "folder /y", ""}},
		{"capabilities and era", []control.Server{
			server("a", control.Why{}), server("a", control.Why{Capabilities: able, Era: "modern"}),
		}, []string{"no capabilities", "capabilities elicitation roots, era modern"}},
		{"roots", []control.Server{
			server("a", control.Why{Roots: []string{}}), server("a", control.Why{Roots: []string{"file:///x", "file:///y"}}), server("a", control.Why{Client: "one"}),
		}, []string{"no roots", "roots file:///x file:///y", "one client"}},
		{"environment", []control.Server{
			server("a", control.Why{}), server("a", control.Why{Environment: []string{"A", "B"}, Command: "/bin/a"}),
		}, []string{"", "command /bin/a, environment A B"}},
		{"persons", []control.Server{
			server("a", control.Why{Person: "Ann"}), server("a", control.Why{Person: "Ben"}), server("a", control.Why{Person: "Ben", Era: "modern"}), server("b", control.Why{Person: "Ann"}), server("c", control.Why{}),
		}, []string{"person Ann", "person Ben", "person Ben, era modern", "person Ann", ""}},
	} {
		if got := ReasonsOf(test.servers); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

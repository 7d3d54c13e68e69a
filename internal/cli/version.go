package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version, its build, and its revisions of MCP",
		Long: `Show the version, the commit and the time that it was built from, the version of Go, the
platform, and the revisions of MCP that clients and servers can use. --version prints the
version alone.`,
		Example: `  mcp-workbench version
  mcp-workbench version --json | jq -r .version`,
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			build := thisBuild()
			if asJSON {
				return writeJSON(cmd, build)
			}
			build.print(cmd)
			return nil
		},
	}
	addJSONFlag(cmd, &asJSON, "write JSON")
	return cmd
}

// build is the JSON of 'version'.
type build struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit"` // "" if the build does not know it
	Modified  bool     `json:"modified"`
	Date      string   `json:"date"` // of the commit; "" if the build does not know it
	Go        string   `json:"go"`
	Platform  string   `json:"platform"`
	Revisions []string `json:"mcpRevisions"` // the newest first
}

// commit and date are those of the source; the linker sets them where builds have no access to the history.
var commit, date string

func thisBuild() build {
	b := build{Version: Version, Commit: commit, Date: date, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Revisions: []string{}}
	for _, revision := range protocol.Supported() {
		b.Revisions = append(b.Revisions, string(revision))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				b.Commit = setting.Value
			case "vcs.time":
				b.Date = setting.Value
			case "vcs.modified":
				b.Modified = setting.Value == "true"
			}
		}
	}
	return b
}

func (b build) print(cmd *cobra.Command) {
	out := screenOf(cmd)
	commit := cmp.Or(b.Commit, "unknown")
	if b.Modified {
		commit += ", modified"
	}
	fmt.Fprintf(out, "mcp-workbench %s\n", b.Version)
	for _, line := range [][2]string{
		{"commit", commit}, {"date", cmp.Or(b.Date, "unknown")}, {"go", b.Go}, {"platform", b.Platform}, {"MCP", strings.Join(b.Revisions, ", ")},
	} {
		fmt.Fprintf(out, "%-9s %s\n", line[0]+":", out.Wrap(line[1], 10))
	}
}

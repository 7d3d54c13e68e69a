package cli

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

// Whose call runs is told where clients are those of people.
func TestRunningCallsOfPeople(t *testing.T) {
	one := func(caller string) runningCall {
		return runningCall{RunningCall: control.RunningCall{ID: "k3f9qab", Client: "an editor", Caller: caller, Toolbox: "dev", Server: "s", Tool: "build"}}
	}
	for want, all := range map[string][]runningCall{
		"ID CALL CLIENT FOR WAITS FOR":        {one("stdio"), one("http")},
		"ID CALL CLIENT CALLER FOR WAITS FOR": {one("stdio"), one("person:ada")},
	} {
		header, rows := runningTable(all)
		if got := strings.Join(header, " "); got != want || len(rows) != len(all) {
			t.Errorf("got %s with %d rows", got, len(rows))
		}
		for n, row := range rows {
			if len(row) != len(header) || len(header) == 6 && row[3].Text != all[n].Caller {
				t.Errorf("row %d is %v", n, row)
			}
		}
	}
}

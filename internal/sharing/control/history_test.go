//go:build unix

package control

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/gateway/call"
	"github.com/mcp-workbench/mcp-workbench/internal/observe/history"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// nobody is a client that declares nothing.
type nobody struct{}

func (nobody) Notify(string, []byte) error   { return nil }
func (nobody) TryNotify(string, []byte)      {}
func (nobody) Ask(*downstream.Question)      {}
func (nobody) Profile() *fleet.ClientProfile { return nil }

// callTool adds calls to the history.
func (s *subject) callTool(t *testing.T, tool string, count int) {
	t.Helper()
	servers := fleet.New(fleet.Options{Config: &config.Config{Toolboxes: []config.Toolbox{{Name: "t", Servers: []config.Server{{Name: "s", Command: "x"}}}}}})
	box, _ := servers.Toolbox("t")
	server, _ := box.Server("s")
	for range count {
		s.history.CallEnded(&call.Call{Server: server, Client: nobody{}, Method: "tools/call", Name: tool}, call.End{Status: call.StatusOK, Began: time.Unix(1, 0).UTC(), Took: time.Second})
	}
}

func TestHistory(t *testing.T) {
	s, client, _ := serve(t)
	read := func(after uint64) (seqs []uint64, last history.Record) {
		t.Helper()
		err := client.History(t.Context(), after, false, func(one history.Record) {
			seqs, last = append(seqs, one.Seq), one
			if one.Lost > 0 {
				t.Errorf("%d were lost before %d", one.Lost, one.Seq)
			}
		})
		if err != nil {
			t.Error(err)
		}
		return seqs, last
	}
	if got, _ := read(0); got != nil {
		t.Errorf("before any call there are %v", got)
	}
	s.callTool(t, "read", 500)
	if got, last := read(0); len(got) != 500 || last.Tool != "READ" || last.Took != 1 || !last.Time.Equal(time.Unix(1, 0)) {
		t.Errorf("got %d, the last is %+v", len(got), last)
	}
	if got, _ := read(498); !slices.Equal(got, []uint64{499, 500}) {
		t.Errorf("after 498 there are %v", got)
	}
	s.callTool(t, "read", 5000)
	if got, _ := read(0); len(got) != 4096 || got[0] != 1405 {
		t.Errorf("got %d from %d", len(got), got[0])
	}
}

func TestHistoryIsFollowed(t *testing.T) {
	s, client, _ := serve(t)
	s.callTool(t, "a", 2)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var got []uint64
	err := client.History(ctx, 1, true, func(one history.Record) {
		switch got = append(got, one.Seq); one.Seq {
		case 2:
			s.callTool(t, "b", 1)
		case 3:
			s.callTool(t, "c", 5000) // more than are remembered, before they can be read
		case 5003:
			cancel()
		default:
			if lost := one.Seq - got[len(got)-2] - 1; one.Lost != lost {
				t.Errorf("%d were lost before %d, which says %d", lost, one.Seq, one.Lost)
			}
		}
	})
	if !errors.Is(err, context.Canceled) || len(got) < 3 || got[len(got)-1] != 5003 {
		t.Errorf("got %d calls, %v", len(got), err)
	}
}

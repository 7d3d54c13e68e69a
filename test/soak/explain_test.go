//go:build unix

package soak

import (
	"errors"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

// at is a moment of a story.
func at(second int) time.Time { return time.Unix(1_000_000+int64(second), 0) }

func refresh(number int, token, access, fresh string, status int) oauthtest.Event {
	return oauthtest.Event{
		Number: number, Kind: oauthtest.Refresh, Login: "login", Refresh: token, NewAccess: access, NewFresh: fresh, Status: status,
		Begun: at(number), Ended: at(number + 1),
	}
}

func TestExplain(t *testing.T) {
	lost, reuse := refresh(10, "r1", "a2", "r2", 200), refresh(20, "r1", "", "", 400)
	used := oauthtest.Event{Number: 15, Kind: oauthtest.MCP, Login: "login", Access: "a2", Status: 200}
	for name, story := range map[string]struct {
		events    []oauthtest.Event
		kills     []time.Time
		explained bool
	}{
		"killed before the disk":      {[]oauthtest.Event{lost, reuse}, []time.Time{at(11)}, true},
		"nobody was killed":           {[]oauthtest.Event{lost, reuse}, nil, false},
		"killed at another time":      {[]oauthtest.Event{lost, reuse}, []time.Time{at(2), at(30)}, false},
		"the new token was in use":    {[]oauthtest.Event{lost, used, reuse}, []time.Time{at(11)}, false},
		"a token that was never used": {[]oauthtest.Event{reuse}, []time.Time{at(11)}, false},
		"nothing was refused":         {[]oauthtest.Event{lost}, []time.Time{at(11)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := explain(story.events, "login", story.kills)
			if story.explained != (err == nil) || err != nil && !errors.Is(err, errUnexplained) || story.explained && found.lost.Number != lost.Number {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
}

func TestConcurrent(t *testing.T) {
	first, second := refresh(10, "r1", "a2", "r2", 200), refresh(11, "r1", "", "", 400)
	first.Ended, second.Underway = at(15), 1
	if found := concurrent([]oauthtest.Event{first, second}); len(found) != 1 {
		t.Errorf("two at a time: %v", found)
	}
	first.Gone = true
	if found := concurrent([]oauthtest.Event{first, second}); len(found) != 0 {
		t.Errorf("the client of the first one was killed: %v", found)
	}
	if found := concurrent([]oauthtest.Event{refresh(1, "r0", "a1", "r1", 200), refresh(5, "r1", "a2", "r2", 200)}); len(found) != 0 {
		t.Errorf("one after the other: %v", found)
	}
}

//go:build unix

package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/mcptest"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
	"github.com/mcp-workbench/mcp-workbench/test/released"
)

// browserRole makes this program the browser that the workbench opens.
const browserRole = "browser"

func TestMain(m *testing.M) {
	mcptest.PlayRole(func(role string, args []string) int {
		if role == browserRole {
			return oauthtest.Browse(args, os.Stderr)
		}
		return 2
	})
	os.Exit(released.Run(m))
}

// timeVariable says how long the soak goes on.
const timeVariable = "SOAK_TIME"

// How hard it is. A token is refreshed a tenth of its time before its end, so that each of the processes comes to
// refresh often, and the provider takes its time, so that a kill often hits one that waits for it.
const (
	processes      = 20
	shortTime      = 10 * time.Second
	accessSeconds  = 2
	refreshTakes   = 200 // milliseconds
	betweenKills   = 250 * time.Millisecond
	betweenAims    = 30 * time.Second // from one aimed kill to the next; the first comes early
	firstAim       = 2 * time.Second
	betweenCalls   = 100 * time.Millisecond
	answerTime     = 60 * time.Second // for any answer; nothing waits for it unless something is wrong
	leastRefreshes = 2
)

// TestOneLoginOfManyProcesses has twenty workbenches call a server with one login, kills one after the other, and then
// holds what the provider saw against what may be.
func TestOneLoginOfManyProcesses(t *testing.T) {
	length := shortTime
	if text := os.Getenv(timeVariable); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	s := newSoak(t)
	s.login()
	over := time.After(length)
	s.startWorkers()
	kills, aim := time.NewTicker(betweenKills), time.NewTimer(firstAim)
	defer kills.Stop()
	defer aim.Stop()
	for running := true; running; {
		select {
		case <-over:
			running = false
		case <-kills.C:
			s.workers[rand.IntN(len(s.workers))].kill()
		case <-aim.C:
			s.killDuringRefresh()
			aim.Reset(betweenAims)
		case <-s.failed:
			running = false
		}
	}
	s.stop()
	t.Log(s.summary())
	if n := s.provider.Count(oauthtest.Refresh); n < leastRefreshes {
		t.Errorf("%d refreshes: the soak tests nothing", n)
	}
	if len(s.losses) == 0 {
		t.Error("no login was lost in the window, although all processes were killed in it")
	}
	for _, problem := range concurrent(s.provider.Events(oauthtest.Refresh)) {
		t.Error(problem)
	}
}

// concurrent tells of each refresh that began while another one of the same login was under way. The client of that one
// may have been killed, which ends its lock before the provider is done.
func concurrent(refreshes []oauthtest.Event) []error {
	var problems []error
	for _, one := range refreshes {
		if one.Underway == 0 {
			continue
		}
		for _, other := range refreshes {
			if other.Login == one.Login && other.Number < one.Number && other.Ended.After(one.Begun) && !other.Gone {
				problems = append(problems, fmt.Errorf("refresh %d of %s began while %d was under way", one.Number, one.Login, other.Number))
			}
		}
	}
	return problems
}

// errUnexplained is a login that was lost for no reason that is known.
var errUnexplained = errors.New("a login was lost although its last tokens had come to the disk, or nobody was killed")

// onTheWay is how long a request may have been on its way to the provider when its client was killed.
const onTheWay = time.Second

// loss is why a login ended.
type loss struct {
	lost, reuse oauthtest.Event // the refresh whose answer was lost, and the next one with the same token
}

// explain finds out why a login has ended: the answer to a refresh was lost, since its process was killed before it was
// on the disk, and the next process tried the same token once.
func explain(events []oauthtest.Event, login string, kills []time.Time) (*loss, error) {
	var found loss
	for _, one := range events {
		if one.Kind == oauthtest.Refresh && one.Login == login && one.Status != 200 {
			found.reuse = one
			break
		}
	}
	if found.reuse.Number == 0 {
		return nil, fmt.Errorf("%w: no refresh of %s was refused", errUnexplained, login)
	}
	for _, one := range events {
		if one.Kind == oauthtest.Refresh && one.Refresh == found.reuse.Refresh && one.Status == 200 {
			found.lost = one
		}
	}
	if found.lost.Number == 0 {
		return nil, fmt.Errorf("%w: refresh %d was refused with a token that was not used before", errUnexplained, found.reuse.Number)
	}
	for _, one := range events {
		if one.Access == found.lost.NewAccess || one.Refresh == found.lost.NewFresh {
			return nil, fmt.Errorf("%w: the tokens of refresh %d were used by request %d, and %d used the old one", errUnexplained, found.lost.Number, one.Number, found.reuse.Number)
		}
	}
	for _, killed := range kills {
		if killed.After(found.lost.Begun.Add(-onTheWay)) && killed.Before(found.reuse.Begun) {
			return &found, nil
		}
	}
	return nil, fmt.Errorf("%w: nobody was killed between refresh %d and %d", errUnexplained, found.lost.Number, found.reuse.Number)
}

package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// refused returns how many lines the log has about refused requests, and how many requests they are about.
func (r *rig) refused() (lines, requests int) {
	r.t.Helper()
	for text := range strings.Lines(r.text()) {
		var found struct {
			Event, Outcome string
			Count          int
		}
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			r.t.Fatal(err)
		}
		if found.Event == eventToken && found.Outcome == "refused" {
			lines, requests = lines+1, requests+max(1, found.Count)
		}
	}
	return lines, requests
}

// A flood of refused requests takes a few lines, and none of them is missing in their numbers.
func TestFloodOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := Open(r.options)
		refusals := NewRefusals(l)
		sent := 0
		for range 10 * 60 { // ten minutes
			for range 1000 {
				refusals.Add("192.0.2.7:4711", "", "the token is unknown")
				sent++
			}
			time.Sleep(time.Second)
		}
		if lines, _ := r.refused(); lines < refusalsAtOnce+5 || lines > refusalsAtOnce+20 {
			t.Errorf("%d refused requests are %d lines", sent, lines)
		}
		time.Sleep(2 * refusalTime)
		if _, requests := r.refused(); requests != sent { // nothing was refused since: it is recorded all the same
			t.Errorf("the lines are about %d requests, want %d", requests, sent)
		}
		for range 2 * refusalsAtOnce {
			refusals.Add("192.0.2.7:4711", "", "the token is unknown")
			sent++
		}
		r.close(l)
		if _, requests := r.refused(); requests != sent {
			t.Errorf("at the end the lines are about %d requests, want %d", requests, sent)
		}
		if report := r.good(); report.Lost > 0 || report.Sealed != report.Last {
			t.Errorf("the report is %+v", report)
		}
	})
}

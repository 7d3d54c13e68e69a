package builtin

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// Accepted layouts. Those with seconds also accept fractions.
var (
	offsetLayouts = []string{
		time.RFC3339, "2006-01-02 15:04:05Z07:00",
		"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00",
	}
	dateLayouts = []string{
		"2006-01-02 15:04", "2006-01-02T15:04",
		"2006-01-02 15:04:05", "2006-01-02T15:04:05",
		"2006-01-02",
	}
	dayLayouts = []string{"15:04", "15:04:05"}
)

const timeHint = `Use "2006-01-02 15:04", "15:04" for today, "now", or RFC 3339 such as "2006-01-02T15:04:05+02:00".`

// parse parses a time. A time without an offset is local time in the zone. If the zone skips or repeats that time, note
// says how it was interpreted.
func (c *clock) parse(text string, zone *time.Location) (t time.Time, note string, err error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "now") {
		return c.now().In(zone), "", nil
	}
	for _, layout := range offsetLayouts {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			// Parse uses the local zone if the offset happens to be the same.
			_, offset := t.Zone()
			return t.In(fixedZone(offset)), "", nil
		}
	}
	for _, layout := range dateLayouts {
		if wall, err := time.Parse(layout, text); err == nil {
			t, note := onClock(wall, zone)
			return t, note, nil
		}
	}
	for _, layout := range dayLayouts {
		if wall, err := time.Parse(layout, text); err == nil {
			year, month, day := c.now().In(zone).Date()
			t, note := onClock(wall.AddDate(year, int(month)-1, day-1), zone)
			return t, note, nil
		}
	}
	return time.Time{}, "", refuse(timeHint, "The time %q cannot be understood.", toolbox.Clip(text, maxZoneLength))
}

// onClock returns when clocks in the zone show the wall time, given in UTC. time.Date does not define the result for
// times that are skipped or repeated. This returns the earlier of two, and for a skipped time what an unchanged clock
// would show.
func onClock(wall time.Time, zone *time.Location) (time.Time, string) {
	const day = 24 * time.Hour
	before, after := wall.Add(-day).In(zone), wall.Add(day).In(zone)
	_, oldOffset := before.Zone()
	_, newOffset := after.Zone()
	first := wall.Add(-time.Duration(oldOffset) * time.Second).In(zone)
	second := wall.Add(-time.Duration(newOffset) * time.Second).In(zone)
	shown := wall.Format("2006-01-02 15:04")
	switch firstOK, secondOK := shows(first, wall), shows(second, wall); {
	case firstOK && secondOK && !first.Equal(second):
		return first, fmt.Sprintf("%s comes twice in %s, where clocks are set back; the first is meant (UTC%s). Give an offset to choose.",
			shown, zone, utcOffset(oldOffset))
	case firstOK:
		return first, ""
	case secondOK:
		return second, ""
	}
	return first, fmt.Sprintf("%s does not exist in %s, where clocks are set forward; taken as %s.",
		shown, zone, first.Format("15:04"))
}

// shows reports whether local time at t equals wall, given in UTC.
func shows(t, wall time.Time) bool {
	_, offset := t.Zone()
	return t.Unix()+int64(offset) == wall.Unix()
}

package builtin

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for systems without zone data, such as Windows

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// zonesText lists the zones in time/tzdata, which cannot be asked for them. To
// make it anew, list $(go env GOROOT)/lib/time/zoneinfo.zip.
//
//go:embed zones.txt
var zonesText string

var zoneNames = sync.OnceValue(func() []string { return strings.Fields(zonesText) })

const maxZoneLength = 64 // characters of a time zone; a longer one is refused

// zone returns a zone by IANA name, in any case and with spaces for underscores, or by UTC offset. The empty name is
// the local zone.
func (c *clock) zone(name string) (*time.Location, error) {
	given := name
	name = strings.ReplaceAll(strings.TrimSpace(name), " ", "_")
	switch {
	case name == "" || strings.EqualFold(name, "local"):
		return c.local, nil
	case strings.EqualFold(name, "z"):
		return time.UTC, nil
	case len(name) > maxZoneLength:
		return nil, refuse(zoneHint, "The zone name is %d bytes long, and may be %d.", len(name), maxZoneLength)
	}
	if zone, ok := offsetZone(name); ok {
		return zone, nil
	}
	for _, known := range zoneNames() {
		if strings.EqualFold(known, name) {
			name = known
			break
		}
	}
	if zone, err := time.LoadLocation(name); err == nil {
		return zone, nil
	}
	hint := zoneHint
	if near := toolbox.Nearest(name, zoneNames(), 5); len(near) > 0 {
		hint = "Did you mean " + strings.Join(near, ", ") + "? " + hint
	}
	return nil, refuse(hint, "There is no time zone %q.", given)
}

const zoneHint = "Use an IANA name such as Europe/Berlin or America/New_York, UTC, or an offset such as +02:00."

// offsetZone accepts +02:00, +2:00, +0200, +02, +2, and these after UTC or GMT.
func offsetZone(name string) (*time.Location, bool) {
	upper := strings.ToUpper(name)
	offset := strings.TrimPrefix(strings.TrimPrefix(upper, "UTC"), "GMT")
	if len(offset) == 2 || len(offset) == 5 && offset[2] == ':' {
		offset = offset[:1] + "0" + offset[1:]
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, offset); err == nil {
			_, seconds := t.Zone()
			return fixedZone(seconds), true
		}
	}
	return nil, false
}

func fixedZone(seconds int) *time.Location {
	if seconds == 0 {
		return time.UTC
	}
	return time.FixedZone("UTC"+utcOffset(seconds), seconds)
}

func utcOffset(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	text := fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 { // local mean time, before zones were standardised
		text += fmt.Sprintf(":%02d", seconds%60)
	}
	return text
}

package builtin

import (
	"strings"
	"testing"
	"time"
)

func TestZoneOfThisMachineHasAName(t *testing.T) {
	if got := (moment{Zone: time.Local.String(), Abbreviation: "CET"}).String(); !strings.HasSuffix(got, "(the zone of this machine, CET)") {
		t.Errorf("it is shown as %q", got)
	}
	if got := (moment{Zone: "Europe/Berlin", Abbreviation: "CET"}).String(); !strings.HasSuffix(got, "(Europe/Berlin)") {
		t.Errorf("a zone with a name is shown as %q", got)
	}
}

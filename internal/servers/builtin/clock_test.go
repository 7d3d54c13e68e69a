package builtin

import (
	"strings"
	"testing"
	"time"
)

func testClock(t *testing.T) *clock {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return &clock{now: at("2026-07-01T22:30:00Z"), local: berlin}
}

func TestNow(t *testing.T) {
	session := connect(t, testClock(t), nil)
	for _, test := range []struct {
		zone, name, time, abbreviation string
	}{
		{"", "Europe/Berlin", "2026-07-02T00:30:00+02:00", "CEST"},
		{"local", "Europe/Berlin", "2026-07-02T00:30:00+02:00", "CEST"},
		{"UTC", "UTC", "2026-07-01T22:30:00Z", "UTC"},
		{"z", "UTC", "2026-07-01T22:30:00Z", "UTC"},
		{"america/new york", "America/New_York", "2026-07-01T18:30:00-04:00", "EDT"},
		{"Asia/Kathmandu", "Asia/Kathmandu", "2026-07-02T04:15:00+05:45", "+0545"},
		{"+05:30", "UTC+05:30", "2026-07-02T04:00:00+05:30", "UTC+05:30"},
		{"utc-3", "UTC-03:00", "2026-07-01T19:30:00-03:00", "UTC-03:00"},
		{"GMT+5:30", "UTC+05:30", "2026-07-02T04:00:00+05:30", "UTC+05:30"},
		{"UTC-03", "UTC-03:00", "2026-07-01T19:30:00-03:00", "UTC-03:00"},
		{"+0000", "UTC", "2026-07-01T22:30:00Z", "UTC"},
	} {
		out, text := call[moment](t, session, "now", args{"zone": test.zone})
		if out.Zone != test.name || out.Time != test.time || out.Abbreviation != test.abbreviation || out.Unix != 1782945000 {
			t.Errorf("%q: %+v", test.zone, out)
		}
		contains(t, text, test.time, out.Weekday, test.name)
	}
}

func TestConvert(t *testing.T) {
	session := connect(t, testClock(t), nil)
	for _, test := range []struct {
		time, from, to string
		want           string
		note           string
	}{
		{"2026-01-15 12:00", "Europe/Berlin", "America/New_York", "2026-01-15T06:00:00-05:00", ""},
		// Between the changes in America and in Europe they are an hour closer.
		{"2026-03-15 12:00", "Europe/Berlin", "America/New_York", "2026-03-15T07:00:00-04:00", ""},
		{"2026-03-29 01:59", "Europe/Berlin", "UTC", "2026-03-29T00:59:00Z", ""},
		{"2026-03-29 02:30", "Europe/Berlin", "UTC", "2026-03-29T01:30:00Z", "does not exist in Europe/Berlin, where clocks are set forward; taken as 03:30"},
		{"2026-03-29 03:00", "Europe/Berlin", "UTC", "2026-03-29T01:00:00Z", ""},
		{"2026-10-25 01:59", "Europe/Berlin", "UTC", "2026-10-24T23:59:00Z", ""},
		{"2026-10-25 02:30", "Europe/Berlin", "UTC", "2026-10-25T00:30:00Z", "comes twice in Europe/Berlin, where clocks are set back; the first is meant (UTC+02:00)"},
		{"2026-10-25T02:30:00+01:00", "Europe/Berlin", "UTC", "2026-10-25T01:30:00Z", ""},
		{"2026-10-25 03:00", "Europe/Berlin", "UTC", "2026-10-25T02:00:00Z", ""},
		{"2026-11-01 01:30", "America/New_York", "UTC", "2026-11-01T05:30:00Z", "comes twice"},
		// Clocks on Lord Howe Island change by half an hour, in October.
		{"2026-10-04 02:15", "Australia/Lord_Howe", "UTC", "2026-10-03T15:45:00Z", "taken as 02:45"},
		// Samoa went over the date line and had no 30 December.
		{"2011-12-30 12:00", "Pacific/Apia", "UTC", "2011-12-30T22:00:00Z", "does not exist"},
		{"09:15", "", "Asia/Tokyo", "2026-07-02T16:15:00+09:00", ""},
		{"09:15:30", "America/New_York", "UTC", "2026-07-01T13:15:30Z", ""},
		{"now", "", "UTC", "2026-07-01T22:30:00Z", ""},
		{"2026-02-01", "UTC", "+01:00", "2026-02-01T01:00:00+01:00", ""},
		{"2026-02-01t10:00:00z", "", "UTC", "2026-02-01T10:00:00Z", ""},
		{"2026-02-01 10:00+02:00", "", "UTC", "2026-02-01T08:00:00Z", ""},
	} {
		out, text := call[convertOutput](t, session, "convert_time", args{"time": test.time, "from": test.from, "to": []string{test.to}})
		if len(out.To) != 1 || out.To[0].Time != test.want {
			t.Errorf("%s in %s: got %+v, want %s", test.time, test.from, out.To, test.want)
		}
		if (out.Note == "") != (test.note == "") {
			t.Errorf("%s: note is %q", test.time, out.Note)
		}
		contains(t, text, test.note)
	}
}

func TestConvertToMany(t *testing.T) {
	session := connect(t, testClock(t), nil)
	out, text := call[convertOutput](t, session, "convert_time", args{"time": "2026-07-01T10:00:00+02:00", "to": []string{"UTC", "Asia/Tokyo"}})
	if out.From.Zone != "UTC+02:00" || len(out.To) != 2 || out.To[1].Zone != "Asia/Tokyo" {
		t.Errorf("got %+v", out)
	}
	want := "Wednesday, 2026-07-01T10:00:00+02:00 (UTC+02:00) is\nWednesday, 2026-07-01T08:00:00Z (UTC)\nWednesday, 2026-07-01T17:00:00+09:00 (Asia/Tokyo)"
	if text != want {
		t.Errorf("got %s", text)
	}
}

func TestClockRefuses(t *testing.T) {
	session := connect(t, testClock(t), nil)
	for _, test := range []struct {
		tool string
		args args
		want []string
	}{
		{"now", args{"zone": "Europe/Berln"}, []string{`no time zone "Europe/Berln"`, "Did you mean Europe/Berlin"}},
		{"now", args{"zone": "tokyo"}, []string{"Asia/Tokyo"}},
		{"now", args{"zone": "New York"}, []string{"America/New_York"}},
		{"now", args{"zone": "PST"}, []string{"PST8PDT"}},
		{"now", args{"zone": "../../etc/passwd"}, []string{"no time zone", "IANA"}},
		{"now", args{"zone": "x2"}, []string{"no time zone"}},
		{"now", args{"zone": "+25:00"}, []string{"no time zone"}},
		{"now", args{"zone": strings.Repeat("x", 1000)}, []string{"1000 bytes"}},
		{"convert_time", args{"time": "tomorrow", "to": []string{"UTC"}}, []string{`"tomorrow"`, "RFC 3339"}},
		{"convert_time", args{"time": "2026-02-30 10:00", "to": []string{"UTC"}}, []string{"cannot be understood"}},
		{"convert_time", args{"time": "10:00", "to": []string{}}, []string{"0 zones", "1 to 50"}},
		{"convert_time", args{"time": "10:00", "to": make([]string, 51)}, []string{"51 zones"}},
		{"convert_time", args{"time": "10:00", "to": []string{"Mars"}}, []string{`"Mars"`}},
		{"convert_time", args{"time": "10:00", "from": "Mars", "to": []string{"UTC"}}, []string{`"Mars"`}},
		{"time_difference", args{"from": "x", "to": "10:00"}, []string{`"x"`}},
		{"time_difference", args{"from": "10:00", "to": "y"}, []string{`"y"`}},
		{"time_difference", args{"from": "10:00", "to": "11:00", "zone": "Mars"}, []string{`"Mars"`}},
	} {
		callError(t, session, test.tool, test.args, test.want...)
	}
}

func TestDifference(t *testing.T) {
	session := connect(t, testClock(t), nil)
	for _, test := range []struct {
		from, to, zone string
		seconds        float64
		iso, text      string
	}{
		{"10:00", "11:30", "", 5400, "PT1H30M", "1 hour, 30 minutes later"},
		{"11:30", "10:00", "", -5400, "-PT1H30M", "1 hour, 30 minutes earlier"},
		{"10:00", "10:00", "", 0, "PT0S", "no time"},
		{"2026-01-01", "2026-01-03", "UTC", 172800, "P2D", "2 days later"},
		// A day on which clocks are set forward has 23 hours.
		{"2026-03-29", "2026-03-30", "Europe/Berlin", 82800, "PT23H", "23 hours later"},
		{"2026-01-01T00:00:00Z", "2026-01-02T03:04:05.5Z", "", 97445.5, "P1DT3H4M5.5S", "1 day, 3 hours, 4 minutes, 5.5 seconds later"},
		{"2026-01-01T00:00:00.9Z", "2026-01-01T00:00:01.9Z", "", 1, "PT1S", "1 second later"},
		{"2026-01-01T00:00:00.9Z", "2026-01-01T00:00:01Z", "", 0.1, "PT0.1S", "0.1 seconds later"},
		{"now", "2026-07-01T22:31:00Z", "", 60, "PT1M", "1 minute later"},
		{"0001-01-01", "9999-12-31", "UTC", 315537811200, "P3652058D", "3652058 days later"},
	} {
		out, text := call[differenceOutput](t, session, "time_difference", args{"from": test.from, "to": test.to, "zone": test.zone})
		if out.Seconds != test.seconds || out.Duration != test.iso || out.Text != test.text {
			t.Errorf("%s to %s: %v, %s, %s", test.from, test.to, out.Seconds, out.Duration, out.Text)
		}
		contains(t, text, test.iso, test.text)
	}
	out, _ := call[differenceOutput](t, session, "time_difference", args{"from": "2026-10-25 02:30", "to": "2026-10-25 02:45"})
	if strings.Count(out.Note, "comes twice") != 2 {
		t.Errorf("note is %q", out.Note)
	}
}

func TestEveryListedZoneExists(t *testing.T) {
	if len(zoneNames()) < 400 {
		t.Errorf("only %d zones", len(zoneNames()))
	}
	for _, name := range zoneNames() {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
}

package builtin

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const maxZones = 50 // time zones in one answer; more are refused

// clock is the time server.
type clock struct {
	now   func() time.Time
	local *time.Location
}

func openClock(name string, args []string) (service, error) {
	if err := parseFlags(name, args, func(*flag.FlagSet) {}); err != nil {
		return nil, err
	}
	return &clock{now: time.Now, local: time.Local}, nil
}

func (c *clock) Close() error { return nil }

func (c *clock) instructions() string {
	return "Knows the time now and the time zones of the world. Ask it instead of guessing the date, and for all arithmetic on times."
}

func (c *clock) register(server *mcp.Server) {
	addTool(server, &mcp.Tool{
		Name:        "now",
		Title:       "Current time",
		Description: "Tell the current date and time, in the user's zone or another.",
		Annotations: readOnly(),
	}, c.currentTime)
	addTool(server, &mcp.Tool{
		Name:        "convert_time",
		Title:       "Convert time between zones",
		Description: "Tell what a time in one zone is in others. Daylight saving is taken into account, and times that clocks skip or repeat are pointed out.",
		Annotations: readOnly(),
	}, c.convert)
	addTool(server, &mcp.Tool{
		Name:        "time_difference",
		Title:       "Time between two times",
		Description: "Tell how much time passes from one time to another, in words, in seconds and as an ISO 8601 duration. Days are 24 hours.",
		Annotations: readOnly(),
	}, c.difference)
}

// moment is a time in a zone.
type moment struct {
	Zone         string `json:"zone" jsonschema:"Name of the zone; Local is the zone of this machine"`
	Time         string `json:"time" jsonschema:"RFC 3339"`
	Weekday      string `json:"weekday"`
	UTCOffset    string `json:"utc_offset" jsonschema:"Offset from UTC, such as +02:00"`
	Abbreviation string `json:"abbreviation" jsonschema:"Short name of the zone at that time, such as CEST"`
	DaylightTime bool   `json:"daylight_time" jsonschema:"Whether daylight saving is in effect"`
	Unix         int64  `json:"unix" jsonschema:"Seconds since 1970-01-01 UTC"`
}

func describeTime(t time.Time) moment {
	abbreviation, offset := t.Zone()
	return moment{
		Zone:         t.Location().String(),
		Time:         t.Format(time.RFC3339),
		Weekday:      t.Weekday().String(),
		UTCOffset:    utcOffset(offset),
		Abbreviation: abbreviation,
		DaylightTime: t.IsDST(),
		Unix:         t.Unix(),
	}
}

func (m moment) String() string {
	zone := m.Zone
	if zone == time.Local.String() {
		zone = "the zone of this machine, " + m.Abbreviation
	}
	return fmt.Sprintf("%s, %s (%s)", m.Weekday, m.Time, zone)
}

type nowInput struct {
	Zone string `json:"zone,omitempty" jsonschema:"Time zone, such as Europe/Berlin, UTC or +02:00. Default: the zone of this machine."`
}

func (c *clock) currentTime(_ context.Context, _ *mcp.CallToolRequest, in nowInput) (*mcp.CallToolResult, *moment, error) {
	zone, err := c.zone(in.Zone)
	if err != nil {
		return nil, nil, err
	}
	m := describeTime(c.now().In(zone))
	return answer(m.String()), &m, nil
}

type convertInput struct {
	Time string   `json:"time" jsonschema:"Time to convert: 2006-01-02 15:04, 15:04 for today, now, or RFC 3339."`
	From string   `json:"from,omitempty" jsonschema:"Zone the time is in, unless it has an offset itself. Default: the zone of this machine."`
	To   []string `json:"to" jsonschema:"Zones to convert to, such as Europe/Berlin, UTC or +02:00."`
}

type convertOutput struct {
	From moment   `json:"from" jsonschema:"The time to convert, as it was understood"`
	To   []moment `json:"to" jsonschema:"The same time in the other zones, in the order asked for"`
	Note string   `json:"note,omitempty" jsonschema:"How a time that clocks skip or repeat was understood"`
}

func (c *clock) convert(_ context.Context, _ *mcp.CallToolRequest, in convertInput) (*mcp.CallToolResult, *convertOutput, error) {
	if len(in.To) == 0 || len(in.To) > maxZones {
		return nil, nil, refuse(fmt.Sprintf("Give 1 to %d zones in to.", maxZones), "There are %d zones to convert to.", len(in.To))
	}
	from, err := c.zone(in.From)
	if err != nil {
		return nil, nil, err
	}
	t, note, err := c.parse(in.Time, from)
	if err != nil {
		return nil, nil, err
	}
	out := &convertOutput{From: describeTime(t), Note: note}
	lines := []string{out.From.String() + " is"}
	for _, name := range in.To {
		zone, err := c.zone(name)
		if err != nil {
			return nil, nil, err
		}
		m := describeTime(t.In(zone))
		out.To = append(out.To, m)
		lines = append(lines, m.String())
	}
	return answer(strings.Join(lines, "\n"), note), out, nil
}

type differenceInput struct {
	From string `json:"from" jsonschema:"Start: 2006-01-02 15:04, 15:04 for today, now, or RFC 3339."`
	To   string `json:"to" jsonschema:"End, written like from."`
	Zone string `json:"zone,omitempty" jsonschema:"Zone of times that have no offset themselves. Default: the zone of this machine."`
}

type differenceOutput struct {
	From     moment  `json:"from" jsonschema:"The start, as it was understood"`
	To       moment  `json:"to" jsonschema:"The end, as it was understood"`
	Seconds  float64 `json:"seconds" jsonschema:"Seconds from start to end; negative if the end is earlier"`
	Duration string  `json:"iso8601" jsonschema:"The same as an ISO 8601 duration; a day is 24 hours"`
	Text     string  `json:"text" jsonschema:"The same in words"`
	Note     string  `json:"note,omitempty" jsonschema:"How times that clocks skip or repeat were understood"`
}

func (c *clock) difference(_ context.Context, _ *mcp.CallToolRequest, in differenceInput) (*mcp.CallToolResult, *differenceOutput, error) {
	zone, err := c.zone(in.Zone)
	if err != nil {
		return nil, nil, err
	}
	from, fromNote, err := c.parse(in.From, zone)
	if err != nil {
		return nil, nil, err
	}
	to, toNote, err := c.parse(in.To, zone)
	if err != nil {
		return nil, nil, err
	}
	s := spanBetween(from, to)
	out := &differenceOutput{
		From:     describeTime(from),
		To:       describeTime(to),
		Seconds:  s.inSeconds(),
		Duration: s.iso8601(),
		Text:     s.String(),
		Note:     sentences(fromNote, toNote),
	}
	text := fmt.Sprintf("From %s to %s: %s (%s seconds, %s).", out.From, out.To, out.Text, s.number(), out.Duration)
	return answer(text, out.Note), out, nil
}

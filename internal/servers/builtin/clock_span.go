package builtin

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// span is the difference of two times. A time.Duration is limited to 292 years, too short for questions about history.
type span struct {
	negative bool
	seconds  int64
	nanos    int64
}

func spanBetween(from, to time.Time) span {
	negative := to.Before(from)
	if negative {
		from, to = to, from
	}
	s := span{negative: negative, seconds: to.Unix() - from.Unix(), nanos: int64(to.Nanosecond() - from.Nanosecond())}
	if s.nanos < 0 {
		s.seconds--
		s.nanos += int64(time.Second)
	}
	return s
}

func (s span) inSeconds() float64 {
	total := float64(s.seconds) + float64(s.nanos)/float64(time.Second)
	if s.negative {
		return -total
	}
	return total
}

// number returns the seconds with their fraction, without the rounding of a float.
func (s span) number() string {
	text := fraction(s.seconds, s.nanos)
	if s.negative {
		return "-" + text
	}
	return text
}

func fraction(seconds, nanos int64) string {
	if nanos == 0 {
		return fmt.Sprint(seconds)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%09d", seconds, nanos), "0")
}

func (s span) parts() (days, hours, minutes, seconds int64) {
	return s.seconds / 86400, s.seconds / 3600 % 24, s.seconds / 60 % 60, s.seconds % 60
}

func (s span) iso8601() string {
	var b strings.Builder
	if s.negative {
		b.WriteByte('-')
	}
	b.WriteByte('P')
	days, hours, minutes, seconds := s.parts()
	if days > 0 {
		fmt.Fprintf(&b, "%dD", days)
	}
	if days > 0 && hours+minutes+seconds+s.nanos == 0 {
		return b.String()
	}
	b.WriteByte('T')
	if hours > 0 {
		fmt.Fprintf(&b, "%dH", hours)
	}
	if minutes > 0 {
		fmt.Fprintf(&b, "%dM", minutes)
	}
	if seconds+s.nanos > 0 || s.seconds == 0 {
		b.WriteString(fraction(seconds, s.nanos) + "S")
	}
	return b.String()
}

func (s span) String() string {
	days, hours, minutes, seconds := s.parts()
	var parts []string
	for _, part := range []struct {
		n    int64
		noun string
	}{{days, "day"}, {hours, "hour"}, {minutes, "minute"}} {
		if part.n > 0 {
			parts = append(parts, toolbox.Count(int(part.n), part.noun, part.noun+"s"))
		}
	}
	if text := fraction(seconds, s.nanos); text == "1" {
		parts = append(parts, "1 second")
	} else if text != "0" {
		parts = append(parts, text+" seconds")
	}
	switch {
	case len(parts) == 0:
		return "no time"
	case s.negative:
		return strings.Join(parts, ", ") + " earlier"
	}
	return strings.Join(parts, ", ") + " later"
}

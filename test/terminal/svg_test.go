package terminal

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestDraw(t *testing.T) {
	picture := Draw(20, 3, []Frame{
		{"$ list\n\x1b[32m+ <added>\n+ more\x1b[0m plain\n", time.Second},
		{"\x1b[1;31mbad\x1b[39m", time.Second},
	})
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
	for _, part := range []string{
		`<tspan>$ list</tspan>`,
		`<tspan style="fill:#98c379;">+ &lt;added&gt;</tspan>`,
		`<tspan style="fill:#98c379;">+ more</tspan><tspan> plain</tspan>`, // the colour goes on
		`<tspan style="font-weight:bold;fill:#e06c75;">bad</tspan>`,
		`@keyframes f1{0%{visibility:hidden}50.000%{visibility:visible}100.000%{visibility:hidden}`,
	} {
		if !strings.Contains(picture, part) {
			t.Errorf("%s is not in\n%s", part, picture)
		}
	}
}

package era

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/protocol"
)

func TestNoticesFit(t *testing.T) {
	const progress, log = `{"progressToken":"p","progress":1}`, `{"level":"info"}`
	for name, test := range map[string]struct {
		notices              *Notices
		method, params, want string // "": it is not wanted
	}{
		"the same token":    {&Notices{ProgressToken: []byte(`"p"`)}, protocol.NotifyProgress, progress, progress},
		"another token":     {&Notices{ProgressToken: []byte(`2`)}, protocol.NotifyProgress, progress, strings.Replace(progress, `"p"`, `2`, 1)},
		"no token":          {&Notices{}, protocol.NotifyProgress, progress, ""},
		"no log messages":   {&Notices{Severity: -1}, protocol.NotifyMessage, log, ""},
		"severe ones":       {&Notices{Severity: protocol.Severity("error")}, protocol.NotifyMessage, log, ""},
		"all log messages":  {&Notices{Severity: protocol.Severity("debug")}, protocol.NotifyMessage, log, log},
		"legacy":            {nil, protocol.NotifyProgress, progress, progress},
		"some notification": {&Notices{Severity: -1}, "x", `{}`, `{}`},
	} {
		got, wanted := test.notices.Fit(test.method, []byte(test.params), &Notices{ProgressToken: []byte(`"p"`)})
		if wanted != (test.want != "") || wanted && string(got) != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, wanted, test.want)
		}
	}
}

func TestTagSubscription(t *testing.T) {
	const tag = `"io.modelcontextprotocol/subscriptionId":1`
	for params, want := range map[string]string{
		``:                                      `{"_meta":{` + tag + `}}`,
		`{"uri":"x:1"}`:                         `{"uri":"x:1","_meta":{` + tag + `}}`,
		`{"_meta":7,"uri":"x:1"}`:               `{"uri":"x:1","_meta":{` + tag + `}}`,
		`{"uri":"x:1","_meta":{"a":1}}`:         `{"uri":"x:1","_meta":{"a":1,` + tag + `}}`,
		`{"_meta":{` + tag[:len(tag)-1] + `2}}`: `{"_meta":{` + tag + `}}`,
	} {
		if got := string(TagSubscription([]byte(params), []byte("1"))); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
}

package call

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
)

func TestRoutedParts(t *testing.T) {
	ended := End{Status: StatusOK}
	for _, test := range []struct {
		name  string
		parts []Routed
		want  string // the server of the only part; "": there is none, or several
	}{
		{"none", nil, ""},
		{"one that goes on", []Routed{{Server: "a"}}, "a"},
		{"one that was sent and answered", []Routed{{Server: "a"}, {Server: "a", End: ended}}, "a"},
		{"one in two rounds", []Routed{{Server: "a"}, {Server: "a"}, {Server: "a", End: ended}}, "a"},
		{"one that was not sent", []Routed{{Server: "a", End: ended}}, "a"},
		{"two servers", []Routed{{Server: "a"}, {Server: "b"}}, ""},
		{"two pages", []Routed{{Server: "a", End: ended}, {Server: "a", End: ended}}, ""},
	} {
		o := new(Origin)
		for _, part := range test.parts {
			o.Route(part)
		}
		if got, ok := o.Routed(); got.Server != test.want || ok != (test.want != "") {
			t.Errorf("%s: %+v, %t", test.name, got, ok)
		}
	}
	o := new(Origin)
	for range 2 * maxParts {
		o.Route(Routed{Server: "a", End: ended})
		o.started(Start{})
	}
	if len(o.routed) != maxParts || len(o.Starts()) != maxParts {
		t.Errorf("there are %d parts and %d starts", len(o.routed), len(o.Starts()))
	}
}

// Only servers that were not running are starts.
func TestConnectRecordsStarts(t *testing.T) {
	servers, _ := serve(t, `{`+tools+`}`)
	box, _ := servers.Toolbox("T")
	a := newAnswerer(t, everything, nil)
	for _, want := range []int{1, 0} {
		o, told := new(Origin), 0
		for _, opened := range o.Connect(t.Context(), box.Servers, a.Profile(), func(fleet.Opened) { told++ }) {
			if opened.Err != nil {
				t.Fatal(opened.Err)
			}
			opened.Lease.Release()
		}
		if starts := o.Starts(); len(starts) != want || told != 1 || want == 1 && (starts[0].Server != "S" || !starts[0].Ended.After(starts[0].Began) || starts[0].Failed) {
			t.Errorf("the starts are %+v, %d were told", starts, told)
		}
	}
}

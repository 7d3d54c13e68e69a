package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReachOfErrors checks what an error takes out of use: one server, or the file.
func TestReachOfErrors(t *testing.T) {
	const works = `"works": {"command": "w"}`
	for _, test := range []struct {
		name, file string
		faulty     []string // servers, as toolbox/server; nil: the file
	}{
		{"unset variable", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","env":{"A":"${UNSET}"}},` + works + `}}}}`, []string{"T/S"}},
		{"unset variable in a key", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","env":{"${UNSET}":"a"}},` + works + `}}}}`, []string{"T/S"}},
		{"unset variable in its name", `{"toolboxes":{"T":{"mcpServers":{"${UNSET}":{"command":"x"},` + works + `}}}}`, []string{"T/${UNSET}"}},
		{"unclosed brace", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"${A"},` + works + `}}}}`, []string{"T/S"}},
		{"wrong type", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","args":"y"},` + works + `}}}}`, []string{"T/S"}},
		{"no object", `{"toolboxes":{"T":{"mcpServers":{"S":[],` + works + `}}}}`, []string{"T/S"}},
		{"no command", `{"toolboxes":{"T":{"mcpServers":{"S":{},` + works + `}}}}`, []string{"T/S"}},
		{"command and url", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","url":"http://h"},` + works + `}}}}`, []string{"T/S"}},
		{"unknown transport", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","transport":"smoke"},` + works + `}}}}`, []string{"T/S"}},
		{"transport and type differ", `{"toolboxes":{"T":{"mcpServers":{"S":{"url":"http://h","transport":"sse","type":"http"},` + works + `}}}}`, []string{"T/S"}},
		{"duplicate key in it", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","command":"y"},` + works + `}}}}`, []string{"T/S"}},
		{"duplicate variable", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","env":{"A":"1","A":"2"}},` + works + `}}}}`, []string{"T/S"}},
		{"header in two cases", `{"toolboxes":{"T":{"mcpServers":{"S":{"url":"http://h","headers":{"A":"1","a":"2"}},` + works + `}}}}`, []string{"T/S"}},
		{"its timeouts", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x","timeouts":{"call":"-1s"}},` + works + `}}}}`, []string{"T/S"}},
		{"empty name", `{"toolboxes":{"T":{"mcpServers":{"":{"command":"x"},` + works + `}}}}`, []string{"T/"}},
		{"name in dynamic mode", `{"toolMode":"dynamic","toolboxes":{"T":{"mcpServers":{"a__b":{"command":"x"},` + works + `}}}}`, []string{"T/a__b"}},
		{"disabled and wrong", `{"toolboxes":{"T":{"mcpServers":{"S":{"disabled":true,"args":1},` + works + `}}}}`, []string{"T/S"}},
		{"one name in two toolboxes", `{"toolboxes":{"T":{"mcpServers":{"S":{}}},"U":{"mcpServers":{"S":{"command":"x"},` + works + `}}}}`, []string{"T/S"}},
		{"names like paths", `{"toolboxes":{"a.b":{"mcpServers":{"x.y":{},` + works + `}},"a":{"mcpServers":{"b.mcpServers.x":{"command":"c"}}}}}`, []string{"a.b/x.y"}},
		{"several", `{"toolboxes":{"T":{"mcpServers":{"S":{},"R":{"args":1},` + works + `}}}}`, []string{"T/S", "T/R"}},

		{"syntax", `{"toolboxes":{"T":{"mcpServers":{` + works + `}}`, nil},
		{"no toolboxes", `{}`, nil},
		{"no servers", `{"toolboxes":{"T":{},"U":{"mcpServers":{` + works + `}}}}`, nil},
		{"toolbox of a wrong type", `{"toolboxes":{"T":1,"U":{"mcpServers":{` + works + `}}}}`, nil},
		{"duplicate server", `{"toolboxes":{"T":{"mcpServers":{"S":{"command":"x"},"S":{"command":"y"},` + works + `}}}}`, nil},
		{"duplicate toolbox", `{"toolboxes":{"T":{"mcpServers":{` + works + `}},"T":{"mcpServers":{}}}}`, nil},
		{"toolMode", `{"toolMode":"x","toolboxes":{"T":{"mcpServers":{` + works + `}}}}`, nil},
		{"timeouts of the file", `{"timeouts":1,"toolboxes":{"T":{"mcpServers":{` + works + `}}}}`, nil},
		{"timeouts of a toolbox", `{"toolboxes":{"T":{"timeouts":{"call":"x"},"mcpServers":{` + works + `}}}}`, nil},
		{"name of a toolbox in dynamic mode", `{"toolMode":"dynamic","toolboxes":{"a__b":{"mcpServers":{` + works + `}}}}`, nil},
		{"unset variable in a description", `{"toolboxes":{"T":{"description":"${UNSET}","mcpServers":{` + works + `}}}}`, nil},
		{"pinned", `{"pinned":["a/b/c"],"toolboxes":{"T":{"mcpServers":{` + works + `}}}}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := Parse("test.json", []byte(test.file), options())
			if test.faulty == nil {
				if err == nil || cfg != nil {
					t.Errorf("error %v, faults %v", err, cfg.Faults())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var faulty []string
			for _, box := range cfg.Toolboxes {
				for _, s := range box.Servers {
					if s.Fault == nil && s.Command == "" {
						t.Errorf("server %s is not as written: %+v", s.Name, s)
					}
					if s.Fault != nil {
						faulty = append(faulty, box.Name+"/"+s.Name)
						if want := (Server{Name: s.Name, Disabled: s.Disabled, Fault: s.Fault}); !reflect.DeepEqual(s, want) {
							t.Errorf("something of a faulty server is left: %+v", s)
						}
					}
				}
			}
			if diff := cmp.Diff(test.faulty, faulty); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFaultsInFileOrder checks that all problems are told at once, a server's own with it.
func TestFaultsInFileOrder(t *testing.T) {
	cfg, err := Parse("test.json", []byte("{\"toolboxes\":{\"T\":{\"mcpServers\":{\n"+
		"\"S\":{\"args\":1,\n\"env\":2},\n\"R\":{\"command\":\"${UNSET}\"}\n}}},\"unknown\":1}"), options())
	if err != nil {
		t.Fatal(err)
	}
	if fault := cfg.Toolboxes[0].Servers[1].Fault.Error(); !strings.HasPrefix(fault, "test.json:4:16: Environment variable expansion failed\n") {
		t.Errorf("fault %s", fault)
	}
	_, err = Strict(cfg, nil)
	var places []string
	for _, line := range strings.Split(err.Error(), "\n") {
		if strings.HasPrefix(line, "test.json:") {
			places = append(places, strings.Join(strings.SplitN(line, ":", 4)[1:3], ":"))
		}
	}
	if diff := cmp.Diff([]string{"2:1", "2:13", "3:7", "4:16", "1:15", "5:5"}, places); diff != "" || !strings.HasSuffix(err.Error(), "4 problems in test.json") {
		t.Errorf("places %v of %v\n%s", places, err, diff)
	}
}

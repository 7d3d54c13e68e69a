package doctor

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestVariablesThatAreNotPassedOn(t *testing.T) {
	environ := []string{"PATH=/bin", "AWS_PROFILE=work", "HTTP_PROXY=http://me:hunter2hunter2@proxy:1", "EDITOR=vi", "MY_TOKEN=hunter2hunter2"}
	server := func(change func(*config.Server)) []Patient {
		s := config.Server{Name: "s", Command: "x"}
		change(&s)
		return []Patient{{"dev", s}}
	}
	for _, test := range []struct {
		name     string
		patients []Patient
		want     string
	}{
		{"a program", server(func(*config.Server) {}), "AWS_PROFILE, HTTP_PROXY, MY_TOKEN"},
		{"named", server(func(s *config.Server) { s.InheritEnv.Patterns = []string{"AWS_*", "MY_TOKEN"} }), "HTTP_PROXY"},
		{"all", server(func(s *config.Server) { s.InheritEnv.All = true }), ""},
		{"remote", server(func(s *config.Server) { s.Command = "" }), ""},
	} {
		check, ok := NotPassedOn(test.patients, environ)
		if ok != (test.want != "") || !strings.HasSuffix(check.Detail, test.want) || strings.Contains(check.Detail, "hunter2") {
			t.Errorf("%s: %v, %q", test.name, ok, check.Detail)
		}
	}
}

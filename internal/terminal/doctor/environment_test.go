package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

func TestVariablesThatAreNotPassedOn(t *testing.T) {
	environ := []string{"PATH=/bin", "AWS_PROFILE=work", "HTTP_PROXY=http://me:hunter2hunter2@proxy:1", "EDITOR=vi", "VERY_OWN=hunter2hunter2", "LESS=-R", "PWD=/", "MY_TOKEN=hunter2hunter2"}
	server := func(change func(*config.Server)) []Patient {
		s := config.Server{Name: "s", Command: "x"}
		change(&s)
		return []Patient{{"dev", s}}
	}
	const listed = "ok: set here, and not passed on to servers unless their 'env' or 'inheritEnv' names them: "
	for _, test := range []struct {
		name     string
		patients []Patient
		want     []string
	}{
		{"a program", server(func(*config.Server) {}), []string{listed + "AWS_PROFILE, HTTP_PROXY, MY_TOKEN"}},
		{"named", server(func(s *config.Server) { s.InheritEnv.Patterns = []string{"AWS_*", "MY_TOKEN"} }), []string{listed + "HTTP_PROXY"}},
		{"all", server(func(s *config.Server) { s.InheritEnv.All = true; s.Args = []string{"$EDITOR"} }), nil},
		{"remote", server(func(s *config.Server) { s.Command = "" }), nil},
		{"disabled", server(func(s *config.Server) { s.Disabled = true }), nil},
		{"mentioned", server(func(s *config.Server) {
			s.Args = []string{"-c", "run $EDITOR ${EDITOR:-vi} $PWD VERY_OWN", "--env=LESS", "-e", "VERY_OWN"}
			s.InheritEnv.Patterns = []string{"AWS_*", "MY_TOKEN", "HTTP_PROXY"}
		}), []string{
			"warning: dev/s mentions EDITOR, which is set here and not passed on to it",
			"warning: dev/s mentions LESS, which is set here and not passed on to it",
			"warning: dev/s mentions VERY_OWN, which is set here and not passed on to it",
		}},
		{"mentioned and passed on", server(func(s *config.Server) {
			s.Args = []string{"-e", "VERY_OWN"}
			s.Env = []config.Variable{{Name: "VERY_OWN", Value: "hunter2hunter2"}}
			s.InheritEnv.Patterns = []string{"AWS_*", "MY_TOKEN", "HTTP_PROXY"}
		}), nil},
	} {
		var got []string
		for _, check := range NotPassedOn(test.patients, environ) {
			got = append(got, string(check.Verdict)+": "+check.Detail)
			if strings.Contains(check.Detail+check.Fix, "hunter2") {
				t.Errorf("%s: %q reveals a value", test.name, check)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

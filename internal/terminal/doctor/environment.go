package doctor

import (
	"path"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
)

const checkEnvironment = "environment"

// expected are the variables that servers are known to read, and that they do not get by themselves.
var expected = []string{
	"AWS_*", "AZURE_*", "GOOGLE_*", "GCLOUD_*", "CLOUDSDK_*", "GITHUB_*", "GH_*", "GITLAB_*", "OPENAI_*", "ANTHROPIC_*", "NODE_OPTIONS",
	"NPM_CONFIG_*", "npm_config_*", "PIP_*", "PYTHONPATH", "VIRTUAL_ENV", "DATABASE_URL", "PG*", "*_TOKEN", "*_API_KEY",
}

// NotPassedOn names the variables that are set here, that servers may expect, and that some server that is started as a
// program does not get. It reports false if there are none.
func NotPassedOn(patients []Patient, environ []string) (Check, bool) {
	var names []string
	for _, patient := range patients {
		server := patient.Config
		if server.Command == "" || server.Disabled {
			continue
		}
		var own []string
		for _, variable := range server.Env {
			own = append(own, variable.Name+"="+variable.Value)
		}
		_, withheld := process.Environment(environ, process.Inherit{All: server.InheritEnv.All, Patterns: server.InheritEnv.Patterns}, own)
		for _, name := range withheld.Names {
			isExpected := slices.Contains(withheld.Credentials, name) || slices.ContainsFunc(expected, func(pattern string) bool {
				matched, err := path.Match(pattern, name)
				return err == nil && matched
			})
			if isExpected && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return Check{}, false
	}
	slices.Sort(names)
	return Check{
		Name: checkEnvironment, Verdict: Fine,
		Detail: "set here, and not passed on to servers unless their 'env' or 'inheritEnv' names them: " + strings.Join(names, ", "),
	}, true
}

package doctor

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const checkEnvironment = "environment"

// expected are the variables that servers are known to read, and that they do not get by themselves.
var expected = []string{
	"AWS_*", "AZURE_*", "GOOGLE_*", "GCLOUD_*", "CLOUDSDK_*", "GITHUB_*", "GH_*", "GITLAB_*", "OPENAI_*", "ANTHROPIC_*", "NODE_OPTIONS",
	"NPM_CONFIG_*", "npm_config_*", "PIP_*", "PYTHONPATH", "VIRTUAL_ENV", "DATABASE_URL", "PG*", "*_TOKEN", "*_API_KEY",
}

// NotPassedOn names the variables that are set here and that servers which are started as programs do not get: those that
// a server's own definition mentions, and those that servers are known to read.
func NotPassedOn(patients []Patient, environ []string) (checks []Check) {
	var names []string
	for _, patient := range patients {
		server := patient.Config
		if server.Command == "" || server.Disabled {
			continue
		}
		withheld := withheldFrom(&server, environ)
		for _, name := range mentioned(&server, withheld.Names) {
			checks = append(checks, Check{
				Name: checkEnvironment, Verdict: Warning,
				Detail: patient.Name() + " mentions " + name + ", which is set here and not passed on to it",
				Fix:    `If it needs the variable, write into the server: "env": {` + quoted(name) + ": " + quoted("${"+name+"}") + "}",
			})
		}
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
		return checks
	}
	slices.Sort(names)
	return append(checks, Check{
		Name: checkEnvironment, Verdict: Fine,
		Detail: "set here, and not passed on to servers unless their 'env' or 'inheritEnv' names them: " + strings.Join(names, ", "),
	})
}

func withheldFrom(server *config.Server, environ []string) process.Withheld {
	own := make([]string, len(server.Env))
	for i, variable := range server.Env {
		own[i] = variable.Name + "=" + variable.Value
	}
	_, withheld := process.Environment(environ, process.Inherit{All: server.InheritEnv.All, Patterns: server.InheritEnv.Patterns}, own)
	return withheld
}

// mention is a variable in a definition: $NAME and %NAME%, or an argument that is nothing else, as in -e NAME and --env=NAME.
var mention = regexp.MustCompile(`\$\{?([A-Za-z_]\w*)|%([A-Za-z_]\w*)%|^(?:-e|-{1,2}[\w-]+=)?([A-Za-z_]\w*)$`)

// madeByShells are variables that a shell sets for what it runs.
var madeByShells = []string{"PWD", "OLDPWD", "SHLVL", "_"}

// mentioned returns the names that the definition of a server mentions, each once.
func mentioned(server *config.Server, names []string) (found []string) {
	texts := slices.Clone(server.Args)
	for _, variable := range server.Env {
		texts = append(texts, variable.Value)
	}
	for _, text := range texts {
		for _, match := range mention.FindAllStringSubmatch(text, -1) {
			name := cmp.Or(match[1:]...)
			if slices.Contains(names, name) && !slices.Contains(found, name) && !slices.Contains(madeByShells, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

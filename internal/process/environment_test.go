package process

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	parent := []string{
		"PATH=/bin", "HOME=/home/me", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "https_proxy=http://proxy", "SSL_CERT_FILE=/ca.pem",
		"SSH_AUTH_SOCK=/agent", "UV_CACHE_DIR=/uv", "UV_PUBLISH_TOKEN=t", "GITHUB_TOKEN=t", "AWS_PROFILE=p", "AWS_SECRET_ACCESS_KEY=k",
		"PATHOLOGY=x", "EMPTY=", "nonsense", "=C:=C:\\",
	}
	short := []string{
		"PATH=/bin", "HOME=/home/me", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "https_proxy=http://proxy", "SSL_CERT_FILE=/ca.pem",
		"SSH_AUTH_SOCK=/agent", "UV_CACHE_DIR=/uv",
	}
	with := func(more ...string) []string { return append(append([]string{}, short...), more...) }
	tests := []struct {
		name     string
		inherit  Inherit
		extra    []string
		want     []string
		withheld []string
	}{
		{
			name:     "short",
			want:     short,
			withheld: []string{"UV_PUBLISH_TOKEN", "GITHUB_TOKEN", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "PATHOLOGY", "EMPTY"},
		},
		{
			name:    "all",
			inherit: Inherit{All: true},
			want:    parent[:14],
		},
		{
			name:     "patterns pass secrets that they name",
			inherit:  Inherit{Patterns: []string{"AWS_*", "EMPTY", "[bad"}},
			want:     with("AWS_PROFILE=p", "AWS_SECRET_ACCESS_KEY=k", "EMPTY="),
			withheld: []string{"UV_PUBLISH_TOKEN", "GITHUB_TOKEN", "PATHOLOGY"},
		},
		{
			name:     "extra wins",
			extra:    []string{"GITHUB_TOKEN=mine", "PATH=/opt"},
			want:     append(append([]string{}, short[1:]...), "GITHUB_TOKEN=mine", "PATH=/opt"),
			withheld: []string{"UV_PUBLISH_TOKEN", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "PATHOLOGY", "EMPTY"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env, withheld := environment(parent, test.inherit, test.extra, false)
			if diff := cmp.Diff(test.want, env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.withheld, withheld); diff != "" {
				t.Errorf("withheld (-want +got):\n%s", diff)
			}
		})
	}
}

// Names have no case on Windows.
func TestEnvironmentOnWindows(t *testing.T) {
	parent := []string{"Path=C:\\bin", "SystemRoot=C:\\Windows", "ProgramFiles(x86)=C:\\P", "Other=o", "Npm_Token=t"}
	env, withheld := environment(parent, Inherit{Patterns: []string{"oth*"}}, []string{"PATH=D:\\"}, true)
	if diff := cmp.Diff([]string{"SystemRoot=C:\\Windows", "ProgramFiles(x86)=C:\\P", "Other=o", "PATH=D:\\"}, env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Npm_Token"}, withheld); diff != "" {
		t.Errorf("withheld (-want +got):\n%s", diff)
	}
}

func TestMentionedVariables(t *testing.T) {
	withheld := []string{"GITHUB_TOKEN", "API_KEY", "HOST", "_", "TOKEN"}
	stderr := []string{
		"Error: environment variable 'GITHUB_TOKEN' is not set",
		"set $API_KEY_FILE or ${MY_API_KEY}; localhost is no HOSTNAME; _ ",
	}
	if diff := cmp.Diff([]string{"GITHUB_TOKEN"}, MentionedVariables(withheld, stderr)); diff != "" {
		t.Errorf("mentioned (-want +got):\n%s", diff)
	}
}

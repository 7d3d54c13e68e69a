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
		"NIX_CONFIG=access-tokens = github.com=ghp_0123456789abcdefghij", "HTTP_PROXY=http://me:hunter2@proxy:3128", "all_proxy=me:hunter2@proxy",
	}
	holders := []string{"NIX_CONFIG", "HTTP_PROXY", "all_proxy"}
	short := []string{
		"PATH=/bin", "HOME=/home/me", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "https_proxy=http://proxy", "SSL_CERT_FILE=/ca.pem",
		"SSH_AUTH_SOCK=/agent", "UV_CACHE_DIR=/uv",
	}
	with := func(more ...string) []string { return append(append([]string{}, short...), more...) }
	tests := []struct {
		name        string
		inherit     Inherit
		extra       []string
		want        []string
		withheld    []string
		credentials []string
	}{
		{
			name:        "short",
			want:        short,
			withheld:    []string{"UV_PUBLISH_TOKEN", "GITHUB_TOKEN", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "PATHOLOGY", "EMPTY", "NIX_CONFIG", "HTTP_PROXY", "all_proxy"},
			credentials: holders,
		},
		{
			name:    "all",
			inherit: Inherit{All: true},
			want:    append(append([]string{}, parent[:14]...), parent[16:]...),
		},
		{
			name:        "patterns pass secrets that they name",
			inherit:     Inherit{Patterns: []string{"AWS_*", "EMPTY", "[bad"}},
			want:        with("AWS_PROFILE=p", "AWS_SECRET_ACCESS_KEY=k", "EMPTY="),
			withheld:    []string{"UV_PUBLISH_TOKEN", "GITHUB_TOKEN", "PATHOLOGY", "NIX_CONFIG", "HTTP_PROXY", "all_proxy"},
			credentials: holders,
		},
		{
			name:        "patterns pass values with credentials",
			inherit:     Inherit{Patterns: []string{"HTTP_PROXY", "NIX_*"}},
			want:        with(parent[16], parent[17]),
			withheld:    []string{"UV_PUBLISH_TOKEN", "GITHUB_TOKEN", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "PATHOLOGY", "EMPTY", "all_proxy"},
			credentials: []string{"all_proxy"},
		},
		{
			name:        "extra wins",
			extra:       []string{"GITHUB_TOKEN=mine", "PATH=/opt"},
			want:        append(append([]string{}, short[1:]...), "GITHUB_TOKEN=mine", "PATH=/opt"),
			withheld:    []string{"UV_PUBLISH_TOKEN", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "PATHOLOGY", "EMPTY", "NIX_CONFIG", "HTTP_PROXY", "all_proxy"},
			credentials: holders,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env, withheld := environment(parent, test.inherit, test.extra, false)
			if diff := cmp.Diff(test.want, env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(Withheld{test.withheld, test.credentials}, withheld); diff != "" {
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
	if diff := cmp.Diff(Withheld{Names: []string{"Npm_Token"}}, withheld); diff != "" {
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

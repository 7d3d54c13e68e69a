package process

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
)

// Inherit selects what a child inherits besides the short environment. Unlike the short environment, both fields also
// pass variables with names of secrets.
type Inherit struct {
	// All passes everything.
	All bool
	// Patterns pass names that match, such as "AWS_*" (as in path.Match).
	Patterns []string
}

// inherited are the variables of the short environment, which every child gets: what programs need to find their files,
// their tools, the network and the user's desktop.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TERM", "TMPDIR", "XDG_*",

	"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "REQUESTS_CA_BUNDLE",
	"CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE",

	"SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",

	"NVM_*", "FNM_*", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "ASDF_*", "MISE_*", "PYENV_*", "UV_*",
	"GOPATH", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NIX_*",

	"DOCKER_HOST", "DOCKER_CONFIG", "KUBECONFIG",
}

// inheritedOnWindows are the counterparts on Windows, in upper case.
var inheritedOnWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "OS",
	"USERNAME", "USERDOMAIN", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
	"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432", "PSMODULEPATH",
	"COMPUTERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_*", "NVM_HOME", "NVM_SYMLINK",
}

// secretWords exclude a name that contains one from the short environment.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "KEY"}

// Withheld are the names of variables that a child does not get, in the order of the parent's environment.
type Withheld struct {
	Names []string
	// Credentials are the names among them that belong to the short environment, but whose values contain a credential.
	Credentials []string
}

// Environment returns a child's environment: the short environment of the parent, the variables that inherit adds, and
// extra ("NAME=value"), which takes precedence.
func Environment(parent []string, inherit Inherit, extra []string) (env []string, withheld Withheld) {
	return environment(parent, inherit, extra, runtime.GOOS == "windows")
}

func environment(parent []string, inherit Inherit, extra []string, windows bool) (env []string, withheld Withheld) {
	canonical := func(name string) string {
		if windows {
			return strings.ToUpper(name)
		}
		return name
	}
	overridden := make(map[string]bool)
	for _, entry := range extra {
		name, _, _ := strings.Cut(entry, "=")
		overridden[canonical(name)] = true
	}
	env = []string{}
	for _, entry := range parent {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || overridden[canonical(name)] {
			continue // Windows stores the current folder of each drive under empty names
		}
		isPassed, isUsual := inherit.passes(canonical(name), canonical), isShort(canonical(name), windows)
		if isPassed || isUsual && !holdsCredential(canonical(name), value) {
			env = append(env, entry)
			continue
		}
		if !slices.Contains(withheld.Names, name) {
			withheld.Names = append(withheld.Names, name)
			if isUsual {
				withheld.Credentials = append(withheld.Credentials, name)
			}
		}
	}
	return append(env, extra...), withheld
}

func (i Inherit) passes(name string, canonical func(string) string) bool {
	return i.All || slices.ContainsFunc(i.Patterns, func(pattern string) bool {
		matched, err := path.Match(canonical(pattern), name)
		return err == nil && matched
	})
}

// isShort reports whether a name belongs to the short environment.
func isShort(name string, windows bool) bool {
	upper := strings.ToUpper(name)
	if slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(upper, word) }) {
		return false
	}
	matches := func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == pattern
	}
	return slices.ContainsFunc(inherited, matches) || windows && slices.ContainsFunc(inheritedOnWindows, matches)
}

// holdsCredential reports whether the value of a usual variable contains a credential. PATH is exempt: it contains
// folders only, and no program is found without it.
func holdsCredential(name, value string) bool {
	if name == "PATH" {
		return false
	}
	if strings.HasSuffix(strings.ToUpper(name), "_PROXY") && !strings.Contains(value, "://") {
		value = "http://" + value // as programs interpret it
	}
	return secret.Within(value)
}

// minMentioned excludes short names such as "_", which occur in any text.
const minMentioned = 3

// MentionedVariables returns the withheld names that the lines contain as whole words. A server that fails because of a
// missing variable usually names it.
func MentionedVariables(withheld, stderr []string) []string {
	words := make(map[string]bool)
	for _, line := range stderr {
		for _, word := range strings.FieldsFunc(line, isNoNameRune) {
			words[word] = true
		}
	}
	var mentioned []string
	for _, name := range withheld {
		if len(name) >= minMentioned && words[name] {
			mentioned = append(mentioned, name)
		}
	}
	return mentioned
}

func isNoNameRune(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
		return false
	}
	return true
}

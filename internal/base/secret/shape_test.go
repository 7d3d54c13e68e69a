package secret

import "testing"

func TestPathsAreNoSecrets(t *testing.T) {
	for value, want := range map[string]bool{
		"/usr/local/bin":                      true,
		"/usr/bin:/usr/local/bin":             true,
		"/Users/Me/Documents":                 true,
		"/tmp/TestParseEverything2837465/001": true,
		"/opt/Python3.11-Linux-x86_64/bin":    true,
		"/Users/me/MyProject2024Backup":       true,
		"~/projects/x":                        true,
		"./relative/Path":                     true,
		"../other":                            true,
		`C:\Users\Me`:                         true,
		"d:/data/files":                       true,
		`\\server\share`:                      true,
		"data/files":                          true,
		"src/lib/index.js":                    true,
		"application/json":                    true,
		"https://example.com/path":            false,
		"no-separator":                        false,
		// AWS's documented example of a secret key, and base64 that starts with a slash.
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY":     false,
		"/9j4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgH=": false,
		"abcd/efgh+ijkl==":                             false,
		"Basic/Token":                                  false,
		"/V3ryR4nd0mT0k3nW1thSl4sh":                    false,
		"k/ey123456":                                   false,
	} {
		if got := IsPath(value); got != want {
			t.Errorf("IsPath(%q) = %v", value, got)
		}
	}
}

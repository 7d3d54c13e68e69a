package npm

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// NeedBrowser returns the paths of Node.js and of Chromium, and installs the packages of the test's folder, which drive it.
// Without them the test is skipped, but on CI, where a skipped test would go unnoticed, it fails.
func NeedBrowser(t testing.TB) (node, chromium string) {
	t.Helper()
	found, err := findBrowser()
	if err == nil {
		err = Install(t.Context(), ".")
	}
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("a browser is needed on CI: %v", err)
	case err != nil:
		t.Skipf("skipped, there is no browser: %v; on Debian 'apt-get install chromium' brings one", err)
	}
	return found[0], found[1]
}

func findBrowser() (found [2]string, err error) {
	for i, names := range [][]string{{"node"}, {os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"}} {
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil && found[i] == "" {
				found[i] = path
			}
		}
		if found[i] == "" {
			return found, fmt.Errorf("none of %q is in PATH", names)
		}
	}
	return found, nil
}

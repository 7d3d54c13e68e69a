package vendored

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/test/npm"
)

const folder = "../../internal/web/page/assets/vendor"

// The files are those of the packages that the lock file names, byte for byte: npm checks the packages by their integrity.
func TestVendoredFilesAreThoseOfNPM(t *testing.T) {
	var known struct {
		Packages []struct {
			Name, Version, Integrity string
			Files                    []struct{ File, From string }
		}
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	for name, into := range map[string]any{filepath.Join(folder, "vendor.json"): &known, "package-lock.json": &lock} {
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range known.Packages {
		if locked := lock.Packages["node_modules/"+one.Name]; locked.Version != one.Version || locked.Integrity != one.Integrity {
			t.Errorf("%s is %s %s in vendor.json, and %s %s in the lock file", one.Name, one.Version, one.Integrity, locked.Version, locked.Integrity)
		}
	}
	if len(known.Packages) == 0 || len(lock.Packages) != len(known.Packages)+1 {
		t.Errorf("vendor.json has %d packages, and the lock file %d beside its own", len(known.Packages), len(lock.Packages)-1)
	}
	install(t)
	for _, one := range known.Packages {
		for _, file := range one.Files {
			ours, err := os.ReadFile(filepath.Join(folder, file.File))
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := os.ReadFile(filepath.Join("node_modules", one.Name, file.From))
			if err != nil || !bytes.Equal(ours, theirs) {
				t.Errorf("%s is not %s of %s %s: %v", file.File, file.From, one.Name, one.Version, err)
			}
		}
	}
}

// install brings the packages. Where npm is missing the test is skipped, but on CI, where nobody would notice, it fails.
func install(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("npm")
	if err == nil {
		err = npm.Install(t.Context(), ".")
	}
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal(err)
	case err != nil:
		t.Skipf("skipped, the packages cannot be installed: %v", err)
	}
}

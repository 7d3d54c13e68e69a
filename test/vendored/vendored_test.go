package vendored

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/npm"
)

const folder = "../../internal/web/page/assets/vendor"

// locked is a package of the lock file.
type locked struct {
	Version, Integrity string
	Dev                bool // only checks the page
}

// The files are those of the packages that the lock file names, byte for byte: npm checks the packages by their integrity.
func TestVendoredFilesAreThoseOfNPM(t *testing.T) {
	var known struct {
		Packages []struct {
			Name, Version, Integrity string
			Files                    []struct{ File, From string }
		}
	}
	var lock struct {
		Packages map[string]locked
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
		if have := lock.Packages["node_modules/"+one.Name]; have.Version != one.Version || have.Integrity != one.Integrity {
			t.Errorf("%s is %s %s in vendor.json, and %s %s in the lock file", one.Name, one.Version, one.Integrity, have.Version, have.Integrity)
		}
	}
	maps.DeleteFunc(lock.Packages, func(name string, one locked) bool { return name == "" || one.Dev })
	if len(known.Packages) == 0 || len(lock.Packages) != len(known.Packages) {
		t.Errorf("vendor.json has %d packages, and the lock file %d", len(known.Packages), len(lock.Packages))
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

// The modules of the page are JavaScript as the browser reads it; their types are in comments, which tsconfig.json has checked.
func TestTypes(t *testing.T) {
	install(t)
	const limit = 2 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err) // npm is there, so this is too
	}
	if out, err := exec.CommandContext(ctx, node, filepath.Join("node_modules", "typescript", "bin", "tsc"), "--project", ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
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

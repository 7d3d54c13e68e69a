package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// This file brings clients onto the machine.

// installation is a client that is there.
type installation struct {
	folder  string // where its node_modules are
	version string
}

// stamp says for which lock file node_modules was made.
const stamp = "node_modules/.clients-lock"

var (
	installing sync.Mutex // npm fills the machine by itself
	installed  = map[string]installation{}
)

// need returns a client of the folder npm: the version that is pinned there, or the newest
// if the tests are told so. Without npm the test is skipped, but on CI, where a skipped test
// would go unnoticed, it fails.
func need(t *testing.T, name string, alwaysPinned bool) installation {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	if found, ok := installed[name]; ok {
		return found
	}
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	_, err := exec.LookPath("npm")
	var found installation
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("clients from npm are needed on CI: %v", err)
	case err != nil:
		t.Skipf("skipped, clients have to be brought from npm: %v", err)
	case os.Getenv(modeVariable) == "newest" && !alwaysPinned:
		found, err = installNewest(ctx, name)
	default:
		found, err = installPinned(ctx, name)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	installed[name] = found
	t.Logf("%s %s", name, found.version)
	return found
}

func installPinned(ctx context.Context, name string) (installation, error) {
	folder, err := filepath.Abs(filepath.Join("npm", name))
	if err != nil {
		return installation{}, err
	}
	lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return installation{}, err
	}
	have, err := os.ReadFile(filepath.Join(folder, stamp))
	if err == nil && bytes.Equal(have, lock) {
		return describe(folder)
	}
	if err := npm(ctx, folder, "install", "--no-save"); err != nil {
		return installation{}, err
	}
	if err := os.WriteFile(filepath.Join(folder, stamp), lock, 0o600); err != nil {
		return installation{}, err
	}
	return describe(folder)
}

// pinVariable makes the newest clients the pinned ones.
const pinVariable = "CLIENTS_PIN"

// newest is the folder of clients that are not pinned; it is removed at the end.
var newest string

func installNewest(ctx context.Context, name string) (installation, error) {
	if newest == "" {
		var err error
		if newest, err = os.MkdirTemp("", "clients-newest-"); err != nil {
			return installation{}, err
		}
	}
	folder := filepath.Join(newest, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return installation{}, err
	}
	if err := copyFiles(folder, filepath.Join("npm", name), "package.json", "client.mjs"); err != nil {
		return installation{}, err
	}
	subject, _, err := dependency(folder)
	if err != nil {
		return installation{}, err
	}
	// Asked for by number: npm would take an older one where that suits the Node in PATH.
	out, err := exec.CommandContext(ctx, "npm", "view", subject, "version").Output()
	if err != nil {
		return installation{}, err
	}
	if err := npm(ctx, folder, "install", "--save-exact", subject+"@"+strings.TrimSpace(string(out))); err != nil {
		return installation{}, err
	}
	if os.Getenv(pinVariable) != "" {
		if err := copyFiles(filepath.Join("npm", name), folder, "package.json", "package-lock.json"); err != nil {
			return installation{}, err
		}
	}
	return describe(folder)
}

// copyFiles copies those of the files that are there: a client.mjs belongs to libraries only.
func copyFiles(to, from string, files ...string) error {
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(from, file))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, file), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// npm installs without running a script of any package: none needs one. A lock file that it
// writes does not say where packages came from.
func npm(ctx context.Context, folder string, args ...string) error {
	args = append(args, "--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved")
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// dependency returns the first package that a folder's package.json names.
func dependency(folder string) (name, version string, err error) {
	data, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return "", "", err
	}
	var described struct {
		Dependencies, OptionalDependencies map[string]string
	}
	if err := json.Unmarshal(data, &described); err != nil {
		return "", "", err
	}
	for name, version := range described.Dependencies {
		return name, version, nil
	}
	for name, version := range described.OptionalDependencies {
		return name, version, nil
	}
	return "", "", errors.New(folder + " has no dependency")
}

func describe(folder string) (installation, error) {
	_, version, err := dependency(folder)
	return installation{folder, version}, err
}

// path is that of a file of a package.
func (i installation) path(parts ...string) string {
	return filepath.Join(append([]string{i.folder, "node_modules"}, parts...)...)
}

// platform is this machine as packages with programs for it are named.
func platform() string {
	if runtime.GOARCH == "amd64" {
		return "linux-x64"
	}
	return "linux-" + runtime.GOARCH
}

// node is the Node.js that clients are run with, which need one newer than many systems have.
func node(t *testing.T) string {
	t.Helper()
	return need(t, "node", true).path("node-"+platform(), "bin", "node")
}

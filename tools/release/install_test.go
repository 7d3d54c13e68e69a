package main

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("a package for Linux")
	}
}

// The package is installed by dpkg itself, into a system of its own, and removed again.
func TestDebInstalls(t *testing.T) {
	onLinux(t)
	needs(t, "dpkg")
	system := t.TempDir()
	admin := filepath.Join(system, "var", "lib", "dpkg")
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(admin, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dpkg := func(args ...string) string {
		return output(t, system, "dpkg", append([]string{"--root=" + system, "--force-not-root", "--log=/dev/null"}, args...)...)
	}
	dpkg("--install", find(t, "*_"+runtime.GOARCH+".deb"))

	checkProgram(t, t.TempDir(), filepath.Join(system, "usr/bin/mcp-workbench"))
	for _, file := range []string{"usr/lib/systemd/user/mcp-workbench.service", "usr/share/doc/mcp-workbench/copyright", "usr/share/doc/mcp-workbench/prometheus/mcp-workbench.rules.yml"} {
		info, err := os.Stat(filepath.Join(system, file))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o644 {
			t.Errorf("%s has mode %o", file, info.Mode())
		}
	}
	if status := dpkg("--status", "mcp-workbench"); !strings.Contains(status, "Status: install ok installed") {
		t.Error(status)
	}

	dpkg("--purge", "mcp-workbench")
	if _, err := os.Stat(filepath.Join(system, "usr/bin/mcp-workbench")); err == nil {
		t.Error("the program is still there after the package was removed")
	}
}

// systemd itself reads the unit, with the program where the package puts it.
func TestUnitIsUnderstood(t *testing.T) {
	onLinux(t)
	needs(t, "dpkg-deb")
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze, also in CI where it runs in a container")
	}
	system := t.TempDir()
	output(t, system, "dpkg-deb", "--extract", find(t, "*_"+runtime.GOARCH+".deb"), system)
	text, err := os.ReadFile(filepath.Join(system, "usr/lib/systemd/user/mcp-workbench.service"))
	if err != nil {
		t.Fatal(err)
	}
	// It looks for the program, and here there is none in /usr/bin.
	program := filepath.Join(system, "usr/bin/mcp-workbench")
	changed := strings.ReplaceAll(string(text), "ExecStart=/usr/bin/mcp-workbench", "ExecStart="+program)
	if changed == string(text) {
		t.Fatal("the unit does not run the program of the package")
	}
	unit := filepath.Join(system, "mcp-workbench.service")
	if err := os.WriteFile(unit, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if said := output(t, system, "systemd-analyze", "--user", "verify", unit); strings.Contains(said, "mcp-workbench") {
		t.Error(said)
	}
}

func TestArchiveRuns(t *testing.T) {
	dir := t.TempDir()
	base := "mcp-workbench_" + version(t) + "_" + runtime.GOOS + "_" + runtime.GOARCH
	if runtime.GOOS == "windows" {
		unzip(t, find(t, base+".zip"), dir)
	} else {
		output(t, dir, "tar", "-xzf", find(t, base+".tar.gz"))
	}
	for _, file := range []string{"LICENSE", "README.md", "docs/install.md", "packaging/grafana/mcp-workbench.json"} {
		if _, err := os.Stat(filepath.Join(dir, base, file)); err != nil {
			t.Error(err)
		}
	}
	checkProgram(t, dir, filepath.Join(dir, base, program(recipeHere(t), here())))
}

// The bundle is run as its specification tells a client to.
func TestBundleRuns(t *testing.T) {
	dir := t.TempDir()
	unzip(t, find(t, "*_"+runtime.GOOS+"_"+runtime.GOARCH+".mcpb"), dir)
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Version string
		Server  struct {
			Type   string
			Entry  string `json:"entry_point"`
			Config struct {
				Command string
				Args    []string
				Env     map[string]string
			} `json:"mcp_config"`
		}
		Compatibility struct{ Platforms []string }
		Tools         []struct{ Name string }
		UserConfig    map[string]struct{ Default string } `json:"user_config"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Version != version(t) || manifest.Server.Type != "binary" || !slices.Equal(manifest.Compatibility.Platforms, []string{here().platform().OS}) {
		t.Errorf("the manifest says %+v", manifest)
	}
	if _, err := os.Stat(filepath.Join(dir, manifest.Server.Entry)); err != nil {
		t.Error(err)
	}
	// What a client fills in for a user who chose nothing must be a value that the workbench takes for unset.
	if value := manifest.Server.Config.Env["WORKBENCH_CONFIG"]; value != "${user_config.config}" || manifest.UserConfig["config"].Default != "" {
		t.Errorf("WORKBENCH_CONFIG is '%s', by default '%s'", value, manifest.UserConfig["config"].Default)
	}
	checkProgram(t, t.TempDir(), strings.ReplaceAll(manifest.Server.Config.Command, "${__dirname}", dir), manifest.Server.Config.Args...)
}

func unzip(t *testing.T, archive, dir string) {
	t.Helper()
	reader, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, file := range reader.File {
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, file.Mode())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, in); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func recipeHere(t *testing.T) *recipe {
	t.Helper()
	r, err := readRecipe(root(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The same source gives the same bytes: in another folder, without a repository, and for this platform
// compiled from nothing.
func TestSameBytesTwice(t *testing.T) {
	first, second := dist(t), filepath.Join(t.TempDir(), "dist")
	s, err := readSource(t.Context(), root(t))
	if err != nil {
		t.Fatal(err)
	}
	again := &source{root: copyOfSource(t), version: version(t), time: s.time}
	if err := snapshot(t.Context(), again, second, builtIn(t, first)); err != nil {
		t.Fatal(err)
	}
	a, b := sums(t, first), sums(t, second)
	for name, sum := range a {
		if b[name] != sum {
			t.Errorf("%s is not the same the second time", name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			t.Errorf("%s was not there the first time", name)
		}
	}

	t.Setenv("GOCACHE", t.TempDir())
	compiled, err := build(t.Context(), again, recipeHere(t), here(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := "bin/" + here().String() + "/" + filepath.Base(compiled.path)
	if sumOf(t, compiled.path) != a[name] {
		t.Errorf("%s, compiled from nothing, is not the same", name)
	}
}

// builtIn are the platforms of a snapshot.
func builtIn(t *testing.T, dir string) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "bin", "*", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no programs in %s: %v", dir, err)
	}
	var names []string
	for _, folder := range folders {
		names = append(names, filepath.Base(filepath.Dir(folder))+"/"+filepath.Base(folder))
	}
	return names
}

// copyOfSource has the files of the repository, and not the repository itself.
func copyOfSource(t *testing.T) string {
	t.Helper()
	from, to := root(t), t.TempDir()
	list, err := exec.Command("git", "-C", from, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found[name] = sumOf(t, filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestChecksumsCoverEverything(t *testing.T) {
	listed, err := readChecksums(find(t, "*_checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, sum := range sums(t, dist(t)) {
		if strings.Contains(name, "/") || name == markFile || strings.HasSuffix(name, "_checksums.txt") {
			continue
		}
		if listed[name] != sum {
			t.Errorf("%s has the checksum %s, and the file says '%s'", name, sum, listed[name])
		}
	}
}

// The bill names what Go's own tool finds in the program.
func TestBillOfMaterials(t *testing.T) {
	program := filepath.Join(dist(t), "bin", here().String(), program(recipeHere(t), here()))
	said := output(t, t.TempDir(), "go", "version", "-m", program)
	text, err := os.ReadFile(find(t, "*_"+here().os+"_"+here().arch+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, c := range b.Components {
		found[c.Name] = c.Version
	}
	count := 1 // std
	for line := range strings.Lines(said) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "dep" {
			continue
		}
		count++
		if found[fields[1]] != fields[2] {
			t.Errorf("%s %s is in the program, and in the bill '%s'", fields[1], fields[2], found[fields[1]])
		}
	}
	if count < 5 || len(b.Components) != count {
		t.Errorf("the bill has %d components, the program %d", len(b.Components), count)
	}
	if b.Metadata.Component.Hashes[0].Content != sumOf(t, program) {
		t.Error("the bill is of another program")
	}
}

func TestManifests(t *testing.T) {
	r := recipeHere(t)
	s := &source{root: root(t), version: "1.2.3"}
	targets, err := r.targets(nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for _, one := range targets {
		extension := ".tar.gz"
		if one.os == "windows" {
			extension = ".zip"
		}
		lines.WriteString("sum-of-" + one.os + "-" + one.arch + "  mcp-workbench_1.2.3_" + one.os + "_" + one.arch + extension + "\n")
	}
	dir := t.TempDir()
	checksums := filepath.Join(dir, "sums")
	if err := os.WriteFile(checksums, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	fill := func(template string) string {
		out := filepath.Join(dir, "out")
		if err := writeManifest(s, r, template, checksums, out); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	formula := fill(formulaTemplate)
	for _, want := range []string{
		"url \"https://github.com/mcp-workbench/mcp-workbench/releases/download/v1.2.3/mcp-workbench_1.2.3_darwin_arm64.tar.gz\"\n      sha256 \"sum-of-darwin-arm64\"",
		"mcp-workbench_1.2.3_linux_amd64.tar.gz\"\n      sha256 \"sum-of-linux-amd64\"",
	} {
		if !strings.Contains(formula, want) {
			t.Errorf("the formula lacks\n%s\nIt is\n%s", want, formula)
		}
	}

	var scoop struct {
		Version      string
		Architecture map[string]struct {
			URL, Hash string
			Folder    string `json:"extract_dir"`
		}
	}
	if err := json.Unmarshal([]byte(fill(scoopTemplate)), &scoop); err != nil {
		t.Fatal(err)
	}
	if got := scoop.Architecture["arm64"]; scoop.Version != "1.2.3" || got.Hash != "sum-of-windows-arm64" || got.Folder != "mcp-workbench_1.2.3_windows_arm64" || !strings.HasSuffix(got.URL, "/v1.2.3/mcp-workbench_1.2.3_windows_arm64.zip") {
		t.Errorf("Scoop gets %+v", scoop)
	}

	if err := os.WriteFile(checksums, []byte("a  b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeManifest(s, r, scoopTemplate, checksums, filepath.Join(dir, "out")); err == nil {
		t.Error("a manifest was made without checksums")
	}
}

package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Descriptions of a release for package managers.
const (
	formulaTemplate = "packaging/homebrew/mcp-workbench.rb.tmpl"
	scoopTemplate   = "packaging/scoop/mcp-workbench.json.tmpl"
)

// writeChecksums sums up the files of a folder, in the form that sha256sum -c reads.
func writeChecksums(dir, out string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, file := range files {
		if file.IsDir() || file.Name() == markFile || file.Name() == out {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+file.Name()+"\n")
	}
	return writeFile(filepath.Join(dir, out), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, ""))
		return err
	})
}

// release is what a package manager's description is made from.
type release struct {
	Version string
	source  *source
	recipe  *recipe
	sums    map[string]string // by file name
}

// writeManifest fills in the description of a release for a package manager.
func writeManifest(s *source, r *recipe, template, checksums, out string) error {
	sums, err := readChecksums(checksums)
	if err != nil {
		return err
	}
	text, err := s.read(template)
	if err != nil {
		return err
	}
	filled, err := expand(string(text), &release{s.version, s, r, sums})
	if err != nil {
		return err
	}
	return writeFile(out, func(w io.Writer) error {
		_, err := io.WriteString(w, filled)
		return err
	})
}

// Folder is the folder within a platform's archive.
func (r *release) Folder(goos, goarch string) (string, error) {
	return r.source.names(r.recipe, target{goos, goarch}).expand(r.recipe.Archives[0].Name)
}

func (r *release) archive(goos, goarch string) (string, error) {
	name, err := r.Folder(goos, goarch)
	return name + "." + r.recipe.Archives[0].formats(goos)[0], err
}

// URL is where a platform's archive is when it is released.
func (r *release) URL(goos, goarch string) (string, error) {
	name, err := r.archive(goos, goarch)
	return r.recipe.Packages[0].Homepage + "/releases/download/v" + r.Version + "/" + name, err
}

// SHA256 is the checksum of a platform's archive.
func (r *release) SHA256(goos, goarch string) (string, error) {
	name, err := r.archive(goos, goarch)
	if err != nil {
		return "", err
	}
	sum, ok := r.sums[name]
	if !ok {
		return "", fmt.Errorf("there is no checksum of %s", name)
	}
	return sum, nil
}

func readChecksums(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sums := make(map[string]string)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return nil, fmt.Errorf("%s: not a line of checksums: %s", path, lines.Text())
		}
		sums[name] = sum
	}
	return sums, lines.Err()
}

// covers reports whether all platforms that manifests name were built.
func covers(built []target, all []target) bool {
	return !slices.ContainsFunc(all, func(t target) bool { return !slices.Contains(built, t) })
}

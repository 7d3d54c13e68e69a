package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"
)

const recipeFile = ".goreleaser.yaml"

// recipe is goreleaser's configuration, as far as we make the same of it. A key that is not here
// is an error, so that the two cannot differ unnoticed; what only goreleaser does is not looked into.
type recipe struct {
	Project  string `yaml:"project_name"`
	Snapshot struct {
		Version string `yaml:"version_template"`
	} `yaml:"snapshot"`
	Builds   []buildPart   `yaml:"builds"`
	Archives []archivePart `yaml:"archives"`
	Packages []linuxPart   `yaml:"nfpms"`
	Checksum struct {
		Name      string    `yaml:"name_template"`
		Algorithm string    `yaml:"algorithm"`
		Extra     yaml.Node `yaml:"extra_files"`
	} `yaml:"checksum"`

	Version    int       `yaml:"version"`
	Before     yaml.Node `yaml:"before"`
	SBOMs      yaml.Node `yaml:"sboms"`
	Signs      yaml.Node `yaml:"signs"`
	Containers yaml.Node `yaml:"dockers_v2"`
	Release    yaml.Node `yaml:"release"`
	Changelog  yaml.Node `yaml:"changelog"`
}

type buildPart struct {
	ID      string    `yaml:"id"`
	Main    string    `yaml:"main"`
	Binary  string    `yaml:"binary"`
	Env     []string  `yaml:"env"`
	Flags   []string  `yaml:"flags"`
	Ldflags []string  `yaml:"ldflags"`
	Time    string    `yaml:"mod_timestamp"`
	OS      []string  `yaml:"goos"`
	Arch    []string  `yaml:"goarch"`
	Hooks   yaml.Node `yaml:"hooks"`
}

type archivePart struct {
	ID        string   `yaml:"id"`
	Name      string   `yaml:"name_template"`
	Formats   []string `yaml:"formats"`
	Overrides []struct {
		OS      string   `yaml:"goos"`
		Formats []string `yaml:"formats"`
	} `yaml:"format_overrides"`
	Wrap   bool        `yaml:"wrap_in_directory"`
	Binary fileInfo    `yaml:"builds_info"`
	Files  []fileEntry `yaml:"files"`
}

type fileEntry struct {
	Source string   `yaml:"src"`
	Info   fileInfo `yaml:"info"`
}

type fileInfo struct {
	Owner string      `yaml:"owner"`
	Group string      `yaml:"group"`
	Mode  os.FileMode `yaml:"mode"`
	Time  string      `yaml:"mtime"`
}

type linuxPart struct {
	ID          string   `yaml:"id"`
	Name        string   `yaml:"package_name"`
	File        string   `yaml:"file_name_template"`
	Formats     []string `yaml:"formats"`
	Vendor      string   `yaml:"vendor"`
	Homepage    string   `yaml:"homepage"`
	Maintainer  string   `yaml:"maintainer"`
	Description string   `yaml:"description"`
	License     string   `yaml:"license"`
	Section     string   `yaml:"section"`
	Priority    string   `yaml:"priority"`
	Bindir      string   `yaml:"bindir"`
	Time        string   `yaml:"mtime"`
	Contents    []struct {
		Source string   `yaml:"src"`
		Target string   `yaml:"dst"`
		Info   fileInfo `yaml:"file_info"`
	} `yaml:"contents"`
	RPM struct {
		BuildHost string `yaml:"buildhost"`
	} `yaml:"rpm"`
}

func readRecipe(root string) (*recipe, error) {
	text, err := os.ReadFile(filepath.Join(root, recipeFile))
	if err != nil {
		return nil, err
	}
	return parseRecipe(text)
}

func parseRecipe(text []byte) (*recipe, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	r := &recipe{}
	if err := decoder.Decode(r); err != nil {
		return nil, fmt.Errorf("%s has what tools/release cannot make; teach it, or leave it out: %w", recipeFile, err)
	}
	if len(r.Builds) != 1 || len(r.Archives) != 1 || len(r.Packages) != 1 {
		return nil, fmt.Errorf("%s: tools/release makes one of builds, archives and nfpms each", recipeFile)
	}
	if r.Checksum.Algorithm != "sha256" {
		return nil, fmt.Errorf("%s: tools/release makes checksums with sha256 only, not '%s'", recipeFile, r.Checksum.Algorithm)
	}
	if r.Snapshot.Version != snapshotVersion {
		return nil, fmt.Errorf("%s: snapshot.version_template is not the rule of versionOf in tools/release", recipeFile)
	}
	return r, nil
}

// snapshotVersion is what versionOf does, in goreleaser's words.
const snapshotVersion = "{{ incpatch .Version }}-dev.g{{ .ShortCommit }}"

// names are the values that templates of the recipe may use, named as goreleaser names them.
type names map[string]any

func (s *source) names(r *recipe, t target) names {
	return names{
		"ProjectName":     r.Project,
		"Version":         s.version,
		"Os":              t.os,
		"Arch":            t.arch,
		"CommitDate":      s.time.Format(time.RFC3339),
		"CommitTimestamp": s.time.Unix(),
	}
}

func (n names) expand(text string) (string, error) {
	return expand(text, map[string]any(n))
}

// expand fills in a template; a name that is not known is an error.
func expand(text string, values any) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	parsed, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := parsed.Execute(&out, values); err != nil {
		return "", err
	}
	return out.String(), nil
}

// time is a moment that the recipe names; the recipe must name one for all that is packed.
func (n names) time(text string) (time.Time, error) {
	expanded, err := n.expand(text)
	if err != nil {
		return time.Time{}, err
	}
	moment, err := time.Parse(time.RFC3339, expanded)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: mtime must be set for every file, to be the same for everyone: %w", recipeFile, err)
	}
	return moment, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// platform is a target as Node.js names it.
type platform struct{ OS, CPU string }

func (p platform) Key() string     { return p.OS + "-" + p.CPU }
func (p platform) Package() string { return "@mcp-workbench/" + p.Key() }

func (t target) platform() platform {
	p := platform{t.os, t.arch}
	if p.OS == "windows" {
		p.OS = "win32"
	}
	if p.CPU == "amd64" {
		p.CPU = "x64"
	}
	return p
}

// writeExtras makes what goreleaser has no part for: the npm package of one platform, the one that
// launches it (the same for all platforms), and the MCP bundle.
func writeExtras(s *source, r *recipe, b *built, dir string) error {
	data, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	license, err := s.read("LICENSE")
	if err != nil {
		return err
	}
	if err := writeLauncher(s, r, license, dir); err != nil {
		return err
	}
	name := program(r, b.target)
	values := map[string]any{"Version": s.version, "Platform": b.platform(), "Program": name}

	manifest, err := s.expandJSON("packaging/npm/platform/package.json.tmpl", values)
	if err != nil {
		return err
	}
	packed := fmt.Sprintf("npm-%s-%s-%s.tgz", r.Project, b.platform().Key(), s.version)
	err = writeFile(filepath.Join(dir, packed), func(w io.Writer) error {
		return packTarGz(w, []entry{
			{"package/package.json", 0o644, s.time, manifest},
			{"package/LICENSE", 0o644, s.time, license},
			{"package/bin/" + name, 0o755, s.time, data},
		})
	})
	if err != nil {
		return err
	}

	if manifest, err = s.expandJSON("packaging/mcpb/manifest.json.tmpl", values); err != nil {
		return err
	}
	bundle := fmt.Sprintf("%s_%s_%s_%s.mcpb", r.Project, s.version, b.os, b.arch)
	return writeFile(filepath.Join(dir, bundle), func(w io.Writer) error {
		return packZip(w, []entry{
			{"manifest.json", 0o644, s.time, manifest},
			{"LICENSE", 0o644, s.time, license},
			{"server/" + name, 0o755, s.time, data},
		})
	})
}

// writeLauncher makes the npm package that people install; npm picks the one of their platform from its
// optional dependencies.
func writeLauncher(s *source, r *recipe, license []byte, dir string) error {
	targets, err := r.targets(nil)
	if err != nil {
		return err
	}
	var platforms []platform
	for _, t := range targets {
		platforms = append(platforms, t.platform())
	}
	manifest, err := s.expandJSON("packaging/npm/main/package.json.tmpl", map[string]any{"Version": s.version, "Platforms": platforms})
	if err != nil {
		return err
	}
	readme, err := s.read("packaging/npm/main/README.md")
	if err != nil {
		return err
	}
	launcher, err := s.read("packaging/npm/main/launcher.js")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("npm-%s-%s.tgz", r.Project, s.version)
	return writeFile(filepath.Join(dir, name), func(w io.Writer) error {
		return packTarGz(w, []entry{
			{"package/package.json", 0o644, s.time, manifest},
			{"package/LICENSE", 0o644, s.time, license},
			{"package/README.md", 0o644, s.time, readme},
			{"package/launcher.js", 0o755, s.time, launcher},
		})
	})
}

// expandJSON fills in a template of packaging that must be JSON.
func (s *source) expandJSON(file string, values any) ([]byte, error) {
	text, err := s.read(file)
	if err != nil {
		return nil, err
	}
	out, err := expand(string(text), values)
	if err != nil {
		return nil, err
	}
	if !json.Valid([]byte(out)) {
		return nil, fmt.Errorf("%s does not give JSON", file)
	}
	return []byte(out), nil
}

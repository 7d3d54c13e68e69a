package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// bill is a software bill of materials in CycloneDX's form.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     billMetadata `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type billMetadata struct {
	Time      string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Licenses   []any      `json:"licenses,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// writeSBOM lists what the linker says is in a binary, which go.mod may have more of.
func writeSBOM(s *source, binary, out string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(makeBill(s, info, sha256.Sum256(data)), "", "  ")
	if err != nil {
		return err
	}
	return writeFile(out, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

func makeBill(s *source, info *buildinfo.BuildInfo, sum [sha256.Size]byte) *bill {
	main := component{
		Type: "application", Name: info.Main.Path, Version: s.version, PURL: packageURL(info.Main.Path, "v"+s.version),
		Licenses: []any{map[string]any{"license": map[string]string{"id": "MIT"}}},
		Hashes:   []hash{{"SHA-256", hex.EncodeToString(sum[:])}},
	}
	main.Ref = main.PURL
	for _, setting := range info.Settings {
		switch setting.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED":
			main.Properties = append(main.Properties, property{"mcp-workbench:build:" + setting.Key, setting.Value})
		}
	}
	// The standard library is where most fixes come from.
	components := []component{library("std", "v"+info.GoVersion[len("go"):], "")}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, library(module.Path, module.Version, module.Sum))
	}
	root := dependency{Ref: main.Ref}
	for _, c := range components {
		root.DependsOn = append(root.DependsOn, c.Ref)
	}
	return &bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Serial:     serial(sum),
		Metadata:   billMetadata{Time: s.time.Format(time.RFC3339), Component: main},
		Components: components, Dependencies: []dependency{root},
	}
}

// serial is a UUID (version 8) from the binary's hash, so that the same binary has the same bill.
func serial(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func library(path, version, sum string) component {
	c := component{Type: "library", Name: path, Version: version, PURL: packageURL(path, version)}
	c.Ref = c.PURL
	if sum != "" {
		// Not a hash of a file, and so none of CycloneDX's.
		c.Properties = []property{{"mcp-workbench:go.sum", sum}}
	}
	return c
}

func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + version
}

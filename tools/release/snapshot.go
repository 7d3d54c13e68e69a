package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// snapshot makes all packages into a folder: the programs in bin, everything that is released beside it.
// only limits the platforms; nil is all, and only then there are manifests, which name all.
func snapshot(ctx context.Context, s *source, out string, only []string) error {
	r, err := readRecipe(s.root)
	if err != nil {
		return err
	}
	targets, err := r.targets(only)
	if err != nil {
		return err
	}
	if err := clearFolder(out); err != nil {
		return err
	}
	if err := eachTarget(targets, func(t target) error {
		fmt.Printf("%s %s %s\n", r.Project, s.version, t)
		b, err := build(ctx, s, r, t, filepath.Join(out, "bin"))
		if err != nil {
			return err
		}
		if err := writePackages(s, r, b, out); err != nil {
			return fmt.Errorf("packages for %s: %w", t, err)
		}
		return nil
	}); err != nil {
		return err
	}
	name, err := s.names(r, target{}).expand(r.Checksum.Name)
	if err != nil {
		return err
	}
	if err := writeChecksums(out, name); err != nil {
		return err
	}
	all, err := r.targets(nil)
	if err != nil || !covers(targets, all) {
		return err
	}
	checksums := filepath.Join(out, name)
	if err := writeManifest(s, r, formulaTemplate, checksums, filepath.Join(out, "mcp-workbench.rb")); err != nil {
		return err
	}
	if err := writeManifest(s, r, scoopTemplate, checksums, filepath.Join(out, "mcp-workbench.json")); err != nil {
		return err
	}
	return writeChecksums(out, name) // again, now with those two
}

// eachTarget calls visit for all targets, for as many at once as there are processors: linking and
// compressing use one each.
func eachTarget(targets []target, visit func(target) error) error {
	failures := make([]error, len(targets))
	slots := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, t := range targets {
		slots <- struct{}{}
		all.Go(func() {
			failures[i] = visit(t)
			<-slots
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

func writePackages(s *source, r *recipe, b *built, out string) error {
	if err := writeArchives(s, r, b, out); err != nil {
		return err
	}
	if b.os == "linux" {
		if err := writeLinuxPackages(s, r, b, out); err != nil {
			return err
		}
	}
	if err := writeExtras(s, r, b, out); err != nil {
		return err
	}
	bill := fmt.Sprintf("%s_%s_%s_%s.cdx.json", r.Project, s.version, b.os, b.arch)
	return writeSBOM(s, b.path, filepath.Join(out, bill))
}

// markFile tells a folder that a snapshot made from any other.
const markFile = ".snapshot"

// clearFolder empties a folder that an earlier snapshot made, and refuses any other.
func clearFolder(dir string) error {
	held, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(held) > 0 {
		if _, err := os.Stat(filepath.Join(dir, markFile)); err != nil {
			return fmt.Errorf("%s holds files that no snapshot made; remove it, or name another folder with -out", dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, markFile), nil, 0o644)
}

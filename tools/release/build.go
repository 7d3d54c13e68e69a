package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// target is a platform, in Go's words.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// built is the program for one platform.
type built struct {
	target
	path string
}

// program is the program's file name on a platform.
func program(r *recipe, t target) string {
	if t.os == "windows" {
		return r.Builds[0].Binary + ".exe"
	}
	return r.Builds[0].Binary
}

// targets are the recipe's platforms, or those of them that are named.
func (r *recipe) targets(only []string) ([]target, error) {
	var all []target
	for _, goos := range r.Builds[0].OS {
		for _, goarch := range r.Builds[0].Arch {
			all = append(all, target{goos, goarch})
		}
	}
	if only == nil {
		return all, nil
	}
	var chosen []target
	for _, name := range only {
		i := slices.IndexFunc(all, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("the recipe has no platform '%s', but %v", name, all)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// build compiles the program into dir/OS/ARCHITECTURE, which is also what the container file expects.
func build(ctx context.Context, s *source, r *recipe, t target, dir string) (*built, error) {
	part := r.Builds[0]
	ldflags, err := s.names(r, t).expand(strings.Join(part.Ldflags, " "))
	if err != nil {
		return nil, err
	}
	b := &built{target: t, path: filepath.Join(dir, t.os, t.arch, program(r, t))}
	args := append([]string{"build", "-o", b.path}, part.Flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "-ldflags", ldflags, part.Main)...)
	cmd.Dir = s.root
	// GOFLAGS of the machine would be a way to other bytes.
	cmd.Env = append(os.Environ(), append(part.Env, "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building for %s: %w\n%s", t, err, out)
	}
	return b, os.Chtimes(b.path, s.time, s.time)
}

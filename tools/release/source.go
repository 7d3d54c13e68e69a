package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// source is what is released: a tree of files, with the version and the time that everything made from it bears.
type source struct {
	root    string
	version string
	time    time.Time
}

// readSource asks git. $VERSION and $SOURCE_DATE_EPOCH win, and are needed where there is no repository,
// as in an unpacked source archive.
func readSource(ctx context.Context, root string) (*source, error) {
	s := &source{root: root, version: strings.TrimPrefix(os.Getenv("VERSION"), "v")}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	var err error
	if s.version == "" {
		if s.version, err = describe(ctx, root); err != nil {
			return nil, err
		}
	}
	if seconds == "" {
		if seconds, err = git(ctx, root, "log", "-1", "--format=%ct"); err != nil {
			return nil, err
		}
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH must be seconds since 1970, not '%s'", seconds)
	}
	s.time = time.Unix(epoch, 0).UTC()
	return s, nil
}

// describe is the version of the commit: that of its tag, or else one before the next patch, by the same
// rule as snapshot.version_template of the recipe.
func describe(ctx context.Context, root string) (string, error) {
	commit, err := git(ctx, root, "rev-parse", "--short", "HEAD")
	if err != nil {
		return "", err
	}
	changes, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return "", err
	}
	exact, err := git(ctx, root, "describe", "--tags", "--exact-match", "--match", "v*")
	if err != nil {
		exact = ""
	}
	last, err := git(ctx, root, "describe", "--tags", "--abbrev=0", "--match", "v*")
	if err != nil {
		last = "v0.0.0"
	}
	return versionOf(exact, last, commit, changes != "")
}

var releaseTag = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$`)

// versionOf is the version of a commit with a tag of its own (or ""), after the last tag.
func versionOf(exact, last, commit string, dirty bool) (string, error) {
	if exact != "" && !dirty {
		if !releaseTag.MatchString(exact) {
			return "", fmt.Errorf("the tag '%s' is no version: it must be such as v1.2.3 or v1.2.3-rc.1", exact)
		}
		return exact[1:], nil
	}
	parts := releaseTag.FindStringSubmatch(last)
	if parts == nil {
		return "", fmt.Errorf("the tag '%s' is no version: it must be such as v1.2.3 or v1.2.3-rc.1", last)
	}
	patch, err := strconv.Atoi(parts[3])
	if err != nil {
		return "", err
	}
	version := fmt.Sprintf("%s.%s.%d-dev.g%s", parts[1], parts[2], patch+1, commit)
	if dirty {
		version += ".dirty"
	}
	return version, nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %s (outside of a repository, set VERSION and SOURCE_DATE_EPOCH)",
			args[0], strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// read is a file of the source.
func (s *source) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
}

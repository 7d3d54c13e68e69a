// Command release makes the packages of a release: all of them by itself (snapshot), or those that
// goreleaser has no part for, called by it. What goes into them is said in .goreleaser.yaml and packaging/.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// commands by name; each takes its own flags.
var commands = map[string]func(ctx context.Context, root string, args []string) error{
	"snapshot": runSnapshot,
	"extras":   runExtras,
	"sbom":     runSBOM,
	"formula":  manifestCommand(formulaTemplate),
	"scoop":    manifestCommand(scoopTemplate),
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return fmt.Errorf("say what to make: snapshot, extras, sbom, formula or scoop")
	}
	root, err := findRoot()
	if err != nil {
		return err
	}
	return commands[args[0]](ctx, root, args[1:])
}

// findRoot is the nearest folder upwards with a recipe.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, recipeFile)); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no %s here or in a folder above: run it in the repository", recipeFile)
		}
		dir = parent
	}
}

func runSnapshot(ctx context.Context, root string, args []string) error {
	flags := flag.NewFlagSet("snapshot", flag.ContinueOnError)
	out := flags.String("out", filepath.Join(root, "dist"), "`folder` to write to; what it held is removed")
	only := flags.String("platforms", "", "only these, such as linux/amd64,windows/arm64 (default: all of the recipe)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	source, err := readSource(ctx, root)
	if err != nil {
		return err
	}
	var platforms []string
	if *only != "" {
		platforms = strings.Split(*only, ",")
	}
	return snapshot(ctx, source, *out, platforms)
}

// stamp are the flags with which goreleaser says what is being released.
type stamp struct {
	version *string
	seconds *int64
}

func stampFlags(flags *flag.FlagSet) stamp {
	return stamp{flags.String("version", "", "`version` without a v"), flags.Int64("time", 0, "time of the commit, in `seconds` since 1970")}
}

func (s stamp) source(root string) *source {
	return &source{root: root, version: *s.version, time: time.Unix(*s.seconds, 0).UTC()}
}

func runExtras(_ context.Context, root string, args []string) error {
	flags := flag.NewFlagSet("extras", flag.ContinueOnError)
	stamp := stampFlags(flags)
	binary := flags.String("binary", "", "the built `file`")
	goos, goarch := flags.String("os", "", "its GOOS"), flags.String("arch", "", "its GOARCH")
	out := flags.String("out", "", "`folder` to write to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	recipe, err := readRecipe(root)
	if err != nil {
		return err
	}
	return writeExtras(stamp.source(root), recipe, &built{target: target{*goos, *goarch}, path: *binary}, *out)
}

func runSBOM(_ context.Context, root string, args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	stamp := stampFlags(flags)
	binary := flags.String("binary", "", "the built `file`")
	out := flags.String("out", "", "`file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return writeSBOM(stamp.source(root), *binary, *out)
}

// manifestCommand makes a package manager's description from the checksums of a release.
func manifestCommand(template string) func(context.Context, string, []string) error {
	return func(_ context.Context, root string, args []string) error {
		flags := flag.NewFlagSet("manifest", flag.ContinueOnError)
		version := flags.String("version", "", "`version` without a v")
		checksums := flags.String("checksums", "", "`file` of checksums")
		out := flags.String("out", "", "`file` to write")
		if err := flags.Parse(args); err != nil {
			return err
		}
		recipe, err := readRecipe(root)
		if err != nil {
			return err
		}
		return writeManifest(&source{root: root, version: *version}, recipe, template, *checksums, *out)
	}
}
